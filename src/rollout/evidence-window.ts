/** What happened to a rule lately, on a clock that may jump? (Design section 7: a window of a fixed number of slices.) */

/** Slices of a window; it forgets one at a time, so it always covers at least nine tenths of its length. */
export const SLICES = 10;

/** Milliseconds that have passed, and the reading at which that was known. Never goes back. */
export interface ElapsedTime {
  readonly now: number;
  readonly reading: number | undefined;
}

/** No leap of a clock counts for more (a year): times stay whole numbers, and small steps still count after it. */
const LONGEST_LEAP = 366 * 24 * 3_600_000;

export const UNSTARTED: ElapsedTime = { now: 0, reading: undefined };

/**
 * The time after a clock read `at` (milliseconds of any clock). What is a little late counts as now; a clock that was set
 * back by more than `tolerance`, or that reads no number, costs nothing: time goes on from here. A leap forward is taken
 * for a time in which nothing happened.
 */
export function elapse(time: ElapsedTime, at: number, tolerance: number): ElapsedTime {
  if (!Number.isFinite(at)) return time;
  if (time.reading === undefined) return { now: time.now, reading: at };
  if (at >= time.reading) return { now: time.now + Math.min(at - time.reading, LONGEST_LEAP), reading: at };
  return time.reading - at > tolerance ? { now: time.now, reading: at } : time;
}

/** Numbers of one slice, or of a window. */
export interface WindowCounts {
  readonly requests: number;
  readonly failures: number;
  readonly comparisons: number;
  readonly differences: number;
}

interface WindowSlice extends WindowCounts {
  /** Which one since the clock began. */
  readonly index: number;
  /** Who met a failure, and a difference. */
  readonly failing: DistinctCallers;
  readonly differing: DistinctCallers;
  /** Names of clients that sent a request, as far as that was to be known. */
  readonly asking: readonly string[];
}

/** Memory: at most `SLICES` slices with two crowds of at most `keep` each, whatever the load. */
export interface EvidenceWindow {
  /** Milliseconds. */
  readonly slice: number;
  readonly keep: number;
  /** Oldest first. */
  readonly slices: readonly WindowSlice[];
}

/** One thing that was seen: a request that was over, or a comparison; `bad`: it failed, or it differed. */
export interface Observation {
  readonly of: "requests" | "comparisons";
  readonly bad: boolean;
  readonly who: CallerIdentity;
  /** Whether to remember who asked though nothing was bad. */
  readonly asking?: boolean;
}

/** Who asked. */
export interface CallerIdentity {
  /** As the ledger names it: what the caller says of itself. */
  readonly client: string;
  /** Stands for its credential; one value for all that have none, undefined where nobody knows. */
  readonly credential: string | undefined;
}

/** Distinct names and distinct credentials of callers, each at most as many as are needed. */
export interface DistinctCallers {
  readonly clients: readonly string[];
  readonly credentials: readonly string[];
}

export const NO_CALLERS: DistinctCallers = { clients: [], credentials: [] };

const NOTHING: Omit<WindowSlice, "index"> = {
  requests: 0,
  failures: 0,
  comparisons: 0,
  differences: 0,
  failing: NO_CALLERS,
  differing: NO_CALLERS,
  asking: [],
};

/** `length` in milliseconds; `keep`: how many distinct clients need be told apart. */
export function emptyWindow(length: number, keep: number): EvidenceWindow {
  return { slice: Math.max(1, length / SLICES), keep, slices: [] };
}

/** The window with `seen` in it at `now`, and without what is too old. */
export function addObservation(window: EvidenceWindow, now: number, seen: Observation): EvidenceWindow {
  const index = Math.floor(now / window.slice);
  const kept = slicesAt(window, now);
  const last = kept.at(-1);
  const slice = last?.index === index ? last : { index, ...NOTHING };
  const before = slice === last ? kept.slice(0, -1) : kept;
  return { ...window, slices: [...before, withObservation(slice, seen, window.keep)] };
}

/** What the window holds at `now`. */
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

/**
 * How many distinct clients met what is `bad` in the window. Exact up to `keep`; where there are more it says at least `keep`:
 * either one slice alone holds so many, or no slice left one out.
 */
export function affectedClients(window: EvidenceWindow, now: number, of: Observation["of"]): number {
  return countCallers(slicesAt(window, now).map((slice) => (of === "requests" ? slice.failing : slice.differing)));
}

/** How many distinct clients sent requests that were put with `asking`; exact up to `keep`, as above. */
export function requestingClients(window: EvidenceWindow, now: number): number {
  return new Set(slicesAt(window, now).flatMap(({ asking }) => asking)).size;
}

/** Those that are not too old at `now`. */
function slicesAt({ slice: length, slices }: EvidenceWindow, now: number): readonly WindowSlice[] {
  const oldest = Math.floor(now / length) - SLICES;
  return slices.filter(({ index }) => index > oldest);
}

function withObservation(
  slice: WindowSlice,
  { of, bad, who, asking: isAsking }: Observation,
  keep: number,
): WindowSlice {
  if (of === "requests") {
    const requests = slice.requests + 1;
    const asking = isAsking === true ? withText(slice.asking, who.client, keep) : slice.asking;
    if (!bad) return { ...slice, requests, asking };
    const failing = withCaller(slice.failing, who, keep);
    return { ...slice, requests, asking, failures: slice.failures + 1, failing };
  }
  const comparisons = slice.comparisons + 1;
  if (!bad) return { ...slice, comparisons };
  const differing = withCaller(slice.differing, who, keep);
  return { ...slice, comparisons, differences: slice.differences + 1, differing };
}

/** `crowd` with `who` in it. */
export function withCaller(
  crowd: DistinctCallers,
  { client, credential }: CallerIdentity,
  keep: number,
): DistinctCallers {
  const clients = withText(crowd.clients, client, keep);
  const credentials = credential === undefined ? crowd.credentials : withText(crowd.credentials, credential, keep);
  return clients === crowd.clients && credentials === crowd.credentials ? crowd : { clients, credentials };
}

/**
 * How many callers there are in `crowds` together: as many as there are names, and no more than there are credentials. A name
 * is only said, so one caller can have many; and one client may have many tokens, as each of its runs gets a fresh one. The
 * fewer of both is what no caller can raise alone.
 */
export function countCallers(crowds: readonly DistinctCallers[]): number {
  const clients = new Set(crowds.flatMap((crowd) => crowd.clients)).size;
  return Math.min(clients, new Set(crowds.flatMap((crowd) => crowd.credentials)).size);
}

/** `texts` with `text`, unless it is there or there are `keep` already. */
function withText(texts: readonly string[], text: string, keep: number): readonly string[] {
  return texts.length >= keep || texts.includes(text) ? texts : [...texts, text];
}
