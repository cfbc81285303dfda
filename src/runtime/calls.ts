/** What one translated request may do. */
import { randomBytes } from "node:crypto";
import type { Config } from "../config/config.ts";
import { createDrains, type Drains } from "../drain/drain.ts";
import { createListHints } from "../drain/hints.ts";
import { limitsOf } from "../drain/limits.ts";
import type { DrainParts } from "../drain/list-reader.ts";
import { TIME, type Time } from "../model/clock.ts";
import { type Exchange, recordCall, type Witness } from "../model/exchange.ts";
import {
  type ApiRequest,
  type ApiResponse,
  type Caller,
  compose,
  type HeaderList,
  type HeldResponses,
  header,
  type Send,
  type SendLayer,
  type SendOptions,
} from "../model/http.ts";
import type { RequestContext } from "../model/request.ts";
import type { Signal } from "../model/signal.ts";
import { createMaskMemory, type Tools } from "../translate/operation.ts";
import { createTurns } from "../translate/pages.ts";
import { noteTranslationRefused } from "../translate/refusal.ts";
import { type CallQueue, createCallQueue } from "../upstream/call-queue.ts";
import { createDigest } from "../upstream/credentials.ts";
import { createListQueue, createPageTurns, type ListQueue } from "../upstream/list-queue.ts";
import { createPageRetry, createRetry, type RetryBudget } from "../upstream/retry.ts";

/** The upstream that translated requests are sent to. */
export interface V2Upstream {
  readonly send: Send;
  /** Where its calls wait for a place; by default a queue of its own. */
  readonly calls?: CallQueue | undefined;
  /** Makes calls wait for memory; without it they do not. */
  readonly room?: SendLayer | undefined;
  /** All repeats of calls to v2. */
  readonly budget: RetryBudget;
}

/** Tools for requests, and what they share. */
export interface Toolbox {
  /**
   * Every call retried within the budget, timed, and noted in the request's exchange. `innermost` stands right before the
   * upstream: what only looks at what a request would do keeps its writes back there.
   */
  tools(request: RequestContext, signal: Signal, innermost?: SendLayer): Tools;
  /** Where its calls wait for a place, and lists for theirs. */
  readonly calls: CallQueue;
  readonly lists: ListQueue;
}

/** Nothing is sent until a request asks for it. `background`: no client waits for these calls, and all others go first. */
export function createToolbox(
  config: Pick<Config, "lists" | "upstream" | "unknownFields">,
  v2: V2Upstream,
  time: Time = TIME,
  background = false,
): Toolbox {
  const { now, wall, sleep, later } = time;
  const retry = createRetry({ budget: v2.budget, wall, random: Math.random, sleep });
  const { maskSpelling } = config.upstream.v2;
  const mask = createMaskMemory(maskSpelling === "auto" ? undefined : maskSpelling, maskSpelling !== "auto");
  // In JSON masks are camelCase, also on a gateway that wants snake_case in queries: only a refusal of the mask says otherwise.
  const bodyMask = createMaskMemory("camelCase", false);
  const { readers: start, readersPerUpstream: pages } = config.lists;
  const calls =
    v2.calls ?? createCallQueue({ connections: config.upstream.v2.connections, pages, start, now, wall, later });
  const lists = createListQueue({ ...config.lists, now, later });
  const repeat = createPageRetry({ wall, now, maxSeconds: config.lists.maxSeconds, random: Math.random, sleep });
  const drainsFor = createDrainSource(config, lists, calls, now);
  const digest = createDigest(randomBytes(32).toString("hex"));
  const inTurns = createTurns();
  // With `pass` a field that v2 does not know may be the client's.
  const notesRefusals = config.unknownFields.request !== "pass";
  const place = (kind: "short" | "page"): SendLayer => calls.layer(background ? "background" : kind);
  const { room = (next) => next } = v2;
  // The layers of a call, outermost first: memory for its response, repeats, a place in the queue. They are composed once, since the caller
  // travels with the request.
  const layered = (upstream: Send): Record<"short" | "page", Send> => ({
    short: compose([room, retry, place("short")], upstream),
    page: compose([room, retry, repeat, place("page")], upstream),
  });
  const usual = layered(v2.send);
  const tools: Toolbox["tools"] = (asked, signal, innermost) => {
    const { exchange } = asked;
    const credential = asked.credential ?? digest(header(asked.headers, "authorization") ?? "");
    const caller = new RequestCaller(asked, credential, notesRefusals);
    const options: SendOptions = { signal, caller };
    const { short, page } = innermost === undefined ? usual : layered(innermost(v2.send));
    // Made on the first use: most requests need none.
    let made: Drains | undefined;
    const drains = (): Drains => {
      const named =
        (to: Send): Send =>
        (request, sending) =>
          to(request, { ...sending, caller });
      made ??= drainsFor({ exchange, request: caller, signal, send: named(short), reads: named(page) });
      return made;
    };
    return {
      send: (request) => short(request, options),
      reads: (request) => page(request, options),
      drain: (plan) => drains().drain(plan),
      longDrain: (plan) => drains().longDrain(plan),
      mask,
      bodyMask,
      exchange,
      done: () => caller.held?.done(),
      inTurns,
    };
  };
  return { tools, calls, lists };
}

