/** The shared store in memory: a model of the script for tests, which can lose what a real one can. */
import type {
  DecisionOutcome,
  ForceRow,
  IncrementOperation,
  NumberedDecision,
  ReplicaRow,
  RuleRow,
  SharedStore,
  StoreMark,
  SumQuestion,
  TickReply,
  TickRequest,
  TickStatus,
} from "../../../src/state/shared/protocol.ts";

interface Contribution {
  last: number;
  readonly values: Map<string, number>;
}

/** Everything that the store keeps; a copy of it is what a failover goes on with. */
export interface MemoryData {
  mark: StoreMark | undefined;
  force: ForceRow | undefined;
  readonly tokens: Map<number, string>;
  readonly rules: Map<string, RuleRow>;
  readonly replicas: Map<string, ReplicaRow & { readonly decided: number }>;
  readonly counts: Map<string, Contribution>;
}

export function emptyData(): MemoryData {
  return {
    mark: undefined,
    force: undefined,
    tokens: new Map(),
    rules: new Map(),
    replicas: new Map(),
    counts: new Map(),
  };
}

export interface MemoryStore extends SharedStore {
  /** Of the store as it is. */
  copy(): MemoryData;
  /** The store is as it was when `data` was copied. */
  replace(data: MemoryData): void;
}

/** `wall`: the clock of the store. `random`: another text with each call. */
export function createMemoryStore(wall: () => number, random: () => string): MemoryStore {
  let data = emptyData();
  return {
    tick: async (request) => apply(data, request, wall(), random()),
    close: async () => {},
    copy: () => structuredClone(data),
    replace: (other) => {
      data = structuredClone(other);
    },
  };
}

function apply(data: MemoryData, request: TickRequest, now: number, fresh: string): TickReply {
  const { replica, seen, about, batch, decisions, wantsReplicas, isLast, sums } = request;
  data.mark ??= { id: fresh, version: 1 + latestVersion(data), token: fresh };
  const isForeign = seen !== undefined && seen.id !== data.mark.id;
  const isDiverged = seen !== undefined && !isForeign && !isBefore(seen, data);
  const status = isForeign ? "foreign" : addBatch(data, request);
  const before = data.replicas.get(replica)?.decided ?? 0;
  let decided = before;
  const outcomes = decisions.map((decision): DecisionOutcome => {
    if (isForeign) return "stale";
    if (decision.number <= decided) return "dup";
    decided = decision.number;
    return decide(data, decision, { replica, at: now, fresh });
  });
  data.replicas.set(replica, { id: replica, heardAt: now, about, decided });
  if (isLast && status === "ok") fold(data, replica);
  const isAll = seen === undefined || isForeign || isDiverged;
  const isNews = isAll || seen.version !== data.mark.version;
  return {
    status,
    last: data.counts.get(replica)?.last ?? 0,
    store: data.mark,
    at: now,
    isDiverged,
    rules: isNews ? [...data.rules.values()].filter(({ version }) => isAll || version > seen.version) : [],
    force: isNews ? data.force : undefined,
    outcomes,
    replicas: wantsReplicas ? Array.from(data.replicas.values(), ({ decided: _, ...row }) => row) : undefined,
    sums: sums.map((question) => sumOf(data, question)),
  };
  function addBatch(all: MemoryData, { acknowledged }: TickRequest): TickStatus {
    const known = all.counts.get(replica) ?? { last: 0, values: new Map() };
    if (batch === undefined) return known.last < acknowledged ? "gap" : "ok";
    if (batch.sequence <= known.last) return "dup";
    if (!batch.isReset && batch.sequence !== known.last + 1) return "gap";
    const values = batch.isReset ? new Map<string, number>() : known.values;
    for (const { value, ...question } of batch.increments) take(values, question, value);
    all.counts.set(replica, { last: batch.sequence, values });
    return "ok";
  }
}

/** The counts of all replicas that are gone. */
const GONE = "gone";

/** Moves the counts of a replica to those that are gone. The number of its last batch stays. */
function fold({ counts }: MemoryData, replica: string): void {
  const from = counts.get(replica);
  const to = counts.get(GONE) ?? { last: 0, values: new Map() };
  for (const [name, value] of from?.values ?? []) {
    const operation = OPERATIONS.find((one) => name.startsWith(`${one}:`));
    if (operation === undefined || operation === "put") continue;
    const old = to.values.get(name);
    to.values.set(name, old === undefined ? value : combined(operation, old, value));
  }
  from?.values.clear();
  counts.set(GONE, to);
}

const OPERATIONS = ["add", "min", "max", "put"] as const;

function take(values: Map<string, number>, question: SumQuestion, value: number): void {
  const { operation } = question;
  const name = nameOf(question);
  const old = values.get(name);
  values.set(name, old === undefined || operation === "put" ? value : combined(operation, old, value));
}

function nameOf({ key, field, operation }: SumQuestion): string {
  return `${operation}:${key}\u001f${field}`;
}

function combined(operation: IncrementOperation, a: number, b: number): number {
  if (operation === "min") return Math.min(a, b);
  return operation === "max" ? Math.max(a, b) : a + b;
}

function sumOf({ counts }: MemoryData, question: SumQuestion): number | undefined {
  const values = [...counts.values()].flatMap(({ values: all }) => all.get(nameOf(question)) ?? []);
  return values.length === 0 ? undefined : values.reduce((a, b) => combined(question.operation, a, b));
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
      data.force = { number: (data.force?.number ?? 0) + 1, version: renew(), at, replica, detail: decision.detail };
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
      return keep({ key, generation: present + 1, what, at, replica, detail });
    }
    default:
      return decision satisfies never;
  }
}
