/** What happens to a request between server and response: router, mode, translate, upstream, rewrite. */
import { createHash } from "node:crypto";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Config } from "../config/config.ts";
import { withoutSuccessor } from "../model/deprecation.ts";
import type { Exchange, Upstream } from "../model/exchange.ts";
import { type ClientResponse, type HeaderList, OurHeader, withValue } from "../model/http.ts";
import { Problem, problemBody, tooLarge } from "../model/problem.ts";
import type {
  Choice,
  Decide,
  DeferredPlan,
  OperationMatch,
  PassPlan,
  RequestContext,
  RequestProxy,
  ResponsePlan,
  RouteResult,
  SettledPlan,
} from "../model/request.ts";
import type { Operation } from "../model/resource.ts";
import type { ModeDecision, RuleSettings, ServingDecision } from "../model/rules.ts";
import type { Signal } from "../model/signal.ts";
import { brownoutProblem } from "../rollout/brownout-problem.ts";
import type { Rollout } from "../rollout/rollout.ts";
import { formAsGet, formTooLong, runsAsGet } from "../router/form.ts";
import { createRouter, isV1, type Router } from "../router/router.ts";
import { type Audience, isForm, withAudience } from "../router/token-exchange.ts";
import { type ComparisonRequest, isComparable } from "../shadow/request.ts";
import type { Shadow } from "../shadow/shadow.ts";
import { optionsRequest, optionsResponse } from "../translate/headers.ts";
import type { Tools, Translation } from "../translate/operation.ts";
import { createTranslationsOnUse, type Translate } from "../translate/translations.ts";
import type { NativeReads } from "./native-reads.ts";
import { type OnFailureParts, withNativeOnFailure } from "./on-failure.ts";

/** What of the configuration decides. */
type DecisionConfig = Pick<
  Config,
  "listen" | "upstream" | "lists" | "updates" | "unknownFields" | "v1" | "fallback"
> & {
  readonly limits: Pick<Config["limits"], "uriBytes" | "bodyBytes">;
};

/** Everything that decides on requests and outlives them; made once, for clients and for comparing alike. */
export interface Decisions {
  /** Says which operation a target asks for. */
  readonly route: Router;
  /**
   * The proxy, for whatever `tools` a request is given: those that send, or those that only write down. Without `cutover`
   * everything that can be is translated; `fallback` takes the place of the configuration's.
   */
  proxy(tools: ProxyParts["tools"], other?: Partial<Pick<ProxyParts, "cutover" | "fallback" | "notice">>): RequestProxy;
}

/** Throws `Error` for a catalogue whose paths contradict each other. `translate` makes the translations. */
export function createDecisions(
  config: DecisionConfig,
  { resources, natives, version }: Catalogue,
  translate: Translate = createTranslationsOnUse,
): Decisions {
  const { v1, v2, sts } = config.upstream;
  const route = createRouter({ resources, natives, version, extraPrefixes: config.listen.extraPrefixes });
  const parts = {
    route,
    translations: translate(resources, {
      version,
      unknownRequest: config.unknownFields.request,
      unknownResponse: config.unknownFields.response,
      insertZeros: v2.omitsZeros !== "no",
      omitsZeros: v2.omitsZeros,
      recordTimes: config.v1.recordTimes,
      mismatch: config.updates.mismatch,
      orderBy: config.lists.orderBy,
    }),
    upstreams: new Set<Upstream>([
      "v2",
      ...(v1 === undefined ? [] : ["v1" as const]),
      ...(sts === undefined ? [] : ["sts" as const]),
    ]),
    fallback: config.fallback,
    audience: { from: config.listen.publicUrl, to: v2.audience },
    limits: config.limits,
  };
  return { route, proxy: (tools, other) => createProxy({ ...parts, ...other, tools }) };
}

