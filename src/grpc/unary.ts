/** A unary call of v1 that rules may have translated: message, HTTP request, the sentence, HTTP response, message. */

import type { CredentialShares } from "../model/credential-shares.ts";
import { type ClientResponse, type HeaderList, HOP_BY_HOP } from "../model/http.ts";
import { httpOfRpc, Problem } from "../model/problem.ts";
import type { Decide, PassPlan, PassThroughObserver, RequestContext, ResponsePlan } from "../model/request.ts";
import { createSignalController } from "../model/signal.ts";
import { recordCredential } from "../server/incoming-request.ts";
import { guardWatch } from "../server/passthrough.ts";
import { discard } from "../server/respond.ts";
import { decode } from "../upstream/client.ts";
import {
  CONTENT_TYPE,
  closeAfter,
  endCall,
  endWithTrailers,
  failCall,
  type GrpcCall,
  http2Headers,
  ownFields,
  recordStatus,
  writeHead,
} from "./call.ts";
import type { Descriptors, Rpc } from "./descriptors.ts";
import { type MessageLimits, type ReadMessage, readMessage, tooLarge, withPrefix } from "./messages.ts";
import { type RelayPlan, type RelayTarget, relayCall } from "./relay.ts";
import { type RpcStatus, statusTrailers } from "./status.ts";
import { requestOf, responseJson, responseOf } from "./transcode.ts";

export interface UnaryParts {
  readonly decide: Decide;
  readonly descriptors: Descriptors;
  readonly limits: MessageLimits;
  readonly unknownRequest: "drop" | "pass" | "refuse";
  readonly native: RelayTarget | undefined;
  readonly callers: CredentialShares;
  readonly log: (message: string, cause: unknown) => void;
}

/** JSON takes more than the message that it becomes; a list is given up when it takes this many times its limit. */
const JSON_FACTOR = 4;
/** Fields that speak of a JSON body, or of another connection. */
const OF_JSON: ReadonlySet<string> = new Set([...HOP_BY_HOP, "cache-control", "retry-after", "vary", "via"]);

/** The request as the sentence takes it: v1's own, over HTTP. */
export function contextOf(call: GrpcCall, method: string, target: string): RequestContext {
  const { exchange, credential, deadline } = call;
  const headers: HeaderList = [
    ...call.headers.filter(([name]) => name !== "content-type"),
    ["content-type", "application/json"],
  ];
  return { method, target, headers, credential, deadline, exchange };
}

/** Ends `call` in every case. */
export async function serveUnary(call: GrpcCall, rpc: Rpc, parts: UnaryParts): Promise<void> {
  const controller = createSignalController();
  call.stop = controller.abort;
  let message: ReadMessage | undefined;
  try {
    message = await readMessage(call, parts.limits, controller.signal);
    call.stream.on("close", message.release);
    const request = requestOf(rpc, message.bytes, parts.descriptors.registry);
    noteUnknown(call, request.unknown, parts.unknownRequest);
    const plan = parts.decide(contextOf(call, request.method, request.target));
    if (plan.kind === "pass") passWhole(call, rpc, plan, { request: request.body, whole: message.whole }, parts);
    else if (plan.kind === "answer") await respond(call, rpc, plan, request.body, controller.signal, parts);
    else throw new Error("a gRPC call is no form");
  } catch (error) {
    failCall(call, Problem.from(error));
  }
}

function noteUnknown({ exchange }: GrpcCall, unknown: readonly number[], handling: UnaryParts["unknownRequest"]): void {
  if (unknown.length === 0) return;
  for (const no of unknown) exchange.unknownFields.push({ direction: "request", name: `#${no}` });
  if (handling !== "refuse") return;
  throw new Problem("INVALID_BODY", `fields that v1 does not know: ${unknown.join(", ")}`, {
    options: ["unknownFields.request"],
  });
}

