/** Sends a call byte for byte, without a client library's own headers. */
import { type Agent, request as httpRequest } from "node:http";
import type { ApiResponse } from "../../../src/model/http.ts";

export interface Outgoing {
  readonly method: string;
  readonly url: string;
  /** Path and query exactly as they go out: nothing is resolved or encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  /** Whose connections to use; a new one when left out. */
  readonly agent?: Agent;
}

/** The whole answer, header names in lower case. Rejects when the connection breaks before its end. */
export function exchange(outgoing: Outgoing): Promise<ApiResponse> {
  const { hostname, port } = new URL(outgoing.url);
  // Node frames the body of a DELETE only when its length is given.
  const length = outgoing.body === undefined ? {} : { "content-length": String(outgoing.body.length) };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        hostname,
        port,
        method: outgoing.method,
        path: outgoing.target,
        headers: { ...outgoing.headers, ...length },
        agent: outgoing.agent ?? false,
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          if (!incoming.complete) return reject(new Error("the answer broke off"));
          resolve({
            status: incoming.statusCode ?? 0,
            headers: pairs(incoming.rawHeaders),
            body: new Uint8Array(Buffer.concat(chunks)),
          });
        });
      },
    );
    request.on("error", reject);
    request.end(outgoing.body);
  });
}

function pairs(raw: readonly string[]): [string, string][] {
  const list: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) list.push([raw[index]!.toLowerCase(), raw[index + 1]!]);
  return list;
}
