/**
 * Which of those that wait gets the next place? (Pure: no clock, no timer, no I/O. What it is told and when is all that it knows.)
 *
 * Start-time fair queueing (Goyal, Vin and Cheng) with equal weights: each credential has a tag to which the cost of its calls is
 * added, and the next place goes to the one with the least tag. So shares are equal in cost, not in number. Within a credential
 * a request that has begun goes first, since it must finish; then short work, then pages of lists, those of the oldest list first, so
 * that lists finish and memory stays bounded.
 */
/** A piece of work that needs a place. */
export interface FairQueueEntry {
  /** Whose share it takes. */
  readonly credential: string;
  readonly kind: CallKind;
  /** Its request has had a place before. */
  readonly begun: boolean;
  /** When its request began. */
  readonly since: number;
  /** When its request ends, whatever happens. */
  readonly deadline: number;
  /** When it began to wait; set here. */
  at: number;
  /** When it got its place, and what it was expected to cost then; set here. */
  startedAt?: number;
  cost?: number;
}

export interface FairQueueOptions {
  /** Places in all. */
  readonly capacity: number;
  /**
   * Places kept for credentials that hold fewer than this: one alone may take all others. Without it a newcomer would wait until a
   * slow piece of work of somebody else has ended.
   */
  readonly kept: number;
  /** Places that may be taken at present: all, unless told. */
  readonly places?: () => number;
  /** Places that pages may take at present. */
  readonly pages?: () => number;
  /** The most that they may ever take. The last sixteenth is for credentials that read no page: the pages of others may hang. */
  readonly mostPages?: number;
  /** Whether `credential`, which has `pages` pages under way, may read one more at `now`. */
  readonly mayRead?: (credential: string, pages: number, now: number) => boolean;
  /** Credentials that the platform has accepted go before the others. */
  readonly accepted?: ((credential: string) => boolean) | undefined;
  /** Places are given back at least this often: what is under way has a timeout. Milliseconds for one of them. */
  readonly longestMs?: number;
}

export interface FairQueue<E extends FairQueueEntry> {
  /** Takes a place, or waits for one; `refused` when it would certainly wait beyond its deadline. */
  enter(entry: E, now: number): "started" | "waits" | "refused";
  /** Gives the place of `entry` back. `work`: what its response took of the processor, in usual calls. */
  leave(entry: E, now: number, work?: number): void;
  /** The next that may start, with its place taken; undefined: nobody can. */
  next(now: number): E | undefined;
  /** False when it does not wait any more. */
  cancel(entry: E): boolean;
  /** Takes out those whose deadline leaves no chance any more, and new short work that has waited for `mostMs`. */
  expire(now: number, mostMs?: number): E[];
  /** How long new short work of `credential` would wait, at the pace of the last second. */
  predictedMs(credential: string, now: number): number;
  /** While true the newest go first: what has waited for long is hardly wanted any more. */
  newestFirst: boolean;
  taken(): number;
  /** Places taken by pages. */
  pages(): number;
  /** How many wait: all of them, or those of one kind. */
  waiting(kind?: CallKind): number;
  /** Places that `credential` has or waits for. */
  held(credential: string): number;
  /** When the one that has waited for longest began to wait; undefined: nobody waits. */
  oldest(): number | undefined;
}

/** One credential with work under way or waiting. */
interface CredentialQueue<E> {
  readonly credential: string;
  taken: number;
  pages: number;
  /** The cost that it has had, in virtual time. */
  tag: number;
  readonly costs: CallCosts;
  readonly begun: E[];
  readonly fresh: E[];
  /** In the order of their lists' beginnings. */
  readonly reads: E[];
}

/** Whoever holds one part in so many of the places more than others comes after them, whatever was cheap so far. */
const PARTS = 8;
/** Credentials without work are remembered while they have had more than others, but no more than these. */
const REMEMBERED = 1_000;
/** One start in so many is for credentials that the platform has not accepted: a new client always gets in. */
const FLOOR = 8;
/** Time that a request needs after its wait: this share of all it has, a second at most. */
const SPARE_SHARE = 0.2;
const SPARE_MS = 1_000;

