/**
 * The documents of all other contributors, for the views of the admin port. Reads the store when a view is asked for, and keeps what it read. Looks
 * every half minute who is there, to notice what the store loses.
 */
import { setImmediate } from "node:timers/promises";
import { createDocumentReader, type DocumentReader, type FleetDocument } from "../fleet/document.ts";
import type { Timer } from "../model/clock.ts";
import { member, parsedJson } from "../model/json.ts";
import { replaceUnprintable } from "../model/text.ts";
import type { Contributions, Contributor } from "../state/shared/contributions.ts";
import type { KnownContributors } from "./known-contributors.ts";

/** How long a view waits for the store. */
const READ_MS = 2_000;
/** Documents that are read at a time. */
const READERS = 8;
/** Rows are read so long without a pause. */
const PAUSE_MS = 5;
/** Text of rows that is kept, in characters; documents beyond it are read as a whole each time. What is made of it takes about 15 times as much memory. */
const MOST_KEPT = 8 * 1024 * 1024;
const LONGEST_FAULT = 300;
const LOOK_MS = 30_000;

export interface Peer {
  readonly contributor: string;
  /** Host and the beginning of its instance. */
  readonly name: string;
  /** When it was heard last, by the clock of this process; undefined while it is there. */
  readonly goneSince: number | undefined;
  readonly document: FleetDocument;
}

/** With the rows of which the document was made. */
export type StoredPeer = Peer & { readonly rows: ReadonlyMap<string, string> };

export interface Peers {
  /** Those that are there first, then by name. */
  readonly peers: readonly StoredPeer[];
  /** What could not be read. */
  readonly unread: readonly { readonly name: string; readonly fault: string }[];
}

export interface PeerSources {
  readonly contributions: Pick<Contributions, "contributors" | "rowsOf">;
  /** The id of this contributor, whose document is left out. */
  readonly own: string;
  /** By the clock of this process; undefined while it is there. */
  readonly goneSince: (contributor: Contributor, instance: string) => number | undefined;
  readonly nameOf: (host: string, instance: string) => string;
  readonly known: Pick<KnownContributors, "found" | "returning">;
  readonly later: Timer;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
}

interface Kept {
  readonly reader: DocumentReader;
  /** Rows come with a sign of life: without another one they are as before. */
  readonly heardAt: number;
  readonly rows: ReadonlyMap<string, string>;
  readonly found: Awaited<ReturnType<DocumentReader["read"]>>;
}

export type FleetPeers = ReturnType<typeof createFleetPeers>;

