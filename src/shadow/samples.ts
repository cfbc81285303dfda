/** Which differing answers are shown to operators? (Design section 7: redacted samples.) */
import { type Comparison, isDifference } from "../model/comparison.ts";
import type { SampleOptions, ShadowAsk } from "./options.ts";
import { curlLines, settingFor, shownValue } from "./sample-text.ts";

/** One place of a sample. */
interface ShownDifference {
  readonly class: string;
  readonly path: string;
  readonly id?: string;
  /** A value, or its type and length; left out where that side has none. */
  readonly native?: string;
  readonly translated?: string;
  /** `option: value` that makes it go away, where there is one. */
  readonly set?: string;
}

/** What a sample tells of the request. */
type Asked = Pick<ShadowAsk, "head" | "match">;

export interface Sample {
  /** RFC 3339. */
  readonly at: string;
  readonly requestId: string;
  readonly resource: string;
  readonly operation: string;
  readonly client: string;
  readonly rule?: string;
  readonly served: string;
  readonly kind: string;
  readonly result: string;
  readonly controlled: boolean;
  /** Places that differ in all; the first of them follow. */
  readonly total: number;
  readonly differences: readonly ShownDifference[];
  /** Shell lines; `$TOKEN`, `$NATIVE` and `$CARRYOVER` are for the reader to fill in. */
  readonly repeat: { readonly native: string; readonly carryover: string };
}

export interface SampleStore {
  add(comparison: Comparison, asked: Asked): void;
  /** Newest first; `resource` and `operation` of `query` narrow. */
  view(query: URLSearchParams): { readonly values: "redact" | "show"; readonly samples: readonly Sample[] };
  /** Characters of all samples as JSON. */
  size(): number;
}

/** In all, whatever the options say. */
const MAX_CHARS = 4 * 1024 ** 2;

/** Keeps the newest `perOperation` of each operation, and no more than `maxChars` of all together. */
export function createSamples({ perOperation, values }: SampleOptions, maxChars: number = MAX_CHARS): SampleStore {
  /** Oldest first. */
  const kept: { readonly sample: Sample; readonly size: number }[] = [];
  let size = 0;
  const forget = (index: number): void => {
    for (const gone of kept.splice(index, 1)) size -= gone.size;
  };
  return {
    add(comparison, asked) {
      if (perOperation === 0 || !isDifference(comparison.result)) return;
      const sample = sampleOf(comparison, asked, values);
      const entry = { sample, size: JSON.stringify(sample).length };
      const same = kept.flatMap((one, index) => (isOf(one.sample, comparison) ? [index] : []));
      if (same.length >= perOperation) forget(same[0] ?? 0);
      kept.push(entry);
      size += entry.size;
      while (size > maxChars) forget(0);
    },
    view(query) {
      const [resource, operation] = [query.get("resource"), query.get("operation")];
      const samples = kept.map(({ sample }) => sample).toReversed();
      const wanted = samples.filter(
        (one) => (resource ?? one.resource) === one.resource && (operation ?? one.operation) === one.operation,
      );
      return { values, samples: wanted };
    },
    size: () => size,
  };
}

function isOf(one: Sample, { resource, operation }: Comparison): boolean {
  return one.resource === resource && one.operation === operation;
}

function sampleOf(comparison: Comparison, { head, match }: Asked, values: SampleOptions["values"]): Sample {
  const { at, rule, differences, requestId, resource, operation, client, served, kind, result, controlled, total } =
    comparison;
  return {
    at: new Date(at).toISOString(),
    requestId,
    resource,
    operation,
    client,
    ...(rule === undefined ? {} : { rule }),
    served,
    kind,
    result,
    controlled,
    total,
    differences: differences.map(({ class: name, path, id, native, translated }) => {
      const set = settingFor({ class: name, path }, match.operation);
      return {
        class: name,
        path,
        ...(id === undefined ? {} : { id }),
        ...(native === undefined ? {} : { native: shownValue(native, { class: name, path }, values) }),
        ...(translated === undefined ? {} : { translated: shownValue(translated, { class: name, path }, values) }),
        ...(set === undefined ? {} : { set }),
      };
    }),
    repeat: curlLines(head),
  };
}
