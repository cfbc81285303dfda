/** Responses of carryover's own: read the body, run the plan, deliver the response whole or in portions, compressed where that is asked for. */
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";
import { type BodyLimits, callerOf, GATHERED_BYTES } from "../edge/body-limits.ts";
import { type BodyPortions, discard, readPortions } from "../edge/body-portions.ts";
import { withBasePath } from "../edge/headers.ts";
import { inTurn } from "../edge/processor-share.ts";
import { recordCredential } from "../edge/record.ts";
import { missingHeaders } from "../model/deprecation.ts";
import {
  type BodyStream,
  type ClientResponse,
  type HeaderField,
  type HeaderList,
  HOP_BY_HOP,
  header,
  headerValues,
} from "../model/http.ts";
import type { MemoryReservation } from "../model/memory-budget.ts";
import { Problem } from "../model/problem.ts";
import type { ResponsePlan } from "../model/request.ts";
import { createSignalController, type Signal } from "../model/signal.ts";
import { hasBody, type IncomingRequest, isAnswered } from "./incoming-request.ts";
import { holdUnsent, readBody, type WholeBody } from "./request-body.ts";
import { isBodyless, sendProblem, writeHead, writeWhole } from "./response.ts";
import { createStallTimer, STALL_MS, stallProblem } from "./stall-timer.ts";

interface RespondOptions {
  readonly bodyBytes: number;
  readonly basePath: string;
  /** How long a client may take nothing of a body that comes in pieces, milliseconds (half a minute). */
  readonly stallMs?: number | undefined;
  readonly bodies: BodyLimits;
}

const NO_BYTES = new Uint8Array(0);

/** Fields that carryover writes itself, or that belong to another connection. */
const OWN_HEADERS: ReadonlySet<string> = new Set([...HOP_BY_HOP, "content-length"]);

/**
 * Reads the body, unless a decision has used it up, asks the plan and answers. Never rejects: what goes wrong becomes a reply.
 */
export async function respond(
  request: IncomingRequest,
  plan: ResponsePlan,
  options: RespondOptions,
  isRead = !hasBody(request),
): Promise<void> {
  const controller = createSignalController();
  request.controller = controller;
  const { callers } = options.bodies;
  let body: WholeBody | undefined;
  try {
    if (!isRead) body = await readBody(request, options.bodyBytes, options.bodies, controller.signal);
    const response = await runPlan(request, plan, body?.bytes ?? NO_BYTES, controller.signal, options.bodies);
    recordCredential(request, callers);
    if (isAnswered(request)) discard(response.body);
    else {
      const delivering = deliver(request, response, plan.headers ?? [], controller.signal, options);
      // Most are whole by now: then there is nothing to wait for.
      if (delivering !== undefined) await delivering;
    }
  } catch (error) {
    recordCredential(request, callers);
    if (!isAnswered(request)) sendProblem(request, Problem.from(error));
  } finally {
    body?.release();
  }
}

/** What a long body costs is known once it is read: callers that the platform has not accepted yet take turns at it. */
function runPlan(
  request: IncomingRequest,
  plan: ResponsePlan,
  body: Uint8Array,
  signal: Signal,
  parts: BodyLimits,
): ClientResponse | Promise<ClientResponse> {
  const work = () => plan.respond(body, signal);
  if (body.length <= GATHERED_BYTES) return work();
  return inTurn(callerOf(request, parts.callers), parts.processorShare, signal, work);
}

function deliver(
  request: IncomingRequest,
  response: ClientResponse,
  planned: HeaderList,
  signal: Signal,
  options: RespondOptions,
): Promise<void> | undefined {
  const { exchange } = request;
  const { status, body } = response;
  const headers = ownHeaders(response.headers, options.basePath);
  headers.push(...missingHeaders(headers, planned));
  if (header(response.headers, "x-request-id") === undefined) headers.push(["x-request-id", exchange.requestId]);
  const encoding = negotiate(request, response, headers);
  if (!(body instanceof Uint8Array)) {
    if (encoding !== undefined) headers.push(["content-encoding", encoding]);
    return writeStream(request, { status, headers, body, encoding }, signal, options);
  }
  if (encoding !== undefined) return deliverCompressed(request, { status, headers, body }, encoding, options.bodies);
  writeWhole(request, status, headers, body, () => holdUnsent(request, options.bodies));
  return undefined;
}

async function deliverCompressed(
  request: IncomingRequest,
  { status, headers, body }: { readonly status: number; readonly headers: HeaderField[]; readonly body: Uint8Array },
  encoding: ContentEncoding,
  bodies: BodyLimits,
): Promise<void> {
  const hold = bodies.memory.open(callerOf(request, bodies.callers));
  hold.resize(body.length);
  const compressed = await compress(body, encoding).finally(() => hold.resize(0));
  request.exchange.notes.push(encoding);
  headers.push(["content-encoding", encoding]);
  if (isAnswered(request)) return;
  writeWhole(request, status, headers, compressed, () => holdUnsent(request, bodies));
}