export function createFairQueue<E extends FairQueueEntry>(options: FairQueueOptions): FairQueue<E> {
  const { capacity, kept, mostPages = capacity, pages = () => mostPages } = options;
  const { mayRead = () => true, accepted = () => true, places = () => capacity } = options;
  const lines = new Map<string, CredentialQueue<E>>();
  /** Lines with waiting work; the first has gone without for longest. */
  const known = new Set<CredentialQueue<E>>();
  const unknown = new Set<CredentialQueue<E>>();
  const background: E[] = [];
  const waiting: Record<CallKind, number> = { short: 0, page: 0, background: 0 };
  const pace = createWorkRate(options.longestMs === undefined ? 0 : capacity / options.longestMs);
  let taken = 0;
  let pagesTaken = 0;
  let starts = 0;
  const cost = createCostEstimate();
  const part = Math.ceil(capacity / PARTS);
  /** The tag of whoever has had exactly its share. */
  let virtual = 0;
  let highest = 0;
  let lookAt = REMEMBERED;

  const lineOf = (credential: string): CredentialQueue<E> => {
    let line = lines.get(credential);
    if (line === undefined) {
      if (lines.size >= lookAt) forget();
      line = {
        credential,
        taken: 0,
        pages: 0,
        tag: virtual,
        costs: { ...cost.usual },
        begun: [],
        fresh: [],
        reads: [],
      };
      lines.set(credential, line);
    }
    return line;
  };
  const forget = (): void => {
    for (const line of lines.values()) if (line.taken === 0 && isEmpty(line)) lines.delete(line.credential);
    lookAt = Math.max(REMEMBERED, lines.size * 2);
  };
  const isEmpty = ({ begun, fresh, reads }: CredentialQueue<E>): boolean =>
    begun.length + fresh.length + reads.length === 0;
  const settle = (line: CredentialQueue<E>): void => {
    if (!isEmpty(line)) return;
    known.delete(line);
    unknown.delete(line);
    if (line.taken === 0 && line.tag <= virtual) lines.delete(line.credential);
  };
  const hasRoom = (line: CredentialQueue<E>): boolean =>
    taken < Math.min(places(), capacity - (line.taken < kept ? 0 : kept));
  const mayReadNow = (line: CredentialQueue<E>, now: number): boolean => {
    const most = line.pages === 0 ? mostPages : Math.min(pages(), mostPages - (mostPages >> 4));
    return pagesTaken < Math.min(most, places() - (places() >> 3)) && mayRead(line.credential, line.pages, now);
  };
  /** The entry of `line` that is next, if one may start. */
  const first = (line: CredentialQueue<E>, now: number): E | undefined => {
    const { begun, fresh, reads } = line;
    return begun[0] ?? (queue.newestFirst ? fresh.at(-1) : fresh[0]) ?? (mayReadNow(line, now) ? reads[0] : undefined);
  };
  const bestOf = (some: ReadonlySet<CredentialQueue<E>>, now: number): CredentialQueue<E> | undefined => {
    let best: CredentialQueue<E> | undefined;
    for (const line of some) {
      if ((best === undefined || isBefore(line, best)) && hasRoom(line) && first(line, now) !== undefined) {
        best = line;
        if (line.taken < part && line.tag <= virtual) break;
      }
    }
    return best;
  };
  /** Equals go in the order of their sets. */
  const isBefore = (one: CredentialQueue<E>, other: CredentialQueue<E>): boolean => {
    const parts = Math.floor(one.taken / part) - Math.floor(other.taken / part);
    return parts === 0 ? one.tag < other.tag : parts < 0;
  };
  const rowOf = (line: CredentialQueue<E>, { kind, begun }: E): E[] =>
    kind === "page" ? line.reads : begun ? line.begun : line.fresh;
  const take = (entry: E, line: CredentialQueue<E>, now: number): void => {
    taken += 1;
    line.taken += 1;
    entry.startedAt = now;
    entry.cost = line.costs[entry.kind];
    // A credential without work saves nothing up for later.
    virtual = Math.max(virtual, line.tag);
    line.tag = virtual + entry.cost;
    highest = Math.max(highest, line.tag);
    if (entry.kind !== "page") return;
    pagesTaken += 1;
    line.pages += 1;
  };
  const drop = (entry: E): CredentialQueue<E> | undefined => {
    const line = lines.get(entry.credential);
    const row = entry.kind === "background" ? background : line && rowOf(line, entry);
    const at = row === undefined ? -1 : row.indexOf(entry);
    if (row === undefined || at < 0) return undefined;
    row.splice(at, 1);
    waiting[entry.kind] -= 1;
    return line;
  };
  const isIdle = (): boolean => waiting.short + waiting.page === 0 && taken < places() / 2;

  const queue: FairQueue<E> = {
    newestFirst: false,
    enter(entry, now) {
      entry.at = now;
      const line = lineOf(entry.credential);
      if (entry.kind === "background") {
        if (isIdle() && mayReadNow(line, now)) {
          take(entry, line, now);
          return "started";
        }
        background.push(entry);
        settle(line);
      } else {
        const free = isEmpty(line) && hasRoom(line);
        // Whoever else waits cannot start: a place that is free has been offered to all of them.
        if (free && (entry.kind === "short" || mayReadNow(line, now))) {
          take(entry, line, now);
          return "started";
        }
        if (!entry.begun && queue.predictedMs(entry.credential, now) > entry.deadline - now) {
          settle(line);
          return "refused";
        }
        const row = rowOf(line, entry);
        let at = row.length;
        if (row === line.reads) while (at > 0 && (row[at - 1] as E).since > entry.since) at -= 1;
        row.splice(at, 0, entry);
        (accepted(entry.credential) ? known : unknown).add(line);
      }
      if (waiting.short + waiting.page === 0) pace.begin(now);
      waiting[entry.kind] += 1;
      return "waits";
    },
    leave(entry, now, work = 0) {
      const line = lines.get(entry.credential);
      if (line === undefined) return;
      taken -= 1;
      line.taken -= 1;
      if (entry.kind === "page") {
        pagesTaken -= 1;
        line.pages -= 1;
      }
      const { startedAt = now, cost: expected = 0 } = entry;
      const spent = cost.ended(entry.kind, now - startedAt, work, line.costs);
      line.tag += spent - expected;
      highest = Math.max(highest, line.tag);
      pace.ended(now, spent);
      // Nobody is served before anybody else: nothing is owed any more.
      if (taken === 0 && waiting.short + waiting.page === 0) virtual = highest;
      settle(line);
    },
    next(now) {
      if (taken >= places()) return undefined;
      const [one, other] = starts % FLOOR === FLOOR - 1 ? [unknown, known] : [known, unknown];
      const line = bestOf(one, now) ?? bestOf(other, now);
      if (line === undefined) {
        const [entry] = background;
        if (entry === undefined || !isIdle() || !mayReadNow(lineOf(entry.credential), now)) return undefined;
        drop(entry);
        take(entry, lineOf(entry.credential), now);
        return entry;
      }
      const entry = first(line, now) as E;
      starts += 1;
      drop(entry);
      take(entry, line, now);
      // To the end of the round, or out of it. A credential may have been accepted meanwhile.
      known.delete(line);
      unknown.delete(line);
      if (!isEmpty(line)) (accepted(line.credential) ? known : unknown).add(line);
      return entry;
    },
    cancel(entry) {
      const before = waiting[entry.kind];
      const line = drop(entry);
      if (line !== undefined) settle(line);
      return waiting[entry.kind] < before;
    },
    expire(now, mostMs = Number.POSITIVE_INFINITY) {
      const late: E[] = [];
      for (const { begun, fresh, reads } of lines.values()) {
        for (const row of [begun, reads]) for (const entry of row) if (isLate(entry, now)) late.push(entry);
        for (const entry of fresh) if (now - entry.at >= mostMs || isLate(entry, now)) late.push(entry);
      }
      return late.filter((entry) => queue.cancel(entry));
    },
    predictedMs(credential, now) {
      if (waiting.short + waiting.page === 0) return 0;
      const line = lines.get(credential);
      const { short, page } = cost.usual;
      const all = waiting.short * short + waiting.page * page;
      // What it has had beyond its share, and what is before it: as much goes to each other credential that waits.
      const own = line === undefined ? 0 : (line.begun.length + line.fresh.length) * line.costs.short;
      const beyond = line === undefined ? 0 : Math.max(0, line.tag - virtual);
      const ahead = (own + beyond + (line?.costs.short ?? short)) * (known.size + unknown.size);
      return Math.min(all, ahead) / pace.perMs(now);
    },
    taken: () => taken,
    pages: () => pagesTaken,
    waiting: (kind) => (kind === undefined ? waiting.short + waiting.page + waiting.background : waiting[kind]),
    held: (credential) => {
      const line = lines.get(credential);
      return line === undefined ? 0 : line.taken + line.begun.length + line.fresh.length + line.reads.length;
    },
    oldest: () => {
      let at: number | undefined;
      for (const set of [known, unknown])
        for (const { begun, fresh, reads } of set)
          for (const entry of [begun[0], fresh[0], reads[0]])
            if (entry !== undefined && (at === undefined || entry.at < at)) at = entry.at;
      return at;
    },
  };
  return queue;
}

