/** Comparisons in the background, with connections and memory of their own. */
import type { Config } from "../config/config.ts";
import { discard } from "../edge/body-portions.ts";
import { later, TIME } from "../model/clock.ts";
import { createExchange, type Exchange } from "../model/exchange.ts";
import { header } from "../model/http.ts";
import type { RequestHead } from "../model/request.ts";
import { cannotStream } from "../server/respond.ts";
import { ComparisonError } from "../shadow/outcome.ts";
import type { ShadowOptions, TranslateInShadow } from "../shadow/request.ts";
import { createShadow, type Shadow } from "../shadow/shadow.ts";
import { createPageTurns } from "../upstream/list-queue.ts";
import { createToolbox, type Toolbox } from "./calls.ts";
import type { Decisions } from "./proxy.ts";
import { createBackgroundUpstreams, type UpstreamParts, type Upstreams } from "./upstreams.ts";

interface BackgroundShadowHooks
  extends Pick<ShadowOptions, "ownerOf" | "report">,
    Pick<UpstreamParts, "renewal">,
    Pick<Upstreams, "queues"> {
  /** Takes what a translation in the background noted about the request with this head. */
  learn(exchange: Exchange, head: RequestHead): void;
}

/** A response is compared up to this part of `limits.memoryBytes`, so that several fit. */
const LONGEST_COMPARED = 8;

/** Pages of one list that are read at a time: fewer than for a client, who waits. */
const BACKGROUND_READERS = 2;

/** Undefined without a native v1 to compare with. */
export function createBackgroundShadow(
  config: Config,
  decisions: Decisions,
  { renewal, queues, learn, ...hooks }: BackgroundShadowHooks,
): Shadow | undefined {
  const { v1, v2 } = config.upstream;
  if (v1 === undefined) return undefined;
  const { concurrent, seconds } = config.shadow;
  const { memoryBytes } = config.limits;
  const answerBytes = memoryBytes / LONGEST_COMPARED;
  const upstreams = createBackgroundUpstreams({ v1, v2 }, concurrent * BACKGROUND_READERS, answerBytes, {
    renewal,
    queues,
    headerBytes: config.limits.responseHeaderBytes,
    now: () => performance.now(),
    random: Math.random,
  });
  const toolbox = createToolbox({ ...config, lists: backgroundLists(config) }, upstreams.v2, TIME, true);
  const translate = createBackgroundTranslation(decisions, toolbox, learn);
  const shadow = createShadow({
    ...hooks,
    limits: { concurrent, answerBytes, memoryBytes, seconds },
    native: upstreams.v1,
    translate,
    samples: { perOperation: config.shadow.samples, values: config.shadow.values },
    ignore: config.shadow.ignore,
    matchers: config.shadow.matchers,
    now: () => performance.now(),
    wall: () => Date.now(),
    random: Math.random,
    later,
    turn: createPageTurns(() => performance.now()),
  });
  return {
    ...shadow,
    close: async () => {
      await shadow.close();
      await upstreams.close();
    },
  };
}

/** The translated response to a request that no client waits for. `learn` takes what the translation noted. */
export function createBackgroundTranslation(
  decisions: Pick<Decisions, "proxy">,
  toolbox: Pick<Toolbox, "tools">,
  learn: BackgroundShadowHooks["learn"] = () => {},
): TranslateInShadow {
  return async ({ head, body }, layer, signal) => {
    const { method, target } = head;
    const exchange = createExchange(header(head.headers, "x-request-id") ?? "", performance.now(), method, target);
    const { decide } = decisions.proxy((asked, stop) => toolbox.tools(asked, stop, layer));
    const plan = decide({ ...head, exchange });
    if (plan.kind !== "answer") throw new Error("what is compared is translated");
    try {
      const answer = await plan.respond(body, signal);
      if (cannotStream(head.httpVersion, answer.body)) {
        discard(answer.body);
        throw new ComparisonError("old-http");
      }
      return { answer, exchange };
    } finally {
      learn(exchange, head);
    }
  };
}

/** Reads fewer pages at a time. The limits on a list's length stay: a list that a client would not get is not compared. */
function backgroundLists({ lists, shadow }: Config): Config["lists"] {
  return {
    ...lists,
    readers: Math.min(lists.readers, BACKGROUND_READERS),
    maxConcurrent: shadow.concurrent,
  };
}
