/** What would happen to this request? The sentence of `proxy.ts` again, with a recorder in the place of the platform. */
import type { Catalogue } from "./catalogue.ts";
import type { Config } from "./config.ts";
import { createDecisions } from "./decide.ts";
import { createAssume, sentMembers, type World } from "./explain/assume.ts";
import { differingOf, explainBody, unreadBody } from "./explain/body.ts";
import { explainCalls, passedCall } from "./explain/calls.ts";
import type { ExplainedCutover, Explanation, Refusal } from "./explain/explanation.ts";
import { explainAnswer, type ShownAs } from "./explain/members.ts";
import { explainParameters } from "./explain/parameters.ts";
import { receive } from "./explain/received.ts";
import { type Recording, record } from "./explain/record.ts";
import type { AskedRequest } from "./explain/request.ts";
import { explainRisks } from "./explain/risks.ts";
import { decidedFor, type ExplainCutover, refusedElsewhere } from "./explain/rule.ts";
import { shownRequest } from "./explain/shown.ts";
import type { Differing } from "./explain/stored-record.ts";
import { isForeign, methodHints, nativeHints, summaryOf } from "./explain/summary.ts";
import { tooLarge } from "./listener/body.ts";
import type { Match } from "./model/match.ts";
import { Problem } from "./model/problem.ts";
import type { Operation } from "./model/resource.ts";
import type { Router } from "./route/router.ts";
import { drainLimits, PAGE_SIZE } from "./tools.ts";
import type { MaskSpelling } from "./translate/update.ts";

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
    const { request, problem } = receive(asked, config);
    const match = matchOf(request, route);
    const fallback = cutover?.control.fallback() ?? config.fallback;
    const native = config.upstream.v1 !== undefined && fallback === "native";
    const differing = differingOf(request.body, match);
    const { resources, version } = catalogue;
    const world = { resources, version, match, differing, given: sentMembers(request.body) };
    const run = (mask: MaskSpelling | undefined, bodyMask?: MaskSpelling, held: World = world): Promise<Recording> =>
      record(request, {
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
    const decided = problem === undefined ? decidedFor(cutover, { ...request, match, client, native }) : undefined;
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

interface Known {
  readonly request: AskedRequest;
  readonly match: Match | undefined;
  readonly recording: Recording;
  readonly respelled: Recording | undefined;
  readonly otherwise: Recording | undefined;
  readonly differing: Differing;
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
}: Known): Explanation {
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
      ...(byNative ? refusedElsewhere(refusal) : counted(recording, refusal)),
    ],
  };
}

/** What of the configuration its answers depend on. */
function shownAs({ upstream, v1 }: ExplainConfig): ShownAs {
  return { insertZeros: upstream.v2.omitsZeros !== "no", recordTimes: v1.recordTimes };
}

/** Whether a uid stands in the path, the query or the body of the client's own request. */
function speaksOf({ target, body }: AskedRequest): (uid: string) => boolean {
  const texts = [target, target.replaceAll(/%2f/gi, "/"), Buffer.from(body).toString("utf8")];
  return (uid) => texts.some((text) => text.includes(uid));
}

/** An odd target is no match; that it is refused is what the recording says. */
function matchOf({ method, target }: AskedRequest, route: Router): Match | undefined {
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

function shownRefusal({ http, code, reason, message, fieldViolations }: Problem): Refusal {
  return { status: http, code, reason, message, fields: fieldViolations };
}

const GUESSED = "what v1 answers is guessed in part (docs/coverage.md)";

/** The catalogue's own words on an operation that can take other calls than those that the assumptions led to. */
function documentedCalls({ docs }: Operation): readonly string[] {
  return docs?.calls === undefined ? [] : [`in general it takes ${docs.calls}`];
}

/** What carryover would count of this request. What an assumed answer led to is no fact about it, and is not told. */
function counted({ exchange, problem }: Recording, refusal: Problem | undefined): readonly string[] {
  const kinds = [...new Set(exchange.notes)];
  return [
    ...(kinds.length === 0 ? [] : [`counted (notes_total): ${kinds.join(", ")}`]),
    ...(problem !== undefined && refusal === undefined ? ["what follows depends on what the platform answers"] : []),
  ];
}
