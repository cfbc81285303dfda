/** The shared store in memory: a model of the script for tests, which can lose what a real one can. */
import { DOCUMENT } from "../../../src/fleet/document.ts";
import { isContinuation, unpackedRow } from "../../../src/state/shared/packing.ts";
import type {
  Contribution,
  DecisionOutcome,
  ForceRow,
  NumberedDecision,
  ReplicaRow,
  RuleRow,
  SharedStore,
  StoreMark,
  TickReply,
  TickRequest,
} from "../../../src/state/shared/protocol.ts";

interface Owned {
  readonly revision: number;
  readonly heardAt: number;
  readonly about: string;
  readonly rows: ReadonlyMap<string, string>;
}

/** Everything that the store keeps; a copy of it is what a failover goes on with. */
export interface MemoryData {
  mark: StoreMark | undefined;
  force: ForceRow | undefined;
  readonly tokens: Map<number, string>;
  readonly rules: Map<string, RuleRow>;
  readonly replicas: Map<string, ReplicaRow & { readonly decided: number }>;
  readonly owners: Map<string, Owned>;
  readonly alerts: Map<string, number>;
}

export function emptyData(): MemoryData {
  return {
    mark: undefined,
    force: undefined,
    tokens: new Map(),
    rules: new Map(),
    replicas: new Map(),
    owners: new Map(),
    alerts: new Map(),
  };
}

export interface MemoryStore extends SharedStore {
  /** Of the store as it is. */
  copy(): MemoryData;
  /** The store is as it was when `data` was copied. */
  replace(data: MemoryData): void;
}

/** Everything that is in the store, readable. */
export function textOf(store: MemoryStore): string {
  const { owners, ...rest } = store.copy();
  const rows = [...owners].flatMap(([owner, { about, rows }]) => [
    `${owner} ${about}`,
    ...[...rows].flatMap(([name, text]) => {
      if (isContinuation(name)) return [];
      return `${name} ${name.startsWith(DOCUMENT) ? JSON.stringify(unpackedRow(name, rows)) : text}`;
    }),
  ]);
  const others = JSON.stringify(rest, (_, value: unknown) => (value instanceof Map ? [...value] : value));
  return [...rows, others].join("\n");
}

/** `wall`: the clock of the store. `random`: another text with each call. */
export function createMemoryStore(wall: () => number, random: () => string): MemoryStore {
  let data = emptyData();
  return {
    tick: async (request) => apply(data, request, wall(), random()),
    owners: async () => Array.from(data.owners, ([owner, { heardAt, about }]) => ({ owner, heardAt, about })),
    rowsOf: async (owner) => new Map(data.owners.get(owner)?.rows),
    close: async () => {},
    copy: () => structuredClone(data),
    replace: (other) => {
      data = structuredClone(other);
    },
  };
}

function apply(data: MemoryData, request: TickRequest, now: number, fresh: string): TickReply {
  const { replica, seen, about, contributions, decisions, wantsReplicas, asks, alerts } = request;
  data.mark ??= { id: fresh, version: 1 + latestVersion(data), token: fresh };
  const isForeign = seen !== undefined && seen.id !== data.mark.id;
  const isDiverged = seen !== undefined && !isForeign && !isBefore(seen, data);
  const revisions = contributions.map(({ owner }) => data.owners.get(owner)?.revision ?? 0);
  if (!isForeign) for (const key of alerts) data.alerts.set(key, now);
  if (!isForeign) for (const one of contributions) take(data, one, { heardAt: now, about });
  const before = data.replicas.get(replica)?.decided ?? 0;
  let decided = before;
  const outcomes = decisions.map((decision): DecisionOutcome => {
    if (isForeign) return "stale";
    if (decision.number <= decided) return "dup";
    decided = decision.number;
    return decide(data, decision, { replica, at: now, fresh });
  });
  data.replicas.set(replica, { id: replica, heardAt: now, about, decided });
  const isAll = seen === undefined || isForeign || isDiverged;
  const isNews = isAll || seen.version !== data.mark.version;
  return {
    isForeign,
    revisions,
    store: data.mark,
    at: now,
    isDiverged,
    rules: isNews ? [...data.rules.values()].filter(({ version }) => isAll || version > seen.version) : [],
    force: isNews ? data.force : undefined,
    outcomes,
    replicas: wantsReplicas ? Array.from(data.replicas.values(), ({ decided: _, ...row }) => row) : undefined,
    answers: asks.map((name) =>
      [...data.owners].flatMap(([owner, { heardAt, rows }]) => {
        const text = rows.get(name);
        return text === undefined || now - heardAt > COUNTED_MS ? [] : [{ owner, text }];
      }),
    ),
    alerts: [...data.alerts].flatMap(([key, at]) => (now - at > ALERT_MS ? [] : [key])),
  };
}

const COUNTED_MS = 30 * 86_400_000;
const ALERT_MS = 60_000;

function take(
  { owners }: MemoryData,
  { owner, revision, rows }: Contribution,
  heard: Pick<Owned, "heardAt" | "about">,
) {
  const before = owners.get(owner);
  if (rows.length === 0 || revision <= (before?.revision ?? 0)) return;
  const all = new Map(before?.rows);
  for (const { name, text } of rows) {
    if (text === undefined) all.delete(name);
    else all.set(name, text);
  }
  owners.set(owner, { ...heard, revision, rows: all });
}

function latestVersion({ rules, force }: MemoryData): number {
  return Math.max(0, force?.version ?? 0, ...Array.from(rules.values(), ({ version }) => version));
}

/** True if the store went through the state that the replica saw. */
function isBefore(seen: StoreMark, { mark, tokens }: MemoryData): boolean {
  if (mark === undefined || seen.version > mark.version) return false;
  return (seen.version === mark.version ? mark.token : (tokens.get(seen.version) ?? seen.token)) === seen.token;
}

interface Stamp {
  readonly replica: string;
  readonly at: number;
  readonly fresh: string;
}

function decide(data: MemoryData, decision: NumberedDecision, { replica, at, fresh }: Stamp): DecisionOutcome {
  const renew = (): number => {
    const { id, version, token } = data.mark ?? { id: fresh, version: 0, token: fresh };
    data.tokens.set(version, token);
    data.mark = { id, version: version + 1, token: `${fresh}.${version + 1}` };
    return version + 1;
  };
  const keep = (row: Omit<RuleRow, "version">): DecisionOutcome => {
    data.rules.set(row.key, { ...row, version: renew() });
    return "applied";
  };
  switch (decision.kind) {
    case "force":
      data.force = {
        number: Math.max(data.force?.number ?? 0, decision.after ?? 0) + 1,
        version: renew(),
        at,
        replica,
        detail: decision.detail,
      };
      return "applied";
    case "restore-force":
      if ((data.force?.number ?? 0) >= decision.row.number) return "stale";
      data.force = { ...decision.row, version: renew() };
      return "applied";
    case "restore-rule": {
      const { row } = decision;
      const present = data.rules.get(row.key);
      if ((present?.generation ?? 0) < row.generation) return keep(row);
      const isLostStepBack = present?.generation === row.generation && row.what === "back" && present.what !== row.what;
      return isLostStepBack ? keep({ ...row, generation: row.generation + 1 }) : "stale";
    }
    case "rule": {
      const { key, what, generation, detail } = decision;
      const present = data.rules.get(key)?.generation ?? 0;
      if (what !== "back" && present !== generation) return "stale";
      return keep({ key, generation: Math.max(present, generation) + 1, what, at, replica, detail });
    }
    default:
      return decision satisfies never;
  }
}
