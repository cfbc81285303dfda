/** What happens to a request: router, mode, translate, upstream, rewrite, respond. */

import type { Exchange, Upstream } from "./model/exchange.ts";
import { type ClientResponse, type HeaderList, OurHeader } from "./model/http.ts";
import { Problem, problemBody } from "./model/problem.ts";
import type {
  Decide,
  OperationMatch,
  PassPlan,
  Plan,
  RequestHead,
  ResponsePlan,
  RouteResult,
} from "./model/request.ts";
import type { Operation } from "./model/resource.ts";
import type { Signal } from "./model/signal.ts";
import type { Rollout } from "./rollout/rollout.ts";
import type { Router } from "./router/router.ts";
import type { ComparisonRequest } from "./shadow/request.ts";
import type { Shadow } from "./shadow/shadow.ts";
import { optionsRequest, optionsResponse } from "./translate/headers.ts";
import type { Tools, Translation } from "./translate/operation.ts";

export interface ProxyParts {
  readonly route: Router;
  readonly translations: ReadonlyMap<Operation, Translation>;
  /** Upstreams that are configured; v2 always is. */
  readonly upstreams: ReadonlySet<Upstream>;
  /** What serves an operation that v2 lacks (design: no v2 counterpart); the rules in force may say otherwise. */
  readonly fallback: "native" | "refuse";
  /** What serves an operation that both versions have; without it everything is translated. */
  readonly cutover?: Cutover | undefined;
  /** Token exchange: a query `aud` of the first becomes the second (design section 10, `upstream.sts`). */
  readonly audience: { readonly from: string | undefined; readonly to: string };
  /** What one request may do; everything it does is noted in `exchange`. */
  tools(exchange: Exchange, head: RequestHead, signal: Signal): Tools;
}

/** Who serves what, and who compares (design section 7). */
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
  return (head, exchange) => {
    if (isV1(head.target)) exchange.apiVersion = "v1";
    const routed = routeOf(head, parts, exchange);
    if (routed === undefined) return passNative(head.target, "native", exchange);
    // A token that is to be exchanged is read by nobody here.
    if (routed.kind !== "sts" && parts.cutover !== undefined) exchange.client = parts.cutover.nameOf(head.headers);
    switch (routed.kind) {
      case "v2":
        exchange.apiVersion = "v2";
        exchange.resource = routed.resource;
        return pass("v2", head.target, exchange);
      case "sts":
        exchange.apiVersion = "sts";
        return exchangeToken(routed.query, head.target, parts, exchange);
      case "native":
        exchange.resource = routed.resource;
        exchange.operation = routed.operation;
        return native(head, parts, exchange);
      case "options":
        exchange.operation = "options";
        return options(routed, head, parts, exchange);
      case "match":
        exchange.resource = routed.match.resource.name;
        exchange.operation = routed.match.operation.name;
        return serve(routed.match, head, parts, exchange);
      default:
        return routed satisfies never;
    }
  };
}

/**
 * What is asked for; undefined where v1 has no such method and native answers for itself: whoever is not translated must not
 * notice that carryover is there.
 */
function routeOf(head: RequestHead, parts: ProxyParts, exchange: Exchange): RouteResult | undefined {
  try {
    return parts.route(head.method, head.target);
  } catch (error) {
    const { cutover } = parts;
    const isMethod = error instanceof Problem && error.reason === "METHOD_NOT_ALLOWED" && exchange.apiVersion === "v1";
    if (!isMethod || cutover === undefined || !parts.upstreams.has("v1")) throw error;
    exchange.client = cutover.nameOf(head.headers);
    const { resource, operation, client } = exchange;
    const write = head.method !== "HEAD";
    const { mode, rule } = cutover.rollout.choose({ resource, operation, write, client, headers: head.headers });
    if (mode === "translate") throw error;
    exchange.rule = rule?.name;
    exchange.ruleId = rule?.identity;
    return undefined;
  }
}

function isV1(target: string): boolean {
  const slash = target.indexOf("/", 1);
  return slash > 0 && /^\/v1(?:[/?:]|$)/.test(target.slice(slash, slash + 4));
}

function pass(upstream: Upstream, target: string, exchange: Exchange): PassPlan {
  exchange.mode = "pass";
  return { kind: "pass", upstream, target };
}

/** An operation of the catalogue: the rules say who serves it, and whether the other version's answer is compared. */
function serve(match: OperationMatch, head: RequestHead, parts: ProxyParts, exchange: Exchange): Plan {
  const translation = parts.translations.get(match.operation);
  if (translation === undefined) return native(head, parts, exchange);
  const { cutover } = parts;
  if (cutover === undefined) return translate(match, translation, head, parts, exchange);
  const { client } = exchange;
  const write = head.method !== "GET";
  const asked = {
    resource: match.resource.name,
    operation: match.operation.name,
    write,
    guessed: match.operation.guessed === true && servesNative(parts),
    client,
    headers: head.headers,
  };
  const { mode, rule, shadow: settings, why } = cutover.rollout.choose(asked);
  if (why === "guessed") return native(head, parts, exchange);
  const ruleId = rule?.identity;
  exchange.rule = rule?.name;
  exchange.ruleId = ruleId;
  const { requestId } = exchange;
  const ask = (): ComparisonRequest => ({ match, head, client, rule: rule?.name, ruleId, settings, requestId, write });
  if (mode !== "translate") {
    const watch = mode === "shadow" ? cutover.shadow?.watch(ask()) : undefined;
    return { ...passNative(head.target, mode, exchange), ...(watch === undefined ? {} : { watch }) };
  }
  if (rule !== undefined) exchange.credential = () => cutover.credentialOf(head.headers);
  const plan = translate(match, translation, head, parts, exchange);
  // Native cannot be asked what a write would have done without doing it.
  if (cutover.shadow === undefined || write || settings.sample === 0) return plan;
  return followed(plan, cutover.shadow, ask);
}

