/**
 * This process as one of a fleet that shares a store: keeps its document there, and adds to the views of the admin port what the documents of the
 * others say. Without a store the views are those of this process alone.
 */
import { setImmediate } from "node:timers/promises";
import { JsonText } from "../admin/server.ts";
import { createDocumentReader, type FleetDocument, savedCountsOf, savedEventsOf } from "../fleet/document.ts";
import { lostOf } from "../fleet/lost.ts";
import type { FleetEvents } from "../history/events-view.ts";
import type { AskedTimes } from "../history/requests.ts";
import type { LedgerSnapshot } from "../ledger/entry.ts";
import type { ForgottenClient } from "../ledger/forgotten.ts";
import type { ClientIdentity } from "../ledger/identity.ts";
import { mergeSnapshots } from "../ledger/snapshot.ts";
import type { Timer } from "../model/clock.ts";
import { member } from "../model/json.ts";
import type { Progress } from "../telemetry/progress.ts";
import { VERSION } from "../version.ts";
import { createDocumentPublisher, type DocumentSources } from "./fleet-document.ts";
import { createFleetPeers, type FleetPeers, type Peers } from "./fleet-peers.ts";
import { mergedEvents, peerProgress, withFolded, withOwners } from "./fleet-views.ts";
import type { KnownContributors } from "./known-contributors.ts";
import type { StoredBefore } from "./persistence.ts";
import type { SharedDocuments, SharedState } from "./shared-state.ts";

/** How long a start waits for what the store has of the process before. */
const START_MS = 1_500;
/** Milliseconds between two looks at whether this process still has `state.dir`. */
const HELD_MS = 10_000;

export interface FleetSources extends Omit<DocumentSources, "contributions" | "mayPublish"> {
  readonly shared: Pick<SharedState, "open">;
  /** True while this process may write to `state.dir`. */
  readonly holdsState: () => Promise<boolean>;
  readonly ownerOf: ClientIdentity["ownerOf"];
  /** Of a client, as rules with `match.percent` choose. */
  readonly bucketOf: (client: string) => number;
  /** Random, one per process. */
  readonly instance: string;
  readonly snapshot: () => LedgerSnapshot;
  readonly later: Timer;
  readonly known: KnownContributors;
}

/** Of all contributors, in views for people: who they are, and what of them could not be read. */
export interface FleetNote {
  readonly replicas: { readonly name: string; readonly instance: string; readonly goneSince?: string }[];
  readonly unread?: { readonly name: string; readonly fault: string }[];
  /** Those whose counts the store has lost, and when they were there last. */
  readonly lost?: { readonly name: string; readonly seen: string }[];
}

const NO_PEERS: Peers = { peers: [], unread: [] };

export type Fleet = ReturnType<typeof createFleet>;

