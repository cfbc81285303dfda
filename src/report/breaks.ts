/** What would break if carryover were removed now? (Design section 8.) */
import { isUnknown } from "../ledger/difficulty.ts";
import type { ClientEntry } from "../model/ledger.ts";
import type { TotalsRow } from "../model/progress.ts";
import { grouped, largest, sum } from "./merge.ts";
import { BREAKS, type BreakLine } from "./shape.ts";

type Kind = BreakLine["kind"];
type Place = Pick<BreakLine, "kind" | "resource" | "operation" | "field" | "records" | "requests"> & {
  readonly client: string | undefined;
};

/**
 * `clients`: those that called v1 in the window, which begins at `from`; `rows`: counts of all requests. Hardest first, then
 * by name.
 */
export function breaksOf(
  clients: readonly ClientEntry[],
  rows: readonly TotalsRow[],
  from: number,
): readonly BreakLine[] {
  const places = [...clients.flatMap((client) => placesOf(client, from)), ...nativePlaces(rows, from)];
  const groups = grouped(places, ({ kind, resource, operation, field }) => [kind, resource, operation, field]);
  const lines = groups.flatMap((group) =>
    group.slice(0, 1).map(({ kind, resource, operation, field }): BreakLine => {
      const records = group.flatMap((one) => one.records ?? []);
      const requests = group.flatMap((one) => one.requests ?? []);
      return {
        kind,
        resource,
        operation,
        field,
        records: records.length === 0 ? null : largest(records),
        requests: requests.length === 0 ? null : sum(requests, (one) => one),
        clients: [...new Set(group.flatMap(({ client }) => client ?? []))].sort(),
      };
    }),
  );
  return lines.sort((a, b) => BREAKS.indexOf(a.kind) - BREAKS.indexOf(b.kind) || compare(nameOf(a), nameOf(b)));
}

function placesOf({ name, operations, needs }: ClientEntry, from: number): readonly Place[] {
  const place = (kind: Kind, resource: string, more: Partial<Place>): Place => ({
    kind,
    resource,
    operation: null,
    field: null,
    records: null,
    requests: null,
    client: name,
    ...more,
  });
  // An error that an unknown path was answered with does not show that v1 lacks it.
  const strange = operations.filter((one) => isUnknown(one) && one.lastSeen >= from);
  return [
    ...[...needs.lacking, ...strange].map(({ resource, operation }) => place("lacking", resource, { operation })),
    ...needs.zeroedFields.map(({ resource, field }) => place("full-replace", resource, { field })),
    ...needs.longLists.map(({ resource, records }) => place("long-list", resource, { records })),
    ...needs.unknownFields.map(({ resource, field }) => place("unknown-field", resource, { field })),
    ...needs.unseen.map(({ resource, operation }) => place("unseen", resource, { operation })),
    ...operations
      .filter(({ lastSeen }) => lastSeen >= from)
      .map(({ resource, operation, requests }) => place("operation", resource, { operation, requests })),
  ];
}

/** Also what clients called that the ledger leaves out: native v1 serves it, whoever asks. */
function nativePlaces(rows: readonly TotalsRow[], from: number): readonly Place[] {
  return rows
    .filter(({ apiVersion, mode, lastSeen }) => apiVersion === "v1" && mode === "native" && lastSeen >= from)
    .map(({ resource, operation, requests }) => ({
      kind: "native",
      resource,
      operation,
      field: null,
      records: null,
      requests,
      client: undefined,
    }));
}

function nameOf({ resource, operation, field }: BreakLine): string {
  return `${resource} ${operation ?? field ?? ""}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