/** The encoding that this client gets; says in `own` when another might get another. */
function negotiate(
  { received }: IncomingRequest,
  { headers, body }: ClientResponse,
  own: HeaderField[],
): ContentEncoding | undefined {
  if (header(headers, "content-encoding") !== undefined) return undefined;
  const bytes = body instanceof Uint8Array ? body.length : Number.POSITIVE_INFINITY;
  if (!isCompressible(header(headers, "content-type"), bytes)) return undefined;
  own.push(["vary", "Accept-Encoding"]);
  return chooseEncoding(headerValues(received, "accept-encoding"));
}

/** No cache may keep an answer made for one credential, unless the platform itself was stricter. */
function ownHeaders(list: HeaderList, basePath: string): HeaderField[] {
  const headers: HeaderField[] = [];
  let kept = false;
  let varies = false;
  for (const [name, value] of list) {
    if (OWN_HEADERS.has(name)) continue;
    if (name === "cache-control") {
      if (!/\bno-store\b/i.test(value)) continue;
      kept = true;
    } else if (name === "vary" && /(?:^|,)\s*(?:\*|authorization)\s*(?:,|$)/i.test(value)) varies = true;
    headers.push([name, basePath === "" ? value : withBasePath(name, value, basePath)]);
  }
  if (!kept) headers.push(["cache-control", "private, no-store"]);
  if (!varies) headers.push(["vary", "Authorization"]);
  return headers;
}

interface StreamedResponse {
  readonly status: number;
  /** Without length and connection. */
  readonly headers: HeaderField[];
  readonly body: BodyStream;
  readonly encoding: ContentEncoding | undefined;
}

interface StreamedResponseOptions {
  /** How long a client may take nothing, milliseconds (half a minute). */
  readonly stallMs?: number | undefined;
  readonly bodies: BodyLimits;
}

/** True where `body` comes in pieces and the client speaks HTTP/1.0, which has none. `httpVersion` undefined: 1.1. */
export function cannotStream(httpVersion: string | undefined, body: Uint8Array | BodyStream): boolean {
  return !(body instanceof Uint8Array || httpVersion === undefined || httpVersion === "1.1");
}

/** Throws DRAIN_TOO_LARGE where the client's HTTP is too old for `body`, and ends the making of it. */
function refuseOldHttp(httpVersion: string, body: Uint8Array | BodyStream): void {
  if (!cannotStream(httpVersion, body)) return;
  discard(body);
  throw new Problem(
    "DRAIN_TOO_LARGE",
    "the list is too long for HTTP/1.0, which cannot tell a cut answer from a whole one: use HTTP/1.1, or narrow it with a filter",
    // Any other client of the rule gets the list.
    { fault: "client", options: ["lists.bufferBytes"] },
  );
}

/**
 * Writes `reply` in chunks, the next portion only when the client has taken the last. Rejects when there is no first portion,
 * before anything was written, so that the failure gets a reply of its own. Later a failure cuts the answer off, and so does a
 * client that takes nothing for `stallMs`: no final chunk, nothing that could be read as whole.
 * When `signal` aborts, whatever makes the body is stopped at once.
 */
async function writeStream(
  request: IncomingRequest,
  reply: StreamedResponse,
  signal: Signal,
  options: StreamedResponseOptions,
): Promise<void> {
  refuseOldHttp(request.req.httpVersion, reply.body);
  if (isBodyless(request, reply.status)) {
    discard(reply.body);
    writeHead(request, reply.status, undefined, reply.headers);
    request.res.end();
    return;
  }
  const taken = readPortions(reply.body);
  const pieces = reply.encoding === undefined ? taken : compressPortions(taken, reply.encoding);
  await writePortions(request, reply, pieces, signal, options);
}

async function writePortions(
  request: IncomingRequest,
  reply: StreamedResponse,
  pieces: BodyPortions,
  signal: Signal,
  { stallMs = STALL_MS, bodies }: StreamedResponseOptions,
): Promise<void> {
  const { res } = request;
  let hold: MemoryReservation | undefined;
  let over = false;
  const stop = () => {
    over = true;
    pieces.stop();
    patience.giveUp();
  };
  const fail = (error: unknown) => {
    if (over) return;
    stop();
    sendProblem(request, Problem.from(error));
  };
  const patience = createStallTimer(request.res, stallMs, () => fail(stallProblem(stallMs)));
  let begun = false;
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const portion = await pieces.next();
      if (over) return;
      if (!begun) beginResponse(request, reply);
      begun = true;
      if (portion === undefined) break;
      if (writePortion(request, portion)) continue;
      hold ??= bodies.memory.open(callerOf(request, bodies.callers));
      hold.resize(res.writableLength);
      await patience.taken();
      hold.resize(0);
    }
    request.res.end();
  } catch (error) {
    if (!begun && !over) throw error;
    fail(error);
  } finally {
    hold?.resize(0);
    signal.removeEventListener("abort", stop);
    pieces.stop();
  }
}

