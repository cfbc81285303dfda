/** What would happen to this request? The sentence of `proxy.ts` again, with a recorder in the place of the platform. */
import type { Catalogue } from "../../catalogue.ts";
import type { Config } from "../../config/config.ts";
import { createDecisions } from "../../decide.ts";
import type { Mode } from "../../model/exchange.ts";
import { Problem } from "../../model/problem.ts";
import type { OperationMatch } from "../../model/request.ts";
import type { Operation, Resource } from "../../model/resource.ts";
import type { Router } from "../../router/router.ts";
import { tooLarge } from "../../server/request-body.ts";
import { checkRequest } from "../../server/request-checks.ts";
import { HeaderHandling, readHeaderFields } from "../../server/request-head.ts";
import { drainLimits, PAGE_SIZE } from "../../toolbox.ts";
import type { MaskSpelling } from "../../translate/update.ts";
import { type AnswerSettings, explainAnswer } from "./answer.ts";
import type { StoredDifference } from "./assumed-records.ts";
import { differingOf, explainBody, unreadBody } from "./body.ts";
import { explainCalls, explainRisks, passedCall } from "./calls.ts";
import type { ExplainedCutover, ExplainedRefusal, Explanation } from "./explanation.ts";
import { explainParameters } from "./parameters.ts";
import { type AssumedPlatform, createAssume, type Recording, recordRequest, sentMembers } from "./recording.ts";
import type { AskedRequest } from "./request.ts";
import { type ExplainCutover, reasonOf, refusedElsewhere, ruleDecision } from "./rule.ts";
import { shownRequest } from "./secrets.ts";

/** What of the configuration an explanation depends on. */
export type ExplainConfig = Pick<
  Config,
  "listen" | "upstream" | "lists" | "updates" | "unknownFields" | "v1" | "fallback" | "limits"
>;

/**
 * Explains one request, as sent by the client of that name (without one: by whom its header fields say). Nothing is sent.
 * Rejects only for what is wrong with carryover itself.
 */
export type Explain = (request: AskedRequest, client?: string) => Promise<Explanation>;

/**
 * Ready to explain what a carryover with this configuration would do (design: explain hands in a recorder). Without `cutover`
 * everything is translated.
 */
export function createExplain(config: ExplainConfig, catalogue: Catalogue, cutover?: ExplainCutover): Explain {
  const { route, decide } = createDecisions(config, catalogue);
  const { maskSpelling } = config.upstream.v2;
  return async (asked, client) => {
    const { request, problem } = receiveRequest(asked, config);
    const match = matchOf(request, route);
    const fallback = cutover?.rollout.fallback() ?? config.fallback;
    const native = config.upstream.v1 !== undefined && fallback === "native";
    const differing = differingOf(request.body, match);
    const { resources, version } = catalogue;
    const world = { resources, version, match, differing, given: sentMembers(request.body) };
    const run = (
      mask: MaskSpelling | undefined,
      bodyMask?: MaskSpelling,
      held: AssumedPlatform = world,
    ): Promise<Recording> =>
      recordRequest(request, {
        assume: createAssume(held),
        mask,
        bodyMask,
        limits: drainLimits(config.lists),
        decide: (tools) => (head, exchange) => {
          if (problem !== undefined) throw problem;
          const plan = decide(tools, { fallback })(head, exchange);
          if (plan.kind === "answer" && request.body.length > config.limits.bodyBytes) {
            throw tooLarge(config.limits.bodyBytes);
          }
          return plan;
        },
      });
    const first = maskSpelling === "auto" ? undefined : maskSpelling;
    const recording = await run(first);
    const otherwise =
      differing.synced === undefined
        ? undefined
        : await run(first, undefined, { ...world, differing: differingOf(request.body, match, true) });
    const respelled = maskSpelling === "auto" ? await run("snake_case", "snake_case") : undefined;
    const foreign = isForeign(recording, catalogue.resources);
    const decided = problem === undefined ? ruleDecision(cutover, { ...request, match, client, native }) : undefined;
    return explanationOf({
      request,
      match,
      recording,
      respelled,
      otherwise,
      differing,
      config,
      foreign,
      decided,
      route,
    });
  };
}

interface ExplanationParts {
  readonly request: AskedRequest;
  readonly match: OperationMatch | undefined;
  readonly recording: Recording;
  readonly respelled: Recording | undefined;
  readonly otherwise: Recording | undefined;
  readonly differing: StoredDifference;
  readonly config: ExplainConfig;
  readonly foreign: boolean;
  /** What the rules say, where there are any. */
  readonly decided: ExplainedCutover | undefined;
  readonly route: Router;
}

