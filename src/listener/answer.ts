/** How is a request answered that carryover answers itself? */
import type { ApiResponse, HeaderList } from "../model/message.ts";
import type { AnswerPlan } from "../model/plan.ts";
import { Problem } from "../model/problem.ts";
import { createStopper } from "../model/signal.ts";
import { readBody } from "./body.ts";
import { chooseEncoding, compress, isCompressible } from "./compress.ts";
import { sendProblem } from "./errors.ts";
import { placed } from "./headers.ts";
import { writeWhole } from "./reply.ts";
import { isAnswered, type Visit } from "./visit.ts";

export interface AnswerOptions {
  readonly bodyBytes: number;
  readonly basePath: string;
}

/** Fields that carryover writes itself, or that belong to another connection. */
const OWN: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "proxy-authenticate",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Reads the body, asks the plan and answers. Never rejects: what goes wrong becomes a reply. */
export async function answer(visit: Visit, plan: AnswerPlan, options: AnswerOptions): Promise<void> {
  const controller = createStopper();
  visit.controller = controller;
  try {
    const body = await readBody(visit, options.bodyBytes);
    const response = await plan.respond(body, controller.signal);
    if (!isAnswered(visit)) await deliver(visit, response, options.basePath);
  } catch (error) {
    if (!isAnswered(visit)) sendProblem(visit, Problem.from(error));
  }
}

async function deliver(visit: Visit, response: ApiResponse, basePath: string): Promise<void> {
  const { head, exchange } = visit;
  const headers = answerHeaders(response.headers, basePath);
  if (!response.headers.some(([name]) => name === "x-request-id")) headers.push("x-request-id", exchange.requestId);
  const type = response.headers.find(([name]) => name === "content-type")?.[1];
  const encoded = response.headers.some(([name]) => name === "content-encoding");
  if (encoded || !isCompressible(type, response.body.length)) {
    writeWhole(visit, response.status, headers, response.body);
    return;
  }
  headers.push("vary", "Accept-Encoding");
  const encoding = chooseEncoding(head.watched.get("accept-encoding"));
  if (encoding === undefined) {
    writeWhole(visit, response.status, headers, response.body);
    return;
  }
  const body = await compress(response.body, encoding);
  exchange.notes.push(encoding);
  headers.push("content-encoding", encoding);
  if (!isAnswered(visit)) writeWhole(visit, response.status, headers, body);
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
