/** How is a request answered that carryover answers itself? */
import { ANONYMOUS } from "../model/callers.ts";
import { HOP_BY_HOP } from "../model/http.ts";
import { type Answer, type HeaderList, header } from "../model/message.ts";
import type { AnswerPlan } from "../model/plan.ts";
import { Problem } from "../model/problem.ts";
import { createStopper, type Signal } from "../model/signal.ts";
import { type BodyParts, callerOf, GATHERED_BYTES, holdUntaken, readBody, type WholeBody } from "./body.ts";
import { chooseEncoding, compress, type Encoding, isCompressible } from "./compress.ts";
import { sendProblem } from "./errors.ts";
import { placed } from "./headers.ts";
import { writeWhole } from "./reply.ts";
import { discard, writeStream } from "./stream-answer.ts";
import { hasBody, isAnswered, noteCredential, type Visit } from "./visit.ts";

export interface AnswerOptions {
  readonly bodyBytes: number;
  readonly basePath: string;
  /** How long a client may take nothing of a body that comes in pieces, milliseconds (half a minute). */
  readonly stallMs?: number | undefined;
  readonly bodies: BodyParts;
}

const NO_BYTES = new Uint8Array(0);

/** Fields that carryover writes itself, or that belong to another connection. */
const OWN: ReadonlySet<string> = new Set([...HOP_BY_HOP, "content-length"]);

/** Reads the body, asks the plan and answers. Never rejects: what goes wrong becomes a reply. */
export async function answer(visit: Visit, plan: AnswerPlan, options: AnswerOptions): Promise<void> {
  const controller = createStopper();
  visit.controller = controller;
  const { callers } = options.bodies;
  let body: WholeBody | undefined;
  try {
    if (hasBody(visit)) body = await readBody(visit, options.bodyBytes, options.bodies, controller.signal);
    const response = await respond(visit, plan, body?.bytes ?? NO_BYTES, controller.signal, options.bodies);
    noteCredential(visit, callers);
    if (isAnswered(visit)) discard(response.body);
    else {
      const delivering = deliver(visit, response, controller.signal, options);
      // Most are whole by now: then there is nothing to wait for.
      if (delivering !== undefined) await delivering;
    }
  } catch (error) {
    noteCredential(visit, callers);
    if (!isAnswered(visit)) sendProblem(visit, Problem.from(error));
  } finally {
    body?.release();
  }
}

/** What a long body costs is known once it is read: callers that the platform has not accepted yet take turns at it. */
function respond(visit: Visit, plan: AnswerPlan, body: Uint8Array, signal: Signal, parts: BodyParts): Promise<Answer> {
  const light = body.length <= GATHERED_BYTES || callerOf(visit, parts.callers) !== ANONYMOUS;
  return light
    ? plan.respond(body, signal)
    : parts.duty.run(signal, () => plan.respond(body, signal)).then((made) => made);
}

function deliver(visit: Visit, response: Answer, signal: Signal, options: AnswerOptions): Promise<void> | undefined {
  const { exchange } = visit;
  const { status, body } = response;
  const headers = answerHeaders(response.headers, options.basePath);
  if (header(response.headers, "x-request-id") === undefined) headers.push("x-request-id", exchange.requestId);
  const encoding = negotiate(visit, response, headers);
  if (!(body instanceof Uint8Array)) {
    if (encoding !== undefined) headers.push("content-encoding", encoding);
    return writeStream(visit, { status, headers, body, encoding }, signal, options);
  }
  if (encoding !== undefined) return deliverCompressed(visit, { status, headers, body }, encoding, options.bodies);
  writeWhole(visit, status, headers, body);
  holdUntaken(visit, options.bodies);
  return undefined;
}

async function deliverCompressed(
  visit: Visit,
  { status, headers, body }: { readonly status: number; readonly headers: string[]; readonly body: Uint8Array },
  encoding: Encoding,
  bodies: BodyParts,
): Promise<void> {
  const hold = bodies.memory.open(callerOf(visit, bodies.callers));
  hold.set(body.length);
  const compressed = await compress(body, encoding).finally(() => hold.set(0));
  visit.exchange.notes.push(encoding);
  headers.push("content-encoding", encoding);
  if (isAnswered(visit)) return;
  writeWhole(visit, status, headers, compressed);
  holdUntaken(visit, bodies);
}

/** The encoding that this client gets; says in `flat` when another might get another. */
function negotiate({ head }: Visit, { headers, body }: Answer, flat: string[]): Encoding | undefined {
  if (header(headers, "content-encoding") !== undefined) return undefined;
  const bytes = body instanceof Uint8Array ? body.length : Number.POSITIVE_INFINITY;
  if (!isCompressible(header(headers, "content-type"), bytes)) return undefined;
  flat.push("vary", "Accept-Encoding");
  return chooseEncoding(head.watched.get("accept-encoding"));
}

/** No cache may keep an answer made for one credential, unless the platform itself was stricter (design: promise 2). */
function answerHeaders(list: HeaderList, basePath: string): string[] {
  const flat: string[] = [];
  let kept = false;
  let varies = false;
  for (const [name, value] of list) {
    if (OWN.has(name)) continue;
    if (name === "cache-control") {
      if (!/\bno-store\b/i.test(value)) continue;
      kept = true;
    } else if (name === "vary" && /(?:^|,)\s*(?:\*|authorization)\s*(?:,|$)/i.test(value)) varies = true;
    flat.push(name, basePath === "" ? value : placed(name, value, basePath));
  }
  if (!kept) flat.push("cache-control", "private, no-store");
  if (!varies) flat.push("vary", "Authorization");
  return flat;
}