function explanationOf({
  request,
  match,
  recording,
  respelled,
  otherwise,
  differing,
  config,
  foreign,
  decided,
  route,
}: ExplanationParts): Explanation {
  const refusal = refusalOf(recording);
  const byNative = decided !== undefined && decided.mode !== "translate";
  const { exchange, calls, pass } = recording;
  const operation = match?.operation;
  const fields = explainBody(request.body, match, calls, refusal, config.unknownFields.request);
  const filters = operation !== undefined && "filters" in operation ? (operation.filters ?? []) : [];
  const translated = refusal === undefined && pass === undefined && match !== undefined;
  const made =
    pass === undefined
      ? explainCalls({
          operation,
          recording,
          respelled,
          otherwise,
          differing,
          pageSize: PAGE_SIZE,
          asked: speaksOf(request),
        })
      : [passedCall(request, pass)];
  return {
    request: shownRequest(request),
    resource: exchange.resource,
    operation: exchange.operation,
    ...summaryOf(recording, { refusal, foreign, cutover: decided }),
    refusal: refusal === undefined || byNative ? null : shownRefusal(refusal),
    cutover: decided ?? null,
    calls: byNative ? [passedCall(request, { upstream: "v1", target: request.target })] : made,
    translated: byNative ? made : [],
    fields,
    parameters: match === undefined ? [] : explainParameters({ query: match.query, filters, calls, refusal }),
    answer: translated ? explainAnswer(match.resource, match.operation, shownAs(config)) : [],
    risks: translated
      ? explainRisks({ resource: match.resource.name, operation: match.operation, recording, fields, settings: config })
      : [],
    notes: [
      ...request.notes,
      ...methodHints(refusal, request.target, route),
      ...nativeHints(recording, refusal, foreign, config.upstream.v1 !== undefined),
      ...unreadBody(request.body, match),
      ...(operation?.guessed === true ? [GUESSED] : []),
      ...(translated ? documentedCalls(match.operation) : []),
      ...(byNative ? refusedElsewhere(refusal) : countedNotes(recording, refusal)),
    ],
  };
}

/** What of the configuration its answers depend on. */
function shownAs({ upstream, v1 }: ExplainConfig): AnswerSettings {
  return { insertZeros: upstream.v2.omitsZeros !== "no", recordTimes: v1.recordTimes };
}

/** Whether a uid stands in the path, the query or the body of the client's own request. */
function speaksOf({ target, body }: AskedRequest): (uid: string) => boolean {
  const texts = [target, target.replaceAll(/%2f/gi, "/"), Buffer.from(body).toString("utf8")];
  return (uid) => texts.some((text) => text.includes(uid));
}

/** An odd target is no match; that it is refused is what the recording says. */
function matchOf({ method, target }: AskedRequest, route: Router): OperationMatch | undefined {
  try {
    const routed = route(method, target);
    return routed.kind === "match" ? routed.match : undefined;
  } catch (thrown) {
    if (thrown instanceof Problem) return undefined;
    throw thrown;
  }
}

/** The error that the client gets, whatever the platform says: behind the first call, an assumed answer has a part in it. */
function refusalOf({ calls, problem }: Recording): Problem | undefined {
  return calls.length === 0 ? problem : undefined;
}

function shownRefusal({ http, code, reason, message, fieldViolations }: Problem): ExplainedRefusal {
  return { status: http, code, reason, message, fields: fieldViolations };
}

const GUESSED = "what v1 answers is guessed in part (docs/coverage.md)";

/** The catalogue's own words on an operation that can take other calls than those that the assumptions led to. */
function documentedCalls({ docs }: Operation): readonly string[] {
  return docs?.calls === undefined ? [] : [`in general it takes ${docs.calls}`];
}

/** What carryover would count of this request. What an assumed answer led to is no fact about it, and is not told. */
function countedNotes({ exchange, problem }: Recording, refusal: Problem | undefined): readonly string[] {
  const kinds = [...new Set(exchange.notes)];
  return [
    ...(kinds.length === 0 ? [] : [`counted (notes_total): ${kinds.join(", ")}`]),
    ...(problem !== undefined && refusal === undefined ? ["what follows depends on what the platform answers"] : []),
  ];
}

/** What is this request, and who serves it, in one sentence? */

export interface SummaryVerdict {
  readonly mode: Mode;
  readonly summary: string;
}

/** What else is known when it is summed up. */
export interface SummaryContext {
  /** Why carryover itself answers with an error. */
  readonly refusal: Problem | undefined;
  /** v1 never had such an operation. */
  readonly foreign: boolean;
  /** What the rules say of it. */
  readonly cutover: ExplainedCutover | undefined;
}

export function summaryOf(
  { exchange, pass, calls }: Recording,
  { refusal, foreign, cutover }: SummaryContext,
): SummaryVerdict {
  const { resource, operation } = exchange;
  const what = summaryName(resource, operation);
  const because = cutover === undefined ? "" : ` (${cutover.mode}: ${reasonOf(cutover)})`;
  if (cutover !== undefined && cutover.mode !== "translate") {
    return { mode: cutover.mode, summary: `${what}: native v1 serves it${because}` };
  }
  if (refusal !== undefined) {
    const known = resource === "unknown" ? "" : `${what}: `;
    return { mode: "refused", summary: `${known}refused by carryover, nothing reaches the platform` };
  }
  switch (pass?.upstream) {
    case "v2":
      return { mode: "pass", summary: "a v2 request: passes through untouched" };
    case "sts":
      return { mode: "pass", summary: "token exchange: passes through unread" };
    case "v1":
      return { mode: "native", summary: `${what}: ${nativeReason(foreign)} (fallback: native)` };
    default:
      return { mode: "translate", summary: `${what}: translated, ${countOf(calls.length)} to v2${because}` };
  }
}