function beginResponse(request: IncomingRequest, { status, headers, encoding }: StreamedResponse): void {
  if (encoding !== undefined) request.exchange.notes.push(encoding);
  writeHead(request, status, undefined, headers);
}

/** False when the client has to take something first. Node holds what is written within one tick and hands it over at once. */
function writePortion({ res, exchange }: IncomingRequest, portion: readonly Uint8Array[]): boolean {
  let ready = true;
  for (const piece of portion) {
    exchange.responseBytes += piece.length;
    ready = res.write(piece);
  }
  return ready;
}

type ContentEncoding = "br" | "gzip";

/** Shorter bodies are not worth it. */
const MIN_BYTES = 1024;
const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json(?:\s*;|\s*$)/i;

const compressors: Readonly<Record<ContentEncoding, (body: Uint8Array) => Promise<Uint8Array>>> = {
  // Quality 4 is faster than gzip's default and still smaller.
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (body) => promisify(gzip)(body),
};

/** True when an answer may come compressed to those who ask: then it varies with what they ask. */
export function isCompressible(contentType: string | undefined, bytes: number): boolean {
  return bytes >= MIN_BYTES && contentType !== undefined && JSON_TYPE.test(contentType);
}

/** The client's choice among ours by the values of its Accept-Encoding (RFC 9110 section 12.5.3); undefined: identity. */
export function chooseEncoding(accepted: readonly string[]): ContentEncoding | undefined {
  if (accepted.length === 0) return undefined;
  const weights = new Map<string, number>();
  for (const part of accepted.join(",").toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    const q = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = q === undefined ? 1 : Number(q.slice(2));
    weights.set(name === "x-gzip" ? "gzip" : name, Number.isFinite(weight) ? weight : 0);
  }
  const of = (name: ContentEncoding) => weights.get(name) ?? weights.get("*") ?? 0;
  const best = of("br") >= of("gzip") ? "br" : "gzip";
  return of(best) > 0 && of(best) >= (weights.get("identity") ?? 0) ? best : undefined;
}

/** `body` in `encoding`, off the event loop. */
export function compress(body: Uint8Array, encoding: ContentEncoding): Promise<Uint8Array> {
  return compressors[encoding](body);
}

/**
 * Every portion is flushed: a page goes out when it is there, for a thousandth of the size; brotli alone would wait for
 * megabytes. Levels and window are for lists of many pages: hardly larger than what a whole answer gets, and a third cheaper.
 */
const encoders = {
  br: () =>
    createBrotliCompress({
      flush: constants.BROTLI_OPERATION_FLUSH,
      params: { [constants.BROTLI_PARAM_QUALITY]: 3, [constants.BROTLI_PARAM_LGWIN]: 18 },
    }),
  gzip: () => createGzip({ flush: constants.Z_SYNC_FLUSH, level: 3 }),
};

/** `pieces` in `encoding`, off the event loop: as many portions, and one more that makes the whole readable. */
function compressPortions(pieces: BodyPortions, encoding: ContentEncoding): BodyPortions {
  const encoder = encoders[encoding]();
  let made: Uint8Array[] = [];
  let fail: (error: Error) => void = () => {};
  let over = false;
  encoder.on("data", (bytes: Uint8Array) => made.push(bytes));
  encoder.on("error", (error) => fail(error));
  const run = async (start: (done: () => void) => void): Promise<readonly Uint8Array[]> => {
    await new Promise<void>((resolve, reject) => {
      fail = reject;
      start(resolve);
    });
    const portion = made;
    made = [];
    return portion;
  };
  return {
    next: async () => {
      const portion = over ? undefined : await pieces.next();
      if (over) return undefined;
      // Every write costs a trip to another thread, so a portion is one write.
      if (portion !== undefined) return run((done) => encoder.write(joinPortion(portion), () => done()));
      over = true;
      return run((done) => encoder.once("end", done).end());
    },
    stop: () => {
      over = true;
      pieces.stop();
      encoder.destroy();
    },
  };
}

function joinPortion(portion: readonly Uint8Array[]): Uint8Array {
  const [only] = portion;
  return portion.length === 1 && only !== undefined ? only : Buffer.concat(portion);
}
