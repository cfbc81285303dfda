/** Redacted samples of differing responses, for operators. */
import { maskedJson } from "../json/mask.ts";
import { type Comparison, type Difference, isDifference } from "../model/comparison.ts";
import { grouped } from "../model/group.ts";
import type { RequestHead } from "../model/request.ts";
import { isKnownPath, type Operation, unpublishedPaths } from "../model/resource.ts";
import { holdsToken, isSecretName, scrub, shownTarget, withoutTokens } from "../model/secrets.ts";
import type { DifferenceCause } from "../rules/status.ts";
import type { ComparisonRequest, SampleOptions } from "./request.ts";

interface ShownDifference {
  readonly class: string;
  readonly path: string;
  readonly id?: string;
  /** A value, or its type and length; left out where that side has no value. */
  readonly native?: string;
  readonly translated?: string;
  /** The `option: value` that avoids the difference, where there is one. */
  readonly set?: string;
}

type SampleSource = Pick<ComparisonRequest, "head" | "match">;

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
  /** How many differences there are in all; the first of them follow. */
  readonly total: number;
  readonly differences: readonly ShownDifference[];
  /** Shell lines, with `$TOKEN`, `$NATIVE` and `$CARRYOVER` for the reader to set. */
  readonly repeat: { readonly native: string; readonly carryover: string };
}

export interface SampleStore {
  add(comparison: Comparison, asked: SampleSource): void;
  /** Drops the samples of a client, and returns how many. */
  forget(client: string): number;
  /** Newest first; `resource` and `operation` of `query` narrow. */
  view(query: URLSearchParams): { readonly values: "redact" | "show"; readonly samples: readonly Sample[] };
  /** Where the kept samples of a rule differ, most frequent first. */
  causes(rule: string): readonly DifferenceCause[];
}

/** Of all samples together. */
const MAX_SAMPLE_CHARS = 4 * 1024 ** 2;

/** Keeps the newest `perOperation` samples of each operation, and at most `maxChars` of all together. */
export function createSamples(
  { perOperation, values }: SampleOptions,
  maxChars: number = MAX_SAMPLE_CHARS,
): SampleStore {
  /** Oldest first. */
  const kept: { readonly sample: Sample; readonly size: number }[] = [];
  let size = 0;
  const drop = (index: number): void => {
    for (const gone of kept.splice(index, 1)) size -= gone.size;
  };
  return {
    add(comparison, asked) {
      if (perOperation === 0 || !isDifference(comparison.result)) return;
      const sample = sampleOf(comparison, asked, values);
      const entry = { sample, size: JSON.stringify(sample).length };
      const { resource, operation } = sample;
      const same = kept.flatMap((one, index) =>
        one.sample.resource === resource && one.sample.operation === operation ? [index] : [],
      );
      if (same.length >= perOperation) drop(same[0] ?? 0);
      kept.push(entry);
      size += entry.size;
      while (size > maxChars) drop(0);
    },
    forget(client) {
      const before = kept.length;
      for (let at = before - 1; at >= 0; at--) if (kept[at]?.sample.client === client) drop(at);
      return before - kept.length;
    },
    view(query) {
      const [resource, operation] = [query.get("resource"), query.get("operation")];
      const samples = kept.map(({ sample }) => sample).toReversed();
      const wanted = samples.filter(
        (one) => (resource ?? one.resource) === one.resource && (operation ?? one.operation) === one.operation,
      );
      return { values, samples: wanted };
    },
    causes(rule) {
      const places = kept.flatMap(({ sample }) =>
        sample.rule === rule ? sample.differences.map((difference) => ({ ...difference, ...nameOf(sample) })) : [],
      );
      return grouped(places, ({ operation, class: what, path }) => [operation, what, path])
        .map((group) => {
          const [{ operation, class: what, path, set }] = group;
          return { operation, what, path: path.slice(0, MAX_PATH), set, samples: group.length };
        })
        .sort((a, b) => b.samples - a.samples)
        .slice(0, MAX_CAUSES);
    },
  };
}

