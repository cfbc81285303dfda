/** Reads the pages of a v2 list into one v1 list: complete, or streamed while it is read, or an error; never a part of it. */

import type { Witness } from "../model/exchange.ts";
import type { HeaderList } from "../model/http.ts";
import type {
  Drain,
  DrainedList,
  DrainRefused,
  ListPage,
  ListPlan,
  StreamedList,
  StreamingDrain,
} from "../model/list.ts";
import { Problem } from "../model/problem.ts";
import { createSignalController } from "../model/signal.ts";
import { ascends, checkWitness, expectedRecords, isEnough, keptBytes, witnessOf } from "./committed-list.ts";
import { checkShown } from "./limits.ts";
import {
  createListReader,
  type DrainParts,
  type FirstCall,
  type ListChunk,
  type ListReader,
  type NextChunk,
  readPage,
  settingsOf,
} from "./list-reader.ts";
import { type CallResult, type DrainSettings, guaranteedWitness, guessesWindows } from "./state.ts";

/** Both ways in which an operation may ask for a list. */
export interface Drains {
  readonly drain: Drain;
  readonly longDrain: StreamingDrain;
}

/**
 * Drains for one request. Throw `Problem`: DRAIN_INCOMPLETE, DRAIN_TOO_LARGE, LIST_UNPROVEN, OVERLOADED, UPSTREAM_*; or the
 * signal's reason when it aborts. The same errors end the chunks of a streamed list.
 */
export function createDrains(parts: DrainParts): Drains {
  return {
    drain: async (plan) => {
      const list = await readList(plan, parts, Number.POSITIVE_INFINITY);
      if (list.kind === "long") throw new Error("a list without a bound of its buffer cannot outgrow it");
      return list;
    },
    longDrain: (plan) => readList(plan, parts, parts.limits.bufferBytes),
  };
}

/** Buffers up to `room` bytes. */
async function readList(
  plan: ListPlan,
  parts: DrainParts,
  room: number,
): Promise<DrainedList | StreamedList | DrainRefused> {
  const how = settingsOf(plan, parts);
  // With guessed windows, the first page is one of several calls.
  const first = guessesWindows(how) ? undefined : await callForFirst(plan, parts);
  const whole = first && wholeInOne(plan, how, first, room);
  if (whole === undefined) return readPages(plan, parts, room, createListReader(plan, parts, how, first));
  parts.report({ pages: whole.pages, records: whole.records, witness: whole.witness, outcome: "complete" }, []);
  return whole;
}

async function readPages(
  plan: ListPlan,
  parts: DrainParts,
  room: number,
  reader: ListReader,
): Promise<DrainedList | StreamedList | DrainRefused> {
  const shown = plan.show === undefined ? undefined : showChunks(reader, plan.show, plan, parts);
  const buffered: Uint8Array[] = [];
  let reading = 0;
  let bytes = 0;
  try {
    for (;;) {
      const next = await (shown ?? reader).next();
      const state = reader.state();
      // If the list was restarted, the buffer belongs to the abandoned reading.
      if ((next.done === true ? state.reading : next.value.reading) !== reading) bytes = buffered.length = 0;
      if (next.done === true) {
        if (next.value !== undefined) {
          reader.over("refused");
          return next.value;
        }
        const witness = witnessOf(state.list);
        reader.over("complete", witness);
        return { kind: "list", ...reader.head(), chunks: buffered, records: state.list.shown, witness };
      }
      reading = next.value.reading;
      buffered.push(next.value.bytes);
      bytes += next.value.bytes.length;
      // While a way of reading is only tried, it must still be possible to give it up.
      if (bytes > room && reading === state.reading && !state.trying) {
        return streamList(plan, parts, reader, buffered, shown);
      }
    }
  } catch (thrown) {
    reader.failed(thrown);
    throw thrown;
  }
}

/**
 * The list from here on: what is buffered first, then `chunks`. Throws LIST_UNPROVEN before anything has gone out when the
 * rest cannot reach the required witness.
 */
function streamList(
  plan: ListPlan,
  parts: DrainParts,
  reader: ListReader,
  buffered: Uint8Array[],
  shown: ChunkGenerator | undefined,
): StreamedList {
  const floor = guaranteedWitness(reader.state());
  checkWitness(plan.resource, floor, parts.require(plan.resource));
  reader.announce(floor);
  // Only now: reading on may restart a list that was not announced.
  const generator = remainingChunks(plan, reader, buffered, shown ?? readChunks(reader));
  // The `return` of a generator that was never started does nothing, and waits for a `next` under way.
  const iterator: AsyncIterator<Uint8Array, void> = {
    next: () => generator.next(),
    return: async () => {
      reader.over("aborted");
      await generator.return();
      return { done: true, value: undefined };
    },
  };
  return {
    kind: "long",
    headers: reader.head().headers,
    floor,
    expected: expectedRecords(reader.state().list, parts.totals),
    chunks: { [Symbol.asyncIterator]: () => iterator },
  };
}

