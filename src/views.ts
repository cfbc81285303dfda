/** The views of the admin port. */
import type { AdminTextView, AdminView } from "./admin/server.ts";
import type { Catalogue } from "./catalogue.ts";
import { createExplainView } from "./commands/explain/view.ts";
import type { Config } from "./config/config.ts";
import { clientsTable, clientsView } from "./ledger/clients-view.ts";
import { wayOut } from "./ledger/way-out.ts";
import type { Migration } from "./migration.ts";
import { Problem } from "./model/problem.ts";
import type { UnknownFields } from "./telemetry/unknown-fields.ts";

export function createViews(
  config: Config,
  catalogue: Catalogue,
  { migration, unknownFields }: { readonly migration: Migration; readonly unknownFields: UnknownFields },
): { readonly views: ReadonlyMap<string, AdminView>; readonly texts: ReadonlyMap<string, AdminTextView> } {
  const { ledger, rollout, shadow, rulesFile } = migration;
  return {
    views: new Map<string, AdminView>([
      ["rules", () => ({ ...asObject(rollout.view()), rulesFile: rulesFile?.state() ?? null })],
      ["clients", (query) => clientsView(ledger.snapshot(), query)],
      ["samples", (query) => shadow?.samples(query) ?? []],
      ["progress", () => migration.progress()],
      ["unknown-fields", () => unknownFields.view()],
      ["explain", createExplainView(config, catalogue, migration.explain)],
    ]),
    texts: new Map<string, AdminTextView>([
      ["clients.txt", (query) => clientsTable(ledger.snapshot(), query)],
      ["way-out.md", (query) => wayOutOf(query, migration, catalogue)],
    ]),
  };
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

/** `?client=NAME`: what this client must change, as Markdown. */
function wayOutOf(query: URLSearchParams, { ledger }: Migration, catalogue: Catalogue): string {
  const name = query.get("client");
  if (name === null)
    throw new Problem("INVALID_REQUEST", "which client? ask for /way-out.md?client=NAME, as /clients names it");
  const entry = ledger.snapshot().clients.find((client) => client.name === name);
  if (entry === undefined) throw new Problem("UNKNOWN_PATH", `no client of that name is in the ledger: see /clients`);
  return wayOut(entry, { resources: catalogue.resources, version: catalogue.version });
}