function isLate({ since, deadline }: FairQueueEntry, now: number): boolean {
  return now >= deadline - Math.min(SPARE_MS, (deadline - since) * SPARE_SHARE);
}

/** What does a call cost, compared with the usual one? (That costs about 1.) */

/** `short`: one call, or the first page of a list. `page`: a further page. `background`: only where places are idle. */
export type CallKind = "short" | "page" | "background";

/** Estimates for calls that begin, by kind. */
export type CallCosts = Record<CallKind, number>;

export interface CostEstimate {
  /** What calls of each kind cost lately, whoever makes them. */
  readonly usual: CallCosts;
  /** A call of `kind` held its place for `ms` and made `work`; gives its cost. `own`: the estimates of its credential. */
  ended(kind: CallKind, ms: number, work: number, own: CallCosts): number;
}

/** How fast estimates follow: those of one credential, and those of all. */
const OWN_WEIGHT = 1 / 8;
const ALL_WEIGHT = 1 / 64;
/** A slow call takes a place, but nothing of the processor: the number of places bounds what it can do to others. */
const MOST_TIMES = 16;

/**
 * Short work goes before long, between credentials as well: what a response takes of the processor is charged so many times. A
 * credential that reads long lists keeps at least one part in so many of what equal shares would give it.
 */
