/** How does a list go out while it is still being read? */
import type { Witness } from "../../model/exchange.ts";
import type { DrainRefused, LongList } from "../../model/list.ts";
import { Problem } from "../../model/problem.ts";
import type { Ending } from "./ending.ts";
import { forgetKeys } from "./merged.ts";
import type { Reading } from "./reading.ts";
import type { Run } from "./run.ts";
import { checkWitness, witnessOf } from "./witness.ts";

/**
 * The list from here on: `held` first, then what `chunks` brings. Throws LIST_UNPROVEN before anything has gone out when the
 * rest cannot reach what is required.
 */
export function longList(run: Run, held: Uint8Array[], chunks: Reading, ending: Ending): LongList {
  const { plan, parts } = run;
  const required = parts.require(plan.resource);
  const floor = floorOf(run, required);
  checkWitness(plan.resource, floor, required);
  run.announced = floor;
  if (floor === "cover") forgetKeys(run.merged);
  ending.begun();
  return { kind: "long", headers: run.headers, floor, chunks: once(rest(run, held, chunks, ending), ending) };
}

/** The proof that will hold at the end, or else break the list. A count is met or not: it is announced only where it is required. */
function floorOf({ merged, provable, parts, plan }: Run, required: Witness): Witness {
  if (merged.ended) return witnessOf(merged);
  const cover = provable && merged.proved && merged.ascending && !parts.memory.miscounts(plan.resource);
  if (cover) return "cover";
  return required === "count" ? "count" : "none";
}

async function* rest(run: Run, held: Uint8Array[], chunks: Reading, ending: Ending): AsyncGenerator<Uint8Array, void> {
  try {
    for (const chunk of held.splice(0)) yield chunk;
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) return finish(run, next.value, ending);
      yield next.value.bytes;
    }
  } catch (thrown) {
    ending.failed(thrown);
    throw thrown;
  } finally {
    ending.left();
    await chunks.return(undefined).catch(() => {});
  }
}

/** The last byte of the list may only follow when it is proved as announced. */
function finish(run: Run, refusal: DrainRefused | undefined, ending: Ending): void {
  const { plan, merged, announced = "none" } = run;
  if (refusal !== undefined) {
    ending.refused();
    throw new Problem("DRAIN_INCOMPLETE", `the platform refused a page of ${plan.resource} when the list had begun`, {
      metadata: { status: String(refusal.response.status) },
    });
  }
  const witness = witnessOf(merged);
  checkWitness(plan.resource, witness, announced);
  ending.complete(witness);
}

/** `generator` as something that may be given up before it was begun: a generator alone would not notice. */
function once(generator: AsyncGenerator<Uint8Array, void>, ending: Ending): LongList["chunks"] {
  const iterator: AsyncIterator<Uint8Array, void> = {
    next: () => generator.next(),
    return: async () => {
      ending.left();
      await generator.return();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
