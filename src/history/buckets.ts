/** Counts of numbered kinds over time: in buckets of 5 minutes for a day, of an hour for 14 days, and of a day for 180. Sums only. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * Finest first; each length divides the next. `most`: buckets kept, with those of one coarser bucket and the open one to spare, so that a
 * window over the whole time needs no coarser bucket.
 */
export const TIERS = [
  { ms: 5 * MINUTE, most: 288 + 12 },
  { ms: HOUR, most: 14 * 24 + 24 },
  { ms: DAY, most: 180 + 1 },
] as const;

/** The buckets of one length, in a form for JSON. Each bucket: its number, then each kind with its count. */
export interface SavedTier {
  readonly ms: number;
  /** The number of the first bucket that is not dropped. */
  readonly knownFrom: number;
  readonly buckets: Iterable<readonly number[]>;
}

export interface WindowSums {
  /** The time that was summed: whole buckets, except that it starts with the counting and ends now. Equal if nothing was counted then. */
  readonly from: number;
  readonly to: number;
  /** By kind: the count, and the end of the last bucket that has one. */
  readonly kinds: ReadonlyMap<number, KindSum>;
}

interface KindSum {
  count: number;
  end: number;
}

export interface Buckets {
  /** Counts `amount` of `kind` at `at`, in milliseconds since 1970. */
  add(kind: number, amount: number, at: number): void;
  /** The sum over `from` (inclusive) to `to` (exclusive), in the finest buckets that cover it, and nothing after `now`. */
  sum(from: number, to: number, now: number): WindowSums;
  /** Since when it counts. */
  since(): number;
  saved(): readonly SavedTier[];
  /** Adds `tiers`, in the order of `TIERS`. `kindNow`: the number of a saved kind. */
  load(since: number, tiers: readonly SavedTier[], kindNow: (kind: number) => number): void;
}

interface Bucket {
  /** Its start divided by its length. */
  readonly number: number;
  /** By kind. Shorter if later kinds have no count. */
  counts: Float64Array;
}

interface Tier {
  readonly ms: number;
  readonly most: number;
  readonly buckets: Map<number, Bucket>;
  knownFrom: number;
}

/**
 * Each count is in one bucket of each length, so that sums over the same time agree. Buckets without counts do not exist.
 * Bounded: 300 + 360 + 181 buckets of 8 bytes per kind, which is 8.2 MB for 1,210 kinds, and usually below 1 MB.
 *
 * The clock may be set. A count belongs to the time that the clock showed. Beyond `most`, the bucket that is farthest from now
 * is dropped, before or after: a clock that was in a far future costs a bucket of the past for each that it filled there, and these
 * are the first to be dropped when it is back.
 */
export function createBuckets(began: number): Buckets {
  let since = began;
  const tiers = TIERS.map(({ ms, most }): Tier => ({ ms, most, buckets: new Map(), knownFrom: 0 }));
  let open: readonly Bucket[] = [];
  let [openFrom, openTo] = [0, 0];
  return {
    add: (kind, amount, at) => {
      if (at < openFrom || at >= openTo) {
        // A clock that was set back counts from its new time.
        since = Math.min(since, at);
        open = tiers.map((tier) => bucketAt(tier, Math.floor(at / tier.ms)));
        const { ms } = TIERS[0];
        openFrom = Math.floor(at / ms) * ms;
        openTo = openFrom + ms;
      }
      for (const bucket of open) addTo(bucket, kind, amount);
    },
    sum: (from, to, now) => sumOf(tiers, { from, to, now, since }),
    since: () => since,
    saved: () =>
      tiers.map(({ ms, knownFrom, buckets }) => ({ ms, knownFrom, buckets: savedBuckets([...buckets.values()]) })),
    load: (before, saved, kindNow) => {
      since = Math.min(since, before);
      for (const [at, { knownFrom, buckets }] of saved.entries()) {
        const tier = tiers[at];
        if (tier === undefined) return;
        tier.knownFrom = Math.max(tier.knownFrom, knownFrom);
        for (const [number = 0, ...counts] of buckets) {
          const bucket = bucketAt(tier, number);
          for (let i = 0; i < counts.length; i += 2) addTo(bucket, kindNow(counts[i] ?? 0), counts[i + 1] ?? 0);
        }
      }
    },
  };
}

