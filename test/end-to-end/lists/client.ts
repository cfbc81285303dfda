/** Requests a list over v1 and keeps what arrives: all of it, an error, or a broken response. */
import { request as httpRequest } from "node:http";

/** An answer as far as it came. */
export interface Got {
  readonly status: number;
  readonly fields: ReadonlyMap<string, string>;
  readonly text: string;
  /** Whether it ended as HTTP wants it to. */
  readonly complete: boolean;
}

export interface Asking {
  readonly url: string;
  readonly target: string;
  /** Name of the credential. */
  readonly as: string;
}

let asked = 0;

/** Every request has an id of its own. */
export function headersOf({ as }: Pick<Asking, "as">): Record<string, string> {
  asked += 1;
  return { authorization: `Bearer ${as}`, "x-request-id": `test-${asked}` };
}

/** `onData` is called for each piece. Rejects when there is no answer at all. */
export function get(asking: Asking, onData: () => void = () => {}): Promise<Got> {
  const { hostname, port } = new URL(asking.url);
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path: asking.target, headers: headersOf(asking), agent: false });
    request.on("error", reject);
    request.on("response", (incoming) => {
      const chunks: Buffer[] = [];
      const fields = new Map(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
      incoming.on("error", () => {});
      incoming.on("close", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        resolve({ status: incoming.statusCode ?? 0, fields, text, complete: incoming.complete });
      });
      incoming.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        onData();
      });
    });
    request.end();
  });
}
