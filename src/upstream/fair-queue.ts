/**
 * Which waiting call gets the next slot. Pure: no clock, no timer, no I/O.
 *
 * Start-time fair queueing (Goyal, Vin and Cheng) with equal weights: each credential has a tag to which the cost of its
 * calls is added, and the next slot goes to the one with the least tag, so shares are equal in cost, not in number. Within
 * a credential, requests that have begun go first, since they must finish; then short calls; then pages of lists, those of
 * the oldest list first, so that lists finish and memory stays bounded.
 */

/** `short`: one call, or the first page of a list. `page`: a further page. `background`: only while slots are idle. */
export type CallKind = "short" | "page" | "background";

/** Estimates by kind; the usual call costs about 1. */
type CallCosts = Record<CallKind, number>;

/** A call that needs a slot. */
export interface FairQueueEntry {
  /** Whose share it takes. */
  readonly credential: string;
  readonly kind: CallKind;
  /** Its request has had a slot before. */
  readonly begun: boolean;
  /** A page that the platform refused before: it goes before others of its list, which may all wait for it. */
  readonly again?: boolean;
  /** When its request began. */
  readonly since: number;
  /** When its request ends, whatever happens. */
  readonly deadline: number;
  /** When it began to wait; set here. */
  at: number;
  /** When it got its slot, and what it was expected to cost then; set here. */
  startedAt?: number;
  cost?: number;
}

export interface FairQueueOptions {
  /** Slots in all. */
  readonly capacity: number;
  /**
   * Slots kept for credentials that hold fewer than this: without them a new client would wait until a slow call of
   * another one has ended.
   */
  readonly kept: number;
  /** Slots that may be taken at present; default: all. */
  readonly places?: () => number;
  /** Slots that `credential` may hold while `taken` are; default: all. */
  readonly mostOf?: (credential: string, taken: number) => number;
  /** Slots that pages may take at present. */
  readonly pages?: () => number;
  /** The most that pages may ever take. The last sixteenth is for credentials that read no page: pages of others may hang. */
  readonly mostPages?: number;
  /** Whether `credential`, which has `pages` pages under way, may read one more at `now`. */
  readonly mayRead?: (credential: string, pages: number, now: number) => boolean;
  /** Credentials that the platform has accepted go before the others. */
  readonly accepted?: ((credential: string) => boolean) | undefined;
  /** The timeout of a call, in milliseconds. */
  readonly longestMs?: number;
}

/** One credential with calls under way or waiting. */
interface CredentialQueue<E> {
  readonly credential: string;
  taken: number;
  pages: number;
  /** Its cost so far, in virtual time. */
  tag: number;
  readonly costs: CallCosts;
  readonly begun: E[];
  readonly fresh: E[];
  /** Pages, those of the oldest list first. */
  readonly reads: E[];
}

/** A credential that holds more of these parts of all slots than another comes after it, however cheap its calls are. */
const PARTS = 8;
/** Idle credentials are remembered while their cost exceeds that of others, but no more than these. */
const REMEMBERED = 1_000;
/** One start in so many is for credentials that the platform has not accepted, so that a new client always gets in. */
const FLOOR = 8;
/** Time that a request needs after its wait: this share of all its time, a second at most. */
const SPARE_SHARE = 0.2;
const SPARE_MS = 1_000;