export interface ProxyParts {
  readonly route: Router;
  readonly translations: ReadonlyMap<Operation, Translation>;
  /** Upstreams that are configured; v2 always is. */
  readonly upstreams: ReadonlySet<Upstream>;
  /** What serves an operation that v2 lacks; the rules in force may say otherwise. */
  readonly fallback: "native" | "refuse";
  /** What serves an operation that both versions have; without it everything is translated. */
  readonly cutover?: Cutover | undefined;
  readonly audience: Audience;
  readonly limits: { readonly uriBytes: number; readonly bodyBytes: number };
  /** What one request may do; everything it does is noted in its exchange. */
  tools(request: RequestContext, signal: Signal): Tools;
  /** The deprecation headers of a request: they depend on its rule. */
  notice?(request: RequestContext): HeaderList;
}

/** Who serves what, and who compares. */
export interface Cutover {
  /** Who asks, as the ledger names it. */
  nameOf(headers: HeaderList): string;
  /** Stands for the credential that was sent along: the same for the same, and nothing leads back. */
  credentialOf(headers: HeaderList): string;
  readonly rollout: Pick<Rollout, "choose" | "fallback"> & Partial<Pick<Rollout, "begins">>;
  /** Undefined where there is no native v1 to compare with. */
  readonly shadow: Pick<Shadow, "watch" | "follow"> | undefined;
  /** Reads native v1 when v2 fails. Undefined without a native v1. */
  readonly native?: (OnFailureParts & { readonly reads: NativeReads }) | undefined;
}

/** Decides on each request from its head. Throws `Problem` for what must be refused. */
export function createProxy(parts: ProxyParts): RequestProxy {
  const choose = (request: RequestContext): Choice => choiceOf(request, parts);
  const plan = (choice: Choice, request: RequestContext, compares = true): SettledPlan => {
    const own = request.route === choice.route ? choice : choiceFor(choice, request, parts);
    const planned = planOf(own, request, parts, compares);
    const notice = parts.notice?.(request) ?? [];
    return notice.length === 0 ? planned : { ...planned, headers: [...(planned.headers ?? []), ...notice] };
  };
  const settle = (request: RequestContext): SettledPlan => plan(choose(request), request);
  const decide: Decide = (request) => {
    if (runsAsGet(request, parts.route)) return deferForm(request, parts.limits.uriBytes, settle);
    const settled = settle(request);
    const isExchange = settled.kind === "pass" && settled.upstream === "sts" && parts.audience.from !== undefined;
    return isExchange && request.method === "POST" && isForm(request.headers)
      ? deferExchange(settled, request, parts)
      : settled;
  };
  const checkNative = (request: RequestContext): void => {
    if (parts.cutover === undefined) return;
    unlessRehearsal(unlessBrownout(rulesOn(request, parts.cutover), request, parts), request, parts.cutover);
  };
  return { choose, plan, decide, checkNative, servesNative: () => servesNative(parts) };
}

const NO_BYTES = new Uint8Array(0);

/**
 * A form that runs as a GET is one from here on, for rules, ledger and comparison alike. Native v1 still gets the form as it came, and
 * turns it into the same GET by itself, unless that hangs on the field that never goes on.
 */
function deferForm(
  request: RequestContext,
  uriBytes: number,
  settle: (request: RequestContext) => SettledPlan,
): DeferredPlan {
  const { exchange, method, headers, target, methodOverride = "" } = request;
  return {
    kind: "deferred",
    limit: uriBytes,
    tooLong: () => formTooLong(uriBytes),
    decide: (body) => {
      const asGet = formAsGet(request, body, uriBytes);
      exchange.method = asGet.method;
      exchange.target = () => asGet.target;
      exchange.notes.push("form-as-get");
      const plan = settle({ ...request, ...asGet });
      if (plan.kind === "answer") return plan;
      if (plan.upstream === "v1" && methodOverride === "") return { ...plan, target, sent: { method, headers, body } };
      return { ...plan, sent: { ...asGet, body: NO_BYTES } };
    },
  };
}

