/** A process that keeps its document in a store of rows in memory. */
import { createDocumentReader, type FleetDocument } from "../../src/fleet/document.ts";
import { createEventHistory } from "../../src/history/events.ts";
import { createRequestHistory } from "../../src/history/requests.ts";
import { createDocumentPublisher, type DocumentSources } from "../../src/runtime/fleet-document.ts";
import { createComparisonTally } from "../../src/shadow/tally.ts";
import type { Contributions } from "../../src/state/shared/contributions.ts";
import { exchange, ledgerOf } from "../ledger/samples.ts";

export const START = Date.UTC(2026, 10, 21, 21, 30);

/** Rows by contributor, and what each of them says about itself. */
export function rowStore() {
  const all = new Map<string, Map<string, string>>();
  const heard = new Map<string, { heardAt: number; about: string }>();
  const of = (id: string): Map<string, string> => {
    const rows = all.get(id) ?? new Map<string, string>();
    all.set(id, rows);
    return rows;
  };
  return {
    of,
    heard,
    /** As one contributor sees it; `at`: when it was last heard. */
    as: (id: string, at = START, about: object = { host: "web" }): Contributions => {
      heard.set(id, { heardAt: at, about: JSON.stringify(about) });
      return {
        put: (name, text) => {
          if (text === undefined) of(id).delete(name);
          else of(id).set(name, text);
        },
        contributors: async () => [...heard].map(([one, rest]) => ({ id: one, ...rest })),
        rowsOf: async (one) => new Map(of(one)),
      };
    },
  };
}

export type RowStore = ReturnType<typeof rowStore>;

export function documentRig({
  store = rowStore(),
  id = "one",
  max = 1_000,
  ...given
}: Partial<DocumentSources> & { readonly store?: RowStore; readonly id?: string; readonly max?: number } = {}) {
  const clock = { at: START, now: 0 };
  const wall = (): number => clock.at;
  const { ledger, clock: ledgerClock } = ledgerOf({ max, wall, instance: id });
  ledgerClock.at = START;
  const requests = createRequestHistory(wall);
  const events = createEventHistory({ wall, process: "0a1b2c3d" });
  const tally = createComparisonTally();
  const sources: DocumentSources = {
    head: () => ({
      version: 1,
      instance: id,
      contributor: id,
      since: START,
      at: clock.at,
      mode: "native",
      force: "none",
      digest: "d1",
      comparedSince: START,
      lastReloadSuccessful: true,
    }),
    rules: () => [],
    bounds: () => tally.rows().map(({ results: _, controls: __, noisy: ___, ...row }) => row),
    samples: () => undefined,
    ledger,
    mostClients: max,
    requests,
    events,
    saved: () => ({ basis: "b", names: { check: "c", names: [] }, overdue: [] }),
    contributions: store.as(id),
    wall,
    now: () => clock.now,
    later: () => () => {},
    mayPublish: () => true,
    ...given,
  };
  const publisher = createDocumentPublisher(sources);
  const reader = createDocumentReader();
  return {
    ...{ clock, ledger, requests, events, tally, publisher, sources, store },
    call: (client: string, facts: Parameters<typeof exchange>[1] = {}): void => {
      const one = exchange(client, facts);
      ledger.observe(one);
      requests.observe(one);
    },
    rows: () => store.of(id),
    read: async (): Promise<FleetDocument> => {
      const { document, faults } = await reader.read(store.of(id), async () => {});
      if (document === undefined || faults.length > 0) throw new Error(faults.join() || "there is no document");
      return document;
    },
  };
}
