/** How far is the migration, and who is left? (Design section 8: `carryover report`, from what instances tell.) */
import { difficultyOf } from "./ledger/difficulty.ts";
import type { ClientEntry } from "./model/ledger.ts";
import type { TotalsRow } from "./model/progress.ts";
import type { Asked } from "./report/ask.ts";
import { breaksOf } from "./report/breaks.ts";
import { grouped, type Heard, largest, latestOf, type Merged, merge, sharerOf, sum } from "./report/merge.ts";
import type { ClientLine, InstanceLine, Report, ResourceLine } from "./report/shape.ts";
import { judgeV1 } from "./report/verdict.ts";

/** `windowMs`: how far back v1 counts; undefined: as far as anybody remembers. */
export function createReport(asked: readonly Asked[], windowMs: number | undefined): Report {
  const { instances, heard } = readInstances(asked);
  const complete = instances.every(({ fault }) => fault === null);
  const merged = merge(heard);
  const from = merged === undefined || windowMs === undefined ? undefined : merged.at - windowMs;
  const clients = merged?.ledger.clients ?? [];
  const rows = merged?.rows ?? [];
  const onV1 = clients.filter((client) => isOnV1(client, from));
  const verdict = judgeV1({ merged, complete, from, onV1: onV1.length });
  return {
    version: 1,
    at: timeOf(merged?.at),
    complete,
    instances,
    window: { from: timeOf(from), watchedSince: timeOf(merged?.watchedSince) },
    requests: sharesOf(rows),
    resources: resourcesOf(rows),
    ledger: {
      since: timeOf(merged?.ledger.since),
      v1: merged?.ledger.requests.v1 ?? 0,
      v2: merged?.ledger.requests.v2 ?? 0,
      bound: merged?.ledger.bound ?? 0,
    },
    clients: [
      ...onV1.map((client) => clientLine(client, true)),
      ...clients.filter((client) => !isOnV1(client, from)).map((client) => clientLine(client, false)),
    ],
    ...linesOf(merged),
    breaks: breaksOf(onV1, rows, from ?? 0),
    ...verdict,
  };
}

/** Who answered, and which addresses lead to the same instance: that is counted once, as it is now. */
function readInstances(asked: readonly Asked[]): {
  readonly instances: readonly InstanceLine[];
  readonly heard: Heard[];
} {
  const heard: Heard[] = [];
  const latest = latestOf(asked.flatMap((one) => ("fault" in one ? [] : [one])));
  const instances = asked.map(({ address, ...told }): InstanceLine => {
    if ("fault" in told) {
      const nothing = { instance: null, since: null, at: null, mode: null, force: null, lastReloadSuccessful: null };
      return { address, fault: told.fault, ...nothing, sameAs: null, sharesLedgerWith: null, clockBehind: null };
    }
    const { progress } = told;
    const before = heard.findIndex((one) => one.progress.instance === progress.instance);
    const same = heard[before];
    const sharer = same === undefined ? sharerOf(progress, heard) : undefined;
    if (same === undefined) heard.push({ address, progress });
    else if (progress.at > same.progress.at) heard[before] = { ...same, progress };
    const { instance, since, at, mode, force, lastReloadSuccessful } = progress;
    const times = { since: timeOf(since), at: timeOf(at) };
    return {
      address,
      fault: null,
      instance,
      ...times,
      mode,
      force,
      lastReloadSuccessful,
      sameAs: same?.address ?? null,
      sharesLedgerWith: sharer?.address ?? null,
      clockBehind: Math.max(0, Math.round((latest - at) / 1000)),
    };
  });
  return { instances, heard };
}

function isOnV1({ lastV1 }: ClientEntry, from: number | undefined): boolean {
  return lastV1 !== undefined && (from === undefined || lastV1 >= from);
}

function clientLine(client: ClientEntry, onV1: boolean): ClientLine {
  return {
    name: client.name,
    label: client.label,
    onV1,
    ...client.requests,
    over: client.over,
    difficulty: difficultyOf(client),
    firstSeen: new Date(client.firstSeen).toISOString(),
    lastSeen: new Date(client.lastSeen).toISOString(),
    lastV1: timeOf(client.lastV1),
    operations: client.operations.map(({ resource, operation, requests }) => ({ resource, operation, requests })),
    needs: client.needs,
  };
}

function linesOf(merged: Merged | undefined): Pick<Report, "bounds" | "rules"> {
  return {
    bounds: (merged?.bounds ?? []).map((bound) => ({ ...bound, client: bound.client ?? null })),
    rules: (merged?.rules ?? []).map((rule) => ({ ...rule, since: timeOf(rule.since) })),
  };
}

const count = (rows: readonly TotalsRow[], version: string, mode?: string): number =>
  sum(
    rows.filter((row) => row.apiVersion === version && (mode === undefined || row.mode === mode)),
    ({ requests }) => requests,
  );

function sharesOf(rows: readonly TotalsRow[]): Report["requests"] {
  const [v1, v2] = [count(rows, "v1"), count(rows, "v2")];
  return { v1, v2, v1Share: v1 + v2 === 0 ? null : v1 / (v1 + v2) };
}

/** Most v1 requests first. */
function resourcesOf(rows: readonly TotalsRow[]): readonly ResourceLine[] {
  const ofApi = rows.filter(({ apiVersion }) => apiVersion === "v1" || apiVersion === "v2");
  const lines = grouped(ofApi, ({ resource }) => [resource]).map((group): ResourceLine => {
    const { v1, v2 } = sharesOf(group);
    const times = group.flatMap(({ apiVersion, lastSeen }) => (apiVersion === "v1" ? [lastSeen] : []));
    return {
      resource: group[0]?.resource ?? "unknown",
      v1,
      v2,
      v1Share: v1 / (v1 + v2),
      native: count(group, "v1", "native"),
      shadow: count(group, "v1", "shadow"),
      translate: count(group, "v1", "translate"),
      refused: count(group, "v1", "refused"),
      lastV1: timeOf(times.length === 0 ? undefined : largest(times)),
    };
  });
  return lines.sort((a, b) => b.v1 - a.v1 || b.v2 - a.v2);
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