export function createFleetPeers(sources: PeerSources) {
  const { contributions, own, goneSince, known, later, now } = sources;
  let kept = new Map<string, Kept>();
  /** Contributors whose rows are gone from the store, though it still lists them: when they were heard last. */
  let emptied = new Map<string, number>();
  let cancelLook = (): void => {};
  let running: Promise<Peers> | undefined;
  const listedOf = (one: Contributor, instance?: string) => {
    const from = placeOf(one);
    const process = instance ?? from.instance;
    return { id: one.id, name: sources.nameOf(from.host, process), goneSince: goneSince(one, process) };
  };
  const look = async (): Promise<void> => {
    const all = await contributions.contributors();
    const others = all.filter(({ id }) => id !== own);
    known.found(others.map((one) => ({ ...listedOf(one), isEmpty: emptied.get(one.id) === one.heardAt })));
  };
  const lookAgain = (): void => {
    cancelLook = later(LOOK_MS, () => {
      // Without the store nothing is known to be missing.
      void look().then(lookAgain, lookAgain);
    });
  };
  const readOne = async ({ id, heardAt }: Contributor, pause: () => Promise<void>): Promise<Kept> => {
    const before = kept.get(id);
    if (before?.heardAt === heardAt && before.found.faults.length === 0) return before;
    const reader = before?.reader ?? createDocumentReader();
    const rows = await contributions.rowsOf(id);
    return { reader, heardAt, rows, found: await reader.read(rows, pause) };
  };
  const readAll = async (): Promise<Peers> => {
    const end = now() + READ_MS;
    const late = new Error(`it takes longer than ${READ_MS / 1_000} s`);
    const pause = createPause(now);
    const peers: StoredPeer[] = [];
    const unread: { readonly name: string; readonly fault: string }[] = [];
    const fail = (name: string, error: unknown): void => {
      const fault = error instanceof Error ? error.message : String(error);
      unread.push({ name, fault: replaceUnprintable(fault).slice(0, LONGEST_FAULT) });
    };
    let all: readonly Contributor[];
    try {
      all = await within(end - now(), contributions.contributors(), late, later);
    } catch (error) {
      fail("the store", error);
      return { peers, unread };
    }
    const waiting = all.filter(({ id }) => id !== own);
    const current = new Map<string, Kept>();
    const listed = waiting.map((one) => listedOf(one));
    const empty = new Map<string, number>();
    const work = async (): Promise<void> => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
        const { host, instance } = placeOf(one);
        try {
          if (now() >= end) throw late;
          const read = await within(end - now(), readOne(one, pause), late, later);
          current.set(one.id, read);
          const { document, faults } = read.found;
          const { name, goneSince } = listedOf(one, document?.head.instance);
          if (faults.length > 0) fail(name, new Error(faults.join("; ")));
          else if (document === undefined) empty.set(one.id, one.heardAt);
          if (document !== undefined) peers.push({ contributor: one.id, name, goneSince, document, rows: read.rows });
        } catch (error) {
          fail(sources.nameOf(host, instance), error);
        }
      }
    };
    await Promise.all(Array.from({ length: READERS }, work));
    kept = withinSize(current);
    emptied = empty;
    known.found(listed.map((one) => ({ ...one, isEmpty: empty.has(one.id) })));
    for (const name of known.returning()) fail(name, new Error(RETURNING));
    return { peers: peers.sort(byPresence), unread };
  };
  return {
    /** From now on it knows who is there. Resolves once it has looked, or cannot. */
    start: async (): Promise<void> => {
      await look().catch(() => {});
      lookAgain();
    },
    close: (): void => cancelLook(),
    /** Never rejects, and takes 2 s at most. Callers share a reading that is in progress. */
    read: (): Promise<Peers> => {
      running ??= readAll().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}

function byPresence(a: Peer, b: Peer): number {
  const ofPresence = Number(a.goneSince !== undefined) - Number(b.goneSince !== undefined);
  return ofPresence === 0 ? (a.name < b.name ? -1 : 1) : ofPresence;
}

const RETURNING = "the store has lost what it counted; a process that is still there sends it again within seconds";

/** What wrote last, by its own words. */
function placeOf({ id, about }: Contributor): { readonly host: string; readonly instance: string } {
  const found = parsedJson(about);
  const [host, instance] = ["host", "instance"].map((key) => {
    const text = member(found, key);
    return typeof text === "string" ? replaceUnprintable(text).slice(0, 64) : undefined;
  });
  return { host: host ?? "unknown", instance: instance ?? id };
}

/** The smallest, as many as may be kept. */
function withinSize(all: ReadonlyMap<string, Kept>): Map<string, Kept> {
  const bySize = [...all].map((one) => ({ one, size: one[1].reader.size() })).sort((a, b) => a.size - b.size);
  let sum = 0;
  return new Map(
    bySize.flatMap(({ one, size }) => {
      sum += size;
      return sum <= MOST_KEPT ? [one] : [];
    }),
  );
}

/** Lets requests pass when work has taken a while. */
function createPause(now: () => number): () => Promise<void> {
  let since = now();
  return async () => {
    if (now() - since < PAUSE_MS) return;
    await setImmediate();
    since = now();
  };
}

async function within<T>(ms: number, work: Promise<T>, late: Error, later: Timer): Promise<T> {
  let cancel = (): void => {};
  const ends = new Promise<never>((_, reject) => {
    cancel = later(ms, () => reject(late));
  });
  try {
    return await Promise.race([work, ends]);
  } finally {
    cancel();
  }
}
