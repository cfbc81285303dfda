/** What instances tell in tests of the report: small, and every number can be found again. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CommandOptions, type CommandResult, runCommand } from "../../../scripts/command.ts";
import { createAdminServer } from "../../../src/admin/server.ts";
import type { AskedTimes } from "../../../src/history/requests.ts";
import { dayOf } from "../../../src/ledger/days.ts";
import type { ClientEntry, LedgerSnapshot } from "../../../src/ledger/entry.ts";
import type { RuleStatus } from "../../../src/rules/status.ts";
import type { Progress, RequestTotalsRow } from "../../../src/telemetry/progress.ts";
import { later } from "../../end-to-end/app/rig.ts";

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
/** When instances are asked. */
export const NOW = Date.UTC(2026, 10, 21, 21, 30);

export function row(facts: Partial<RequestTotalsRow>): RequestTotalsRow {
  return {
    apiVersion: "v1",
    resource: "group",
    operation: "list",
    mode: "translate",
    codes: "2xx",
    requests: 1,
    lastSeen: NOW - HOUR,
    ...facts,
  };
}

/** The last `ms` milliseconds; without: all times. */
export function times(ms?: number): AskedTimes {
  return { from: ms === undefined ? undefined : -ms, to: undefined };
}

/** What an instance counted in the window that it was asked for. */
export function counted(rows: readonly RequestTotalsRow[], from = NOW - DAY, to = NOW): Progress["window"] {
  return { from, to, rows };
}

const NO_NEEDS: ClientEntry["needs"] = {
  longLists: [],
  zeroedFields: [],
  lacking: [],
  unknownFields: [],
  unseen: [],
};

export function client(
  name: string,
  facts: Partial<Omit<ClientEntry, "needs">> & { readonly needs?: Partial<ClientEntry["needs"]> } = {},
): ClientEntry {
  const { needs, ...rest } = facts;
  return {
    name,
    label: name,
    firstSeen: NOW - 3 * DAY,
    lastSeen: NOW - HOUR,
    lastV1: NOW - HOUR,
    requests: { v1: 10, v2: 0 },
    over: 0,
    operations: [{ resource: "group", operation: "list", requests: 10, lastSeen: NOW - HOUR }],
    ...rest,
    needs: { ...NO_NEEDS, ...needs },
  };
}

export function rule(name: string, facts: Partial<RuleStatus> = {}): RuleStatus {
  return { name, mode: "translate", doing: "translate", state: "as-written", since: undefined, detail: "", ...facts };
}

export function progress(
  facts: Partial<Omit<Progress, "ledger">> & { ledger?: Partial<LedgerSnapshot> } = {},
): Progress {
  const { ledger, ...rest } = facts;
  const instance = facts.instance ?? "instance-1";
  // All counters of a process begin, and are restored, together.
  const since = ledger?.since ?? NOW - 3 * DAY;
  const rows = rest.totals?.rows ?? [];
  return {
    version: 1,
    instance,
    since: NOW - 2 * DAY,
    at: NOW,
    mode: "translate",
    force: "none",
    lastReloadSuccessful: true,
    bounds: [],
    rules: [],
    ...rest,
    totals: { at: NOW, ...rest.totals, rows, since },
    // All of them are in the window, unless a test says otherwise.
    window: "window" in rest ? rest.window : counted(rows, since),
    ledger: {
      version: 1,
      instances: [instance],
      since,
      daysSince: since,
      at: NOW,
      requests: { v1: 0, v2: 0 },
      bound: 0,
      clients: [],
      ...ledger,
    },
  };
}

/** Totals of these rows; `progress` says since when. */
export function totals(rows: readonly RequestTotalsRow[]): Progress["totals"] {
  return { since: 0, at: NOW, rows };
}

