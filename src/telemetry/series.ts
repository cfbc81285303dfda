import { PROBLEMS } from "../model/problem.ts";

/** How are counts kept by labels so that nobody can make their number grow without end? */

/** Rows by label values; at most `max` of them, and the ones that `overflow` names. */
export interface Series<Row> {
  at(values: readonly string[]): Row;
  rows(): Iterable<readonly [values: readonly string[], row: Row]>;
}

/**
 * `fresh` makes a row for new values. Once `max` rows exist, new values share the rows that `overflow` leads to
 * (design: bounded series); it must come down to few values, by default to one row of nothing but `other`.
 */
export function createSeries<Row>(
  max: number,
  fresh: (values: readonly string[]) => Row,
  overflow: (values: readonly string[]) => readonly string[] = (values) => values.map(() => OTHER_LABEL),
): Series<Row> {
  const rows = new Map<string, readonly [readonly string[], Row]>();
  const add = (key: string, values: readonly string[]): Row => {
    const row = fresh(values);
    rows.set(key, [values, row]);
    return row;
  };
  return {
    at: (values) => {
      // Labels are cleaned before they come here and hold no line breaks: joined values cannot be mistaken for others.
      const key = values.join("\n");
      const known = rows.get(key);
      if (known !== undefined) return known[1];
      if (rows.size < max) return add(key, values);
      const shared = overflow(values);
      const sharedKey = shared.join("\n");
      return rows.get(sharedKey)?.[1] ?? add(sharedKey, shared);
    },
    rows: () => rows.values(),
  };
}

/** What every unknown label value becomes. */
export const OTHER_LABEL = "other";

/** Which label values can there be, whatever clients and upstreams send? */

/** The resources and operations that labels may name: the catalogue's. */
export interface KnownResource {
  readonly resource: string;
  readonly operations: readonly string[];
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

/** A status as a label: registered ones, `none` for no answer, `other` for the rest. */
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
export const witnessLabel = labelOneOf(["cover", "count", "none"]);
export const outcomeLabel = labelOneOf([
  "complete",
  "incomplete",
  "too-large",
  "too-slow",
  "unproven",
  "overloaded",
  "refused",
  "aborted",
]);
export const directionLabel = labelOneOf(["request", "response"]);
export const reasonLabel = labelOneOf(Object.keys(PROBLEMS));

/** A field of the catalogue or a note of the code: a short word, or `other`. How many there are is bounded elsewhere. */
export function wordLabel(word: string): string {
  return /^[A-Za-z][A-Za-z0-9_.[\]-]{0,63}$/.test(word) ? word : OTHER_LABEL;
}

/**
 * Resource and operation as labels; an operation counts only with its own resource, which may be listed several times.
 * `unknown` is what nobody matched.
 */
export function resourceLabels(known: readonly KnownResource[]): {
  resource(name: string): string;
  operation(resource: string, operation: string): string;
} {
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