/** Kinds for which a bucket makes room at once. */
const STEP = 16;

function addTo(bucket: Bucket, kind: number, amount: number): void {
  if (kind >= bucket.counts.length) {
    const counts = new Float64Array(kind + STEP);
    counts.set(bucket.counts);
    bucket.counts = counts;
  }
  bucket.counts[kind] = (bucket.counts[kind] ?? 0) + amount;
}

function bucketAt(tier: Tier, number: number): Bucket {
  // It dropped buckets of a future from which the clock is back.
  if (tier.knownFrom - number > tier.most) tier.knownFrom = number + 1;
  const known = tier.buckets.get(number);
  if (known !== undefined) return known;
  const bucket = { number, counts: new Float64Array(STEP) };
  tier.buckets.set(number, bucket);
  if (tier.buckets.size > tier.most) dropFarthest(tier, number);
  return bucket;
}

function dropFarthest(tier: Tier, now: number): void {
  let farthest = now;
  for (const number of tier.buckets.keys()) {
    if (Math.abs(number - now) > Math.abs(farthest - now)) farthest = number;
  }
  tier.buckets.delete(farthest);
  if (farthest < now) tier.knownFrom = Math.max(tier.knownFrom, farthest + 1);
}

interface AskedTime {
  readonly from: number;
  readonly to: number;
  readonly now: number;
  readonly since: number;
}

function sumOf(tiers: readonly Tier[], { from, to, now, since }: AskedTime): WindowSums {
  const kinds = new Map<number, KindSum>();
  // A request at this moment is over.
  const last = Math.min(to, now + 1);
  let [first, end] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let finerFrom = Number.POSITIVE_INFINITY;
  for (const [start, { ms, buckets }] of startsOf(tiers)) {
    const [lowest, highest] = [Math.max(from, start), Math.min(last, finerFrom)];
    finerFrom = Math.min(finerFrom, start);
    if (lowest >= highest) continue;
    const [low, high] = [Math.floor(lowest / ms), Math.ceil(highest / ms)];
    first = Math.min(first, low * ms);
    end = Math.max(end, high * ms);
    for (const bucket of buckets.values()) {
      if (bucket.number >= low && bucket.number < high) addKinds(kinds, bucket, (bucket.number + 1) * ms);
    }
  }
  const summedFrom = Math.max(Math.min(first, last), since);
  return { from: summedFrom, to: Math.max(summedFrom, Math.min(end, now)), kinds };
}

/** Each tier with the time from which it is to be used: it has all of its buckets since, and a coarser bucket ends there. */
function startsOf(tiers: readonly Tier[]): readonly (readonly [start: number, tier: Tier])[] {
  let coarser = 0;
  const starts = tiers.toReversed().map((tier, at, all) => {
    const ms = all[at - 1]?.ms ?? tier.ms;
    coarser = Math.max(coarser, Math.ceil((tier.knownFrom * tier.ms) / ms) * ms);
    return [coarser, tier] as const;
  });
  return starts.toReversed();
}

function addKinds(kinds: Map<number, KindSum>, { counts }: Bucket, end: number): void {
  for (const [kind, count] of counts.entries()) {
    if (count === 0) continue;
    const sum = kinds.get(kind);
    if (sum === undefined) kinds.set(kind, { count, end });
    else {
      sum.count += count;
      sum.end = Math.max(sum.end, end);
    }
  }
}

function* savedBuckets(buckets: readonly Bucket[]): Generator<readonly number[]> {
  for (const { number, counts } of buckets) {
    const flat = [number];
    for (const [kind, count] of counts.entries()) if (count > 0) flat.push(kind, count);
    yield flat;
  }
}