function choiceOf(request: RequestContext, parts: ProxyParts): Choice {
  const { exchange } = request;
  if (isV1(request.target)) exchange.apiVersion = "v1";
  const choice = routeOf(request, parts);
  const { route } = choice;
  request.route = route;
  if (route === undefined) return choice;
  // A token that is to be exchanged is not read here.
  if (route.kind !== "sts" && parts.cutover !== undefined) exchange.client = parts.cutover.nameOf(request.headers);
  switch (route.kind) {
    case "v2":
      exchange.apiVersion = "v2";
      exchange.resource = route.resource;
      return choice;
    case "sts":
      exchange.apiVersion = "sts";
      return choice;
    case "native":
      exchange.resource = route.resource;
      exchange.operation = route.operation;
      exchange.apiVersion = "v1";
      return choice;
    case "options":
      exchange.operation = "options";
      return choice;
    case "match":
      exchange.resource = route.match.resource.name;
      exchange.operation = route.match.operation.name;
      return serverOf(route, request, parts);
    default:
      return route satisfies never;
  }
}

/** `choice` with the route of `request`, or another choice where that is another operation. */
function choiceFor(choice: Choice, request: RequestContext, parts: ProxyParts): Choice {
  const { route, decision } = routeOf(request, parts, choice.decision);
  request.route = route;
  if (route === undefined) return { route, mode: "native", decision };
  const isSame =
    route.kind === "match" && choice.route?.kind === "match" && route.match.operation === choice.route.match.operation;
  return isSame ? { ...choice, route } : choiceOf(request, parts);
}

function planOf(
  { route, mode, decision }: Choice,
  request: RequestContext,
  parts: ProxyParts,
  compares: boolean,
): SettledPlan {
  const { exchange, target } = request;
  switch (route?.kind) {
    case undefined:
      return passNative(request, "native");
    case "v2":
      return pass("v2", target, exchange);
    case "sts":
      return exchangeToken(route.query, request, parts);
    case "native":
      return native(request, parts, route);
    case "options":
      return options(route.v2Target, request, parts);
    case "match":
      if (mode === "native" && decision === undefined) return native(request, parts);
      return serve(route.match, decision, request, parts, compares);
    default:
      return route satisfies never;
  }
}

/** Refused by translations only: a method that v1 does not have, and a path that cannot be rebuilt for v2. */
const OF_V1: ReadonlySet<string> = new Set(["METHOD_NOT_ALLOWED", "INVALID_PATH"]);

/** How a route is served that no rule decides on. */
const MODES = { v2: "pass", sts: "pass", native: "native", options: "native", match: "translate" } as const;

/**
 * The operation that a request asks for. Undefined where v1's own response to a bad request is due: a client that is not translated must
 * not notice carryover. `known`: what the rules said of it before.
 */
function routeOf(request: RequestContext, parts: ProxyParts, known?: ServingDecision): Choice {
  try {
    const route = parts.route(request.method, request.target);
    return { route, mode: MODES[route.kind], decision: undefined };
  } catch (error) {
    const { exchange } = request;
    const { cutover } = parts;
    const isOfV1 = error instanceof Problem && OF_V1.has(error.reason) && exchange.apiVersion === "v1";
    if (!isOfV1 || cutover === undefined || !parts.upstreams.has("v1")) throw error;
    exchange.client = cutover.nameOf(request.headers);
    const decision = known ?? unlessBrownout(rulesOn(request, cutover), request, parts);
    if (decision.mode === "translate") throw error;
    noteRule(exchange, decision.rule);
    return { route: undefined, mode: "native", decision };
  }
}

/** What the rules in force say of a request; its exchange says which operation it is, and whose. */
function rulesOn(head: RequestContext, { rollout }: Cutover, guessed = false): ModeDecision {
  const { resource, operation, client } = head.exchange;
  const write = head.method !== "GET" && head.method !== "HEAD";
  return rollout.choose({ resource, operation, write, guessed, client, head });
}

