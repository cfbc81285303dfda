/** The forms of values in configuration and rules: durations, sizes, addresses, dates, shares. */
import { isIP } from "node:net";
import * as z from "zod";
import { form } from "../rules/leaves.ts";

const DURATION = /^(\d{1,9}(?:\.\d{1,6})?) ?(ms|s|m|h)?$/;
const SECONDS: ReadonlyMap<string, number> = new Map([
  ["ms", 0.001],
  ["s", 1],
  ["m", 60],
  ["h", 3600],
]);
/** `180d` is a duration of days only: no request or wait lasts that long. */
const LASTING = /^(\d{1,6}(?:\.\d{1,3})?) ?(h|d)?$/;
const SIZE = /^(\d{1,15}) ?(B|KiB|MiB|GiB)?$/;
const BYTES: ReadonlyMap<string, number> = new Map([
  ["B", 1],
  ["KiB", 1024],
  ["MiB", 1024 ** 2],
  ["GiB", 1024 ** 3],
]);

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

/** The fault of an address of a shared store; undefined if there is none. The text never repeats the address: it may hold a password. */
function storeUrlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return "this is not a URL";
  const url = new URL(text);
  if (url.protocol !== "redis:" && url.protocol !== "rediss:") return "the scheme is neither redis nor rediss";
  if (url.username !== "" || url.password !== "") return "the URL holds credentials";
  if (url.hostname === "") return "the URL has no host";
  if (!["", "/"].includes(url.pathname) || /[?#]/.test(text)) return "the URL holds more than host and port";
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
    .union([z.number().min(min, { error }).max(max, { error }), z.string().regex(DURATION, { error })], {
      error,
    })
    .transform((value) => readSeconds(value) ?? Number.NaN)
    .refine((value) => value >= min && value <= max, { error })
    .meta(form("seconds"));
}

/** Days of `180`, `"180d"`, `"36h"`. */
export function days(min: number, max: number) {
  const error = `expected a time from ${min} to ${max} days, such as ${max}, ${max}d or ${max * 24}h`;
  return z
    .union([z.number().min(min, { error }).max(max, { error }), z.string().regex(LASTING, { error })], { error })
    .transform((value) => {
      if (typeof value === "number") return value;
      const [, count = "", unit] = LASTING.exec(value) ?? [];
      return unit === "h" ? Number(count) / 24 : Number(count);
    })
    .refine((value) => value >= min && value <= max, { error })
    .meta(form("days"));
}

export function bytes(min: number, max: number) {
  const error = `expected a size from ${showBytes(min)} to ${showBytes(max)}, such as ${max}, 64KiB or 1MiB`;
  return z
    .union([z.int({ error }).min(min, { error }).max(max, { error }), z.string().regex(SIZE, { error })], {
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

export function listOf<Item extends z.ZodType>(item: Item, expected: string) {
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

export const storeUrl = text("expected a redis or rediss URL")
  .superRefine((value, context) => {
    const fault = storeUrlFault(value);
    if (fault === undefined) return;
    context.addIssue({ code: "custom", message: `${fault}; expected redis(s)://host[:port] without credentials` });
  })
  .meta({ ...form("redis url"), format: "uri" });

/** A share from 0 to 1. */
export const shareLeaf = (() => {
  const error = "expected a share from 0 to 1, such as 0.1 for every tenth";
  return z.number({ error }).min(0, { error }).max(1, { error }).meta(form("share"));
})();

export const positiveShare = (() => {
  const error = "expected a share above 0 and up to 1, such as 0.001";
  return z.number({ error }).gt(0, { error }).max(1, { error }).meta(form("share"));
})();

export function yesNo() {
  return z.boolean({ error: "expected true or false" }).meta(form("true|false"));
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
