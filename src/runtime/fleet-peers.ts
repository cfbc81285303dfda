/** The documents of all other contributors, for the views of the admin port. Reads the store when a view is asked for, and keeps what it read. */
import { setImmediate } from "node:timers/promises";
import { createDocumentReader, type DocumentReader, type FleetDocument } from "../fleet/document.ts";
import type { Timer } from "../model/clock.ts";
import { member, parsedJson } from "../model/json.ts";
import { replaceUnprintable } from "../model/text.ts";
import type { Contributions, Contributor } from "../state/shared/contributions.ts";

/** How long a view waits for the store. */
const READ_MS = 2_000;
/** Documents that are read at a time. */
const READERS = 8;
/** Rows are read so long without a pause. */
const PAUSE_MS = 5;
/** Text of rows that is kept, in characters; documents beyond it are read as a whole each time. What is made of it takes about 15 times as much memory. */
const MOST_KEPT = 8 * 1024 * 1024;
const LONGEST_FAULT = 300;

export interface Peer {
  readonly contributor: string;
  /** Host and the beginning of its instance. */
  readonly name: string;
  /** When it was heard last, by the clock of this process; undefined while it is there. */
  readonly goneSince: number | undefined;
  readonly document: FleetDocument;
}

export interface Peers {
  /** Those that are there first, then by name. */
  readonly peers: readonly Peer[];
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
  readonly later: Timer;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
}

interface Kept {
  readonly reader: DocumentReader;
  /** Rows come with a sign of life: without another one they are as before. */
  readonly heardAt: number;
  readonly found: Awaited<ReturnType<DocumentReader["read"]>>;
}

export type FleetPeers = ReturnType<typeof createFleetPeers>;

export function createFleetPeers(sources: PeerSources) {
  const { contributions, own, goneSince, later, now } = sources;
  let kept = new Map<string, Kept>();
  let running: Promise<Peers> | undefined;
  const readOne = async ({ id, heardAt }: Contributor, pause: () => Promise<void>): Promise<Kept> => {
    const before = kept.get(id);
    if (before?.heardAt === heardAt && before.found.faults.length === 0) return before;
    const reader = before?.reader ?? createDocumentReader();
    return { reader, heardAt, found: await reader.read(await contributions.rowsOf(id), pause) };
  };
  const readAll = async (): Promise<Peers> => {
    const end = now() + READ_MS;
    const late = new Error(`it takes longer than ${READ_MS / 1_000} s`);
    const pause = createPause(now);
    const peers: Peer[] = [];
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
    const work = async (): Promise<void> => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
        const host = hostOf(one);
        try {
          if (now() >= end) throw late;
          const read = await within(end - now(), readOne(one, pause), late, later);
          current.set(one.id, read);
          const { document, faults } = read.found;
          const name = sources.nameOf(host, document?.head.instance ?? one.id);
          if (faults.length > 0) fail(name, new Error(faults.join("; ")));
          // A contributor without a head has not published yet, or is an older version.
          if (document === undefined) continue;
          peers.push({ contributor: one.id, name, goneSince: goneSince(one, document.head.instance), document });
        } catch (error) {
          fail(sources.nameOf(host, one.id), error);
        }
      }
    };
    await Promise.all(Array.from({ length: READERS }, work));
    kept = withinSize(current);
    return { peers: peers.sort(byPresence), unread };
  };
  return {
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

function hostOf({ about }: Contributor): string {
  const host = member(parsedJson(about), "host");
  return typeof host === "string" ? replaceUnprintable(host).slice(0, 64) : "unknown";
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
