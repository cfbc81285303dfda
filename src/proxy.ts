/** What happens to a request between server and response: router, mode, translate, upstream, rewrite. */
import type { Catalogue } from "./catalogue.ts";
import type { Config } from "./config/config.ts";
import type { Exchange, Upstream } from "./model/exchange.ts";
import { type ClientResponse, type HeaderList, OurHeader } from "./model/http.ts";
import { Problem, problemBody } from "./model/problem.ts";
import type {
  Decide,
  OperationMatch,
  PassPlan,
  Plan,
  RequestContext,
  ResponsePlan,
  RouteResult,
} from "./model/request.ts";
import type { Operation } from "./model/resource.ts";
import type { ModeDecision, Rule } from "./model/rules.ts";
import type { Signal } from "./model/signal.ts";
import type { Rollout } from "./rollout/rollout.ts";
import { createRouter, type Router } from "./router/router.ts";
import type { ComparisonRequest } from "./shadow/request.ts";
import type { Shadow } from "./shadow/shadow.ts";
import { optionsRequest, optionsResponse } from "./translate/headers.ts";
import type { Tools, Translation } from "./translate/operation.ts";
import { createTranslationsOnUse, type Translate } from "./translate/translations.ts";

/** What of the configuration decides. */
type DecisionConfig = Pick<Config, "listen" | "upstream" | "lists" | "updates" | "unknownFields" | "v1" | "fallback">;

/** Everything that decides on requests and outlives them; made once, for clients and for comparing alike. */
export interface Decisions {
  /** Says which operation a target asks for. */
  readonly route: Router;
  /**
   * The proxy, for whatever `tools` a request is given: those that send, or those that only write down. Without `cutover`
   * everything that can be is translated; `fallback` takes the place of the configuration's.
   */
  decide(
    tools: ProxyParts["tools"],
    other?: Partial<Pick<ProxyParts, "cutover" | "fallback" | "share" | "notice">>,
  ): Decide;
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
  };
  return { route, decide: (tools, other) => createProxy({ ...parts, ...other, tools }) };
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
  /** Token exchange: a query `aud` of the first becomes the second. */
  readonly audience: { readonly from: string | undefined; readonly to: string };
  /** What one request may do; everything it does is noted in its exchange. */
  tools(request: RequestContext, signal: Signal): Tools;
  /** The plan for a list, shared between equal requests. */
  share?(request: RequestContext, plan: Plan): Plan;
  /**
   * The deprecation headers of a request. They are added after a list was shared, since they depend on the client's rule.
   */
  notice?(request: RequestContext): HeaderList;
}

/** Who serves what, and who compares. */
export interface Cutover {
  /** Who asks, as the ledger names it. */
  nameOf(headers: HeaderList): string;
  /** Stands for the credential that was sent along: the same for the same, and nothing leads back. */
  credentialOf(headers: HeaderList): string;
  readonly rollout: Pick<Rollout, "choose" | "fallback">;
  /** Undefined where there is no native v1 to compare with. */
  readonly shadow: Pick<Shadow, "watch" | "follow"> | undefined;
}

/** Decides on each request from its head. Throws `Problem` for what must be refused. */
export function createProxy(parts: ProxyParts): Decide {
  return (request) => {
    const { exchange } = request;
    if (isV1(request.target)) exchange.apiVersion = "v1";
    request.route = routeOf(request, parts);
    const plan = planOf(request, request.route, parts);
    const shared = parts.share?.(request, plan) ?? plan;
    const notice = parts.notice?.(request) ?? [];
    return notice.length === 0 ? shared : { ...shared, headers: [...(shared.headers ?? []), ...notice] };
  };
}

function planOf(request: RequestContext, route: RouteResult | undefined, parts: ProxyParts): Plan {
  const { exchange, target } = request;
  if (route === undefined) return passNative(request, "native");
  // A token that is to be exchanged is not read here.
  if (route.kind !== "sts" && parts.cutover !== undefined) exchange.client = parts.cutover.nameOf(request.headers);
  switch (route.kind) {
    case "v2":
      exchange.apiVersion = "v2";
      exchange.resource = route.resource;
      return pass("v2", target, exchange);
    case "sts":
      exchange.apiVersion = "sts";
      return exchangeToken(route.query, request, parts);
    case "native":
      exchange.resource = route.resource;
      exchange.operation = route.operation;
      return native(request, parts);
    case "options":
      exchange.operation = "options";
      return options(route.v2Target, request, parts);
    case "match":
      exchange.resource = route.match.resource.name;
      exchange.operation = route.match.operation.name;
      return serve(route.match, request, parts);
    default:
      return route satisfies never;
  }
}

/**
 * What is asked for; undefined where v1 has no such method and native answers for itself: a client that is not translated must not
 * notice that carryover is there.
 */
function routeOf(request: RequestContext, parts: ProxyParts): RouteResult | undefined {
  try {
    return parts.route(request.method, request.target);
  } catch (error) {
    const { exchange } = request;
    const { cutover } = parts;
    const isMethod = error instanceof Problem && error.reason === "METHOD_NOT_ALLOWED" && exchange.apiVersion === "v1";
    if (!isMethod || cutover === undefined || !parts.upstreams.has("v1")) throw error;
    exchange.client = cutover.nameOf(request.headers);
    const { mode, rule } = choose(request, cutover);
    if (mode === "translate") throw error;
    noteRule(exchange, rule);
    return undefined;
  }
}

