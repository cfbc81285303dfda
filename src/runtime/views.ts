/** What the admin port shows: of this instance, and of all that share its store. */
import type { AdminTextView, AdminView } from "../admin/server.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Config } from "../config/config.ts";
import type { EventHistory } from "../history/events.ts";
import { eventsView, latestOfRules } from "../history/events-view.ts";
import { type AskedTimes, readTimes } from "../history/requests.ts";
import { clientsTable, clientsView, ownerText, utcMinute } from "../ledger/clients-view.ts";
import type { LedgerSnapshot } from "../ledger/entry.ts";
import { wayOut, wayOutOptions } from "../ledger/way-out.ts";
import { Problem } from "../model/problem.ts";
import type { RecordTimes } from "../model/resource.ts";
import { counted } from "../rules/words.ts";
import type { Progress } from "../telemetry/progress.ts";
import type { UnknownFields } from "../telemetry/unknown-fields.ts";
import { createExplainView } from "./explain/view.ts";
import type { FleetNote } from "./fleet.ts";
import type { Migration } from "./migration.ts";

/** The views of the admin port. */
export function createViews(
  config: Config,
  catalogue: Catalogue,
  {
    migration,
    history,
    unknownFields,
    status,
  }: {
    readonly migration: Migration;
    readonly history: Pick<EventHistory, "select" | "since"> & { readonly instance: string; wall(): number };
    readonly unknownFields: UnknownFields;
    readonly status: (times?: AskedTimes) => Progress;
  },
): { readonly views: ReadonlyMap<string, AdminView>; readonly texts: ReadonlyMap<string, AdminTextView> } {
  const { ledger, rollout, shadow, rulesFile, fleet } = migration;
  const ledgerFor = async (query: URLSearchParams) =>
    asksFleet(query) ? fleet.ledger() : { snapshot: ledger.snapshot(), note: undefined };
  return {
    views: new Map<string, AdminView>([
      [
        "rules",
        () => ({
          ...asObject(rollout.view()),
          transitions: latestOfRules(history, MOST_TRANSITIONS),
          missedNames: migration.missedNames(),
          rulesFile: rulesFile?.state() ?? null,
        }),
      ],
      [
        "events",
        async (query) =>
          eventsView(history, query, {
            fleet: asksFleet(query) ? await fleet.events() : undefined,
            instance: history.instance,
            at: history.wall(),
            ownerOf: (client) => ownerText(migration.identity.ownerOf(client) ?? {}) || undefined,
          }),
      ],
      [
        "clients",
        async (query) => {
          const { snapshot, note } = await ledgerFor(query);
          return { ...clientsView(snapshot, query, migration.clientsRollout(query)), ...note };
        },
      ],
      [
        "samples",
        async (query) => {
          // Without a native v1 nothing is compared.
          const own = shadow?.samples(query) ?? { values: config.shadow.values, samples: [] };
          return asksFleet(query) ? { ...own, ...(await fleet.samples(query)) } : own;
        },
      ],
      [
        "progress",
        async (query) => {
          const times = readTimes(query);
          return asksFleet(query, false) ? fleet.progress(status(times), times) : status(times);
        },
      ],
      ["unknown-fields", () => unknownFields.view()],
      ["explain", createExplainView(config, catalogue, migration.explain)],
    ]),
    texts: new Map<string, AdminTextView>([
      [
        "clients.txt",
        async (query) => {
          const { snapshot, note } = await ledgerFor(query);
          return (
            clientsTable(snapshot, query, migration.clientsRollout(query)) + (note === undefined ? "" : noteText(note))
          );
        },
      ],
      [
        "way-out.md",
        async (query) => wayOutOf(query, (await ledgerFor(query)).snapshot, catalogue, config.v1.recordTimes),
      ],
    ]),
  };
}

/** Changes of rules in `/rules`. */
const MOST_TRANSITIONS = 50;

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

/** `?fleet=true` or `false`. */
function asksFleet(query: URLSearchParams, usual = true): boolean {
  const text = query.get("fleet");
  if (text === null) return usual;
  if (text === "true" || text === "false") return text === "true";
  throw new Problem(
    "INVALID_REQUEST",
    "fleet: expected `true` (of all that share the store) or `false` (of this instance)",
  );
}

/** Below a table of clients. */
function noteText({ replicas, unread = [], lost = [] }: FleetNote): string {
  const gone = replicas.filter(({ goneSince }) => goneSince !== undefined).length;
  const lines = [
    `counted by this instance and ${counted(replicas.length, "other")} (${gone} gone); ?fleet=false shows this instance alone.`,
    ...unread.map(({ name, fault }) => `NOT COUNTED: ${name}: ${fault}`),
    ...lost.map(
      ({ name, seen }) =>
        `NOT COUNTED: ${name}: its counts were lost with the store, last seen ${utcMinute(Date.parse(seen))}`,
    ),
  ];
  return `${lines.join("\n")}\n`;
}

/** `?client=NAME`: what this client must change, as Markdown. */
function wayOutOf(
  query: URLSearchParams,
  { clients }: LedgerSnapshot,
  catalogue: Catalogue,
  recordTimes: RecordTimes,
): string {
  const name = query.get("client");
  if (name === null)
    throw new Problem("INVALID_REQUEST", "which client? ask for /way-out.md?client=NAME, as /clients names it");
  const entry = clients.find((client) => client.name === name);
  if (entry === undefined)
    throw new Problem("UNKNOWN_PATH", `no client of that name is in the ledger: see /clients`, { options: [] });
  return wayOut(entry, wayOutOptions(catalogue, recordTimes));
}