export function createFairQueue<E extends FairQueueEntry>(options: FairQueueOptions) {
  const { capacity, kept, mostPages = capacity, pages = () => mostPages } = options;
  const { mayRead = () => true, accepted = () => true, places = () => capacity, mostOf } = options;
  const owners = new Map<string, CredentialQueue<E>>();
  /** Credentials with waiting calls; the first has waited for longest since its last start. */
  const acceptedOwners = new Set<CredentialQueue<E>>();
  const otherOwners = new Set<CredentialQueue<E>>();
  const background: E[] = [];
  const waiting: Record<CallKind, number> = { short: 0, page: 0, background: 0 };
  const rate = new WorkRate(options.longestMs === undefined ? 0 : capacity / options.longestMs);
  let taken = 0;
  let pagesTaken = 0;
  let starts = 0;
  const cost = new CostEstimate();
  const part = Math.ceil(capacity / PARTS);
  /** The tag of a credential with exactly its share. */
  let virtual = 0;
  let highest = 0;
  let lookAt = REMEMBERED;

  const ownerOf = (credential: string): CredentialQueue<E> => {
    let owner = owners.get(credential);
    if (owner === undefined) {
      if (owners.size >= lookAt) forget();
      const costs = { ...cost.usual };
      owner = { credential, taken: 0, pages: 0, tag: virtual, costs, begun: [], fresh: [], reads: [] };
      owners.set(credential, owner);
    }
    return owner;
  };
  const forget = (): void => {
    for (const owner of owners.values()) if (owner.taken === 0 && isEmpty(owner)) owners.delete(owner.credential);
    lookAt = Math.max(REMEMBERED, owners.size * 2);
  };
  const isEmpty = ({ begun, fresh, reads }: CredentialQueue<E>): boolean =>
    begun.length + fresh.length + reads.length === 0;
  const settle = (owner: CredentialQueue<E>): void => {
    if (!isEmpty(owner)) return;
    acceptedOwners.delete(owner);
    otherOwners.delete(owner);
    if (owner.taken === 0 && owner.tag <= virtual) owners.delete(owner.credential);
  };
  const hasRoom = (owner: CredentialQueue<E>): boolean =>
    taken < Math.min(places(), capacity - (owner.taken < kept ? 0 : kept)) &&
    (mostOf === undefined || owner.taken < mostOf(owner.credential, taken));
  const mayReadNow = (owner: CredentialQueue<E>, now: number): boolean => {
    const most = owner.pages === 0 ? mostPages : Math.min(pages(), mostPages - (mostPages >> 4));
    return pagesTaken < Math.min(most, places() - (places() >> 3)) && mayRead(owner.credential, owner.pages, now);
  };
  /** The entry of `owner` that is next, if one may start. */
  const first = (owner: CredentialQueue<E>, now: number): E | undefined => {
    const { begun, fresh, reads } = owner;
    return begun[0] ?? (queue.newestFirst ? fresh.at(-1) : fresh[0]) ?? (mayReadNow(owner, now) ? reads[0] : undefined);
  };
  const bestOf = (some: ReadonlySet<CredentialQueue<E>>, now: number): CredentialQueue<E> | undefined => {
    let best: CredentialQueue<E> | undefined;
    for (const owner of some) {
      if ((best === undefined || isBefore(owner, best)) && hasRoom(owner) && first(owner, now) !== undefined) {
        best = owner;
        if (owner.taken < part && owner.tag <= virtual) break;
      }
    }
    return best;
  };
  /** Equals go in the order of their sets. */
  const isBefore = (one: CredentialQueue<E>, other: CredentialQueue<E>): boolean => {
    const parts = Math.floor(one.taken / part) - Math.floor(other.taken / part);
    return parts === 0 ? one.tag < other.tag : parts < 0;
  };
  const waitlistOf = (owner: CredentialQueue<E>, { kind, begun }: E): E[] =>
    kind === "page" ? owner.reads : begun ? owner.begun : owner.fresh;
  const take = (entry: E, owner: CredentialQueue<E>, now: number): void => {
    taken += 1;
    owner.taken += 1;
    entry.startedAt = now;
    entry.cost = owner.costs[entry.kind];
    // An idle credential saves nothing up for later.
    virtual = Math.max(virtual, owner.tag);
    owner.tag = virtual + entry.cost;
    highest = Math.max(highest, owner.tag);
    if (entry.kind !== "page") return;
    pagesTaken += 1;
    owner.pages += 1;
  };
  const drop = (entry: E): CredentialQueue<E> | undefined => {
    const owner = owners.get(entry.credential);
    const waitlist = entry.kind === "background" ? background : owner && waitlistOf(owner, entry);
    const at = waitlist === undefined ? -1 : waitlist.indexOf(entry);
    if (waitlist === undefined || at < 0) return undefined;
    waitlist.splice(at, 1);
    waiting[entry.kind] -= 1;
    return owner;
  };
  /** Credentials that wait, those that come after `credential` left out. */
  const rivals = (credential: string): number => acceptedOwners.size + (accepted(credential) ? 0 : otherOwners.size);
  const isIdle = (): boolean => waiting.short + waiting.page === 0 && taken < places() / 2;

  const queue = {
    /** While true the newest go first: clients that have waited for long have often left. */
    newestFirst: false,
    /** Takes a slot, or waits for one; `refused` when it would certainly wait beyond its deadline. */
    enter(entry: E, now: number): "started" | "waits" | "refused" {
      entry.at = now;
      const owner = ownerOf(entry.credential);
      if (entry.kind === "background") {
        if (isIdle() && mayReadNow(owner, now)) {
          take(entry, owner, now);
          return "started";
        }
        background.push(entry);
        settle(owner);
      } else {
        const free = isEmpty(owner) && hasRoom(owner);
        // No other call can start: a free slot was offered to all of them.
        if (free && (entry.kind === "short" || mayReadNow(owner, now))) {
          take(entry, owner, now);
          return "started";
        }
        if (!entry.begun && queue.predictedMs(entry.credential, now) > entry.deadline - now) {
          settle(owner);
          return "refused";
        }
        const waitlist = waitlistOf(owner, entry);
        let at = waitlist.length;
        if (waitlist === owner.reads) while (at > 0 && goesBefore(entry, waitlist[at - 1] as E)) at -= 1;
        waitlist.splice(at, 0, entry);
        (accepted(entry.credential) ? acceptedOwners : otherOwners).add(owner);
      }
      if (waiting.short + waiting.page === 0) rate.begin(now);
      waiting[entry.kind] += 1;
      return "waits";
    },
    /** Releases the slot of `entry`. `work`: the processor time of its response, in usual calls. */
    leave(entry: E, now: number, work = 0): void {
      const owner = owners.get(entry.credential);
      if (owner === undefined) return;
      taken -= 1;
      owner.taken -= 1;
      if (entry.kind === "page") {
        pagesTaken -= 1;
        owner.pages -= 1;
      }
      const { startedAt = now, cost: expected = 0 } = entry;
      const spent = cost.ended(entry.kind, now - startedAt, work, owner.costs);
      owner.tag += spent - expected;
      highest = Math.max(highest, owner.tag);
      rate.ended(now, spent);
      // Without calls there are no debts.
      if (taken === 0 && waiting.short + waiting.page === 0) virtual = highest;
      settle(owner);
    },
    /** Returns the next call that may start, with its slot taken, or undefined if none can. */
    next(now: number): E | undefined {
      if (taken >= places()) return undefined;
      const [one, other] = starts % FLOOR === FLOOR - 1 ? [otherOwners, acceptedOwners] : [acceptedOwners, otherOwners];
      const owner = bestOf(one, now) ?? bestOf(other, now);
      if (owner === undefined) {
        const [entry] = background;
        if (entry === undefined || !isIdle() || !mayReadNow(ownerOf(entry.credential), now)) return undefined;
        drop(entry);
        take(entry, ownerOf(entry.credential), now);
        return entry;
      }
      const entry = first(owner, now) as E;
      starts += 1;
      drop(entry);
      take(entry, owner, now);
      // To the end of the round, or out of it. The credential may have been accepted meanwhile.
      acceptedOwners.delete(owner);
      otherOwners.delete(owner);
      if (!isEmpty(owner)) (accepted(owner.credential) ? acceptedOwners : otherOwners).add(owner);
      return entry;
    },
    /** False when it no longer waits. */
    cancel(entry: E): boolean {
      const before = waiting[entry.kind];
      const owner = drop(entry);
      if (owner !== undefined) settle(owner);
      return waiting[entry.kind] < before;
    },
    /** Removes calls that cannot meet their deadline any more, and new short calls that have waited for `mostMs`. */
    expire(now: number, mostMs = Number.POSITIVE_INFINITY): E[] {
      const late: E[] = [];
      for (const { begun, fresh, reads } of owners.values()) {
        for (const waitlist of [begun, reads]) for (const entry of waitlist) if (isLate(entry, now)) late.push(entry);
        for (const entry of fresh) if (now - entry.at >= mostMs || isLate(entry, now)) late.push(entry);
      }
      return late.filter((entry) => queue.cancel(entry));
    },
    /** How long a new short call of `credential` would wait, at the rate of the last second. */
    predictedMs(credential: string, now: number): number {
      if (waiting.short + waiting.page === 0) return 0;
      const owner = owners.get(credential);
      const { short, page } = cost.usual;
      const all = waiting.short * short + waiting.page * page;
      // Its cost beyond its share, and its waiting calls: as much goes to each other credential that waits.
      const own = owner === undefined ? 0 : (owner.begun.length + owner.fresh.length) * owner.costs.short;
      const beyond = owner === undefined ? 0 : Math.max(0, owner.tag - virtual);
      const ahead = (own + beyond + (owner?.costs.short ?? short)) * rivals(credential);
      return Math.min(all, ahead) / rate.perMs(now);
    },
    /** How many credentials wait for slots that `credential` may want, itself included: strangers come after those accepted. */
    sharers: (credential: string): number => {
      const owner = owners.get(credential);
      return rivals(credential) + (owner === undefined || isEmpty(owner) ? 1 : 0);
    },
    taken: (): number => taken,
    /** Slots taken by pages. */
    pages: (): number => pagesTaken,
    /** How many calls wait, of one kind or in all. */
    waiting: (kind?: CallKind): number =>
      kind === undefined ? waiting.short + waiting.page + waiting.background : waiting[kind],
    /** Slots that `credential` has or waits for. */
    usedBy: (credential: string): number => {
      const owner = owners.get(credential);
      return owner === undefined ? 0 : owner.taken + owner.begun.length + owner.fresh.length + owner.reads.length;
    },
    /** When the longest waiting call began to wait, or undefined if none waits. */
    oldest: (): number | undefined => {
      let at: number | undefined;
      for (const set of [acceptedOwners, otherOwners])
        for (const { begun, fresh, reads } of set)
          for (const entry of [begun[0], fresh[0], reads[0]])
            if (entry !== undefined && (at === undefined || entry.at < at)) at = entry.at;
      return at;
    },
  };
  return queue;
}