function nativeReason(foreign: boolean): string {
  return foreign ? "no operation of v1, handed to native v1 all the same" : "not translated, native v1 serves it";
}

/** Whether the operation is one that is known, and that v1 never had. */
export function isForeign({ exchange }: Recording, resources: readonly Resource[]): boolean {
  const resource = resources.find(({ name }) => name === exchange.resource);
  const operation = resource?.operations.find(({ name }) => name === exchange.operation);
  return operation?.kind === "native" && operation.extension === true;
}

/** What a refused request lacks to be served by native v1. `native`: whether its address is configured. */
export function nativeHints(
  { exchange }: Recording,
  refusal: Problem | undefined,
  foreign: boolean,
  native: boolean,
): readonly string[] {
  if (foreign) return [`${exchange.operation} is no operation of v1: only v2 has this path`];
  if (refusal?.reason !== "NOT_TRANSLATABLE" && refusal?.reason !== "NOT_FOUND") return [];
  return [
    native
      ? "with --fallback native it would go to native v1 as it is"
      : "with --upstream-v1-url (the address of native v1) it would go there as it is",
  ];
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Which methods there are on a path that was asked with another one: who updates a record of v1 looks for PATCH, and it is PUT. */
export function methodHints(refusal: Problem | undefined, target: string, route: Router): readonly string[] {
  if (refusal?.reason !== "METHOD_NOT_ALLOWED") return [];
  const there = METHODS.flatMap((method) => {
    const operation = summaryOperation(method, target, route);
    return operation === undefined ? [] : [`${method} (${operation})`];
  });
  return there.length === 0 ? [] : [`methods of this path: ${there.join(", ")}`];
}

function summaryOperation(method: string, target: string, route: Router): string | undefined {
  try {
    const routed = route(method, target);
    if (routed.kind === "match") return routed.match.operation.name;
    return routed.kind === "native" ? routed.operation : undefined;
  } catch (thrown) {
    if (thrown instanceof Problem) return undefined;
    throw thrown;
  }
}

function summaryName(resource: string, operation: string): string {
  if (operation === "options") return "OPTIONS of a v1 path";
  return resource === "unknown" ? "no operation of v1 that carryover knows" : `${operation} of ${resource}`;
}

function countOf(calls: number): string {
  return calls === 1 ? "1 call" : `${calls} calls`;
}

/** What does the request look like behind the listener, and is it let in? (The gate and the fields of `listener/`, asked the same.) */

export interface ReceivedRequest {
  /** Base path taken off, fields of the connection left out. */
  readonly request: AskedRequest;
  /** Why it is refused before anything is routed. */
  readonly problem: Problem | undefined;
}

/** What stands in a pasted line for a token that the line does not hold. (Bounded: an opening one is not looked for to the end.) */
const PLACEHOLDER =
  /\$\([^)]{0,200}\)|\$\{[^}]{0,200}\}|\$\w+|`[^`]{0,200}`|<[^>]{0,200}>|\[[^\]]{0,200}\]|…|\.{3}|\*+/g;

/** `asked` as the rest of carryover would see it. */
export function receiveRequest(
  asked: AskedRequest,
  { listen, limits }: Pick<Config, "listen" | "limits">,
): ReceivedRequest {
  const given = asked.headers.map(([name, value]): readonly [string, string] =>
    name === "authorization" ? [name, value.replaceAll(PLACEHOLDER, "token")] : [name, value],
  );
  const hasHost = given.some(([name]) => name === "host");
  const raw = [...(hasHost ? [] : [["host", "carryover"] as const]), ...given].flat();
  const head = readHeaderFields(raw);
  const fields = head.names.map((name, index) => [name, head.raw[2 * index + 1] ?? ""] as const);
  const headers = fields.filter((_, index) => {
    const fate = head.handling[index];
    return fate === HeaderHandling.KEEP || fate === HeaderHandling.REQUEST_ID || fate === HeaderHandling.TRACE;
  });
  const { method, target } = asked;
  return {
    request: { ...asked, ...belowBase(asked, listen.basePath), headers },
    problem: checkRequest({ method, target, httpVersion: "1.1", head }, limits),
  };
}

/** Requests are often written as the API has them, without the path that stands before it here. */
function belowBase({ target, notes }: AskedRequest, basePath: string): Pick<AskedRequest, "target" | "notes"> {
  if (basePath === "") return { target, notes };
  const rest = target.slice(basePath.length);
  if (target.startsWith(basePath) && /^[/?]/.test(rest)) return { target: rest, notes };
  return { target, notes: [...notes, `listen.basePath is ${basePath}: clients write it in front of the path`] };
}