/**
 * Whatever serves the request otherwise, a brownout refuses it: throws `Problem` BROWNOUT. A browser's question whether it may call
 * (OPTIONS) is not a call.
 */
function unlessBrownout(decision: ModeDecision, request: RequestContext, { notice }: ProxyParts): ServingDecision {
  if (decision.mode !== "brownout") return decision;
  const { rule, shadow, why } = decision;
  noteRule(request.exchange, rule);
  if (request.method === "OPTIONS") return { mode: "native", rule, shadow, why };
  request.exchange.brownout = decision.window;
  const fields = notice?.(request) ?? [];
  throw brownoutProblem(decision, request.exchange.rpc === undefined ? fields : withoutSuccessor(fields));
}

/** True where a rule switches native v1 off for the client, and has not stepped back. */
export function isRehearsed({ mode, rule }: ModeDecision): boolean {
  return mode === "translate" && rule?.fallback === "refuse";
}

/** Notes the rule. Throws `Problem` NOT_TRANSLATABLE where only native v1 could serve a request in a rehearsal. */
function unlessRehearsal(decision: ServingDecision, request: RequestContext, { credentialOf }: Cutover): void {
  const { exchange, method, headers } = request;
  noteRule(exchange, decision.rule);
  if (!isRehearsed(decision) || method === "OPTIONS") return;
  exchange.credential = () => credentialOf(headers);
  const { resource, operation } = exchange;
  throw new Problem(
    "NOT_TRANSLATABLE",
    `${untranslatedName(exchange)} is not translated, and rule ${decision.rule?.name} switches native v1 off for this client (fallback: refuse)`,
    { metadata: { resource, operation }, options: ["cutover.rulesFile"] },
  );
}

function untranslatedName({ resource, operation, method, path }: Exchange): string {
  return resource === "unknown" ? `${method} ${path}` : `${resource} ${operation}`;
}

function noteRule(exchange: Exchange, rule: RuleSettings | undefined): void {
  exchange.rule = rule?.name;
  exchange.ruleId = rule?.evidenceKey;
}

function pass(upstream: Upstream, target: string, exchange: Exchange): PassPlan {
  exchange.mode = "pass";
  return { kind: "pass", upstream, target };
}

/** An operation of the catalogue: the rules say who serves it. */
function serverOf(route: RouteResult & { kind: "match" }, request: RequestContext, parts: ProxyParts): Choice {
  const { operation } = route.match;
  if (!parts.translations.has(operation)) return { route, mode: "native", decision: undefined };
  const { cutover } = parts;
  if (cutover === undefined) return { route, mode: "translate", decision: undefined };
  const isGuessed = operation.guessed === true && servesNative(parts);
  const asked = unlessBrownout(rulesOn(request, cutover, isGuessed), request, parts);
  const decision = asked.why === "guessed" ? rehearsedGuess(request, cutover) : asked;
  if (decision === undefined) return { route, mode: "native", decision: undefined };
  const { exchange, headers } = request;
  const { mode, rule } = decision;
  noteRule(exchange, rule);
  exchange.write = request.method !== "GET" && request.method !== "HEAD";
  exchange.credential = () => cutover.credentialOf(headers);
  return { route, mode, decision };
}

/** Native v1 serves a guessed operation, unless it is off for the client. Undefined: it does. */
function rehearsedGuess(request: RequestContext, cutover: Cutover): ServingDecision | undefined {
  const decision = rulesOn(request, cutover);
  return decision.mode !== "brownout" && isRehearsed(decision) ? decision : undefined;
}

