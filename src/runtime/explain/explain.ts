/** Explaining a request: the same decisions as in `proxy.ts`, with a recorder in place of the platform. */

import type { Catalogue } from "../../catalogue/catalogue.ts";
import type { Config } from "../../config/config.ts";
import { limitsOf } from "../../drain/limits.ts";
import { handlingOf } from "../../edge/headers.ts";
import { checkRequest } from "../../edge/request-checks.ts";
import { type HeaderList, header, headerValues, namedByConnection } from "../../model/http.ts";
import { Problem, tooLarge, unlessProblem } from "../../model/problem.ts";
import type { RouteResult } from "../../model/request.ts";
import type { Examples, Resource } from "../../model/resource.ts";
import { withoutTokens } from "../../model/secrets.ts";
import { formAsGet, runsAsGet } from "../../router/form.ts";
import type { Router } from "../../router/router.ts";
import { counted } from "../../rules/words.ts";
import type { MaskSpelling } from "../../translate/update.ts";
import { createDecisions } from "../proxy.ts";
import { explainAnswer } from "./answer.ts";
import type { StoredDifference } from "./assumed-records.ts";
import { bodyShape, explainBody, explainParameters, storedDifference } from "./body.ts";
import { explainCalls, explainRisks, passedCall } from "./calls.ts";
import type { ExplainedCutover, Explanation } from "./explanation.ts";
import { type Recording, recordRequest, sentMembers } from "./recording.ts";
import type { AskedRequest } from "./request.ts";
import { type ExplainCutover, reasonOf, ruleDecision } from "./rule.ts";
import { shownRequest } from "./secrets.ts";

/** The part of the configuration that an explanation depends on. */
export type ExplainConfig = Pick<
  Config,
  "listen" | "upstream" | "lists" | "updates" | "unknownFields" | "v1" | "fallback" | "limits"
>;

/**
 * Explains one request, as sent by `client` (default: the client that its header fields name). Nothing is sent. Rejects
 * only for faults of carryover itself.
 */
export type Explain = (request: AskedRequest, client?: string) => Promise<Explanation>;

/** Explains what a carryover with this configuration would do. Without `cutover` everything is translated. */
export function createExplain(
  config: ExplainConfig,
  catalogue: Catalogue,
  examples: Examples,
  cutover?: ExplainCutover,
): Explain {
  const { route, proxy } = createDecisions(config, catalogue);
  const { resources, version } = catalogue;
  const { maskSpelling, omitsZeros } = config.upstream.v2;
  const hasNative = config.upstream.v1 !== undefined;
  return async (asked, client) => {
    const { request, native, problem } = receiveRequest(asked, config, route);
    const routed = routedTo(route, request.method, request.target);
    const match = routed?.kind === "match" ? routed.match : undefined;
    const operation = match?.operation;
    const fallback = cutover?.rollout.fallback() ?? config.fallback;
    // Of what only v1 has, the rules may refuse some.
    const refusing =
      cutover === undefined || match !== undefined
        ? {}
        : {
            cutover: {
              rollout: cutover.rollout,
              nameOf: (headers: HeaderList) => client ?? cutover.nameOf(headers),
              credentialOf: () => "",
              shadow: undefined,
            },
          };
    const run = (differing: StoredDifference, mask?: MaskSpelling, bodyMask?: MaskSpelling): Promise<Recording> =>
      recordRequest(request, {
        platform: { resources, version, examples, match, differing, given: sentMembers(request.body) },
        mask,
        bodyMask,
        limits: limitsOf(config.lists),
        decide: (tools) => (context) => {
          if (problem !== undefined) throw problem;
          const plan = proxy(tools, { fallback, ...refusing }).decide(context);
          if (plan.kind === "answer" && request.body.length > config.limits.bodyBytes)
            throw tooLarge(config.limits.bodyBytes);
          return plan;
        },
      });
    const mask = maskSpelling === "auto" ? undefined : maskSpelling;
    const differing = storedDifference(request.body, match);
    const recording = await run(differing, mask);
    const otherwise =
      differing.synced === undefined ? undefined : await run(storedDifference(request.body, match, true), mask);
    const respelled = maskSpelling === "auto" ? await run(differing, "snake_case", "snake_case") : undefined;

    const { exchange, calls, pass } = recording;
    // A problem after the first call depends on an assumed response.
    const refusal = calls.length === 0 ? recording.problem : undefined;
    const decided =
      cutover === undefined || match === undefined || problem !== undefined
        ? undefined
        : ruleDecision(cutover, request, match, hasNative && fallback === "native", client);
    const isRefused = decided?.mode === "brownout";
    const byNative = decided !== undefined && !isRefused && decided.mode !== "translate";
    const translated = refusal === undefined && pass === undefined && match !== undefined;
    const foreign = isForeign(recording, resources);
    const fields = explainBody(request.body, match, calls, refusal, config.unknownFields.request);
    const filters = operation !== undefined && "filters" in operation ? (operation.filters ?? []) : [];
    const nativeCall = passedCall(native, { upstream: "v1", target: native.target });
    const made =
      pass === undefined
        ? explainCalls({ operation, recording, respelled, otherwise, differing, request })
        : [pass.upstream === "v1" ? nativeCall : passedCall(request, pass)];
    return {
      request: shownRequest(request),
      resource: exchange.resource,
      operation: exchange.operation,
      ...summaryOf(recording, refusal, { foreign, fallback }, decided),
      refusal:
        refusal === undefined || byNative || isRefused
          ? null
          : {
              status: refusal.http,
              code: refusal.code,
              reason: refusal.reason,
              message: withoutTokens(refusal.message),
              fields: refusal.fieldViolations,
            },
      cutover: decided ?? null,
      calls: isRefused ? [] : byNative ? [nativeCall] : made,
      translated: byNative || isRefused ? made : [],
      fields,
      parameters: match === undefined ? [] : explainParameters({ query: match.query, filters, calls, refusal }),
      answer: translated
        ? explainAnswer(match.resource, match.operation, {
            insertZeros: omitsZeros !== "no",
            recordTimes: config.v1.recordTimes,
          })
        : [],
      risks: translated
        ? explainRisks({
            resource: match.resource.name,
            operation: match.operation,
            recording,
            fields,
            settings: config,
          })
        : [],
      notes: [
        ...request.notes,
        ...(refusal?.reason === "METHOD_NOT_ALLOWED" ? methodHints(request.target, route) : []),
        ...nativeHints(recording, refusal, foreign, { hasNative, isRuled: cutover?.rollout.fallback() !== undefined }),
        ...(request.body.length > 0 && operation !== undefined && bodyShape(operation) === undefined
          ? ["the body is not read: this operation has none"]
          : []),
        ...(operation?.guessed === true ? ["what v1 answers is guessed in part (docs/coverage.md)"] : []),
        ...(translated && operation?.docs?.calls !== undefined ? [`in general it takes ${operation.docs.calls}`] : []),
        ...(byNative ? refusalNotes(refusal) : countedNotes(recording, refusal)),
      ],
    };
  };
}

