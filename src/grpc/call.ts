/** One gRPC call, from its head to its trailers. */
import type { OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Arrival } from "../edge/edge.ts";
import { addResponseHeaders } from "../edge/headers.ts";
import { recordProblem } from "../edge/record.ts";
import { missingHeaders } from "../model/deprecation.ts";
import type { Exchange } from "../model/exchange.ts";
import { type HeaderField, type HeaderList, header, OurHeader } from "../model/http.ts";
import { httpOfRpc, type Problem, RpcCode } from "../model/problem.ts";
import type { RequestContext } from "../model/request.ts";
import { throwAwayRest } from "./lingering.ts";
import {
  DETAILS,
  MOST_FIELD_BYTES,
  type RpcStatus,
  type StatusCodec,
  sizeOfFields,
  statusOfTrailers,
  statusTrailers,
  withEndSpaces,
} from "./status.ts";

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
  /** The response is whole, or the client has left. */
  ended: boolean;
  /** To be called when the last of the response is on its way: the call is over, though the client may still send. */
  readonly sent: () => void;
  /** The call is over; calls `then` when its client has ended the request, or soon. */
  readonly whenWhole: (then: () => void) => void;
  /** Stops what is under way. */
  stop: ((reason: unknown) => void) | undefined;
}

/** What fields inherit, since a client may call one `constructor`. (An object without a prototype takes several times as long to copy.) */
const NOTHING = Object.freeze(Object.create(null));
const ONLY_HEAD = { endStream: true };
const WITH_TRAILERS = { waitForTrailers: true };
/** Metadata may have spaces at the ends of its values. Node 20 always drops such fields. */
export const KEEP_SPACES: object = { strictFieldWhitespaceValidation: false };
const SUBTYPE = /^application\/grpc\+[\w.-]{1,64}/i;
/** The encodings that a refused call may be sent in again. */
const ENCODINGS: HeaderField = ["grpc-accept-encoding", "identity,gzip"];

/** Of a response of carryover's own: any subtype means the same messages, and comes back to the client. */
export function contentType({ received }: GrpcCall): HeaderField {
  const [sent] = SUBTYPE.exec(header(received, "content-type") ?? "") ?? [];
  return ["content-type", sent?.toLowerCase() ?? "application/grpc"];
}

/** Fields as node:http2 takes them: repeats as one list. */
export function http2Headers(list: HeaderList): OutgoingHttpHeaders {
  const fields: OutgoingHttpHeaders = Object.create(NOTHING);
  for (const field of list) addField(fields, field);
  return fields;
}

