/** Tells the thread of the page what has changed, in slices between which requests pass. */
import { hostname } from "node:os";
import { setImmediate } from "node:timers/promises";
import { rowName } from "../fleet/document.ts";
import type { MadeUpPast, PageLoad } from "../page/data.ts";
import type { Rules } from "../rules/rule.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Progress } from "../telemetry/progress.ts";
import { createDocumentRows, type RowSources } from "./document-rows.ts";
import type { Fleet } from "./fleet.ts";
import type { StoredPeer } from "./fleet-peers.ts";
import { pageCost } from "./page-cost.ts";
import { createLoad } from "./page-load.ts";
import { OWN, type PageFacts, type PageRows } from "./page-messages.ts";

export interface TellerSources {
  readonly rows: RowSources;
  readonly fleet: Pick<Fleet, "peers">;
  readonly shared: () => Progress["shared"];
  readonly guardsTogether: () => PageFacts["guardsTogether"];
  readonly rules: () => Rules | undefined;
  readonly owners: () => NonNullable<PageFacts["rare"]>["owners"];
  readonly instance: string;
  readonly wall: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  readonly metrics: Pick<Metrics, "values">;
  /** Of the demo: a past that is shown here only. */
  readonly past: MadeUpPast | undefined;
  readonly load: () => Omit<PageLoad, "refused" | "loopDelay" | "residentBytes">;
}

/** Requests pass when telling has taken so long. */
const SLICE_MS = 0.5;
/** Small rows: few clients change at a time. */
const ROWS = { clientsInRow: 4, mostSamples: 100 };
/** How often facts that change seldom are sent. */
const RARE_MS = 10_000;

export type PageTeller = ReturnType<typeof createTeller>;

export function createTeller(sources: TellerSources, tell: (message: PageRows | PageFacts) => void) {
  const { fleet, wall, now, metrics, instance } = sources;
  const rows = createDocumentRows(sources.rows, ROWS);
  const load = createLoad(metrics, sources.load);
  const name = `${hostname()}-${instance.slice(0, 8)}`;
  let told: ReadonlySet<string> = new Set();
  let toldOfPeers = new Map<string, ReadonlyMap<string, string>>();
  let rareAt = Number.NEGATIVE_INFINITY;
  let rulesTold: Rules | undefined;

  const tellOwn = async (pause: () => Promise<void>): Promise<void> => {
    const seen = new Set<string>();
    const add = (row: string, value: unknown): void => {
      seen.add(row);
      tell({ do: "rows", of: OWN, rows: [[row, JSON.stringify(value)]] });
    };
    for (const row of rows.rest()) {
      if ("isSame" in row) seen.add(row.isSame);
      else add(...row);
      await pause();
    }
    // Totals are made last, so that they are not smaller than the counts that they include.
    for (const [row, value] of rows.totals()) add(row, value);
    add(rowName("head"), rows.head());
    await pause();
    const gone = [...told].filter((row) => !seen.has(row));
    if (gone.length > 0) tell({ do: "rows", of: OWN, rows: gone.map((row) => [row, undefined]) });
    told = seen;
  };
  const tellPeers = async (peers: readonly StoredPeer[], pause: () => Promise<void>): Promise<void> => {
    for (const { contributor, rows: found } of peers) {
      const before = toldOfPeers.get(contributor);
      for (const [row, text] of found) {
        if (before?.get(row) !== text) tell({ do: "rows", of: contributor, rows: [[row, text]] });
        await pause();
      }
      const gone = [...(before?.keys() ?? [])].filter((row) => !found.has(row));
      if (gone.length > 0) tell({ do: "rows", of: contributor, rows: gone.map((row) => [row, undefined]) });
    }
    toldOfPeers = new Map(peers.map(({ contributor, rows: found }) => [contributor, found]));
  };
  const rare = (): PageFacts["rare"] => {
    const rules = sources.rules();
    if (now() - rareAt < RARE_MS && rules === rulesTold) return undefined;
    rareAt = now();
    rulesTold = rules;
    return { rules, owners: sources.owners(), past: sources.past };
  };
  return {
    /** Returns how many milliseconds no request could pass, in all. */
    update: async (): Promise<number> => {
      const slices = createSlices(now);
      const found = await fleet.peers();
      slices.begin();
      await tellOwn(slices.pause);
      if (found !== undefined) await tellPeers(found.peers, slices.pause);
      const cost = await pageCost(metrics);
      await slices.pause();
      const at = wall();
      tell({
        ...{ do: "facts", at, instance: name, shared: sources.shared(), cost },
        guardsTogether: sources.guardsTogether(),
        load: await load.read(),
        peers: found?.peers.map((peer) => ({
          contributor: peer.contributor,
          name: peer.name,
          goneSince: peer.goneSince,
        })),
        unread: found?.unread ?? [],
        rare: rare(),
      });
      return slices.end();
    },
    close: load.close,
  };
}

/** Work in slices: `pause` lets requests pass if a slice has taken long enough. */
function createSlices(now: () => number) {
  let since = now();
  let busy = 0;
  return {
    begin: (): void => {
      since = now();
    },
    pause: async (): Promise<void> => {
      const taken = now() - since;
      if (taken < SLICE_MS) return;
      busy += taken;
      await setImmediate();
      since = now();
    },
    end: (): number => busy + now() - since,
  };
}