/** A request as the caller of an upstream: notes its calls in the exchange. */
class RequestCaller implements Caller {
  readonly credential: string;
  readonly since: number;
  readonly deadline: number;
  held: HeldResponses | undefined = undefined;
  private readonly asked: RequestContext;
  private readonly notesRefusals: boolean;

  constructor(asked: RequestContext, credential: string, notesRefusals: boolean) {
    this.asked = asked;
    this.credential = credential;
    this.since = asked.exchange.startedAt;
    this.deadline = asked.deadline ?? Number.POSITIVE_INFINITY;
    this.notesRefusals = notesRefusals;
  }

  begun(): boolean {
    return this.asked.exchange.calls.length > 0;
  }

  holdsResponse(): boolean {
    return this.asked.holdsResponse === true;
  }

  ended(request: ApiRequest, response: ApiResponse | undefined, ms: number): void {
    const { exchange } = this.asked;
    recordCall(exchange, "v2", request, response?.status ?? 0, ms);
    if (response?.status === 429) exchange.rateLimit = rateLimitOf(response.headers);
    if (this.notesRefusals && response !== undefined) noteTranslationRefused(exchange, request, response);
  }
}

/** Fields that name a rate limit: drafts of the IETF, and what gateways send. */
const RATE_LIMIT_FIELDS = ["ratelimit-policy", "ratelimit", "x-ratelimit-limit", "retry-after"];
const MOST_SHOWN = 100;

/** `ratelimit-policy: 100;w=60`, or undefined if v2 names no limit. */
function rateLimitOf(headers: HeaderList): string | undefined {
  for (const name of RATE_LIMIT_FIELDS) {
    const value = header(headers, name);
    if (value !== undefined) return `${name}: ${value.slice(0, MOST_SHOWN)}`;
  }
  return undefined;
}

interface RequestDrainInput {
  readonly exchange: Exchange;
  readonly request: Pick<Caller, "credential" | "since" | "deadline">;
  readonly signal: Signal;
  readonly send: Send;
  readonly reads: Send;
}

/** What all drains share: the queue of lists, limits, and what earlier lists showed. */
function createDrainSource(
  config: Pick<Config, "lists" | "upstream">,
  queue: ListQueue,
  calls: Pick<CallQueue, "shortAt">,
  now: () => number,
): (input: RequestDrainInput) => Drains {
  const { lists, upstream } = config;
  const memory = createListHints();
  const shared: Pick<DrainParts, "limits" | "tokens" | "totals" | "require" | "now" | "turn"> = {
    limits: limitsOf(lists),
    tokens: upstream.v2.pageTokens,
    totals: upstream.v2.totals,
    require: (resource): Witness => lists.require.resources.get(resource) ?? lists.require.default,
    now,
    turn: createPageTurns(now, calls.shortAt),
  };
  return ({ exchange, request, signal, send, reads }) =>
    createDrains({
      ...shared,
      send,
      reads,
      signal,
      memory: memory.of(request.credential),
      claim: () => queue.claim(request, signal),
      report: (facts, notes) => {
        exchange.list = facts;
        exchange.notes.push(...notes);
      },
    });
}