/** Pages of the oldest list go first, and of one list those that were refused before. */
function goesBefore(one: FairQueueEntry, other: FairQueueEntry): boolean {
  if (one.since !== other.since) return one.since < other.since;
  return one.again === true && other.again !== true;
}

function isLate({ since, deadline }: FairQueueEntry, now: number): boolean {
  return now >= deadline - Math.min(SPARE_MS, (deadline - since) * SPARE_SHARE);
}

/** How fast the estimates of one credential, and those of all, follow. */
const OWN_WEIGHT = 1 / 8;
const ALL_WEIGHT = 1 / 64;
/** A slow call takes a slot but no processor time: the number of slots bounds its effect on others. */
const MOST_TIMES = 16;

/**
 * Processor time is charged so many times, so that short calls go before long lists, between credentials as well. A
 * credential that reads long lists keeps at least one part in so many of an equal share.
 */
const LONG_WEIGHT = 8;

class CostEstimate {
  /** What calls of each kind cost lately, of all credentials. */
  readonly usual: CallCosts = { short: 1, page: 1, background: 1 };
  readonly #counts: CallCosts = { short: 0, page: 0, background: 0 };
  #usualMs = 0;
  #count = 0;

  /** A call held its slot for `ms` and made `work`; returns its cost. `own`: the estimates of its credential. */
  ended(kind: CallKind, ms: number, work: number, own: CallCosts): number {
    this.#count += 1;
    this.#usualMs += (ms - this.#usualMs) * Math.max(ALL_WEIGHT, 1 / this.#count);
    const times = this.#usualMs > 0 ? Math.min(MOST_TIMES, ms / this.#usualMs) : 1;
    const cost = times + work * LONG_WEIGHT;
    this.#counts[kind] += 1;
    this.usual[kind] += (cost - this.usual[kind]) * Math.max(ALL_WEIGHT, 1 / this.#counts[kind]);
    own[kind] += (cost - own[kind]) * OWN_WEIGHT;
    return cost;
  }
}

/** Measured over so much time at least, … */
const LEAST_MS = 200;
/** … so many slots, … */
const LEAST_PLACES = 20;
/** … or so much time. */
const MOST_MS = 2_000;

/** How fast slots are released, by the cost of their calls. `least`: the cost per millisecond that is certain. */
class WorkRate {
  readonly #least: number;
  #from = 0;
  #count = 0;
  #sum = 0;
  #last = Number.POSITIVE_INFINITY;

  constructor(least: number) {
    this.#least = least;
  }

  /** The first call waits: only now does the rate say how fast slots can be released. */
  begin(now: number): void {
    this.#restart(now);
    this.#last = Number.POSITIVE_INFINITY;
  }

  /** A slot was released after a call that cost `cost`. */
  ended(now: number, cost: number): void {
    this.#count += 1;
    this.#sum += cost;
    const ms = now - this.#from;
    if (ms < LEAST_MS || (this.#count < LEAST_PLACES && ms < MOST_MS)) return;
    this.#last = this.#sum / ms;
    this.#restart(now);
  }

  /** Cost per millisecond; infinite while the rate is not known. */
  perMs(now: number): number {
    const ms = now - this.#from;
    return Math.max(this.#least, ms < MOST_MS ? this.#last : this.#sum / ms);
  }

  #restart(now: number): void {
    this.#from = now;
    this.#count = 0;
    this.#sum = 0;
  }
}
