/** Counts of what happened to a rule lately, on a clock that may jump. Immutable values. */

/** Slices of a window. It forgets one at a time, so it always covers at least nine tenths of its length. */
export const SLICES = 10;

/** Milliseconds that have passed, and the clock's reading at that time. Never goes back. */
export interface ElapsedTime {
  readonly now: number;
  readonly reading: number | undefined;
}

/** A longer leap of the clock counts as a year: times stay whole numbers, and small steps still count after it. */
const LONGEST_LEAP = 366 * 24 * 3_600_000;

export const UNSTARTED: ElapsedTime = { now: 0, reading: undefined };

/**
 * The time after a clock read `at` (milliseconds of any clock). A reading a little in the past counts as now. When the clock
 * was set back by more than `tolerance`, time goes on from here. A leap forward is a time in which nothing happened.
 */
export function elapse(time: ElapsedTime, at: number, tolerance: number): ElapsedTime {
  if (!Number.isFinite(at)) return time;
  if (time.reading === undefined) return { now: time.now, reading: at };
  if (at >= time.reading) return { now: time.now + Math.min(at - time.reading, LONGEST_LEAP), reading: at };
  return time.reading - at > tolerance ? { now: time.now, reading: at } : time;
}

export interface WindowCounts {
  readonly requests: number;
  readonly failures: number;
  readonly comparisons: number;
  readonly differences: number;
}

interface WindowSlice extends WindowCounts {
  /** Number of the slice since the clock began. */
  readonly index: number;
  /** Callers with a failure, and with a difference. */
  readonly failing: DistinctCallers;
  readonly differing: DistinctCallers;
  /** Names of clients whose requests were added with `asking`. */
  readonly asking: readonly string[];
}

/** Bounded whatever the load: `SLICES` slices, each with at most `keep` callers in each list. */
export interface EvidenceWindow {
  /** Milliseconds. */
  readonly slice: number;
  readonly keep: number;
  /** Oldest first. */
  readonly slices: readonly WindowSlice[];
}

/** A finished request or comparison; `bad`: it failed, or it differed. */
export interface Observation {
  readonly of: "requests" | "comparisons";
  readonly bad: boolean;
  readonly who: CallerIdentity;
  /** Whether to remember the client even if nothing was bad. */
  readonly asking?: boolean;
}

export interface CallerIdentity {
  /** The ledger's name for it, which is the caller's own claim. */
  readonly client: string;
  /** Stands for its credential: one value for all callers without one, undefined where it is not known. */
  readonly credential: string | undefined;
}

/** Distinct names and distinct credentials of callers, as many of each as are needed. */
export interface DistinctCallers {
  readonly clients: readonly string[];
  readonly credentials: readonly string[];
}

export const NO_CALLERS: DistinctCallers = { clients: [], credentials: [] };

const EMPTY_SLICE: Omit<WindowSlice, "index"> = {
  requests: 0,
  failures: 0,
  comparisons: 0,
  differences: 0,
  failing: NO_CALLERS,
  differing: NO_CALLERS,
  asking: [],
};

/** `length` in milliseconds; `keep`: how many distinct clients are counted. */
export function emptyWindow(length: number, keep: number): EvidenceWindow {
  return { slice: Math.max(1, length / SLICES), keep, slices: [] };
}

/** The window with `observation` in it at `now`, and without what is too old. */
export function addObservation(window: EvidenceWindow, now: number, observation: Observation): EvidenceWindow {
  const index = Math.floor(now / window.slice);
  const kept = slicesAt(window, now);
  const last = kept.at(-1);
  const slice = last?.index === index ? last : { index, ...EMPTY_SLICE };
  const before = slice === last ? kept.slice(0, -1) : kept;
  return { ...window, slices: [...before, withObservation(slice, observation, window.keep)] };
}

export function countsIn(window: EvidenceWindow, now: number): WindowCounts {
  const total = { requests: 0, failures: 0, comparisons: 0, differences: 0 };
  for (const slice of slicesAt(window, now)) {
    total.requests += slice.requests;
    total.failures += slice.failures;
    total.comparisons += slice.comparisons;
    total.differences += slice.differences;
  }
  return total;
}

/** How many distinct clients had a failure (a difference). Exact up to `keep`, and at least `keep` where there are more. */
export function affectedClients(window: EvidenceWindow, now: number, of: Observation["of"]): number {
  return countCallers(slicesAt(window, now).map((slice) => (of === "requests" ? slice.failing : slice.differing)));
}

/** Callers with a failure (a difference); at most `keep` of each kind. */
export function affectedCallers(window: EvidenceWindow, now: number, of: Observation["of"]): DistinctCallers {
  const lists = slicesAt(window, now).map((slice) => (of === "requests" ? slice.failing : slice.differing));
  const distinct = (which: keyof DistinctCallers) =>
    [...new Set(lists.flatMap((list) => list[which]))].slice(0, window.keep);
  return { clients: distinct("clients"), credentials: distinct("credentials") };
}

/** How many distinct clients sent requests that were added with `asking`; exact up to `keep`, as above. */
export function requestingClients(window: EvidenceWindow, now: number): number {
  return new Set(slicesAt(window, now).flatMap(({ asking }) => asking)).size;
}

function slicesAt({ slice: length, slices }: EvidenceWindow, now: number): readonly WindowSlice[] {
  const oldest = Math.floor(now / length) - SLICES;
  return slices.filter(({ index }) => index > oldest);
}

function withObservation(slice: WindowSlice, observation: Observation, keep: number): WindowSlice {
  const { of, bad, who } = observation;
  if (of === "requests") {
    const requests = slice.requests + 1;
    const asking = observation.asking === true ? withText(slice.asking, who.client, keep) : slice.asking;
    if (!bad) return { ...slice, requests, asking };
    const failing = withCaller(slice.failing, who, keep);
    return { ...slice, requests, asking, failures: slice.failures + 1, failing };
  }
  const comparisons = slice.comparisons + 1;
  if (!bad) return { ...slice, comparisons };
  const differing = withCaller(slice.differing, who, keep);
  return { ...slice, comparisons, differences: slice.differences + 1, differing };
}

/** `callers` with `who` in it. */
export function withCaller(callers: DistinctCallers, who: CallerIdentity, keep: number): DistinctCallers {
  const clients = withText(callers.clients, who.client, keep);
  const credentials =
    who.credential === undefined ? callers.credentials : withText(callers.credentials, who.credential, keep);
  return clients === callers.clients && credentials === callers.credentials ? callers : { clients, credentials };
}

/**
 * How many callers there are in `lists` together: the distinct names or the distinct credentials, whichever are fewer. One
 * caller can claim many names, and one client can have many tokens, but no caller can raise both counts alone.
 */
export function countCallers(lists: readonly DistinctCallers[]): number {
  const clients = new Set(lists.flatMap((list) => list.clients)).size;
  return Math.min(clients, new Set(lists.flatMap((list) => list.credentials)).size);
}

/** `texts` with `text` in it, unless there are `keep` already. */
function withText(texts: readonly string[], text: string, keep: number): readonly string[] {
  return texts.length >= keep || texts.includes(text) ? texts : [...texts, text];
}
