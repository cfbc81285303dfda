/** The forms of values in configuration and rules: durations, sizes, addresses, dates, shares. */
import { isIP } from "node:net";
import * as z from "zod";

const DURATION = /^(\d{1,9}(?:\.\d{1,6})?) ?(ms|s|m|h)?$/;
const SECONDS: ReadonlyMap<string, number> = new Map([
  ["ms", 0.001],
  ["s", 1],
  ["m", 60],
  ["h", 3600],
]);
const SIZE = /^(\d{1,15}) ?(B|KiB|MiB|GiB)?$/;
const BYTES: ReadonlyMap<string, number> = new Map([
  ["B", 1],
  ["KiB", 1024],
  ["MiB", 1024 ** 2],
  ["GiB", 1024 ** 3],
]);

/** The spellings as regular expressions, for the JSON Schema. */
const DURATION_PATTERN = DURATION;
const SIZE_PATTERN = SIZE;

/** Seconds of `45`, `"45"`, `"45s"`, `"500ms"`, `"1m"`, `"1h"`; undefined for anything else. */
function readSeconds(value: number | string): number | undefined {
  if (typeof value === "number") return value;
  const parts = DURATION.exec(value);
  const unit = SECONDS.get(parts?.[2] ?? "s");
  return parts === null || unit === undefined ? undefined : Number((Number(parts[1]) * unit).toFixed(6));
}

/** Bytes of `1024`, `"1024"`, `"64KiB"`, `"256 MiB"`, `"1GiB"`; undefined for anything else. */
export function readBytes(value: number | string): number | undefined {
  if (typeof value === "number") return value;
  const parts = SIZE.exec(value);
  const unit = BYTES.get(parts?.[2] ?? "B");
  return parts === null || unit === undefined ? undefined : Number(parts[1]) * unit;
}

const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})(?:T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/;
const INSTANT_PATTERN = INSTANT;

/** Milliseconds since 1970 of `2027-03-01` (when that day begins in UTC) or of an RFC 3339 instant; undefined for anything else. */
export function readInstant(text: string): number | undefined {
  const [, year, month, day] = INSTANT.exec(text) ?? [];
  if (year === undefined) return undefined;
  // The standard library takes February 30 for March 2.
  const midnight = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return midnight.toISOString().startsWith(`${year}-${month}-${day}`) ? Date.parse(text) : undefined;
}

/** `268435456` as `256 MiB`: the largest unit that divides it. */
function showBytes(bytes: number): string {
  for (const unit of ["GiB", "MiB", "KiB"]) {
    const size = BYTES.get(unit) ?? 1;
    if (bytes >= size && bytes % size === 0) return `${bytes / size} ${unit}`;
  }
  return `${bytes} B`;
}

/** What is wrong with an address of an upstream, or undefined. The text never repeats the address: it may hold a password. */
function urlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return "this is no URL";
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return "the scheme is neither http nor https";
  if (url.username !== "" || url.password !== "") return "the URL holds credentials";
  if (text.includes("?") || text.includes("#")) return "the URL holds a query or a fragment";
  return undefined;
}

/** True for `10.0.0.0/8`, `fd00::/8`, or a single address. */
export function isNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  if (bits === undefined) return true;
  return /^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

/** True for `/a` or `/a/b-c`: no slash at the end, no dot segment, no escapes. */
export function isPathPrefix(text: string): boolean {
  return (
    /^(\/[A-Za-z0-9._~-]+)+$/.test(text) && !text.split("/").some((segment) => segment === "." || segment === "..")
  );
}

/** True when `host` (of a URL or of an option) can only be this machine. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "").toLowerCase();
  return bare === "localhost" || bare.endsWith(".localhost") || bare === "::1" || /^127(\.\d{1,3}){3}$/.test(bare);
}

/** Every leaf states its form in `x-form` and the expected value in `error`. */
export const form = (name: string) => ({ "x-form": name });

export const text = (expected: string) => z.string({ error: expected }).min(1, { error: expected });

export const file = text("expected the path of a file").meta(form("file"));
export const directory = text("expected the path of a directory").meta(form("directory"));

export function whole(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error }).meta(form("number"));
}

/** A port, or `none`, which is undefined then. */
export function portOrNone() {
  const error = "expected a port from 0 to 65535, or none";
  return z
    .union([z.int({ error }).min(0, { error }).max(65_535, { error }), z.enum(["none"])], { error })
    .transform((value) => (value === "none" ? undefined : value))
    .meta(form("number|none"));
}

export function seconds(min: number, max: number) {
  const error = `expected a duration from ${min} to ${max} seconds, such as ${max}, ${max}s or 1500ms`;
  return z
    .union([z.number().min(min, { error }).max(max, { error }), z.string().regex(DURATION_PATTERN, { error })], {
      error,
    })
    .transform((value) => readSeconds(value) ?? Number.NaN)
    .refine((value) => value >= min && value <= max, { error })
    .meta(form("seconds"));
}

