/** What does a drain make of a platform whose answer to each call is written down? */
import type { ListPlan, PageSelector } from "../../src/model/list.ts";
import type { ApiResponse, Send } from "../../src/model/message.ts";
import { createStopper } from "../../src/model/signal.ts";
import { answerTo, keysIn, planFor, type Style, selectorOf } from "./platform.ts";
import { realDrains } from "./real.ts";
import type { Handed, Measures } from "./scenario.ts";

/** The answer to call number `call`, from 0; calls are answered in the order in which they were made. */
export type Script = (selector: PageSelector, call: number) => ApiResponse;

export interface Staged {
  readonly out: readonly string[];
  /** The witness of the list; undefined when there is none. */
  readonly witness: string | undefined;
  readonly error: unknown;
  readonly requests: readonly PageSelector[];
  readonly atOnce: number;
  readonly notes: readonly string[];
}

export interface Stage {
  readonly measures?: Partial<Measures>;
  readonly tokens?: Handed["tokens"];
  readonly plan?: ListPlan;
}

/** The measures of a real drain. */
const REAL: Measures = {
  pageSize: 200,
  readers: 4,
  overlap: 10,
  windowRecords: 10_000,
  segmentPages: 16,
  bufferBytes: 2 ** 21,
};

/** Drains what `script` answers. */
export async function staged(script: Script, stage: Stage = {}): Promise<Staged> {
  const requests: PageSelector[] = [];
  const notes: string[] = [];
  const flow = { now: 0, most: 0 };
  const send: Send = async (request) => {
    const call = requests.push(selectorOf(request)) - 1;
    flow.now += 1;
    flow.most = Math.max(flow.most, flow.now);
    await new Promise((resolve) => setImmediate(resolve));
    flow.now -= 1;
    return script(selectorOf(request), call);
  };
  const { drain } = realDrains({
    send,
    signal: createStopper().signal,
    measures: { ...REAL, ...stage.measures },
    tokens: stage.tokens ?? "unknown",
    require: "none",
    remembered: {},
    now: () => 0,
    claim: () => () => {},
    report: (_facts, noted) => notes.push(...(noted ?? [])),
  });
  const rest = { requests, notes };
  try {
    const result = await drain(stage.plan ?? planFor(true));
    if (result.kind === "refused") throw new Error(`refused with ${result.response.status}`);
    const out = result.chunks.flatMap(keysIn);
    return { ...rest, out, witness: result.witness, error: undefined, atOnce: flow.most };
  } catch (error) {
    return { ...rest, out: [], witness: undefined, error, atOnce: flow.most };
  }
}

/** Lists in the order of the platform, one for each call; the last one stays. */
export function lists(style: Style, ...moments: readonly (readonly string[])[]): Script {
  const first = moments[0]?.length ?? 0;
  return (selector, call) => {
    const keys = moments[Math.min(call, moments.length - 1)] ?? [];
    return answerTo(selector, { keys, firstTotal: first, answered: call }, style);
  };
}

/** `count` keys in order. */
export function keysOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `k${String(i).padStart(5, "0")}`);
}