const LONG_WEIGHT = 8;

export function createCostEstimate(): CostEstimate {
  const usual: CallCosts = { short: 1, page: 1, background: 1 };
  const counts: CallCosts = { short: 0, page: 0, background: 0 };
  let usualMs = 0;
  let count = 0;
  return {
    usual,
    ended(kind, ms, work, own) {
      count += 1;
      usualMs += (ms - usualMs) * Math.max(ALL_WEIGHT, 1 / count);
      const times = usualMs > 0 ? Math.min(MOST_TIMES, ms / usualMs) : 1;
      const cost = times + work * LONG_WEIGHT;
      counts[kind] += 1;
      usual[kind] += (cost - usual[kind]) * Math.max(ALL_WEIGHT, 1 / counts[kind]);
      own[kind] += (cost - own[kind]) * OWN_WEIGHT;
      return cost;
    },
  };
}

/** How fast is work done? */

export interface WorkRate {
  /** Somebody waits, and nobody did: only now does the pace say how fast places can be given back. */
  begin(now: number): void;
  /** A place was given back after work that cost `cost`. */
  ended(now: number, cost: number): void;
  /** Cost a millisecond; infinite while it is not known yet. */
  perMs(now: number): number;
}

/** Measured over so long at least, … */
const LEAST_MS = 200;
/** … so many places, … */
const LEAST_PLACES = 20;
/** … or so long. */
const MOST_MS = 2_000;

/** `least`: cost a millisecond that is worked off in any case. */
export function createWorkRate(least: number): WorkRate {
  let from = 0;
  let count = 0;
  let sum = 0;
  let last = Number.POSITIVE_INFINITY;
  const restart = (now: number): void => {
    from = now;
    count = 0;
    sum = 0;
  };
  return {
    begin: (now) => {
      restart(now);
      last = Number.POSITIVE_INFINITY;
    },
    ended: (now, cost) => {
      count += 1;
      sum += cost;
      const ms = now - from;
      if (ms < LEAST_MS || (count < LEAST_PLACES && ms < MOST_MS)) return;
      last = sum / ms;
      restart(now);
    },
    perMs: (now) => Math.max(least, now - from < MOST_MS ? last : sum / (now - from)),
  };
}