export function createFleet(sources: FleetSources) {
  let documents: SharedDocuments | undefined;
  let peers: FleetPeers | undefined;
  let publisher: ReturnType<typeof createDocumentPublisher> | undefined;
  let contributor: string | undefined;
  let rowsBefore: readonly string[] = [];
  let mayPublish = true;
  let cancel = (): void => {};
  const watchState = (): void => {
    cancel = sources.later(HELD_MS, () => {
      void sources.holdsState().then((isHeld) => {
        mayPublish = isHeld;
        watchState();
      });
    });
  };
  const ownTold = () => ({ instance: sources.instance, contributor, lost: sources.known.lost() });
  let last: Peers | undefined;
  const read = async (): Promise<Peers> => {
    if (peers === undefined) return NO_PEERS;
    const found = await peers.read();
    last = withKept(found, last);
    return found;
  };
  return {
    /** Opens the store for the contributor. Resolves to what it has of the process before, which takes a moment at most. Never rejects. */
    open: async (id: string): Promise<StoredBefore | undefined> => {
      documents = sources.shared.open(id);
      if (documents === undefined) return undefined;
      const { contributions, goneSince, nameOf } = documents;
      contributor = id;
      const { known, later, now } = sources;
      peers = createFleetPeers({ contributions, own: id, goneSince, nameOf, known, later, now });
      // Under the id of this process itself there can be nothing.
      const found = id === sources.instance ? undefined : await documentBefore(documents, id, later);
      rowsBefore = found?.names ?? [];
      const counts = found?.document && savedCountsOf(found.document);
      if (found?.document === undefined || counts === undefined) return undefined;
      return { at: found.document.head.ledger.at, counts, events: savedEventsOf(found.document, VERSION) };
    },
    /** Undefined without a store. */
    contributor: (): string | undefined => contributor,
    /** From now on the document follows this process. */
    start: async (): Promise<void> => {
      if (documents === undefined) return;
      publisher = createDocumentPublisher({
        ...sources,
        contributions: documents.contributions,
        mayPublish: () => mayPublish,
      });
      publisher.start(rowsBefore);
      void peers?.start();
      // Without state.dir, or where it cannot be taken, nobody else has this document.
      if (await sources.holdsState()) watchState();
    },
    forgotten: (client: string): void => publisher?.forgotten(client),
    /** Who else has the client in the store. */
    holdersOf: async (client: string): Promise<Pick<ForgottenClient, "others" | "unread">> => {
      if (peers === undefined) return {};
      const { peers: all, unread } = await read();
      const holders = all.filter(({ document }) => hasClient(document, client));
      return {
        others: holders.map(({ name, goneSince, document }) => {
          return { name, instance: document.head.instance, gone: goneSince !== undefined };
        }),
        ...(unread.length === 0 ? {} : { unread }),
      };
    },
    /** JSON of `own` with all others. Requests pass between two of them. */
    progress: async (own: Progress, times: AskedTimes | undefined): Promise<JsonText> => {
      if (peers === undefined) return new JsonText(JSON.stringify(own));
      const { peers: others, unread } = await read();
      const texts: string[] = [];
      for (const peer of withFolded(others, own.at)) {
        texts.push(JSON.stringify(peerProgress(peer, own.at, times, sources)));
        await setImmediate();
      }
      const head = JSON.stringify({ ...own, ...(unread.length === 0 ? {} : { unread }) }).slice(0, -1);
      return new JsonText(`${head},"peers":[${texts.join()}]}`);
    },
    /** All others as the store has them now; undefined without one. Takes 2 s at most. */
    readPeers: async (): Promise<Peers | undefined> => (peers === undefined ? undefined : read()),
    /** All others as they were read lately, with what they keep in the store; undefined without a store. */
    peers: async (): Promise<Peers | undefined> => {
      if (peers === undefined) return undefined;
      const reading = read();
      return last ?? reading;
    },
    /** The ledgers of all as one. */
    ledger: async (): Promise<{ readonly snapshot: LedgerSnapshot; readonly note: FleetNote | undefined }> => {
      const own = sources.snapshot();
      if (peers === undefined) return { snapshot: own, note: undefined };
      const found = await read();
      const others = found.peers.map(({ document: { head, clients } }) => ({ ...head.ledger, clients }));
      const snapshot = mergeSnapshots([own, ...others]);
      return { snapshot: withOwners(snapshot, sources.ownerOf), note: noteOf(found, ownTold()) };
    },
    events: async (): Promise<FleetEvents | undefined> => {
      if (peers === undefined) return undefined;
      const found = await read();
      const { select, since } = sources.events;
      const own = { events: select(), since: since(), at: sources.wall() };
      return { ...noteOf(found, ownTold()), ...mergedEvents(own, found.peers) };
    },
    /** Of the others, newest first, as `/samples` narrows. */
    samples: async (query: URLSearchParams): Promise<{ readonly peers?: readonly object[] } & Partial<FleetNote>> => {
      if (peers === undefined) return {};
      const found = await read();
      const isWanted = (sample: unknown): boolean =>
        ["resource", "operation"].every((name) => (query.get(name) ?? member(sample, name)) === member(sample, name));
      return {
        peers: found.peers.flatMap(({ name, document: { samples } }) =>
          samples === undefined ? [] : [{ name, ...samples, samples: samples.samples.filter(isWanted) }],
        ),
        ...noteOf(found, ownTold()),
      };
    },
    close: (): void => {
      cancel();
      peers?.close();
      publisher?.close();
    },
  };
}

/** Replicas that could not be read keep what was read of them before. */
function withKept(found: Peers, before: Peers = NO_PEERS): Peers {
  if (found.unread.length === 0) return found;
  const known = new Set(found.peers.map(({ contributor }) => contributor));
  return { ...found, peers: [...found.peers, ...before.peers.filter(({ contributor }) => !known.has(contributor))] };
}

function hasClient({ clients, bounds, samples }: FleetDocument, name: string): boolean {
  return (
    clients.some((one) => one.name === name) ||
    [...bounds, ...(samples?.samples ?? [])].some((one) => member(one, "client") === name)
  );
}

function noteOf({ peers, unread }: Peers, own: Parameters<typeof lostOf>[0][number]): FleetNote {
  const lost = lostOf([own, ...peers.map(({ document }) => document.head)]);
  return {
    replicas: peers.map(({ name, goneSince, document }) => ({
      name,
      instance: document.head.instance,
      ...(goneSince === undefined ? {} : { goneSince: new Date(goneSince).toISOString() }),
    })),
    ...(unread.length === 0 ? {} : { unread: [...unread] }),
    ...(lost.length === 0
      ? {}
      : { lost: lost.map(({ name, seen }) => ({ name, seen: new Date(seen).toISOString() })) }),
  };
}

/** What the store has of the contributor. Undefined if it does not respond in time. */
async function documentBefore({ contributions }: SharedDocuments, id: string, later: Timer) {
  let cancel = (): void => {};
  const late = new Promise<undefined>((resolve) => {
    cancel = later(START_MS, () => resolve(undefined));
  });
  const reading = (async () => {
    const rows = await contributions.rowsOf(id);
    const { document, faults } = await createDocumentReader().read(rows, async () => {});
    // A part of it would count too little.
    return { names: [...rows.keys()], document: faults.length === 0 ? document : undefined };
  })().catch(() => undefined);
  try {
    return await Promise.race([reading, late]);
  } finally {
    cancel();
  }
}
