/** What the page shows, with one text in every place where a text can come from outside. */
import { fleetOf } from "../../src/fleet/fleet.ts";
import { createStatus } from "../../src/fleet/status.ts";
import { seriesOf } from "../../src/history/series.ts";
import type { ClientEntry } from "../../src/ledger/entry.ts";
import { EVENT_KINDS, type EventKind } from "../../src/model/event.ts";
import type { PageData, PageSample } from "../../src/page/data.ts";
import type { RuleStatus } from "../../src/rules/status.ts";
import type { Progress, RequestTotalsRow } from "../../src/telemetry/progress.ts";
import { VERSION } from "../../src/version.ts";

export const AT = Date.parse("2026-11-29T09:00:00Z");
const DAY = 86_400_000;

export function clientOf(text: string, name = text): ClientEntry {
  return {
    name,
    label: text,
    owner: text,
    contact: text,
    firstSeen: AT - 9 * DAY,
    lastSeen: AT,
    lastV1: AT,
    refused: { rule: text, start: AT - DAY, end: AT - DAY + 600_000, requests: 7, first: AT - DAY, last: AT - DAY },
    requests: { v1: 40, v2: 3 },
    days: { last: Math.floor(AT / DAY), v1: [4, 2], v2: [3], calledV1: "3", calledV2: "1" },
    over: 0,
    operations: [
      { resource: text, operation: text, requests: 40, lastSeen: AT, errors: { client: 1, translation: 2 } },
    ],
    needs: {
      longLists: [{ resource: text, records: 900 }],
      zeroedFields: [{ resource: text, field: text }],
      lacking: [{ resource: text, operation: text }],
      unknownFields: [{ resource: text, field: text }],
      unseen: [{ resource: text, operation: text }],
    },
  };
}

export function ruleOf(text: string, name: string): RuleStatus {
  return {
    name,
    mode: "shadow",
    doing: "shadow",
    state: "as-written",
    since: AT - DAY,
    detail: text,
    evidence: {
      whom: text,
      resources: [text],
      requests: 10,
      failures: 1,
      comparisons: 100,
      differences: 5,
      bound: 0.1,
      risk: 0.01,
      clients: 2,
      clientsNeeded: 3,
      heldBack: [text],
      stepBacks: 1,
    },
    guard: {
      action: "warn",
      figures: {
        translated: { requests: 200, errors: 8, denied: 2, limited: 0 },
        native: { requests: 100, errors: 1, denied: 1, limited: 0 },
        repeats: { asked: 4, served: 3 },
        evidence: 0.5,
        longest: { operation: text, v2Ms: 200, nativeMs: 20 },
      },
      slow: { operation: text, v2Ms: 200, nativeMs: 20, says: text },
      trouble: {
        since: AT - 1_000,
        requests: 10,
        failures: 5,
        clients: 2,
        kinds: { unavailable: 5 },
        certain: true,
        alarm: true,
        says: [text],
      },
    },
    causes: [{ operation: text, what: text, path: text, set: text, samples: 3 }],
    cause: text,
    brownout: {
      phase: "stopped",
      window: { start: AT - 60_000, end: AT + 540_000 },
      why: text,
      counts: { requests: 200, refused: 50 },
      next: [{ start: AT + DAY, end: AT + DAY + 600_000 }],
      zone: text,
    },
  };
}

export interface Amounts {
  readonly clients?: number;
  readonly rules?: number;
  readonly replicas?: number;
}

