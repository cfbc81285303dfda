/** Which differing answers are shown to operators? (Design section 7: redacted samples.) */
import { type Comparison, type Difference, isDifference } from "../model/comparison.ts";
import type { RequestHead } from "../model/request.ts";
import { type Operation, unpublishedPaths } from "../model/resource.ts";
import type { ComparisonRequest, SampleOptions } from "./request.ts";

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
  /** Places that differ in all; the first of them follow. */
  readonly total: number;
  readonly differences: readonly ShownDifference[];
  /** Shell lines; `$TOKEN`, `$NATIVE` and `$CARRYOVER` are for the reader to fill in. */
  readonly repeat: { readonly native: string; readonly carryover: string };
}

export interface SampleStore {
  add(comparison: Comparison, asked: SampleSource): void;
  /** Newest first; `resource` and `operation` of `query` narrow. */
  view(query: URLSearchParams): { readonly values: "redact" | "show"; readonly samples: readonly Sample[] };
  /** Characters of all samples as JSON. */
  size(): number;
}

/** In all, whatever the options say. */
const MAX_SAMPLE_CHARS = 4 * 1024 ** 2;

/** Keeps the newest `perOperation` of each operation, and no more than `maxChars` of all together. */
export function createSamples(
  { perOperation, values }: SampleOptions,
  maxChars: number = MAX_SAMPLE_CHARS,
): SampleStore {
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

function sampleOf(comparison: Comparison, { head, match }: SampleSource, values: SampleOptions["values"]): Sample {
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

/** How does a sample say what differs, and how to see it again, without giving anything away? */

const MAX_TARGET = 2_048;

/** A JSON text at a difference, as it is or its type and length. What looks like a token is never shown. */
export function shownValue(
  json: string,
  difference: Pick<Difference, "class" | "path">,
  values: "redact" | "show",
): string {
  if (isNobodys(json, difference)) return json;
  return values === "redact" || TOKEN.test(json) ? typeOf(json) : json;
}
/** What answers are told apart by: a status, and the number of an error. Records may have a `code` that lets people in. */
function isNobodys(json: string, difference: Pick<Difference, "class" | "path">): boolean {
  if (difference.class === "status") return difference.path === "status" && NUMBER.test(json);
  return difference.class === "error" && difference.path === "code" && NUMBER.test(json);
}
const NUMBER = /^\d{1,3}$/;

/** Three parts in base64url, or anything behind the word. */
const TOKEN = /[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|\bbearer\s+\S/i;

/** `string(12)`, `number(3)`, `array(2)`; a text that was cut off has at least what is left of it. */
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

/** The setting that makes such a difference go away: of a time that the specification gives a record, and native v1 does not. */
export function settingFor(difference: Pick<Difference, "class" | "path">, operation: Operation): string | undefined {
  if (difference.class !== "extra" || !unpublishedPaths(operation).includes(difference.path)) return undefined;
  return "v1.recordTimes: published";
}

/**
 * The same request to native, and through carryover (which translates it where a rule says so). A write is shown without its
 * body, and writes once more: it is for people to decide.
 */
export function curlLines({ method, target }: RequestHead): { readonly native: string; readonly carryover: string } {
  const verb = method === "GET" ? "" : `-X ${method} `;
  const body = method === "GET" || method === "DELETE" ? "" : " -H 'Content-Type: application/json' -d @body.json";
  const line = (base: string): string =>
    `curl ${verb}-H "Authorization: Bearer $TOKEN"${body} "${base}"${quoted(withoutSecrets(target))}`;
  return { native: line("$NATIVE"), carryover: line("$CARRYOVER") };
}

/** Query parameters that let somebody in, or mean nothing to anybody else. Looks at each character once. */
function withoutSecrets(target: string): string {
  const shown = target.length > MAX_TARGET ? `${target.slice(0, MAX_TARGET)}…` : target;
  return shown.split("&").map(withoutSecret).join("&");
}
const SECRET = /token|secret|password|code/i;

/** `part`: from one `&` to the next; a name begins there, or behind any `?`. */
function withoutSecret(part: string, index: number): string {
  const pieces = part.split("=");
  const name = (piece: string, at: number): string =>
    at === 0 && index > 0 ? piece : piece.slice(piece.includes("?") ? piece.indexOf("?") : piece.length);
  const secret = pieces.findIndex((piece, at) => at < pieces.length - 1 && SECRET.test(name(piece, at)));
  return secret < 0 ? part : `${pieces.slice(0, secret + 1).join("=")}=…`;
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
