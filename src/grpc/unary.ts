/** A unary call of v1 that rules may have translated: message, HTTP request, the sentence, HTTP response, message. */
import { discard } from "../edge/body-portions.ts";
import { createByteBuffer } from "../edge/byte-buffer.ts";
import { inTurn } from "../edge/processor-share.ts";
import { guardWatch, recordCredential } from "../edge/record.ts";
import type { CredentialShares } from "../model/credential-shares.ts";
import { type ClientResponse, type HeaderList, HOP_BY_HOP } from "../model/http.ts";
import { httpOfRpc, Problem, tooLarge } from "../model/problem.ts";
import type { Decide, PassPlan, PassThroughObserver, RequestContext, ResponsePlan } from "../model/request.ts";
import { createSignalController, type Signal } from "../model/signal.ts";
import { tooManyValues } from "../translate/body.ts";
import { noteUnknown } from "../translate/operation.ts";
import { decode } from "../upstream/client.ts";
import {
  contentType,
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
import type { NumberEnums } from "./enums.ts";
import { type MessageLimits, PREFIX, readMessage, responseTooLarge, withPrefix } from "./messages.ts";
import { type RelayPlan, type RelayTarget, relayCall } from "./relay.ts";
import { MOST_ERROR_BYTES, type RpcStatus, statusTrailers } from "./status.ts";
import {
  decodeRequest,
  jsonOfRequest,
  readable,
  requestOf,
  responseJson,
  responseOf,
  type TranscodedRequest,
} from "./transcode.ts";
import type { CountWire } from "./wire.ts";

export interface UnaryParts {
  readonly decide: Decide;
  readonly descriptors: Descriptors;
  /** `headerBytes`: longest head of the HTTP request that a message becomes. */
  readonly limits: MessageLimits & { readonly headerBytes: number };
  readonly unknownRequest: "drop" | "pass" | "refuse";
  readonly native: RelayTarget | undefined;
  readonly callers: CredentialShares;
  readonly log: (message: string, cause: unknown) => void;
  /** Counts the fields of a message, within the limits of HTTP. */
  readonly count: CountWire;
  readonly numberEnums: NumberEnums;
  /** Resolves when a part of a long piece of work may be done. */
  readonly turn: () => Promise<void>;
}

const NO_BYTES = new Uint8Array();
/** Work on a message that is no longer takes as long as on any other request. */
const SHORT_BYTES = 1024;
/** Numbers of unknown fields in an error. */
const SHOWN_NUMBERS = 20;
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

/** Ends `call` in every case. `unread`: how native v1 gets a message that cannot be read here, and then nothing is compared. */
export async function serveUnary(
  call: GrpcCall,
  rpc: Rpc,
  parts: UnaryParts,
  unread: PassPlan | undefined,
): Promise<void> {
  const controller = createSignalController();
  call.stop = controller.abort;
  const { signal } = controller;
  const { bodyBytes, maxBytes } = parts.limits;
  try {
    const most = unread === undefined ? Math.min(bodyBytes, maxBytes) : maxBytes;
    const message = await readMessage(call, most, parts.limits, signal);
    call.stream.on("close", message.release);
    const step = stepsOf(call, message.bytes, parts, signal);
    const request = await readRequest(call, rpc, message.bytes, step, parts).catch((error: unknown) => {
      if (unread === undefined || signal.aborted) throw error;
      passWhole(call, rpc, unread, { request: NO_BYTES, whole: message.whole }, parts);
      return undefined;
    });
    if (request === undefined) return;
    const plan = await step(() => parts.decide(contextOf(call, request.method, request.target)));
    if (plan.kind === "pass") passWhole(call, rpc, plan, { request: request.body, whole: message.whole }, parts);
    else if (plan.kind === "answer") {
      await respond(call, rpc, plan, () => step(() => plan.respond(request.body, signal)), parts);
    } else throw new Error("a gRPC call is not a form");
  } catch (error) {
    failCall(call, Problem.from(error));
  }
}

/** Runs a part of the work on a call. */
type Step = <T>(work: () => T | Promise<T>) => Promise<T>;

/** The work on a short message is done at once. That on a longer one waits before each part, and longer for callers that are not known yet. */
function stepsOf(
  { credential }: GrpcCall,
  { length }: Uint8Array,
  { limits: { shareOf, processorShare }, turn }: UnaryParts,
  signal: Signal,
): Step {
  if (length <= SHORT_BYTES) return async (work) => work();
  const caller = shareOf(credential);
  return async (work) => {
    await turn();
    signal.throwIfAborted();
    return inTurn(caller, processorShare, signal, work);
  };
}

async function readRequest(
  call: GrpcCall,
  rpc: Rpc,
  bytes: Uint8Array,
  step: Step,
  { count, descriptors, limits: { bodyBytes, headerBytes }, unknownRequest }: UnaryParts,
): Promise<TranscodedRequest> {
  const counted = await step(() => readable(rpc.method.input, () => count(rpc.method.input, bytes)));
  if (counted === undefined) throw tooManyValues("fields");
  noteUnknownNumbers(call, counted.unknown, unknownRequest);
  const message = await step(() => decodeRequest(rpc, counted.bytes));
  const json = await step(() => jsonOfRequest(rpc, message, descriptors.registry));
  const request = await step(() => requestOf(rpc, json));
  if (request.body.length > bodyBytes) throw tooLarge(bodyBytes);
  checkHeadLength(call, request.target, headerBytes);
  return request;
}

/** Throws URI_TOO_LONG where the head of the HTTP request would be longer than one that is accepted over HTTP. */
function checkHeadLength({ headers }: GrpcCall, target: string, limit: number): void {
  const count = headers.reduce((sum, [name, value]) => sum + name.length + value.length, target.length);
  if (count <= limit) return;
  const what = "the message's fields become a request target";
  throw new Problem("URI_TOO_LONG", `${what} that is longer, with the metadata, than ${limit} bytes: send fewer ids`, {
    metadata: { limit: String(limit), count: String(count), unit: "bytes" },
    options: ["limits.headerBytes"],
  });
}

function noteUnknownNumbers(
  { exchange }: GrpcCall,
  numbers: readonly number[],
  handling: UnaryParts["unknownRequest"],
): void {
  if (numbers.length === 0) return;
  for (const number of numbers) noteUnknown(exchange, "request", `#${number}`);
  if (handling !== "refuse") return;
  const shown = numbers.slice(0, SHOWN_NUMBERS).join(", ");
  throw new Problem("INVALID_BODY", `fields that v1 does not know: ${shown}`, { options: ["unknownFields.request"] });
}

async function respond(
  call: GrpcCall,
  rpc: Rpc,
  plan: ResponsePlan,
  begin: () => Promise<ClientResponse>,
  { limits, callers, descriptors, numberEnums, turn }: UnaryParts,
): Promise<void> {
  const { exchange, stream } = call;
  let answer: ClientResponse;
  try {
    answer = await begin();
  } finally {
    recordCredential(call, callers);
  }
  if (call.ended) {
    discard(answer.body);
    return;
  }
  const hold = limits.memory.open(limits.shareOf(call.credential));
  stream.on("close", () => hold.resize(0));
  const isError = answer.status >= 300;
  // Of an error, no more is read than its status has room for.
  const most = isError ? MOST_ERROR_BYTES : limits.maxBytes * JSON_FACTOR;
  const json = answer.body instanceof Uint8Array ? answer.body : await gather(answer.body, most, hold.resize);
  if (call.ended) return;
  const planned = plan.headers ?? [];
  if (isError) {
    endCall(call, call.codec.ofJson(answer.status, json ?? NO_BYTES), [...own(answer.headers), ...planned]);
    return;
  }
  if (json === undefined) throw responseTooLarge(most, limits.maxBytes);
  hold.resize(json.length);
  const bytes = await responseOf(rpc, json, descriptors.registry, turn, (slice) =>
    numberEnums(rpc.method.output, slice, (field) => noteUnknown(exchange, "response", field)),
  );
  if (call.ended) return;
  if (bytes.length > limits.maxBytes) throw responseTooLarge(bytes.length, limits.maxBytes, exchange.list?.records);
  hold.resize(bytes.length);
  const fields = ownFields([contentType(call), ...own(answer.headers)], exchange.requestId, planned);
  recordStatus(exchange, 0);
  exchange.responseBytes = bytes.length;
  writeHead(call, 200, http2Headers(fields), false);
  endWithTrailers(call, statusTrailers({ code: 0, message: "" }), withPrefix(bytes));
}

function own(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => !OF_JSON.has(name) && !name.startsWith("content-") && !name.startsWith("grpc-"));
}