/** Of one rule. */
const MAX_CAUSES = 5;
const MAX_PATH = 128;

function nameOf({ resource, operation }: Sample): { readonly operation: string } {
  return { operation: `${resource} ${operation}` };
}

function sampleOf(comparison: Comparison, { head, match }: SampleSource, values: SampleOptions["values"]): Sample {
  const { at, rule, requestId, resource, operation, client, served, kind, result, controlled, total } = comparison;
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
    differences: comparison.differences.map((difference) => {
      const { class: name, path, id, native, translated } = difference;
      const set = settingFor(difference, match.operation);
      return {
        class: name,
        path: withoutTokens(path),
        ...(id === undefined ? {} : { id: withoutTokens(id) }),
        ...(native === undefined ? {} : { native: shownValue(native, difference, values) }),
        ...(translated === undefined ? {} : { translated: shownValue(translated, difference, values) }),
        ...(set === undefined ? {} : { set }),
      };
    }),
    repeat: curlLines(head),
  };
}

const MAX_TARGET = 2_048;
const NUMBER = /^\d{1,3}$/;

type DifferencePlace = Pick<Difference, "class" | "path">;

/** A JSON text at a difference, as it is or its type and length. What looks like a secret is never shown. */
export function shownValue(json: string, difference: DifferencePlace, values: "redact" | "show"): string {
  if (isPublic(json, difference)) return json;
  if (values === "redact" || holdsToken(json) || isSecretName(difference.path)) return typeOf(json);
  // Long values were cut off, and are no JSON any more.
  return maskedJson(json) ?? scrub(json);
}

/** A status, or the code of an error. The `code` of a record may be an invitation, and is not public. */
function isPublic(json: string, { class: name, path }: DifferencePlace): boolean {
  return NUMBER.test(json) && ((name === "status" && path === "status") || (name === "error" && path === "code"));
}

/** `string(12)`, `number(3)`, `array(2)`, or `string(long)` for a text that was cut off. */
function typeOf(json: string): string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    const [first = ""] = json;
    return `${{ '"': "string", "[": "array", "{": "object" }[first] ?? "text"}(long)`;
  }
  if (typeof value === "string") return `string(${[...value].length})`;
  if (typeof value === "number") return `number(${json.length})`;
  if (Array.isArray(value)) return `array(${value.length})`;
  if (typeof value === "object" && value !== null) return `object(${Object.keys(value).length})`;
  return value === null ? "null" : "boolean";
}

/**
 * The setting that removes a difference: for times that the specification has on a record, and native v1 does not; and for members
 * that the catalogue does not know.
 */
export function settingFor({ class: name, path }: DifferencePlace, operation: Operation): string | undefined {
  if (name !== "extra" && name !== "missing") return undefined;
  if (!isKnownPath(operation, path)) return `unknownFields.response: ${name === "extra" ? "drop" : "pass"}`;
  return name === "extra" && unpublishedPaths(operation).includes(path) ? "v1.recordTimes: published" : undefined;
}

/** The same request to native, and through carryover, which translates it where a rule says so. A write has no body here. */
export function curlLines({ method, target }: RequestHead): { readonly native: string; readonly carryover: string } {
  const verb = method === "GET" ? "" : `-X ${method} `;
  const body = method === "GET" || method === "DELETE" ? "" : " -H 'Content-Type: application/json' -d @body.json";
  const short = target.length > MAX_TARGET ? `${target.slice(0, MAX_TARGET)}…` : target;
  const line = (base: string): string =>
    `curl ${verb}-H "Authorization: Bearer $TOKEN"${body} "${base}"${quoted(shownTarget(short, "hide"))}`;
  return { native: line("$NATIVE"), carryover: line("$CARRYOVER") };
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
