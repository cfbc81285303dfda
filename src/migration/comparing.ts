/** How are answers of both versions compared in the background? (Connections and memory of its own, and idle places: design section 7.) */
import type { Config } from "../config.ts";
import { compareAnswers } from "../cutover/compare.ts";
import { withoutNoise } from "../cutover/noise.ts";
import { shapeOf } from "../cutover/shape.ts";
import type { Decisions } from "../decide.ts";
import { discard, isTooOld } from "../listener/stream-answer.ts";
import type { Comparison } from "../model/comparison.ts";
import { createExchange, type Exchange } from "../model/exchange.ts";
import { type HeaderList, header } from "../model/message.ts";
import type { RequestHead } from "../model/plan.ts";
import { failing } from "../shadow/failure.ts";
import type { TranslateInShadow } from "../shadow/options.ts";
import { createShadow, type Shadow } from "../shadow/shadow.ts";
import { createToolbox, TIME } from "../tools.ts";
import { decode } from "../upstream/decode.ts";
import { later } from "../upstream/later.ts";
import { createTurns } from "../upstream/queue/turns.ts";
import { createBackgroundUpstreams, type UpstreamParts, type Upstreams } from "../upstreams.ts";

/** Who asks, and who hears of what is found. */
export interface ComparingHooks {
  /** Stands for the credential that was sent along. */
  credentialOf(headers: HeaderList): string;
  /** A comparison of the request with this head is over. */
  report(comparison: Comparison, head: RequestHead): void;
  /** What a translation in the background noted about the request with this head. */
  learn(exchange: Exchange, head: RequestHead): void;
  /** Keeps the connections up to date. */
  readonly renewal: UpstreamParts["renewal"];
  /** Where calls wait for their turn. */
  readonly queues: Upstreams["queues"];
}

/** Pages of one list read at a time: slower than for a client, who waits. */
const READERS = 2;

/** Undefined without native v1: there is nothing to compare with. */
export function createComparing(config: Config, decisions: Decisions, hooks: ComparingHooks): Shadow | undefined {
  const { v1, v2 } = config.upstream;
  if (v1 === undefined) return undefined;
  const { concurrent, answerBytes, memoryBytes, seconds } = config.shadow;
  const upstreams = createBackgroundUpstreams({ v1, v2 }, concurrent * READERS, answerBytes, {
    renewal: hooks.renewal,
    queues: hooks.queues,
    now: () => performance.now(),
    random: Math.random,
  });
  const toolbox = createToolbox({ ...config, lists: backgroundLists(config) }, upstreams.v2, TIME, true);
  const translate: TranslateInShadow = async ({ head, body }, layer, signal) => {
    const [path = ""] = head.target.split("?", 1);
    const exchange = createExchange(header(head.headers, "x-request-id") ?? "", performance.now(), head.method, path);
    const decide = decisions.decide((noted, asked, stop) => toolbox.tools(noted, asked, stop, layer));
    const plan = decide(head, exchange);
    if (plan.kind !== "answer") throw new Error("what is compared is translated");
    try {
      const answer = await plan.respond(body, signal);
      if (isTooOld(head.httpVersion, answer.body)) {
        discard(answer.body);
        throw failing("old-http");
      }
      return { answer, exchange };
    } finally {
      hooks.learn(exchange, head);
    }
  };
  const shadow = createShadow({
    limits: { concurrent, answerBytes, memoryBytes, seconds },
    native: upstreams.v1,
    translate,
    decode,
    compare: { shapeOf, compareAnswers, withoutNoise },
    report: hooks.report,
    samples: { perOperation: config.shadow.samples, values: config.shadow.values },
    ownerOf: ({ head }) => hooks.credentialOf(head.headers),
    now: () => performance.now(),
    wall: () => Date.now(),
    random: Math.random,
    later,
    turn: createTurns(() => performance.now()),
  });
  return {
    ...shadow,
    close: async () => {
      await shadow.close();
      await upstreams.close();
    },
  };
}

/**
 * Lists read for comparing: a few pages at a time. How long they may be is the client's own limit:
 * what is refused here would be refused there. A list too long to be compared comes in pieces, and is given up on the way.
 */
function backgroundLists({ lists, shadow }: Config): Config["lists"] {
  return {
    ...lists,
    readers: Math.min(lists.readers, READERS),
    maxConcurrent: shadow.concurrent,
    maxConcurrentPerCredential: shadow.concurrent,
  };
}