export function bytes(min: number, max: number) {
  const error = `expected a size from ${showBytes(min)} to ${showBytes(max)}, such as ${max}, 64KiB or 1MiB`;
  return z
    .union([z.int({ error }).min(min, { error }).max(max, { error }), z.string().regex(SIZE_PATTERN, { error })], {
      error,
    })
    .transform((value) => readBytes(value) ?? Number.NaN)
    .refine((value) => value >= min && value <= max, { error })
    .meta(form("bytes"));
}

export function oneOf<const Names extends readonly string[]>(...names: Names) {
  return z.enum(names, { error: `expected one of ${names.join(", ")}` }).meta(form(names.join("|")));
}

/** A boolean, or its text, as flags and variables give it. */
export function onOff() {
  const error = "expected true or false";
  return z
    .union([z.boolean(), z.enum(["true", "false"])], { error })
    .transform((value) => value === true || value === "true")
    .meta(form("true|false"));
}

export function listOf(item: z.ZodString, expected: string) {
  return z.array(item, { error: `expected a list, each ${expected}` }).meta(form("list"));
}

export const url = text("expected an http or https URL")
  .superRefine((value, context) => {
    const fault = urlFault(value);
    if (fault === undefined) return;
    context.addIssue({
      code: "custom",
      message: `${fault}; expected http(s)://host[:port][/path] without credentials`,
    });
  })
  .meta({ ...form("url"), format: "uri" });

/** Milliseconds since 1970. */
export const instantLeaf = (() => {
  const error =
    "expected a date such as 2027-03-01 (it begins at 00:00 UTC), or an instant such as 2027-03-01T08:00:00Z";
  return z
    .string({ error })
    .regex(INSTANT_PATTERN, { error })
    .transform((text) => readInstant(text) ?? Number.NaN)
    .refine((at) => !Number.isNaN(at), { error })
    .meta(form("date"));
})();

/** A share from 0 to 1. */
export const shareLeaf = (() => {
  const error = "expected a share from 0 to 1, such as 0.1 for every tenth";
  return z.number({ error }).min(0, { error }).max(1, { error }).meta(form("share"));
})();

export const positiveShare = (() => {
  const error = "expected a share above 0 and up to 1, such as 0.001";
  return z.number({ error }).gt(0, { error }).max(1, { error }).meta(form("share"));
})();

export const percentage = (() => {
  const error = "expected a percentage from 0 to 100";
  return z.number({ error }).min(0, { error }).max(100, { error }).meta(form("percentage"));
})();

export function yesNo() {
  return z.boolean({ error: "expected true or false" }).meta(form("true|false"));
}

/** One text or a list of them; always a list afterwards. */
export function oneOrMany<Item extends z.ZodType<string, string>>(
  item: (error: string) => Item,
  expected: string,
  name: string,
) {
  const error = `expected ${expected}, or a list of them with something in it`;
  const one = item(error);
  return z
    .union([one, z.array(one, { error }).min(1, { error })], { error })
    .transform((given): readonly z.output<Item>[] => (Array.isArray(given) ? given : [given as z.output<Item>]))
    .meta(form(name));
}

/** Text of a form. */
export function textLike(pattern: RegExp) {
  return (error: string) => z.string({ error }).regex(pattern, { error });
}

/** Minutes of the day. */
export const hoursLeaf = (() => {
  const error = "expected hours such as 08:00-18:00, or 22:00-06:00 over midnight";
  return z
    .string({ error })
    .regex(/^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$/, { error })
    .transform((text) => {
      const [begin = 0, end = 0] = text.split("-").map((time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3)));
      return { begin, end };
    })
    .meta(form("HH:MM-HH:MM"));
})();

/** A map of one entry: a name and the value that selects. */
export function selector(value: RegExp, example: string) {
  const error = `expected one name with a text as its value, such as ${example} (quote numbers, and words like true)`;
  return z
    .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/), z.string({ error }).regex(value, { error }), {
      error,
    })
    .superRefine((entries, context) => {
      if (Object.keys(entries).length !== 1) context.addIssue({ code: "custom", message: error });
    })
    .transform((entries) => Object.entries(entries).map(([name, text]) => ({ name, value: text }))[0])
    .meta({ ...form(example), minProperties: 1, maxProperties: 1 });
}

/** An address that goes into a Link field (RFC 8288). */
export const linkLeaf = (() => {
  const error = "expected an http or https URL without credentials, blanks and angle brackets";
  return z
    .string({ error })
    .regex(/^https?:\/\/[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]{1,2000}$/, { error })
    .refine((text) => URL.canParse(text) && new URL(text).username === "" && new URL(text).password === "", { error })
    .meta(form("url"));
})();

/** True for one word of visible ASCII characters: no other could be sent in a header field (RFC 9110, section 5.5). */
export function isTokenText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}