/** Fields that node:http2 refuses to send twice, though metadata may hold them so. Those that say what a call is, or whose, stay refused. */
const SENT_ONCE: ReadonlySet<string> = new Set([
  ...["access-control-allow-credentials", "access-control-max-age", "access-control-request-method", "age"],
  ...["content-language", "content-location", "content-md5", "content-range", "date", "dnt", "etag", "expires", "from"],
  ...["if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "last-modified", "location"],
  ...["max-forwards", "range", "referer", "retry-after", "tk", "upgrade-insecure-requests", "user-agent"],
  "x-content-type-options",
]);

export function addField(fields: OutgoingHttpHeaders, [name, value]: HeaderField): void {
  const before = fields[name];
  if (before === undefined) fields[name] = value;
  else if (SENT_ONCE.has(name)) fields[name] = `${before}, ${value}`;
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
export function recordStatus(exchange: Exchange, code: number, http = httpOfRpc(code)): void {
  exchange.status = http;
  if (exchange.rpc !== undefined) exchange.rpc.code = code;
}

/** Ends `call` with `status`; `headers` go out with it where the response has not begun. `http`: what it counts as, if not the status of its code. */
export function endCall(call: GrpcCall, status: RpcStatus, headers: HeaderList = [], http?: number): void {
  const { stream, exchange } = call;
  if (call.ended) return;
  recordStatus(exchange, status.code, http);
  if (stream.headersSent) {
    endWithTrailers(call, statusTrailers(status, roomFor(stream)));
    return;
  }
  begunToEnd(call);
  const respond = (): void => {
    const fields = http2Headers(ownFields([contentType(call)], exchange.requestId, headers));
    writeHead(call, 200, Object.assign(fields, statusTrailers(status, roomFor(stream, fields))), true);
  };
  if (stream.readableEnded || stream.destroyed) respond();
  else call.whenWhole(respond);
}

/** Bytes of fields that the client of `stream` takes: what it has announced, and `most` at most. `fields`: what goes out in the same head. */
function roomFor(
  { session }: ServerHttp2Stream,
  fields: OutgoingHttpHeaders = NOTHING,
  most = MOST_FIELD_BYTES,
): number {
  const announced = session?.remoteSettings.maxHeaderListSize ?? most;
  return Math.max(0, Math.min(most, announced) - sizeOfFields(fields));
}

/** node:http2 sends no more than 64 KiB of one head, and resets the call instead. */
const MOST_SENT_BYTES = 60 * 1024;

/** Fields of the platform's that hold the status of `call`, as its client can take them: details that are too long are cut as in `statusTrailers`. */
export function statusFields({ stream }: GrpcCall, list: HeaderList): OutgoingHttpHeaders {
  const fields = http2Headers(list);
  const message = fields["grpc-message"];
  if (typeof message === "string") fields["grpc-message"] = withEndSpaces(message);
  if (fields[DETAILS] === undefined) return fields;
  const room = roomFor(stream, NOTHING, MOST_SENT_BYTES);
  const status = statusOfTrailers((name) => header(list, name));
  if (status === undefined || sizeOfFields(fields) <= room) return fields;
  fields[DETAILS] = fields["grpc-message"] = undefined;
  return Object.assign(fields, statusTrailers(status, Math.max(0, room - sizeOfFields(fields))));
}

/** `fields`, and those that every response gets: `Via`, the request id, and `planned` where they are missing. */
export function ownFields(fields: HeaderField[], requestId: string, planned: HeaderList): HeaderField[] {
  addResponseHeaders(fields, requestId, "");
  if (planned.length > 0) fields.push(...missingHeaders(fields, planned));
  return fields;
}

/** Begins a response with `fields`, which are its own, and ends it where it `isLast`; otherwise trailers follow. Throws for fields that node:http2 does not send. */
export function writeHead(call: GrpcCall, status: number, fields: OutgoingHttpHeaders, isLast: boolean): void {
  const { stream } = call;
  const isOpen = !stream.destroyed && !stream.closed;
  fields[":status"] = status;
  if (isOpen) stream.respond(fields, isLast ? ONLY_HEAD : WITH_TRAILERS);
  if (!isLast) return;
  begunToEnd(call);
  if (isOpen) call.sent();
}

/** Ends a response that has begun. The stream stays open until the client, too, has ended it: see `createLingering`. */
export function endWithTrailers(call: GrpcCall, trailers: OutgoingHttpHeaders, last?: Uint8Array): void {
  const { stream } = call;
  begunToEnd(call);
  if (stream.destroyed || stream.closed) return;
  stream.on("wantTrailers", () => {
    sendTrailers(stream, trailers);
    call.sent();
  });
  if (last === undefined) stream.end();
  else stream.end(last);
}

/** Trailers that node:http2 does not send cost the client all but the status. */
function sendTrailers(stream: ServerHttp2Stream, trailers: OutgoingHttpHeaders): void {
  try {
    stream.sendTrailers(trailers);
  } catch {
    const status = statusOfTrailers((name) => (trailers[name] === undefined ? undefined : String(trailers[name])));
    stream.sendTrailers(statusTrailers(status ?? { code: RpcCode.UNKNOWN, message: "" }));
  }
}

function begunToEnd(call: GrpcCall): void {
  if (call.ended) return;
  call.ended = true;
  if (!call.stream.readableEnded) throwAwayRest(call.stream);
}

/** Over HTTP every error says how long it may be kept. */
function brownoutFields({ retryAfter = 0, headers }: Problem): HeaderList {
  return [["cache-control", "no-store"], ["retry-after", String(Math.ceil(retryAfter))], ...headers];
}

/** Stops what is under way for `call`, and ends it with `problem`. */
export function failCall(call: GrpcCall, problem: Problem): void {
  if (call.ended) return;
  const { apiVersion, mode } = call.exchange;
  recordProblem(call.exchange, problem);
  call.stop?.(problem);
  const served = apiVersion === "v1" && mode !== "refused" && mode !== "pass";
  const headers: HeaderField[] = served ? [[OurHeader.MODE, mode]] : [];
  if (problem.reason === "GRPC_UNSUPPORTED") headers.push(ENCODINGS);
  if (problem.reason === "BROWNOUT") headers.push(...brownoutFields(problem));
  // INTERNAL for a client's mistake counts as one of the client's, too.
  const isOwn = problem.code === RpcCode.INTERNAL && problem.fault === "client";
  endCall(call, call.codec.ofProblem(problem), headers, isOwn ? problem.http : undefined);
}
