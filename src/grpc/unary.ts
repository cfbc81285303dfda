/** A unary call of v1 that rules may have translated: message, HTTP request, the sentence, HTTP response, message. */
import type { JsonValue } from "@bufbuild/protobuf";
import { discard } from "../edge/body-portions.ts";
import { createByteBuffer } from "../edge/byte-buffer.ts";
import { inTurn } from "../edge/processor-share.ts";
import { guardWatch, recordCredential } from "../edge/record.ts";
import type { CredentialShares } from "../model/credential-shares.ts";
import type { ClientResponse, HeaderList } from "../model/http.ts";
import type { MemoryReservation } from "../model/memory-budget.ts";
import { httpOfRpc, Problem, tooLarge } from "../model/problem.ts";
import type {
  Choice,
  PassPlan,
  PassThroughObserver,
  RequestContext,
  RequestProxy,
  ResponsePlan,
} from "../model/request.ts";
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
import { metadataFields, metadataOf } from "./metadata.ts";
import { type RelayPlan, type RelayTarget, relayCall } from "./relay.ts";
import { MOST_ERROR_BYTES, type RpcStatus, statusTrailers } from "./status.ts";
import {
  decodeRequest,
  jsonOfRequest,
  partsOfResponse,
  readable,
  requestOf,
  responseJson,
  responseOf,
  type TranscodedRequest,
} from "./transcode.ts";
import type { CountWire } from "./wire.ts";

