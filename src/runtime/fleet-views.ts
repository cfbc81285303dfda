/** What documents of other contributors say, as views show it. Pure. */
import { coveredSince } from "../fleet/coverage.ts";
import { progressOf } from "../fleet/document.ts";
import { foldDocuments } from "../fleet/fold.ts";
import { byIds, type HistoryEvent } from "../history/events.ts";
import type { FleetEvents } from "../history/events-view.ts";
import type { AskedTimes } from "../history/requests.ts";
import { DAY_MS } from "../ledger/days.ts";
import type { LedgerSnapshot } from "../ledger/entry.ts";
import type { ClientIdentity } from "../ledger/identity.ts";
import type { PeerProgress } from "../telemetry/progress.ts";
import type { Peer } from "./fleet-peers.ts";
import { withBuckets } from "./progress.ts";

/** What is known of clients by their names. */
export interface ClientFacts {
  readonly ownerOf: ClientIdentity["ownerOf"];
  /** As rules with `match.percent` choose. */
  readonly bucketOf: (client: string) => number;
}

/** What the peer tells at `now`. */
export function peerProgress(
  { name, goneSince, document }: Peer,
  now: number,
  times: AskedTimes | undefined,
  { ownerOf, bucketOf }: ClientFacts,
): PeerProgress {
  const { head, clients, rules } = document;
  return {
    ...progressOf(document, now, times),
    ...{ name, goneSince, watched: head.watched },
    ledger: withBuckets(withOwners({ ...head.ledger, clients }, ownerOf), bucketOf),
    rules: goneSince === undefined ? rules : [],
  };
}

/** Those that have been gone for longer, or are more, become one. */
const [KEPT_APART_MS, KEPT_APART] = [30 * DAY_MS, 50];

export function withFolded(peers: readonly Peer[], now: number): readonly Peer[] {
  const gone = peers
    .flatMap((peer) => (peer.goneSince === undefined ? [] : [{ ...peer, goneSince: peer.goneSince }]))
    .sort((a, b) => b.goneSince - a.goneSince);
  const old = gone.filter(({ goneSince }, at) => at >= KEPT_APART || now - goneSince > KEPT_APART_MS);
  const folded = old.length < 2 ? undefined : foldDocuments(old, "folded");
  if (folded === undefined) return peers;
  const names = new Set(old.map(({ name }) => name));
  const rest = peers.filter(({ name }) => !names.has(name));
  return [...rest, { ...folded, contributor: "folded", name: `${old.length} that are gone` }];
}

interface OwnEvents {
  /** Oldest first. */
  readonly events: readonly HistoryEvent[];
  /** Since when none of them is missing. */
  readonly since: number;
  readonly at: number;
}

/** Each event once, with the other replicas that have it. */
export function mergedEvents(own: OwnEvents, peers: readonly Peer[]): Pick<FleetEvents, "events" | "since"> {
  const all = new Map<string, FleetEvents["events"][number] & { readonly on?: string[] }>(
    own.events.map((event) => [event.id, event]),
  );
  for (const { name, document } of peers) {
    for (const event of document.events) {
      const known = all.get(event.id);
      if (known === undefined) all.set(event.id, { ...event, on: [name] });
      else known.on?.push(name);
    }
  }
  const times = peers.map(({ goneSince, document }) => {
    return { from: document.head.eventsSince, until: goneSince ?? own.at };
  });
  return {
    events: [...all.values()].sort(byIds),
    since: coveredSince([...times, { from: own.since, until: own.at }]) ?? own.since,
  };
}

/** The ledger with the owner of each client. */
export function withOwners<One extends LedgerSnapshot>(ledger: One, ownerOf: ClientIdentity["ownerOf"]): One {
  return { ...ledger, clients: ledger.clients.map((client) => ({ ...client, ...ownerOf(client.name) })) };
}
