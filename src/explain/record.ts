/** Which calls does an operation make, when nothing it sends ever leaves? */
import { createExchange, type Exchange, type Upstream } from "../model/exchange.ts";
import { type ApiRequest, type ApiResponse, wholeAnswer } from "../model/message.ts";
import type { Decide, RequestHead } from "../model/plan.ts";
import { Problem } from "../model/problem.ts";
import { createStopper } from "../model/signal.ts";
import type { MaskMemory, Tools } from "../translate/tools.ts";
import type { MaskSpelling } from "../translate/update.ts";
import { createDrains } from "../upstream/drain/drain.ts";
import type { DrainLimits } from "../upstream/drain/limits.ts";
import type { Assumed } from "./assume.ts";
import type { AskedRequest } from "./request.ts";

/** One call that would be made, and the answer that was assumed for it. */
export interface RecordedCall extends Assumed {
  readonly request: ApiRequest;
}

/** What became of a request. */
export interface Recording {
  readonly calls: readonly RecordedCall[];
  readonly exchange: Exchange;
  /** Passed on untouched: to which upstream, and with which target. */
  readonly pass: { readonly upstream: Upstream; readonly target: string } | undefined;
  /** The v1 answer, under the assumptions. */
  readonly answer: ApiResponse | undefined;
  /** Why there is none. */
  readonly problem: Problem | undefined;
}

export interface RecorderParts {
  readonly assume: (request: ApiRequest) => Assumed;
  /** How masks in queries are spelled, and those in bodies; undefined: as by a carryover that has learned nothing. */
  readonly mask: MaskSpelling | undefined;
  readonly bodyMask: MaskSpelling | undefined;
  readonly limits: DrainLimits;
  /** The proxy, with these tools for whatever it translates. */
  decide(tools: (exchange: Exchange) => Tools): Decide;
}

/** More calls than one request makes when every list has one page: then something goes in a circle. */
const MOST_CALLS = 1_000;

/** Runs `request` through the proxy. There is no way out: what an operation may do is to have its calls written down. */
export async function record(request: AskedRequest, parts: RecorderParts): Promise<Recording> {
  const calls: RecordedCall[] = [];
  const [path = ""] = request.target.split("?");
  const exchange = createExchange("", 0, request.method, path);
  const send = async (call: ApiRequest): Promise<ApiResponse> => {
    if (calls.length >= MOST_CALLS) throw new Problem("INTERNAL", `more than ${MOST_CALLS} calls`);
    const assumed = parts.assume(call);
    calls.push({ request: call, ...assumed });
    return assumed.response;
  };
  const decide = parts.decide((at) => toolsOf(at, send, parts));
  const recording = { calls, exchange, pass: undefined, answer: undefined, problem: undefined };
  const head: RequestHead = { method: request.method, target: request.target, headers: request.headers };
  try {
    const plan = decide(head, exchange);
    if (plan.kind === "pass") return { ...recording, pass: { upstream: plan.upstream, target: plan.target } };
    return { ...recording, answer: wholeAnswer(await plan.respond(request.body, createStopper().signal)) };
  } catch (thrown) {
    return { ...recording, problem: Problem.from(thrown) };
  }
}

function knownAs(spelling: MaskSpelling | undefined): MaskMemory {
  return { known: spelling, fixed: spelling !== undefined, learn: () => {} };
}

function toolsOf(exchange: Exchange, send: Tools["send"], { limits, mask, bodyMask }: RecorderParts): Tools {
  const { signal } = createStopper();
  const { drain } = createDrains({
    send,
    reads: send,
    signal,
    limits,
    tokens: "unknown",
    memory: {
      heedsSkip: () => undefined,
      sawSkip: () => {},
      countOf: () => undefined,
      learnCount: () => {},
    },
    require: () => "none",
    claim: async () => () => {},
    turn: async () => {},
    now: () => 0,
    report: (facts) => {
      exchange.list = facts;
    },
  });
  // Nothing is sent, so nothing is long.
  return {
    send,
    reads: send,
    drain,
    longDrain: drain,
    mask: knownAs(mask),
    bodyMask: knownAs(bodyMask),
    exchange,
  };
}