/** Undefined for more than `most` bytes. Calls `hold` with the number of bytes so far. */
async function gather(
  pieces: AsyncIterable<Uint8Array>,
  most: number,
  hold: (bytes: number) => void,
): Promise<Uint8Array | undefined> {
  const all: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > most) return undefined;
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
  { native, callers, limits, descriptors, turn, log }: UnaryParts,
): void {
  if (native === undefined) throw new Error("no native v1");
  const watched = watch === undefined ? undefined : guardWatch(watch, (cause) => log("a watch failed", cause));
  watched?.sent(request);
  relayCall(call, native, {
    headers,
    whole,
    answered: () => recordCredential(call, callers),
    ...(watched === undefined
      ? {}
      : {
          watch: watchJson(watched, {
            owner: limits.shareOf(call.credential),
            limits,
            toJson: (message) => responseJson(rpc, message, descriptors.registry, turn),
            statusJson: call.codec.toJson,
          }),
        }),
  });
}

interface WatchOptions {
  /** Whose memory the copy of a response takes. */
  readonly owner: string;
  readonly limits: MessageLimits;
  readonly toJson: (message: Uint8Array) => Promise<string>;
  readonly statusJson: (status: RpcStatus) => string;
}

/** Hands a native response on in JSON, once it is whole. Drops a copy that is too large, or for which there is no memory. */
function watchJson(
  observer: PassThroughObserver,
  { owner, limits: { maxBytes, memory }, toJson, statusJson }: WatchOptions,
): NonNullable<RelayPlan["watch"]> {
  const copy = createByteBuffer(maxBytes);
  const hold = memory.open(owner);
  let dropped = false;
  const tell = (http: number, json: string): void => {
    observer.head(http, [["content-type", "application/json"]]);
    observer.data(Buffer.from(json));
    observer.over(true);
  };
  const read = async (): Promise<void> => {
    const whole = copy.take();
    const bytes = whole.subarray(PREFIX);
    tell(200, await toJson(whole[0] === 1 ? await decode("gzip", bytes, maxBytes) : bytes));
  };
  return {
    data(chunk) {
      if (dropped) return;
      dropped = copy.length() + chunk.length > maxBytes || !memory.fits(owner, chunk.length);
      if (dropped) copy.take();
      else copy.add(chunk);
      hold.resize(copy.length());
    },
    over(status) {
      const done = (): void => hold.resize(0);
      if (status?.code === 0 && !dropped) {
        read()
          .catch(() => observer.over(false))
          .finally(done);
        return;
      }
      done();
      if (status === undefined || dropped) observer.over(false);
      else tell(httpOfRpc(status.code), statusJson(status));
    },
  };
}