export interface UnaryParts {
  readonly proxy: Pick<RequestProxy, "plan">;
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

/** Decided from the head of a call. */
export interface ChosenCall {
  readonly choice: Choice;
  /** The fields of its HTTP request. */
  readonly headers: HeaderList;
  /** How native v1 gets a message that cannot be read here; then nothing is compared. Undefined where it does not. */
  readonly unread: PassPlan | undefined;
}

const NO_BYTES = new Uint8Array();
/** Work on a message that is no longer takes as long as on any other request. */
const SHORT_BYTES = 1024;
/** Numbers of unknown fields in an error. */
const SHOWN_NUMBERS = 20;
/** Longer native responses are not compared. */
const WATCHED_BYTES = 4 * 1024 ** 2;
/** Of a list whose length is not known, this many times what has come is waited for. */
const GROWTH = 8;

/** The request as the sentence takes it: v1's own, over HTTP. */
export function contextOf(
  { headers: metadata, exchange, credential, deadline }: GrpcCall,
  method: string,
  target: string,
  headers: HeaderList = [
    ...metadata.filter(([name]) => name !== "content-type"),
    ["content-type", "application/json"],
    ...metadataFields(metadata),
  ],
): RequestContext {
  return { method, target, headers, credential, deadline, exchange };
}

/** Ends `call` in every case. */
export async function serveUnary(call: GrpcCall, rpc: Rpc, parts: UnaryParts, chosen: ChosenCall): Promise<void> {
  const controller = createSignalController();
  call.stop = controller.abort;
  const { signal } = controller;
  const { bodyBytes, requestBytes } = parts.limits;
  try {
    const { choice, headers, unread } = chosen;
    const most = unread === undefined ? Math.min(bodyBytes, requestBytes) : requestBytes;
    const message = await readMessage(call, most, parts.limits, signal);
    call.stream.on("close", message.release);
    const step = stepsOf(call, message.bytes, parts, signal);
    const request = await readRequest(call, rpc, message.bytes, step, parts).catch((error: unknown) => {
      if (unread === undefined || signal.aborted) throw error;
      passWhole(call, rpc, unread, { request: NO_BYTES, whole: message.whole }, parts);
      return undefined;
    });
    if (request === undefined) return;
    const context = contextOf(call, request.method, request.target, headers);
    const plan = await step(() => parts.proxy.plan(choice, context));
    if (plan.kind === "pass") passWhole(call, rpc, plan, { request: request.body, whole: message.whole }, parts);
    else {
      const begin = async () => step(() => plan.respond(request.body, signal));
      await respond({ call, rpc, plan, context, signal, begin }, parts);
    }
  } catch (error) {
    failCall(call, Problem.from(error));
  }
}

/** Runs a part of the work on a call. */
type Step = <T>(work: () => T | Promise<T>) => T | Promise<T>;

/** The work on a short message is done at once. That on a longer one waits before each part, and longer for callers that are not known yet. */
function stepsOf(
  { credential }: GrpcCall,
  { length }: Uint8Array,
  { limits: { shareOf, processorShare }, turn }: UnaryParts,
  signal: Signal,
): Step {
  if (length <= SHORT_BYTES) return (work) => work();
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

/** Throws URI_TOO_LONG where the head of the HTTP request, which has metadata twice, would be longer than one that is accepted over HTTP. */
function checkHeadLength({ headers }: GrpcCall, target: string, limit: number): void {
  const own = lengthOf(headers);
  // Each name becomes a little longer; most calls have far less than half of it.
  const count = target.length + own + (own * 2 > limit / 2 ? lengthOf(metadataFields(headers)) : 0);
  if (count <= limit) return;
  const what = "the message's fields become a request target";
  throw new Problem("URI_TOO_LONG", `${what} that is longer, with the metadata, than ${limit} bytes: send fewer ids`, {
    metadata: { limit: String(limit), count: String(count), unit: "bytes" },
    options: ["limits.headerBytes"],
  });
}

function lengthOf(fields: HeaderList): number {
  return fields.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
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

/** A translated call whose response is to be made. */
interface TranslatedCall {
  readonly call: GrpcCall;
  readonly rpc: Rpc;
  readonly plan: ResponsePlan;
  readonly context: RequestContext;
  readonly signal: Signal;
  readonly begin: () => Promise<ClientResponse>;
}

async function respond(translated: TranslatedCall, parts: UnaryParts): Promise<void> {
  const { call, plan, begin } = translated;
  const { exchange, stream } = call;
  let answer: ClientResponse;
  try {
    answer = await begin();
  } finally {
    recordCredential(call, parts.callers);
  }
  if (call.ended) {
    discard(answer.body);
    return;
  }
  const planned = plan.headers ?? [];
  if (answer.status >= 300) {
    // Of an error, no more is read than its status has room for.
    const json = answer.body instanceof Uint8Array ? answer.body : await gather(answer.body, MOST_ERROR_BYTES);
    if (call.ended) return;
    endCall(call, call.codec.ofJson(answer.status, json ?? NO_BYTES), [...metadataOf(answer.headers), ...planned]);
    return;
  }
  const { body } = answer;
  const messages =
    body instanceof Uint8Array
      ? [await wholeMessage(translated, body, parts)]
      : await longMessage(translated, body, answer.expected, parts);
  if (call.ended) return;
  const fields = ownFields([contentType(call), ...metadataOf(answer.headers)], exchange.requestId, planned);
  const [first = NO_BYTES, ...rest] = messages;
  const length = messages.reduce((sum, part) => sum + part.length, 0);
  recordStatus(exchange, 0);
  exchange.responseBytes = length;
  writeHead(call, 200, http2Headers(fields), false);
  if (rest.length > 0) stream.write(withPrefix(first, length));
  const last = rest.pop();
  for (const part of rest) stream.write(part);
  endWithTrailers(call, statusTrailers({ code: 0, message: "" }), last ?? withPrefix(first));
}

/** Gives the names of new enum values their numbers in a piece of JSON, and counts those that have none. */
function numbering({ exchange }: GrpcCall, rpc: Rpc, { numberEnums }: UnaryParts): (json: JsonValue) => void {
  return (json) => numberEnums(rpc.method.output, json, (field) => noteUnknown(exchange, "response", field));
}

/** The message of a short response. Throws Problem for one that is too large. */
async function wholeMessage({ call, rpc }: TranslatedCall, json: Uint8Array, parts: UnaryParts): Promise<Uint8Array> {
  const { limits, descriptors, turn } = parts;
  const hold = limits.memory.open(limits.shareOf(call.credential));
  call.stream.on("close", () => hold.resize(0));
  hold.resize(json.length);
  const bytes = await responseOf(rpc, json, descriptors.registry, turn, numbering(call, rpc, parts));
  const { responseBytes: limit } = limits;
  if (bytes.length > limit) throw responseTooLarge(bytes.length, limit, call.exchange.list?.records);
  hold.resize(call.stream.closed ? 0 : bytes.length);
  return bytes;
}

/**
 * The message of a long list, in parts. Waits for memory once its size can be guessed. Throws Problem for one that is too large as soon as
 * the platform's total shows it: no record to come is taken to be smaller than those that were the smallest so far.
 */
async function longMessage(
  { call, rpc, context, signal }: TranslatedCall,
  pieces: AsyncIterable<Uint8Array>,
  expected: number | undefined,
  parts: UnaryParts,
): Promise<Uint8Array[]> {
  const { descriptors, turn } = parts;
  const { memory, responseBytes: limit, shareOf } = parts.limits;
  const owner = shareOf(call.credential);
  const messages: Uint8Array[] = [];
  let hold: MemoryReservation | undefined;
  call.stream.on("close", () => hold?.resize(0));
  let length = 0;
  let records = 0;
  let least = Number.POSITIVE_INFINITY;
  for await (const part of partsOfResponse(rpc, pieces, descriptors.registry, turn, numbering(call, rpc, parts))) {
    length += part.bytes.length;
    records += part.records;
    messages.push(part.bytes);
    if (part.records > 0) least = Math.min(least, part.bytes.length / part.records);
    const missing = Math.max(0, (expected ?? 0) - records);
    const whole = length + (missing === 0 ? 0 : Math.floor(missing * least));
    if (whole > limit) throw responseTooLarge(whole, limit, expected, true);
    context.holdsResponse = true;
    const wanted = Math.min(expected === undefined ? length * GROWTH : Math.max(whole, length), limit);
    hold ??= await memory.reserve(owner, Math.min(wanted, memory.share), signal);
    if (call.stream.closed) hold.resize(0);
    else if (length > wanted) hold.resize(Math.min(length, memory.share));
  }
  return messages;
}

/** Undefined for more than `most` bytes. */
async function gather(pieces: AsyncIterable<Uint8Array>, most: number): Promise<Uint8Array | undefined> {
  const all: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > most) return undefined;
    all.push(piece);
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
  readonly limits: Pick<MessageLimits, "memory">;
  readonly toJson: (message: Uint8Array) => Promise<string>;
  readonly statusJson: (status: RpcStatus) => string;
}

/** Hands a native response on in JSON, once it is whole. Drops a copy that is too large, or for which there is no memory. */
function watchJson(
  observer: PassThroughObserver,
  { owner, limits: { memory }, toJson, statusJson }: WatchOptions,
): NonNullable<RelayPlan["watch"]> {
  const copy = createByteBuffer(WATCHED_BYTES);
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
    tell(200, await toJson(whole[0] === 1 ? await decode("gzip", bytes, WATCHED_BYTES) : bytes));
  };
  return {
    data(chunk) {
      if (dropped) return;
      dropped = copy.length() + chunk.length > WATCHED_BYTES || !memory.fits(owner, chunk.length);
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
