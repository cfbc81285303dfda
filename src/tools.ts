/** What may one translated request do? */
import { randomBytes } from "node:crypto";
import type { Config } from "./config.ts";
import type { Exchange, Witness } from "./model/exchange.ts";
import { compose, header, type Send, type SendLayer } from "./model/message.ts";
import type { RequestHead } from "./model/plan.ts";
import type { Signal } from "./model/signal.ts";
import { noteOwnWords } from "./own-words.ts";
import { createDigest } from "./share/credential.ts";
import type { MaskMemory, Tools } from "./translate/tools.ts";
import type { Budget } from "./upstream/budget.ts";
import { createDrains, type DrainParts, type Drains } from "./upstream/drain/drain.ts";
import { type DrainLimits, READING } from "./upstream/drain/limits.ts";
import { createMemory } from "./upstream/drain/memory.ts";
import type { HeldMemory } from "./upstream/held.ts";
import { type Later, later } from "./upstream/later.ts";
import { pause } from "./upstream/pause.ts";
import { type Caller, type Calls, createCalls } from "./upstream/queue/calls.ts";
import type { Kind } from "./upstream/queue/cost.ts";
import { createLists, type Lists } from "./upstream/queue/lists.ts";
import { createRepeat } from "./upstream/queue/repeat.ts";
import { createTurns } from "./upstream/queue/turns.ts";
import { createRetry } from "./upstream/retry.ts";
import { createTimed } from "./upstream/timed.ts";

/** v2 serves at most this many records a page (specification section 8). */
export const PAGE_SIZE = 200;

/** Where the time comes from, and how it passes; a test hands in a clock of its own. */
export interface Time {
  /** Milliseconds since some moment. */
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  readonly sleep: (ms: number, signal: Signal) => Promise<void>;
  readonly later: Later;
}

export const TIME: Time = { now: () => performance.now(), wall: () => Date.now(), sleep: pause, later };

/** The upstream that translated requests are sent to. */
export interface V2 {
  readonly send: Send;
  /** Where its calls wait for a place; by default a queue of its own. */
  readonly calls?: Calls | undefined;
  /** Makes calls wait for memory; without it they do not. */
  readonly held?: HeldMemory | undefined;
  /** Repeats to v2, whoever makes them. */
  readonly budget: Budget;
}

/** Tools for requests, and what they share. */
export interface Toolbox {
  /**
   * Every call retried within the budget, timed, and noted in the request's exchange. `innermost` stands right before the
   * upstream: what only looks at what a request would do keeps its writes back there.
   */
  tools(exchange: Exchange, head: RequestHead, signal: Signal, innermost?: SendLayer): Tools;
  /** Where its calls wait for a place, and lists for theirs. */
  readonly calls: Calls;
  readonly lists: Lists;
}

/** Nothing is sent until a request asks for it. `background`: nobody waits for what these tools do, and everybody else goes first. */
export function createToolbox(
  config: Pick<Config, "lists" | "upstream" | "unknownFields">,
  v2: V2,
  time: Time = TIME,
  background = false,
): Toolbox {
  const { now, wall, sleep, later } = time;
  const retry = createRetry({ budget: v2.budget, now: wall, random: Math.random, sleep });
  const { maskSpelling } = config.upstream.v2;
  const mask = createMaskMemory(maskSpelling === "auto" ? undefined : maskSpelling, maskSpelling !== "auto");
  // In JSON masks are camelCase, also on a gateway that wants snake_case in queries: only a refusal of the mask says otherwise.
  const bodyMask = createMaskMemory("camelCase", false);
  const { readers: start, readersPerUpstream: pages } = config.lists;
  const calls =
    v2.calls ?? createCalls({ connections: config.upstream.v2.connections, pages, start, now, wall, later });
  const lists = createLists({ ...config.lists, now, later });
  const repeat = createRepeat({ wall, random: Math.random, sleep });
  const drainsFor = createDrainSource(config, lists, calls, now);
  const digest = createDigest(randomBytes(32).toString("hex"));
  const inTurns = createInTurns();
  const tools: Toolbox["tools"] = (exchange, head, signal, innermost) => {
    const timed = createTimed(exchange, "v2", now);
    const credential = head.credential ?? digest(header(head.headers, "authorization") ?? "");
    const request = { credential, since: exchange.startedAt, deadline: head.deadline ?? Number.POSITIVE_INFINITY };
    const queued = (kind: Kind): SendLayer =>
      calls.layer(
        (): Caller => ({ ...request, kind: background ? "background" : kind, begun: exchange.calls.length > 0 }),
      );
    const upstream = innermost === undefined ? v2.send : innermost(v2.send);
    // With `pass` a field that v2 does not know may be the client's.
    const noting = config.unknownFields.request === "pass" ? [] : [noteOwnWords(exchange)];
    const held = v2.held?.(credential);
    const holding = held === undefined ? [] : [held.layer];
    const send = compose([...noting, ...holding, retry, timed, queued("short")], upstream);
    // Made when it is asked for: most requests are no lists.
    let made: Listing | undefined;
    const listing = (): Listing => {
      made ??= (() => {
        const reads = compose([...holding, retry, repeat, timed, queued("page")], upstream);
        return { reads, ...drainsFor({ exchange, request, signal, send, reads }) };
      })();
      return made;
    };
    return {
      send: (request) => send(request, { signal }),
      reads: (request) => listing().reads(request, { signal }),
      drain: (plan) => listing().drain(plan),
      longDrain: (plan) => listing().longDrain(plan),
      mask,
      bodyMask,
      exchange,
      done: held?.done,
      inTurns,
    };
  };
  return { tools, calls, lists };
}

/** One long piece of work at a time, first come, first served: a page takes several times its size while it is rewritten. */
function createInTurns(): NonNullable<Tools["inTurns"]> {
  let last: Promise<unknown> = Promise.resolve();
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return (work) => {
    const made = last.then(() => work(turn));
    last = made.catch(() => {});
    return made;
  };
}

/** How large a list may be, and how it is read. */
export function drainLimits(lists: Config["lists"]): DrainLimits {
  return { ...lists, ...READING, pageSize: PAGE_SIZE };
}

interface Listing extends Drains {
  /** Page reads of the request's credential. */
  readonly reads: Send;
}

interface DrainInput {
  readonly exchange: Exchange;
  readonly request: Pick<Caller, "credential" | "since" | "deadline">;
  readonly signal: Signal;
  readonly send: Send;
  readonly reads: Send;
}

/** What all drains share: the queue of lists, limits, and what was learnt of lists. */
function createDrainSource(
  config: Pick<Config, "lists" | "upstream">,
  queue: Lists,
  calls: Pick<Calls, "shortAt">,
  now: () => number,
): (input: DrainInput) => Drains {
  const { lists, upstream } = config;
  const memory = createMemory();
  const shared: Pick<DrainParts, "limits" | "tokens" | "totals" | "require" | "now" | "turn"> = {
    limits: drainLimits(lists),
    tokens: upstream.v2.tokens,
    totals: upstream.v2.totals,
    require: (resource): Witness => lists.require.resources.get(resource) ?? lists.require.default,
    now,
    turn: createTurns(now, calls.shortAt),
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

function createMaskMemory(first: MaskMemory["known"], fixed: boolean): MaskMemory {
  let known = first;
  return {
    get known() {
      return known;
    },
    fixed,
    learn: (spelling) => {
      known = spelling;
    },
  };
}