/** The operation as `decision` has it served, and whether the other version's response is compared. */
function serve(
  match: OperationMatch,
  decision: ServingDecision | undefined,
  request: RequestContext,
  parts: ProxyParts,
  compares: boolean,
): SettledPlan {
  const { cutover, translations } = parts;
  const translation = translations.get(match.operation);
  if (translation === undefined) return native(request, parts);
  if (cutover === undefined || decision === undefined) return translate(match, translation, request, parts);
  const { exchange, method, target, headers, httpVersion, credential, deadline } = request;
  const { mode, rule, shadow: settings } = decision;
  const { client, requestId, ruleId } = exchange;
  const write = method !== "GET";
  const comparison = (): ComparisonRequest => {
    // What waits to be compared must not hold on to the connection.
    const head = { method, target, headers, httpVersion, credential, deadline };
    return { match, head, client, rule: rule?.name, ruleId, settings, requestId, write };
  };
  if (mode !== "translate") {
    const watch = mode === "shadow" && compares ? cutover.shadow?.watch(comparison()) : undefined;
    return { ...passNative(request, mode), ...(watch === undefined ? {} : { watch }) };
  }
  const translated = translate(match, translation, request, parts);
  // Native cannot be asked what a write would have done without doing it.
  if (write) return translated;
  // What v2 did is compared, whatever the client gets in its place.
  const { shadow } = cutover;
  const compared =
    shadow === undefined || settings.sample === 0 ? translated : followed(translated, shadow, comparison);
  return spared(compared, match, rule, request, cutover);
}

/** `plan` of a read, and what native v1 does with it where v2 fails it. */
function spared(
  plan: ResponsePlan,
  match: OperationMatch,
  rule: RuleSettings | undefined,
  request: RequestContext,
  { native, rollout }: Cutover,
): ResponsePlan {
  if (rule === undefined || native === undefined || !isComparable({ match, head: request })) return plan;
  const { exchange, method, target, headers, credential, deadline } = request;
  // What waits to be repeated must not hold on to the connection.
  const repeated: RequestContext = { method, target, headers, credential, deadline, exchange };
  if (rule.guard.action !== "off") {
    exchange.onNative = () => native.reads.outcome(repeated);
    rollout.begins?.(exchange, rule.name);
  }
  return rule.onFailure === undefined ? plan : withNativeOnFailure(plan, repeated, rule.onFailure, native);
}

/** `plan`, and its response compared with native's; a refusal of carryover's own is one too, where native might not refuse. */
function followed(
  plan: ResponsePlan,
  { follow }: Pick<Shadow, "follow">,
  comparison: () => ComparisonRequest,
): ResponsePlan {
  return {
    ...plan,
    respond: async (body, signal) => {
      try {
        return follow(comparison(), await plan.respond(body, signal));
      } catch (error) {
        if (error instanceof Problem && (error.fault === "client" || error.fault === "translation"))
          follow(comparison(), refusalOf(error));
        throw error;
      }
    },
  };
}

function refusalOf(problem: Problem): ClientResponse {
  const body = new TextEncoder().encode(problemBody(problem));
  return { status: problem.http, headers: [["content-type", "application/json"]], body };
}

/** Native v1 responds, which the header `carryover-mode` says. */
function passNative({ target, exchange }: RequestContext, mode: "native" | "shadow"): PassPlan {
  exchange.mode = mode;
  return { kind: "pass", upstream: "v1", target, headers: [[OurHeader.MODE, mode]] };
}

/** carryover responds, which the header `carryover-mode` says. */
function respondBy(exchange: Exchange, respond: ResponsePlan["respond"]): ResponsePlan {
  exchange.mode = "translate";
  return { kind: "answer", headers: [[OurHeader.MODE, "translate"]], respond };
}

/** The translation is handed everything it may do. */
function translate(
  match: OperationMatch,
  translation: Translation,
  request: RequestContext,
  parts: ProxyParts,
): ResponsePlan {
  const { exchange, target } = request;
  return respondBy(exchange, async (body, signal) => {
    exchange.requestKey = () =>
      `${request.method} ${createHash("sha256").update(target).update(body).digest("base64")}`;
    const isGet = request.method === "GET";
    if (isGet && !isEmptyBody(body)) {
      throw new Problem("INVALID_BODY", "invalid body: a GET has none; send filters in the query", { options: [] });
    }
    const tools = parts.tools(request, signal);
    try {
      const numbersOnly = request.exchange.rpc !== undefined;
      return await translation({ match, headers: request.headers, body: isGet ? NO_BYTES : body, numbersOnly }, tools);
    } finally {
      tools.done?.();
    }
  });
}

