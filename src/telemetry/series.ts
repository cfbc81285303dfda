/** Counts kept by labels, bounded in number and in label values whatever clients and upstreams send. */
import { type Exchange, LIST_OUTCOMES, WITNESSES } from "../model/exchange.ts";
import { PROBLEMS, RpcCode } from "../model/problem.ts";

/** Rows by label values. */
export interface Series<Row, Labels extends readonly string[] = readonly string[]> {
  at(labels: Labels): Row;
  rows(): Iterable<readonly [labels: Labels, row: Row]>;
}

/** What every unknown label value becomes. */
export const OTHER_LABEL = "other";

/**
 * `create` makes the row of new label values. Beyond `max` rows, new values share rows in which every label is `other`, except
 * the labels at the positions `kept`, which must have few values.
 */
export function createSeries<Row, Labels extends readonly string[] = readonly string[]>(
  max: number,
  create: (labels: Labels) => Row,
  kept: readonly number[] = [],
): Series<Row, Labels> {
  const rows = new Map<string, readonly [Labels, Row]>();
  const add = (key: string, labels: Labels): Row => {
    const row = create(labels);
    rows.set(key, [labels, row]);
    return row;
  };
  return {
    at: (labels) => {
      // Labels are cleaned before they come here and hold no line breaks: joined values cannot be mistaken for others.
      const key = labels.join("\n");
      const known = rows.get(key);
      if (known !== undefined) return known[1];
      if (rows.size < max) return add(key, labels);
      const shared = labels.map((label, at) =>
        kept.includes(at) ? label : OTHER_LABEL,
      ) as readonly string[] as Labels;
      const sharedKey = shared.join("\n");
      return rows.get(sharedKey)?.[1] ?? add(sharedKey, shared);
    },
    rows: () => rows.values(),
  };
}

const CODES = [
  200, 201, 202, 204, 206, 207, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410,
  411, 412, 413, 414, 415, 416, 417, 422, 424, 425, 426, 428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 507,
  511,
];
const CODE_LABELS: ReadonlyMap<number, string> = new Map([
  [0, "none"],
  ...CODES.map((code) => [code, String(code)] as const),
]);

/** A status as a label: registered ones, `none` for no response, `other` for the rest. */
export function codeLabel(status: number): string {
  return CODE_LABELS.get(status) ?? OTHER_LABEL;
}

/** Makes a function that lets `values` through and turns the rest into `other`. */
export function labelOneOf(values: Iterable<string>): (value: string) => string {
  const known = new Set(values);
  return (value) => (known.has(value) ? value : OTHER_LABEL);
}

export const apiVersionLabel = labelOneOf(["v1", "v2", "sts", "none"]);
export const modeLabel = labelOneOf(["native", "shadow", "translate", "pass", "refused"]);
export const upstreamLabel = labelOneOf(["v1", "v2", "sts"]);
export const witnessLabel = labelOneOf(WITNESSES);
export const outcomeLabel = labelOneOf(LIST_OUTCOMES);
export const directionLabel = labelOneOf(["request", "response"]);
export const reasonLabel = labelOneOf(Object.keys(PROBLEMS));

/** A field of the catalogue or a note of the code: a short word, or `other`. Their number is bounded elsewhere. */
export function wordLabel(word: string): string {
  return /^[A-Za-z][A-Za-z0-9_.[\]-]{0,63}$/.test(word) ? word : OTHER_LABEL;
}

const RPC_CODES: ReadonlyMap<number, string> = new Map(Object.entries(RpcCode).map(([name, code]) => [code, name]));

export function rpcLabels({ service, method, code, known }: NonNullable<Exchange["rpc"]>): readonly string[] {
  const label = RPC_CODES.get(code) ?? OTHER_LABEL;
  return known === true ? [service, method, label] : ["unknown", "unknown", label];
}

/** The resources and operations that labels may name: the catalogue's. */
export interface KnownResource {
  readonly resource: string;
  readonly operations: readonly string[];
}

export interface ResourceLabels {
  resource(name: string): string;
  operation(resource: string, operation: string): string;
}

/**
 * Resource and operation as labels; an operation counts only with its own resource, which `known` may list several times.
 * `unknown` is what no operation matched.
 */
export function resourceLabels(known: readonly KnownResource[]): ResourceLabels {
  const operations = new Map<string, Set<string>>();
  for (const one of known) {
    const names = operations.get(one.resource) ?? new Set(["unknown"]);
    for (const name of one.operations) names.add(name);
    operations.set(one.resource, names);
  }
  operations.set("unknown", new Set(["unknown"]));
  return {
    resource: (name) => (operations.has(name) ? name : OTHER_LABEL),
    operation: (resource, operation) => (operations.get(resource)?.has(operation) === true ? operation : OTHER_LABEL),
  };
}