async function respond(
  call: GrpcCall,
  rpc: Rpc,
  plan: ResponsePlan,
  body: Uint8Array,
  signal: Parameters<ResponsePlan["respond"]>[1],
  { limits, callers, descriptors }: UnaryParts,
): Promise<void> {
  const { exchange, stream } = call;
  let answer: ClientResponse;
  try {
    answer = await plan.respond(body, signal);
  } finally {
    recordCredential(call, callers);
  }
  if (call.ended) {
    discard(answer.body);
    return;
  }
  const hold = limits.memory.open(limits.shareOf(call.credential));
  stream.on("close", () => hold.resize(0));
  const json =
    answer.body instanceof Uint8Array ? answer.body : await gather(answer.body, limits.maxBytes, hold.resize);
  if (call.ended) return;
  const planned = plan.headers ?? [];
  if (answer.status >= 300) {
    endCall(call, call.codec.ofJson(answer.status, json), [...own(answer.headers), ...planned]);
    return;
  }
  const bytes = responseOf(rpc, json, descriptors.registry);
  if (bytes.length > limits.maxBytes) throw tooLarge("response", bytes.length, limits.maxBytes, exchange.list?.records);
  hold.resize(bytes.length);
  const fields = ownFields([CONTENT_TYPE, ...own(answer.headers)], exchange.requestId, planned);
  call.ended = true;
  recordStatus(exchange, 0);
  exchange.responseBytes = bytes.length;
  writeHead(stream, 200, http2Headers(fields), false);
  endWithTrailers(stream, statusTrailers({ code: 0, message: "" }), withPrefix(bytes));
  closeAfter(stream);
}

function own(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => !OF_JSON.has(name) && !name.startsWith("content-") && !name.startsWith("grpc-"));
}

async function gather(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
  hold: (bytes: number) => void,
): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > maxBytes * JSON_FACTOR) throw tooLarge("response", length, maxBytes);
    all.push(piece);
    hold(length);
  }
  return Buffer.concat(all, length);
}

/** Native v1 gets the client's own bytes; who compares sees them as HTTP would have carried them. */
function passWhole(
  call: GrpcCall,
  rpc: Rpc,
  { headers, watch }: PassPlan,
  { request, whole }: { readonly request: Uint8Array; readonly whole: Uint8Array },
  { native, callers, limits, descriptors, log }: UnaryParts,
): void {
  if (native === undefined) throw new Error("no native v1");
  const watched = watch === undefined ? undefined : guardWatch(watch, (cause) => log("a watch failed", cause));
  watched?.sent(request);
  const toJson = (message: Uint8Array): string => responseJson(rpc, message, descriptors.registry);
  relayCall(call, native, {
    headers,
    whole,
    answered: () => recordCredential(call, callers),
    ...(watched === undefined ? {} : { watch: watchJson(watched, limits.maxBytes, toJson, call.codec.toJson) }),
  });
}

/** Hands a native response on in JSON, once it is whole. */
function watchJson(
  observer: PassThroughObserver,
  maxBytes: number,
  toJson: (message: Uint8Array) => string,
  statusJson: (status: RpcStatus) => string,
): NonNullable<RelayPlan["watch"]> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  const tell = (http: number, json: string): void => {
    observer.head(http, [["content-type", "application/json"]]);
    observer.data(Buffer.from(json));
    observer.over(true);
  };
  return {
    data(chunk) {
      length += chunk.length;
      if (length > maxBytes) pieces = [];
      else pieces.push(Uint8Array.from(chunk));
    },
    over(status) {
      if (status === undefined || length > maxBytes) observer.over(false);
      else if (status.code !== 0) tell(httpOfRpc(status.code), statusJson(status));
      else {
        const whole = Buffer.concat(pieces, length);
        const bytes = whole.subarray(5);
        const message = whole[0] === 1 ? decode("gzip", bytes, maxBytes) : Promise.resolve(bytes);
        message.then(toJson).then(
          (json) => tell(200, json),
          () => observer.over(false),
        );
      }
    },
  };
}