/** Some clients put an empty JSON value into every request. */
function isEmptyBody(body: Uint8Array): boolean {
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1").trim();
  return (
    text === "" || text === "null" || (text.startsWith("{") && text.endsWith("}") && text.slice(1, -1).trim() === "")
  );
}

/** Not translated: native v1 where there is one, else 501 with the operation's name, or v1's own 404 for a path that it does not have. */
function native(
  request: RequestContext,
  parts: ProxyParts,
  { otherwise, named = false }: Pick<RouteResult & { kind: "native" }, "otherwise" | "named"> = {},
): SettledPlan {
  const { exchange } = request;
  const { resource, operation } = exchange;
  if (servesNative(parts) || (named && parts.upstreams.has("v1"))) {
    // Of rules only brownouts and rehearsals decide on what only v1 has; the matching one still sets the deprecation headers.
    if (parts.cutover !== undefined && exchange.apiVersion === "v1") {
      unlessRehearsal(unlessBrownout(rulesOn(request, parts.cutover), request, parts), request, parts.cutover);
    }
    return passNative(request, "native");
  }
  if (otherwise !== undefined) throw otherwise;
  // A native v1 that may not be asked could have it.
  if (operation === "unknown" && !parts.upstreams.has("v1")) throw new Problem("NOT_FOUND", "Not Found");
  throw new Problem(
    "NOT_TRANSLATABLE",
    `${untranslatedName(exchange)} is not translated, and native v1 is not served here`,
    {
      metadata: { resource, operation },
      options: parts.upstreams.has("v1") ? ["fallback"] : ["upstream.v1.url"],
    },
  );
}

function servesNative({ fallback, cutover, upstreams }: ProxyParts): boolean {
  return (cutover?.rollout.fallback() ?? fallback) === "native" && upstreams.has("v1");
}

/** A front of the platform may answer CORS: native's if there is one, else what v2 says of the mapped path. */
function options(v2Target: string | undefined, request: RequestContext, parts: ProxyParts): SettledPlan {
  if (v2Target === undefined || servesNative(parts)) return native(request, parts);
  return respondBy(request.exchange, async (_body, signal) => {
    return optionsResponse(await parts.tools(request, signal).send(optionsRequest(v2Target, request.headers)));
  });
}

/** Token exchange goes through unread, but for an `aud` that names carryover itself: v2's own audience takes its place. */
function exchangeToken(query: string, { target, exchange }: RequestContext, parts: ProxyParts): PassPlan {
  exchange.operation = "exchange";
  if (!parts.upstreams.has("sts")) {
    throw new Problem("UNKNOWN_PATH", "token exchange is not configured here (upstream.sts.url)", {
      options: ["upstream.sts.url"],
    });
  }
  return pass("sts", target.slice(0, target.length - query.length) + withAudience(query, parts.audience), exchange);
}

/** `plan`, once the form with its audience is here. */
function deferExchange(
  plan: PassPlan,
  { method, headers }: RequestContext,
  { audience, limits: { bodyBytes } }: ProxyParts,
): DeferredPlan {
  return {
    kind: "deferred",
    limit: bodyBytes,
    tooLong: () => tooLarge(bodyBytes),
    decide: (body) => {
      const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString("latin1");
      const sent = Buffer.from(withAudience(text, audience), "latin1");
      const length = String(sent.length);
      const fields = headers.map((field) => (field[0] === "content-length" ? withValue(field, length) : field));
      return { ...plan, sent: { method, headers: fields, body: sent } };
    },
  };
}