export function pageData(text: string, { clients = 1, rules = 2, replicas = 2 }: Amounts = {}): PageData {
  const named = (at: number): string => (at === 0 ? text : `${text.slice(0, 60)} ${at}`);
  const row = (mode: string, codes: string): RequestTotalsRow => {
    return { apiVersion: "v1", resource: text, operation: text, mode, codes, requests: 10, lastSeen: AT };
  };
  const rows = [
    row("native", "2xx"),
    row("translate", "2xx"),
    row("translate", "5xx"),
    { ...row("pass", "2xx"), apiVersion: "v2" },
  ];
  const ledger = {
    version: 1 as const,
    instances: ["one"],
    since: AT - 9 * DAY,
    daysSince: AT - 9 * DAY,
    at: AT,
    requests: { v1: 40, v2: 3 },
    bound: 2,
    clients: Array.from({ length: clients }, (_, at) => clientOf(text, named(at))),
  };
  const progress: Progress = {
    version: 1,
    instance: "one",
    since: AT - DAY,
    at: AT,
    mode: "native",
    force: "native",
    forcedBy: { effective: "native", file: "none", command: "native", commandAt: AT - 1_000, reason: text, by: text },
    digest: text,
    lastReloadSuccessful: false,
    rulesFault: { at: AT, says: text },
    shared: {
      up: false,
      since: AT - DAY,
      fault: text,
      replicas: Array.from({ length: replicas }, (_, at) => ({
        instance: `i${at}`,
        name: named(at),
        version: text,
        rules: text,
        startedAt: AT - DAY,
        heardAt: AT,
        ...(at % 2 === 1 ? { goneSince: AT - 1_000 } : {}),
      })),
    },
    lately: [{ at: AT, kind: "alarm", rule: text, says: text }],
    openBreakers: [text],
    native: true,
    totals: { since: AT - DAY, at: AT, rows },
    window: { from: AT - DAY, to: AT, rows },
    ledger,
    bounds: [],
    rules: Array.from({ length: rules }, (_, at) => ruleOf(text, named(at))),
  };
  const fleet = fleetOf([{ address: text, progress }]);
  const status = createStatus(fleet, { from: -DAY, to: undefined });
  const source = { rows, since: AT - 9 * DAY, buckets: [[Math.floor(AT / DAY), 0, 5, 1, 7]] };
  const sample: PageSample = {
    at: new Date(AT).toISOString(),
    resource: text,
    operation: text,
    client: text,
    rule: text,
    total: 3,
    differences: [
      { class: text, path: text, native: text, translated: text, set: text },
      { class: "missing", path: text },
    ],
  };
  return {
    at: AT,
    version: VERSION,
    instance: text,
    // A change with the text in its lines: the rule's name is in `where`, too.
    status: {
      ...status,
      change: { file: "rules", rule: text, key: "mode", value: text, paste: [`mode: ${text}`] },
      next: text,
      ahead: [text],
    },
    rules: fleet.rules,
    takers: new Map([[text, 3]]),
    ownGuards: new Map(progress.rules.map(({ name, guard }) => [name, guard])),
    guardsTogether: new Map([[text, { replicas: 3, evidence: 0.7 }]]),
    rows,
    hours: seriesOf([{ ...source, buckets: [[Math.floor(AT / 3_600_000), 0, 5, 1, 7]] }], AT, {
      ms: 3_600_000,
      most: 336,
    }),
    days: seriesOf([source], AT, { ms: DAY, most: 180 }),
    events: EVENT_KINDS.map((kind: EventKind, at) => ({
      id: `${at}`,
      at: AT - at * 3_600_000,
      kind,
      rule: text,
      client: text,
      from: text,
      to: text,
      reason: text,
      by: text,
      on: [text],
    })).toReversed(),
    eventsSince: AT - 9 * DAY,
    ledger,
    samples: { values: "show", samples: [sample] },
    load: {
      inFlight: 3,
      inFlightLimit: 100,
      heldBytes: 2_000,
      heldLimit: 1_000_000,
      residentBytes: 1e8,
      lists: { reading: 1, waiting: 0 },
      upstreams: [{ name: text, isOpen: true, reading: 1, limit: 4, waiting: 2, longestMs: 20 }],
      refused: [[text, 3]],
      loopDelay: 0.02,
    },
    cost: {
      operations: [
        {
          resource: text,
          operation: text,
          translated: { requests: 10, calls: 25, median: 0.02, p99: 0.2 },
          native: { requests: 10, calls: 10, median: 0.01, p99: 0.1 },
        },
      ],
      v1Requests: 20,
      v1Calls: 35,
      upstreamCalls: { v1: 10, v2: 12 },
      comparisonCalls: 3,
    },
    force: "native",
    hasNative: true,
    store: { up: false, fault: text },
    isMadeUp: true,
  };
}
