/** How are durations, sizes, addresses and paths written in the configuration? (Pure: text in, value out.) */
import { isIP } from "node:net";

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
export const DURATION_PATTERN = DURATION;
export const SIZE_PATTERN = SIZE;

/** Seconds of `45`, `"45"`, `"45s"`, `"500ms"`, `"1m"`, `"1h"`; undefined for anything else. */
export function readSeconds(value: number | string): number | undefined {
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
export const INSTANT_PATTERN = INSTANT;

/** Milliseconds since 1970 of `2027-03-01` (when that day begins in UTC) or of an RFC 3339 instant; undefined for anything else. */
export function readInstant(text: string): number | undefined {
  const [, year, month, day] = INSTANT.exec(text) ?? [];
  if (year === undefined) return undefined;
  // The standard library takes February 30 for March 2.
  const midnight = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return midnight.toISOString().startsWith(`${year}-${month}-${day}`) ? Date.parse(text) : undefined;
}

/** `268435456` as `256 MiB`: the largest unit that divides it. */
export function showBytes(bytes: number): string {
  for (const unit of ["GiB", "MiB", "KiB"]) {
    const size = BYTES.get(unit) ?? 1;
    if (bytes >= size && bytes % size === 0) return `${bytes / size} ${unit}`;
  }
  return `${bytes} B`;
}

/** What is wrong with an address of an upstream, or undefined. The text never repeats the address: it may hold a password. */
export function urlFault(text: string): string | undefined {
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
