/** One gRPC call, from its head to its trailers. */
import type { OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { constants } from "node:http2";
import type { Arrival } from "../edge/edge.ts";
import { addResponseHeaders } from "../edge/headers.ts";
import { recordProblem } from "../edge/record.ts";
import { missingHeaders } from "../model/deprecation.ts";
import type { Exchange } from "../model/exchange.ts";
import { type HeaderField, type HeaderList, OurHeader } from "../model/http.ts";
import { httpOfRpc, type Problem } from "../model/problem.ts";
import type { RequestContext } from "../model/request.ts";
import { type RpcStatus, type StatusCodec, statusTrailers } from "./status.ts";

/** `target`: the path of the rpc. `headers`: for an upstream, without what belongs to gRPC itself. */
export interface GrpcCall extends RequestContext {
  readonly stream: ServerHttp2Stream;
  /** The client's fields, without pseudo-header fields. */
  readonly received: HeaderList;
  readonly credential: string;
  /** Until then it may wait in a queue. */
  readonly deadline: number;
  readonly codec: StatusCodec;
  readonly arrival: Arrival<GrpcCall>;
  /** One message each way, as the descriptors say; false where they do not say. */
  isUnary: boolean;
  /** Trailers have been handed over, or the client has left. */
  ended: boolean;
  /** Stops what is under way. */
  stop: ((reason: unknown) => void) | undefined;
}

/** What fields inherit, since a client may call one `constructor`. (An object without a prototype takes several times as long to copy.) */
const NOTHING = Object.freeze(Object.create(null));
const ONLY_HEAD = { endStream: true };
const WITH_TRAILERS = { waitForTrailers: true };
export const CONTENT_TYPE: HeaderField = ["content-type", "application/grpc"];

/** Fields as node:http2 takes them: repeats as one list. */
export function http2Headers(list: HeaderList): OutgoingHttpHeaders {
  const fields: OutgoingHttpHeaders = Object.create(NOTHING);
  for (const field of list) addField(fields, field);
  return fields;
}

export function addField(fields: OutgoingHttpHeaders, [name, value]: HeaderField): void {
  const before = fields[name];
  if (before === undefined) fields[name] = value;
  else if (Array.isArray(before)) before.push(value);
  else fields[name] = [String(before), value];
}

/** Fields as node:http2 gives them (name, value, name, value), without pseudo-header fields. */
export function headersOf(raw: readonly string[]): HeaderField[] {
  const list: HeaderField[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? "";
    if (!name.startsWith(":")) list.push([name, raw[i + 1] ?? ""]);
  }
  return list;
}

/** Notes how a call ended, in the words of HTTP and of gRPC. */
export function recordStatus(exchange: Exchange, code: number): void {
  exchange.status = httpOfRpc(code);
  if (exchange.rpc !== undefined) exchange.rpc.code = code;
}

/** Ends `call` with `status`; `headers` go out with it where the response has not begun. */
export function endCall(call: GrpcCall, status: RpcStatus, headers: HeaderList = []): void {
  const { stream, exchange } = call;
  if (call.ended) return;
  call.ended = true;
  recordStatus(exchange, status.code);
  if (stream.destroyed || stream.closed) return;
  const trailers = statusTrailers(status);
  if (stream.headersSent) {
    endWithTrailers(stream, trailers);
  } else {
    const fields = ownFields([CONTENT_TYPE], exchange.requestId, headers);
    writeHead(stream, 200, Object.assign(http2Headers(fields), trailers), true);
  }
  closeAfter(stream);
}

/** `fields`, and those that every response gets: `Via`, the request id, and `planned` where they are missing. */
export function ownFields(fields: HeaderField[], requestId: string, planned: HeaderList): HeaderField[] {
  addResponseHeaders(fields, requestId, "");
  if (planned.length > 0) fields.push(...missingHeaders(fields, planned));
  return fields;
}

/** Begins a response with `fields`, which are its own, and ends it where it `isLast`; otherwise trailers follow. Throws for fields that node:http2 does not send. */
export function writeHead(
  stream: ServerHttp2Stream,
  status: number,
  fields: OutgoingHttpHeaders,
  isLast: boolean,
): void {
  if (stream.destroyed || stream.closed) return;
  fields[":status"] = status;
  stream.respond(fields, isLast ? ONLY_HEAD : WITH_TRAILERS);
}

/** Ends a response that has begun. Trailers that node:http2 does not send cost the stream. */
export function endWithTrailers(stream: ServerHttp2Stream, trailers: OutgoingHttpHeaders, last?: Uint8Array): void {
  stream.on("wantTrailers", () => {
    try {
      stream.sendTrailers(trailers);
    } catch {
      stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    }
  });
  if (last === undefined) stream.end();
  else stream.end(last);
}

/** The rest of a request whose call is over is not read. */
export function closeAfter(stream: ServerHttp2Stream): void {
  const close = (): void => {
    if (!stream.destroyed) stream.close(constants.NGHTTP2_NO_ERROR);
  };
  if (stream.readableEnded) return;
  stream.resume();
  if (stream.writableFinished) close();
  else stream.once("finish", close);
}

/** Stops what is under way for `call`, and ends it with `problem`. */
export function failCall(call: GrpcCall, problem: Problem): void {
  if (call.ended) return;
  const { apiVersion, mode } = call.exchange;
  recordProblem(call.exchange, problem);
  call.stop?.(problem);
  const served = apiVersion === "v1" && mode !== "refused" && mode !== "pass";
  endCall(call, call.codec.ofProblem(problem), served ? [[OurHeader.MODE, mode]] : []);
}
