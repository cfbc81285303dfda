/** How do the pages of a v2 list become one v1 list, or else an error, but never a part of it? */
import type { Witness } from "../../model/exchange.ts";
import type { Drain, DrainedList, DrainRefused, ListPlan, LongDrain, LongList } from "../../model/list.ts";
import { createStopper } from "../../model/signal.ts";
import { createCalls } from "./calls.ts";
import { createEnding, type Ending } from "./ending.ts";
import { longList } from "./long.ts";
import { emptyMerged, type Merged } from "./merged.ts";
import { REPAIRS, readList } from "./reading.ts";
import type { DrainParts, Run } from "./run.ts";
import { oneAhead, shown } from "./shown.ts";
import { checkWitness, witnessOf } from "./witness.ts";

export type { DrainMemory, DrainNote, DrainParts } from "./run.ts";

/** Both ways in which an operation may ask for a list. */
export interface Drains {
  readonly drain: Drain;
  readonly longDrain: LongDrain;
}

/**
 * Drains for one request (design section 5). Throw `Problem`: DRAIN_INCOMPLETE, DRAIN_TOO_LARGE, LIST_UNPROVEN, OVERLOADED,
 * UPSTREAM_*; or the signal's reason when it aborts. The same ends the chunks of a long list.
 */
export function createDrains(parts: DrainParts): Drains {
  const { bufferBytes } = parts.limits;
  return {
    drain: async (plan) => {
      const list = await read(plan, parts, Number.POSITIVE_INFINITY);
      if (list.kind === "long") throw new Error("a list without a bound of its buffer cannot outgrow it");
      return list;
    },
    longDrain: (plan) => read(plan, parts, bufferBytes),
  };
}

/** Holds what was read up to `room` bytes. */
async function read(plan: ListPlan, parts: DrainParts, room: number): Promise<DrainedList | LongList | DrainRefused> {
  const run = begin(plan, parts);
  const ending = createEnding(run);
  const reading =
    room === Number.POSITIVE_INFINITY && plan.show === undefined ? readList(run) : oneAhead(readList(run));
  const chunks = shown(run, reading);
  const held: Uint8Array[] = [];
  let of: Merged = run.merged;
  let bytes = 0;
  try {
    for (;;) {
      const next = await chunks.next();
      if (next.done === true)
        return next.value === undefined ? whole(run, held, of, ending) : refused(next.value, ending);
      // The list may have been begun anew.
      if (next.value.of !== of) bytes = held.length = 0;
      of = next.value.of;
      held.push(next.value.bytes);
      bytes += next.value.bytes.length;
      // While the way is only tried, it must still be possible to leave it.
      if (bytes > room && of === run.merged && !run.trying) return longList(run, held, chunks, ending);
    }
  } catch (thrown) {
    ending.failed(thrown);
    throw thrown;
  }
}

function begin(plan: ListPlan, parts: DrainParts): Run {
  return {
    plan,
    parts,
    stopper: createStopper(),
    startedAt: parts.now(),
    notes: new Set(),
    merged: emptyMerged(plan.keyOrder),
    headers: [],
    pages: 0,
    greatest: undefined,
    trying: false,
    repairs: REPAIRS,
    calls: createCalls(parts.limits.readers),
    provable: true,
    announced: undefined,
    release: undefined,
  };
}

function whole(run: Run, held: readonly Uint8Array[], of: Merged, ending: Ending): DrainedList {
  const { plan, parts, merged } = run;
  const witness: Witness = witnessOf(merged);
  checkWitness(plan.resource, witness, parts.require(plan.resource));
  ending.complete(witness);
  // Begun anew, and then empty: what is held belongs to the reading that was given up.
  const chunks = of === merged ? held : [];
  return { kind: "list", headers: run.headers, chunks, records: merged.shown, pages: run.pages, witness };
}

function refused(answer: DrainRefused, ending: Ending): DrainRefused {
  ending.refused();
  return answer;
}