async function* remainingChunks(
  plan: ListPlan,
  reader: ListReader,
  buffered: Uint8Array[],
  chunks: ChunkGenerator,
): AsyncGenerator<Uint8Array, void> {
  try {
    for (const chunk of buffered.splice(0)) yield chunk;
    for (;;) {
      const next = await chunks.next();
      if (next.done !== true) yield next.value.bytes;
      else if (next.value === undefined) return reader.over("complete", witnessOf(reader.state().list));
      else {
        reader.over("refused");
        const message = `the platform refused a page of ${plan.resource} when the list had begun`;
        throw new Problem("DRAIN_INCOMPLETE", message, {
          metadata: { status: String(next.value.response.status) },
          options: [],
        });
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

type ChunkGenerator = AsyncGenerator<ListChunk, DrainRefused | undefined>;

/** The chunks as they are. The next one is read while one is used. */
async function* readChunks(reader: ListReader, begun = nextOf(reader)): ChunkGenerator {
  let coming = begun;
  try {
    for (;;) {
      const next = await coming;
      if (next.done === true) return next.value;
      coming = nextOf(reader);
      yield next.value;
    }
  } finally {
    reader.stop();
  }
}

/**
 * The chunks as `show` makes them; ends with the refusal of a page, or of a read that showing needed. Throws DRAIN_TOO_LARGE
 * when the client would see too much.
 */
async function* showChunks(
  reader: ListReader,
  show: NonNullable<ListPlan["show"]>,
  { resource }: ListPlan,
  { limits, turn }: DrainParts,
): ChunkGenerator {
  const chunks = readChunks(reader);
  let counted = 0;
  let shown = 0;
  try {
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) return next.value;
      const { reading, bytes } = next.value;
      // Nothing is shown of a reading that was given up meanwhile.
      const { reading: current, announced } = reader.state();
      if (announced === undefined && reading !== current) continue;
      if (reading !== counted) shown = 0;
      counted = reading;
      const result = await show(bytes);
      if (result.kind === "refused") return result;
      checkShown(resource, shown + result.joinedBytes, limits);
      let first = true;
      for (const part of result.parts) {
        shown += part.length;
        checkShown(resource, shown, limits);
        if (!first) await turn();
        first = false;
        yield { reading, bytes: part };
      }
    }
  } finally {
    await chunks.return(undefined);
  }
}

/** The next chunk, to be awaited later: a failure is reported then. */
function nextOf(reader: ListReader): Promise<NextChunk> {
  const next = reader.next();
  next.catch(() => {});
  return next;
}

/** Calls for the first page. Rejects, with the signal's reason and at once, only when the signal aborts: that is reported. */
function callForFirst(plan: ListPlan, parts: DrainParts): Promise<FirstCall> {
  const { signal, limits } = parts;
  const startedAt = parts.now();
  const stopper = createSignalController();
  let pages = 0;
  let headers: HeaderList = [];
  const call = { send: parts.send, signal: stopper.signal };
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      parts.report({ pages, records: 0, witness: "none", outcome: "aborted" }, []);
      stopper.abort(signal.reason);
      reject(signal.reason);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    readPage(plan, { size: limits.pageSize }, call, (came) => {
      pages = 1;
      headers = came;
      return undefined;
    })
      .catch((problem: unknown): CallResult => ({ kind: "failed", problem }))
      .then((got) => {
        signal.removeEventListener("abort", onAbort);
        resolve({ got, headers, pages, startedAt });
      });
  });
}

/** The list, where `first` is a page that holds all of it; undefined where any more has to be read or judged. `room`: bytes that may be buffered. */
function wholeInOne(
  { show }: ListPlan,
  how: DrainSettings,
  { got, headers }: FirstCall,
  room: number,
): DrainedList | undefined {
  if (got.kind !== "page" || show !== undefined) return undefined;
  const { page } = got;
  if (!isWhole(page, how) || page.bytes.length > room) return undefined;
  const witness = witnessOfPage(page, how);
  if (!isEnough(witness, how.require)) return undefined;
  const kept = keptBytes(page, undefined);
  const chunks = kept === undefined ? [] : [kept.bytes];
  const only = kept?.records === page.keys.length ? page : undefined;
  return { kind: "list", headers, pages: 1, chunks, records: kept?.records ?? 0, witness, only };
}

/** True when nothing follows `page`, which is in order, within the limits, and counts its records right. */
function isWhole(page: ListPage, { limits }: DrainSettings): boolean {
  const { keys, totalCount: total = keys.length, skipped = 0 } = page;
  return (
    page.nextPageToken === "" &&
    total === keys.length &&
    skipped === 0 &&
    keys.length <= Math.min(limits.pageSize, limits.maxRecords) &&
    page.bytes.length <= limits.maxBytes &&
    (page.ascending ?? ascends(keys))
  );
}

/** As of any list, see `witnessOf` in `committed-list.ts`. */
function witnessOfPage({ bare, totalCount }: ListPage, { keyOrder, bareProvesNothing }: DrainSettings): Witness {
  if (keyOrder && !(bare === true && bareProvesNothing)) return "cover";
  return totalCount === undefined ? "none" : "count";
}
