/** How the pages of a v2 list become one v1 list, whole or while it is read, or else an error, but never a part of it. */
import type { Drain, DrainedList, DrainRefused, ListPlan, LongDrain, LongList } from "../../model/list.ts";
import { Problem } from "../../model/problem.ts";
import { checkWitness, witnessOf } from "./end.ts";
import { type Chunk, type Chunks, createReader, type DrainParts, type Next, type Reader } from "./reader.ts";
import { floorOf } from "./state.ts";

export type { DrainMemory, DrainParts } from "./reader.ts";
export type { DrainNote } from "./state.ts";

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
  const reader = createReader(plan, parts);
  const whole = room === Number.POSITIVE_INFINITY && plan.show === undefined;
  const made = whole ? reader.chunks : oneAhead(reader.chunks);
  const chunks = plan.show === undefined ? made : shown(plan.show, reader, made);
  const held: Uint8Array[] = [];
  let reading = 0;
  let bytes = 0;
  try {
    for (;;) {
      const next = await chunks.next();
      const state = reader.state();
      // The list may have been begun anew; what is held then belongs to the reading that was given up.
      if ((next.done === true ? state.reading : next.value.reading) !== reading) bytes = held.length = 0;
      if (next.done === true) {
        if (next.value === undefined) return drained(reader, held);
        reader.over("refused");
        return next.value;
      }
      reading = next.value.reading;
      held.push(next.value.bytes);
      bytes += next.value.bytes.length;
      // While the way is only tried, it must still be possible to leave it.
      if (bytes > room && reading === state.reading && !state.trying)
        return longList(plan, parts, reader, held, chunks);
    }
  } catch (thrown) {
    reader.failed(thrown);
    throw thrown;
  }
}

function drained(reader: Reader, chunks: readonly Uint8Array[]): DrainedList {
  const { list } = reader.state();
  const witness = witnessOf(list);
  reader.over("complete", witness);
  return { kind: "list", ...reader.head(), chunks, records: list.shown, witness };
}

/**
 * The list from here on: `held` first, then what `chunks` brings. Throws LIST_UNPROVEN before anything has gone out when the
 * rest cannot reach what is required.
 */
function longList(plan: ListPlan, parts: DrainParts, reader: Reader, held: Uint8Array[], chunks: Chunks): LongList {
  const floor = floorOf(reader.state());
  checkWitness(plan.resource, floor, parts.require(plan.resource));
  reader.announce(floor);
  return {
    kind: "long",
    headers: reader.head().headers,
    floor,
    chunks: once(rest(plan, reader, held, chunks), reader),
  };
}

async function* rest(
  plan: ListPlan,
  reader: Reader,
  held: Uint8Array[],
  chunks: Chunks,
): AsyncGenerator<Uint8Array, void> {
  try {
    for (const chunk of held.splice(0)) yield chunk;
    for (;;) {
      const next = await chunks.next();
      if (next.done !== true) yield next.value.bytes;
      else if (next.value === undefined) return reader.over("complete", witnessOf(reader.state().list));
      else {
        reader.over("refused");
        throw new Problem(
          "DRAIN_INCOMPLETE",
          `the platform refused a page of ${plan.resource} when the list had begun`,
          {
            metadata: { status: String(next.value.response.status) },
          },
        );
      }
    }
  } catch (thrown) {
    reader.failed(thrown);
    throw thrown;
  } finally {
    reader.over("aborted");
    await chunks.return(undefined).catch(() => {});
  }
}

/** `generator` as something that may be given up before it was begun: a generator alone would not notice. */
function once(generator: AsyncGenerator<Uint8Array, void>, reader: Reader): LongList["chunks"] {
  const iterator: AsyncIterator<Uint8Array, void> = {
    next: () => generator.next(),
    return: async () => {
      reader.over("aborted");
      await generator.return();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

type Made = AsyncGenerator<Chunk, DrainRefused | undefined>;

/** `chunks` as the plan shows them. Ends early with the refusal of a read that showing needed. */
async function* shown(show: NonNullable<ListPlan["show"]>, reader: Reader, chunks: Chunks): Made {
  try {
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) return next.value;
      const { reading, bytes } = next.value;
      // Of a reading that was given up meanwhile nothing is shown.
      const { reading: now, announced } = reader.state();
      if (announced === undefined && reading !== now) continue;
      const made = await show(bytes);
      if (made.kind === "refused") return made;
      yield { reading, bytes: made.bytes };
    }
  } finally {
    // A page that is still under way is not waited for.
    reader.stop();
    await chunks.return(undefined).catch(() => {});
  }
}

/** `chunks` with the next one under way while the one before is used. */
async function* oneAhead(chunks: Chunks): Made {
  let next = begin(chunks);
  try {
    for (;;) {
      const { done, value } = await next;
      if (done === true) return value as DrainRefused | undefined;
      next = begin(chunks);
      yield value as Chunk;
    }
  } finally {
    await chunks.return(undefined).catch(() => {});
  }
}

/** A failure is told to whoever waits for the chunk; until somebody does, it must not count as unheard. */
function begin(chunks: Chunks): Promise<Next> {
  const next = chunks.next();
  next.catch(() => {});
  return next;
}