/** `plan`, and its answer compared with native's; a refusal of carryover's own is an answer too, where native might not refuse. */
function followed(plan: ResponsePlan, { follow }: Pick<Shadow, "follow">, ask: () => ComparisonRequest): ResponsePlan {
  return {
    kind: "answer",
    respond: async (body, signal) => {
      try {
        return follow(ask(), await plan.respond(body, signal));
      } catch (error) {
        if (error instanceof Problem && (error.fault === "client" || error.fault === "translation"))
          follow(ask(), refusalOf(error));
        throw error;
      }
    },
  };
}

function refusalOf(problem: Problem): ClientResponse {
  const body = new TextEncoder().encode(problemBody(problem));
  return { status: problem.http, headers: [["content-type", "application/json"]], body };
}

/** What the platform's own v1 answers, and who served it. */
function passNative(target: string, mode: "native" | "shadow", exchange: Exchange): PassPlan {
  exchange.mode = mode;
  return { kind: "pass", upstream: "v1", target, headers: [[OurHeader.MODE, mode]] };
}

/** The translation is handed everything it may do. */
function translate(
  match: OperationMatch,
  translation: Translation,
  head: RequestHead,
  parts: Pick<ProxyParts, "tools">,
  exchange: Exchange,
): ResponsePlan {
  exchange.mode = "translate";
  return answer(exchange, async (body, signal) => {
    if (head.method === "GET" && body.length > 0) {
      throw new Problem("INVALID_BODY", "invalid body: a GET has none; send filters in the query");
    }
    const tools = parts.tools(exchange, head, signal);
    try {
      return await translation({ match, headers: head.headers, body }, tools);
    } finally {
      tools.done?.();
    }
  });
}

/** Not translated: native v1 where there is one, else 501 with the operation's name, or v1's own 404 for a path that it does not have. */
function native(head: RequestHead, parts: ProxyParts, exchange: Exchange): Plan {
  if (servesNative(parts)) {
    noteRule(head, parts, exchange);
    return passNative(head.target, "native", exchange);
  }
  // A native v1 that may not be asked could have it.
  if (exchange.operation === "unknown" && !parts.upstreams.has("v1")) throw new Problem("NOT_FOUND", "Not Found");
  const name =
    exchange.resource === "unknown" ? `${head.method} ${exchange.path}` : `${exchange.resource} ${exchange.operation}`;
  throw new Problem("NOT_TRANSLATABLE", `${name} is not translated, and native v1 is not served here`, {
    metadata: { resource: exchange.resource, operation: exchange.operation },
  });
}

/** No rule decides on what only v1 has; the one that would still says what its clients are told of v1's end. */
function noteRule({ method, headers }: RequestHead, { cutover }: ProxyParts, exchange: Exchange): void {
  if (cutover === undefined || exchange.apiVersion !== "v1") return;
  const { resource, operation, client } = exchange;
  const { rule } = cutover.rollout.choose({ resource, operation, write: method !== "GET", client, headers });
  exchange.rule = rule?.name;
  exchange.ruleId = rule?.identity;
}

function servesNative({ fallback, cutover, upstreams }: ProxyParts): boolean {
  return (cutover?.rollout.fallback() ?? fallback) === "native" && upstreams.has("v1");
}

/** A front of the platform may answer CORS: native's if there is one, else what v2 says of the mapped path. */
function options(
  routed: RouteResult & { kind: "options" },
  head: RequestHead,
  parts: ProxyParts,
  exchange: Exchange,
): Plan {
  const { v2Target } = routed;
  if (v2Target === undefined || servesNative(parts)) return native(head, parts, exchange);
  exchange.mode = "translate";
  return answer(exchange, async (_body, signal) => {
    return optionsResponse(await parts.tools(exchange, head, signal).send(optionsRequest(v2Target, head.headers)));
  });
}

function answer(exchange: Exchange, respond: ResponsePlan["respond"]): ResponsePlan {
  return {
    kind: "answer",
    respond: async (body, signal): Promise<ClientResponse> => {
      const response = await respond(body, signal);
      return { ...response, headers: [...response.headers, [OurHeader.MODE, exchange.mode]] };
    },
  };
}

/** `/sts/exchange` goes through unread, but for an `aud` that names carryover itself: v2's own audience takes its place. */
function exchangeToken(query: string, target: string, parts: ProxyParts, exchange: Exchange): Plan {
  exchange.operation = "exchange";
  if (!parts.upstreams.has("sts")) {
    throw new Problem("UNKNOWN_PATH", "token exchange is not configured here (upstream.sts.url)");
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
