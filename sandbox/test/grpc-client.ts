/** A gRPC client for the tests of the sandbox: JSON in, JSON out, over a connection of HTTP/2. */
import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from "node:http2";
import { createFileRegistry, fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { VENDOR_TYPES } from "../src/data/vendor.ts";
import type { Sandbox } from "../src/sandbox.ts";

export interface Outcome {
  readonly code: number;
  readonly message: string;
  /** The typed details of the status. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers freely
  readonly details: any;
  /** The last message of the response in binary, and as JSON. */
  readonly bytes: Uint8Array | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers freely
  readonly json: any;
  readonly headers: IncomingHttpHeaders;
}

export interface GrpcAsked {
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The bytes of the request in place of one framed message. */
  readonly raw?: Uint8Array;
  /** True to leave after the first piece of the response. */
  readonly leaves?: boolean;
}

export interface GrpcClient {
  readonly registry: ReturnType<typeof createFileRegistry>;
  /** Calls `SERVICE/METHOD`, the service without its vendor's packages. */
  call(path: string, json: object, asked?: GrpcAsked): Promise<Outcome>;
  close(): void;
}

/** One message with its prefix. */
export function framed(message: Uint8Array, flags = 0): Buffer {
  const prefix = Buffer.from([flags, 0, 0, 0, 0]);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** A client of `sandbox` at `url`, which calls as `admin` unless told otherwise (`token: undefined` sends none). */
export function grpcClient(sandbox: Sandbox, url: string): GrpcClient {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, sandbox.descriptors()));
  const session = connect(url);
  const type = (name: string) => {
    const found = registry.getMessage(name);
    if (found === undefined) throw new Error(`no message ${name}`);
    return found;
  };
  const details = (headers: IncomingHttpHeaders): unknown => {
    const bytes = headers["grpc-status-details-bin"];
    if (bytes === undefined) return undefined;
    const status = fromBinary(type("google.rpc.Status"), Buffer.from(String(bytes), "base64"));
    return (toJson(type("google.rpc.Status"), status, { registry }) as { details?: unknown }).details;
  };
  return {
    registry,
    async call(path, json, asked = {}) {
      const token = "token" in asked ? asked.token : sandbox.token("admin");
      const [name = "", rpc] = path.split("/");
      const service = registry.getService(name) ?? registry.getService(`${VENDOR_TYPES}.${name}`);
      const method = service?.methods.find((one) => one.name === rpc);
      const body =
        asked.raw ??
        framed(method ? toBinary(method.input, fromJson(method.input, json as never, { registry })) : Buffer.of());
      const { headers, messages } = await exchange(session, body, asked.leaves === true, {
        ":path": method ? `/${service?.typeName}/${rpc}` : `/${path}`,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...asked.headers,
      });
      const [last] = messages.slice(-1);
      const answer = method && last && fromBinary(method.output, last);
      return {
        code: Number(headers["grpc-status"]),
        message: decodeURIComponent(String(headers["grpc-message"] ?? "")),
        details: details(headers),
        bytes: last,
        json: method && answer && toJson(method.output, answer, { registry }),
        headers,
      };
    },
    close: () => session.destroy(),
  };
}

function exchange(
  session: ClientHttp2Session,
  body: Uint8Array,
  leaves: boolean,
  headers: Record<string, string>,
): Promise<{ headers: IncomingHttpHeaders; messages: Buffer[] }> {
  return new Promise((resolve, reject) => {
    const all: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    const stream = session.request({
      ":method": "POST",
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    stream.on("response", (part) => Object.assign(all, part));
    stream.on("trailers", (part) => Object.assign(all, part));
    stream.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (leaves) stream.close(constants.NGHTTP2_CANCEL);
    });
    stream.on("error", reject);
    stream.on("close", () => resolve({ headers: all, messages: split(Buffer.concat(chunks)) }));
    stream.end(body);
  });
}

function split(bytes: Buffer): Buffer[] {
  if (bytes.length === 0) return [];
  const end = 5 + bytes.readUInt32BE(1);
  return [bytes.subarray(5, end), ...split(bytes.subarray(end))];
}