/** Undefined for a request that the router refuses. */
function routedTo(route: Router, method: string, target: string): RouteResult | undefined {
  return unlessProblem(() => route(method, target));
}

/** What refuses the translation where native v1 serves the request. */
function refusalNotes(refusal: Problem | undefined): readonly string[] {
  if (refusal === undefined) return [];
  return [
    `if it were translated, carryover would refuse it: ${refusal.http} ${refusal.reason}: ${withoutTokens(refusal.message)}`,
  ];
}

/** What carryover would count of this request, except what follows from an assumed response. */
function countedNotes({ exchange, problem }: Recording, refusal: Problem | undefined): readonly string[] {
  const kinds = [...new Set(exchange.notes)];
  return [
    ...(kinds.length === 0 ? [] : [`counted (notes_total): ${kinds.join(", ")}`]),
    ...(problem !== undefined && refusal === undefined ? ["what follows depends on what the platform answers"] : []),
  ];
}

/** Names the operation and who serves it, in one sentence. `foreign`: v1 never had such an operation. With `fallback` refuse, native v1 serves only what an option names. */
function summaryOf(
  { exchange: { resource, operation }, pass, calls }: Recording,
  refusal: Problem | undefined,
  { foreign, fallback }: { readonly foreign: boolean; readonly fallback: "native" | "refuse" },
  cutover: ExplainedCutover | undefined,
): Pick<Explanation, "mode" | "summary"> {
  const known = resource === "unknown" ? "no operation of v1 that carryover knows" : `${operation} of ${resource}`;
  const what = operation === "options" ? "OPTIONS of a v1 path" : known;
  const because = cutover === undefined ? "" : ` (${cutover.mode}: ${reasonOf(cutover)})`;
  if (cutover?.mode === "brownout") return { mode: "refused", summary: `${what}: refused by carryover${because}` };
  if (cutover !== undefined && cutover.mode !== "translate")
    return { mode: cutover.mode, summary: `${what}: native v1 serves it${because}` };
  if (refusal !== undefined) {
    const subject = resource === "unknown" ? "" : `${what}: `;
    return { mode: "refused", summary: `${subject}refused by carryover, nothing reaches the platform` };
  }
  const native = foreign
    ? "no operation of v1, handed to native v1 all the same"
    : "not translated, native v1 serves it";
  const count = counted(calls.length, "call");
  switch (pass?.upstream) {
    case "v2":
      return { mode: "pass", summary: "a v2 request: passes through untouched" };
    case "sts":
      return { mode: "pass", summary: "token exchange: passes through unread" };
    case "v1":
      return {
        mode: "native",
        summary: `${what}: ${native} (${fallback === "native" ? "fallback: native" : "listen.extraPrefixes"})`,
      };
    default:
      return { mode: "translate", summary: `${what}: translated, ${count} to v2${because}` };
  }
}