/** What the rules in force say of a request; its exchange says which operation it is, and whose. */
function choose({ method, headers, exchange }: RequestContext, { rollout }: Cutover, guessed = false): ModeDecision {
  const { resource, operation, client } = exchange;
  const write = method !== "GET" && method !== "HEAD";
  return rollout.choose({ resource, operation, write, guessed, client, headers });
}

function noteRule(exchange: Exchange, rule: Rule | undefined): void {
  exchange.rule = rule?.name;
  exchange.ruleId = rule?.evidenceKey;
}

function isV1(target: string): boolean {
  const slash = target.indexOf("/", 1);
  return slash > 0 && /^\/v1(?:[/?:]|$)/.test(target.slice(slash, slash + 4));
}

function pass(upstream: Upstream, target: string, exchange: Exchange): PassPlan {
  exchange.mode = "pass";
  return { kind: "pass", upstream, target };
}

/** An operation of the catalogue: the rules say who serves it, and whether the other version's response is compared. */
function serve(match: OperationMatch, request: RequestContext, parts: ProxyParts): Plan {
  const translation = parts.translations.get(match.operation);
  if (translation === undefined) return native(request, parts);
  const { cutover } = parts;
  if (cutover === undefined) return translate(match, translation, request, parts);
  const { exchange, method, target, headers, httpVersion, credential, deadline } = request;
  const guessed = match.operation.guessed === true && servesNative(parts);
  const { mode, rule, shadow: settings, why } = choose(request, cutover, guessed);
  if (why === "guessed") return native(request, parts);
  noteRule(exchange, rule);
  const { client, requestId, ruleId } = exchange;
  const write = method !== "GET";
  const comparison = (): ComparisonRequest => {
    // What waits to be compared must not hold on to the connection.
    const head = { method, target, headers, httpVersion, credential, deadline };
    return { match, head, client, rule: rule?.name, ruleId, settings, requestId, write };
  };
  if (mode !== "translate") {
    const watch = mode === "shadow" ? cutover.shadow?.watch(comparison()) : undefined;
    return { ...passNative(request, mode), ...(watch === undefined ? {} : { watch }) };
  }
  if (rule !== undefined) exchange.credential = () => cutover.credentialOf(headers);
  const plan = translate(match, translation, request, parts);
  // Native cannot be asked what a write would have done without doing it.
  if (cutover.shadow === undefined || write || settings.sample === 0) return plan;
  return followed(plan, cutover.shadow, comparison);
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
  return respondBy(request.exchange, async (body, signal) => {
    if (request.method === "GET" && body.length > 0) {
      throw new Problem("INVALID_BODY", "invalid body: a GET has none; send filters in the query", { options: [] });
    }
    const tools = parts.tools(request, signal);
    try {
      const numbersOnly = request.exchange.rpc !== undefined;
      return await translation({ match, headers: request.headers, body, numbersOnly }, tools);
    } finally {
      tools.done?.();
    }
  });
}

/** Not translated: native v1 where there is one, else 501 with the operation's name, or v1's own 404 for a path that it does not have. */
function native(request: RequestContext, parts: ProxyParts): Plan {
  const { exchange, method } = request;
  const { resource, operation } = exchange;
  if (servesNative(parts)) {
    // No rule decides on what only v1 has; the matching one still sets the deprecation headers.
    if (parts.cutover !== undefined && exchange.apiVersion === "v1") {
      noteRule(exchange, choose(request, parts.cutover).rule);
    }
    return passNative(request, "native");
  }
  // A native v1 that may not be asked could have it.
  if (operation === "unknown" && !parts.upstreams.has("v1")) throw new Problem("NOT_FOUND", "Not Found");
  const name = resource === "unknown" ? `${method} ${exchange.path}` : `${resource} ${operation}`;
  throw new Problem("NOT_TRANSLATABLE", `${name} is not translated, and native v1 is not served here`, {
    metadata: { resource, operation },
    options: parts.upstreams.has("v1") ? ["fallback"] : ["upstream.v1.url"],
  });
}

function servesNative({ fallback, cutover, upstreams }: ProxyParts): boolean {
  return (cutover?.rollout.fallback() ?? fallback) === "native" && upstreams.has("v1");
}

/** A front of the platform may answer CORS: native's if there is one, else what v2 says of the mapped path. */
function options(v2Target: string | undefined, request: RequestContext, parts: ProxyParts): Plan {
  if (v2Target === undefined || servesNative(parts)) return native(request, parts);
  return respondBy(request.exchange, async (_body, signal) => {
    return optionsResponse(await parts.tools(request, signal).send(optionsRequest(v2Target, request.headers)));
  });
}

/** `/sts/exchange` goes through unread, but for an `aud` that names carryover itself: v2's own audience takes its place. */
function exchangeToken(query: string, { target, exchange }: RequestContext, parts: ProxyParts): Plan {
  exchange.operation = "exchange";
  if (!parts.upstreams.has("sts")) {
    throw new Problem("UNKNOWN_PATH", "token exchange is not configured here (upstream.sts.url)", {
      options: ["upstream.sts.url"],
    });
  }
  const { from, to } = parts.audience;
  const pairs = query.split("&").map((pair) => {
    return from !== undefined && pair.startsWith("aud=") && isAudience(pair.slice("aud=".length), from)
      ? `aud=${encodeURIComponent(to)}`
      : pair;
  });
  return pass("sts", target.slice(0, target.length - query.length) + pairs.join("&"), exchange);
}

function isAudience(value: string, audience: string): boolean {
  try {
    return decodeURIComponent(value.replaceAll("+", " ")).replace(/\/$/, "") === audience.replace(/\/$/, "");
  } catch {
    return false;
  }
}
