/**
 * gRPC in and out of the sandbox. A call of the platform becomes the HTTP request of its rule and is answered by the same `Send`: there is
 * one behaviour. Health and reflection need no token.
 */
import { createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { type DescMethod, type FileRegistry, fromBinary, toJson } from "@bufbuild/protobuf";
import { grpcTimeoutMs } from "../gateway/misbehave.ts";
import type { HeaderList, Send } from "../http.ts";
import type { JsonObject } from "../json.ts";
import { RpcCode } from "../refusal.ts";
import { Failure, messagesOf, sendMessage, sendStatus } from "./frames.ts";
import { health, reflect } from "./reflection.ts";
import { fromHttp, httpRule, isStatus, toHttp } from "./transcode.ts";

export interface GrpcOptions {
  readonly send: Send;
  /** Called once, for the first call. */
  readonly registry: () => FileRegistry;
  readonly maxMessageBytes: number;
}

/** A call whose messages have not been read. */
interface GrpcCall {
  readonly stream: ServerHttp2Stream;
  readonly method: DescMethod;
  readonly headers: HeaderList;
  readonly messages: AsyncGenerator<Buffer>;
}

/** The longest that a timer waits. */
const LONGEST_MS = 2 ** 31 - 1;

/** An HTTP/2 server, without TLS, that listens nowhere: connections are handed to it. */
export function createGrpcServer({ send, registry, maxMessageBytes }: GrpcOptions): Http2Server {
  let known: FileRegistry | undefined;
  const server = createServer();
  server.on("stream", async (stream, headers) => {
    // A client that has left is no fault of the server's.
    stream.on("error", () => {});
    known ??= registry();
    try {
      await serve(begin(stream, headers, known, maxMessageBytes), known, send);
    } catch (error) {
      if (error instanceof Failure && !stream.headersSent) sendStatus(stream, error.status);
      // No answer is what a fault layer asked for. After a first message there is no status for a later one.
      else stream.close();
    }
  });
  return server;
}

function begin(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  registry: FileRegistry,
  limit: number,
): GrpcCall {
  const path = String(headers[":path"]);
  const [, service = "", name] = path.split("/");
  const method = registry.getService(service)?.methods.find((one) => one.name === name);
  if (method === undefined) throw new Failure(RpcCode.UNIMPLEMENTED, `unknown method ${path}`);
  const encoding = String(headers["grpc-encoding"] ?? "identity");
  if (encoding !== "identity" && encoding !== "gzip") {
    throw new Failure(RpcCode.UNIMPLEMENTED, `no decompressor for ${encoding}`);
  }
  return { stream, method, headers: headerList(headers), messages: messagesOf(stream, encoding, limit) };
}

function headerList(headers: IncomingHttpHeaders): HeaderList {
  return Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith(":") || value === undefined ? [] : [value].flat().map((one) => [name, one] as const),
  );
}

async function serve(call: GrpcCall, registry: FileRegistry, send: Send): Promise<void> {
  const { stream, method, messages } = call;
  switch (method.parent.typeName) {
    case "grpc.health.v1.Health":
      sendMessage(stream, health(method, await only(messages), registry));
      // A watch goes on until its client leaves: the health of the sandbox never changes.
      if (method.methodKind === "unary") stream.end();
      return;
    case "grpc.reflection.v1.ServerReflection":
      for await (const message of messages) sendMessage(stream, reflect(method, message, registry));
      stream.end();
      return;
    default:
      await unary(call, registry, send);
  }
}

async function unary(
  { stream, method, headers, messages }: GrpcCall,
  registry: FileRegistry,
  send: Send,
): Promise<void> {
  const rule = httpRule(method, registry);
  if (rule === undefined) throw new Failure(RpcCode.UNIMPLEMENTED, `${method.name} is not served`);
  const request = toHttp(rule, requestJson(method, await only(messages), registry), headers);
  const stop = new AbortController();
  stream.once("close", () => stop.abort());
  const timer = setTimeout(
    () => sendStatus(stream, { code: RpcCode.DEADLINE_EXCEEDED, message: "Deadline exceeded" }),
    Math.min(grpcTimeoutMs(request), LONGEST_MS),
  );
  try {
    const response = await send(request, { signal: stop.signal });
    const result = orFailure("marshaling response", () => fromHttp(method, response, registry));
    if (isStatus(result)) return sendStatus(stream, result);
    sendMessage(stream, result);
    stream.end();
  } finally {
    clearTimeout(timer);
  }
}

/** Field names are those of .proto files: HTTP rules name them so, and every decoder takes them. */
function requestJson(method: DescMethod, message: Uint8Array, registry: FileRegistry): JsonObject {
  return orFailure("unmarshaling request", () => {
    const request = fromBinary(method.input, message);
    return toJson(method.input, request, { registry, useProtoFieldName: true }) as JsonObject;
  });
}

/** What `run` gives; an error of its own ends the call. */
function orFailure<T>(doing: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new Failure(RpcCode.INTERNAL, `error ${doing}: ${String(error)}`);
  }
}

async function only(messages: AsyncIterable<Buffer>): Promise<Buffer> {
  let first: Buffer | undefined;
  for await (const one of messages) {
    if (first !== undefined) throw new Failure(RpcCode.INTERNAL, "more than one message");
    first = one;
  }
  if (first === undefined) throw new Failure(RpcCode.INTERNAL, "no message");
  return first;
}