/** Whether the operation is known, and v1 never had it. */
function isForeign({ exchange }: Recording, resources: readonly Resource[]): boolean {
  const resource = resources.find(({ name }) => name === exchange.resource);
  const operation = resource?.operations.find(({ name }) => name === exchange.operation);
  return operation?.kind === "native" && operation.extension === true;
}

/** What a refused request lacks to be served by native v1. `hasNative`: its address is configured; `isRuled`: the rules file says `fallback`. */
function nativeHints(
  { exchange }: Recording,
  refusal: Problem | undefined,
  foreign: boolean,
  { hasNative, isRuled }: { readonly hasNative: boolean; readonly isRuled: boolean },
): readonly string[] {
  if (foreign) return [`${exchange.operation} is no operation of v1: only v2 has this path`];
  if (refusal?.reason !== "NOT_TRANSLATABLE" && refusal?.reason !== "NOT_FOUND") return [];
  // A rule of the file refuses it, and the refusal says which.
  if (refusal.options.includes("cutover.rulesFile")) return [];
  const setting = isRuled ? "fallback: native in the rules file" : "--fallback native";
  return [
    hasNative
      ? `with ${setting} it would go to native v1 as it is`
      : "with --upstream-v1-url (the address of native v1) it would go there as it is",
  ];
}

/** The methods that a path has: v1 updates with PUT, where many expect PATCH. */
function methodHints(target: string, route: Router): readonly string[] {
  const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"].flatMap((method) => {
    const routed = routedTo(route, method, target);
    if (routed?.kind === "match") return [`${method} (${routed.match.operation.name})`];
    return routed?.kind === "native" ? [`${method} (${routed.operation})`] : [];
  });
  return methods.length === 0 ? [] : [`methods of this path: ${methods.join(", ")}`];
}

/** What stands in a pasted line for a token that the line does not hold. The bounds keep the search linear. */
const PLACEHOLDER =
  /\$\([^)]{0,200}\)|\$\{[^}]{0,200}\}|\$\w+|`[^`]{0,200}`|<[^>]{0,200}>|\[[^\]]{0,200}\]|…|\.{3}|\*+/g;

/**
 * `asked` as the proxy sees it: without base path and connection fields, and a form that runs as a GET as that. `native`: as native v1
 * gets it. `problem`: why the server refuses it before anything is routed.
 */
function receiveRequest(
  asked: AskedRequest,
  { listen: { basePath }, limits }: Pick<Config, "listen" | "limits">,
  route: Router,
): { readonly request: AskedRequest; readonly native: AskedRequest; readonly problem: Problem | undefined } {
  const given = asked.headers.map(([name, value]): readonly [string, string] =>
    name === "authorization" ? [name, value.replaceAll(PLACEHOLDER, "token")] : [name, value],
  );
  const hasHost = given.some(([name]) => name === "host");
  const received: HeaderList = hasHost ? given : [["host", "carryover"], ...given];
  const named = namedByConnection(headerValues(received, "connection"));
  const headers = received.filter(([name]) => handlingOf(name) === "keep" && !named.has(name));
  const { method, target, notes } = asked;
  // Requests are often written as the API has them, without the base path of this carryover.
  const hasBase = basePath === "" || (target.startsWith(basePath) && /^[/?]/.test(target.slice(basePath.length)));
  const request = {
    ...asked,
    headers,
    target: hasBase ? target.slice(basePath.length) : target,
    notes: hasBase ? notes : [...notes, `listen.basePath is ${basePath}: clients write it in front of the path`],
  };
  const problem = checkRequest({ method, target, httpVersion: "1.1", received }, limits);
  const methodOverride = header(received, "x-http-method-override");
  if (problem !== undefined || !runsAsGet({ ...request, methodOverride }, route))
    return { request, native: request, problem };
  try {
    const get = { ...request, ...formAsGet(request, asked.body, limits.uriBytes), body: new Uint8Array() };
    const asForm = { ...get, notes: [...request.notes, "a form: it runs as the GET of its path, as in v1's gateway"] };
    return { request: asForm, native: methodOverride === undefined ? request : asForm, problem };
  } catch (error) {
    return { request, native: request, problem: Problem.from(error) };
  }
}