/** An instance in the middle of a migration; the second has less to tell. */
export function busy(): readonly [Progress, Progress] {
  const first = progress({
    totals: totals([
      row({ requests: 5000 }),
      row({ operation: "update", requests: 40, mode: "shadow" }),
      row({ resource: "tag", operation: "list-history", mode: "native", requests: 34, lastSeen: NOW - 2 * HOUR }),
      row({ resource: "repo", requests: 900, mode: "native" }),
      row({ resource: "repo", requests: 2, mode: "refused", codes: "4xx" }),
      row({ apiVersion: "v2", operation: "unknown", mode: "pass", requests: 3000 }),
      row({ apiVersion: "v2", resource: "role", operation: "unknown", mode: "pass", requests: 70 }),
    ]),
    ledger: {
      requests: { v1: 5976, v2: 3070 },
      clients: [
        client("terraform", {
          requests: { v1: 4100, v2: 0 },
          days: { last: dayOf(NOW), v1: [3000, 1000, 100], v2: [], calledV1: "7", calledV2: "" },
          operations: [
            { resource: "group", operation: "list", requests: 4060, lastSeen: NOW - HOUR },
            { resource: "group", operation: "update", requests: 40, lastSeen: NOW - HOUR },
          ],
          needs: {
            longLists: [{ resource: "group", records: 5210 }],
            zeroedFields: [{ resource: "group", field: "description" }],
          },
        }),
        client("ci-bot", {
          requests: { v1: 1876, v2: 70 },
          days: { last: dayOf(NOW), v1: [936, 940], v2: [70], calledV1: "3", calledV2: "1" },
          lastV1: NOW - 2 * HOUR,
          operations: [
            { resource: "repo", operation: "list", requests: 902, lastSeen: NOW - 2 * HOUR },
            { resource: "tag", operation: "list-history", requests: 34, lastSeen: NOW - 2 * HOUR },
          ],
          needs: {
            lacking: [{ resource: "tag", operation: "list-history" }],
            unseen: [{ resource: "repo", operation: "list" }],
          },
        }),
        client("web", { requests: { v1: 0, v2: 3000 }, lastV1: undefined, operations: [] }),
      ],
    },
    bounds: [
      { resource: "group", operation: "list", client: undefined, comparisons: 4000, differences: 0, upper: 0.000749 },
      { resource: "group", operation: "list", client: "terraform", comparisons: 4000, differences: 0, upper: 0.000749 },
      { resource: "repo", operation: "list", client: undefined, comparisons: 90, differences: 1, upper: 0.0527 },
    ],
    rules: [
      rule("ci-reads", {
        doing: "native",
        state: "stepped-back",
        since: NOW - 2 * HOUR,
        detail: "6 of 210 requests failed in 5 m",
      }),
      rule("rest", { mode: "shadow", doing: "shadow", state: "could-move", detail: "at most 0.06 % differ" }),
      rule("off", { mode: "native", doing: "native" }),
    ],
  });
  const second = progress({
    instance: "instance-2",
    since: NOW - DAY,
    totals: totals([row({ requests: 1000, lastSeen: NOW - 3 * HOUR })]),
    ledger: {
      since: NOW - DAY,
      requests: { v1: 1000, v2: 0 },
      clients: [
        client("terraform", {
          requests: { v1: 1000, v2: 0 },
          lastV1: NOW - 3 * HOUR,
          operations: [{ resource: "group", operation: "list", requests: 1000, lastSeen: NOW - 3 * HOUR }],
        }),
      ],
    },
    bounds: [
      { resource: "group", operation: "list", client: undefined, comparisons: 1000, differences: 0, upper: 0.002996 },
    ],
    rules: [
      rule("ci-reads"),
      rule("rest", { mode: "shadow", doing: "shadow" }),
      rule("off", { mode: "native", doing: "native" }),
    ],
  });
  return [first, second];
}

/** A real admin port that serves `told`, closed after the test. */
export async function admin(told: Progress | undefined, token?: string) {
  const server = createAdminServer({
    host: "127.0.0.1",
    port: 0,
    ...(token === undefined ? {} : { token }),
    metrics: { contentType: "text/plain", text: async () => "" },
    ready: () => true,
    views: new Map(told === undefined ? [] : [["progress", () => told]]),
  });
  later(async () => void (await server.close()));
  return (await server.listen()).url;
}

/** An address where nothing listens. */
export async function nowhere(): Promise<string> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return `http://127.0.0.1:${port}`;
}

/** One `carryover report …` in this process. */
export const report = (argv: readonly string[], options?: CommandOptions): Promise<CommandResult> =>
  runCommand(["report", ...argv], options);
