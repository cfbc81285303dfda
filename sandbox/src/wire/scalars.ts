/** Parses times, durations, integers and bytes, and writes them in their normal form. */

const TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;
const DURATION = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;

/** An RFC 3339 time in UTC with 0, 3, 6 or 9 fractional digits, or undefined when `text` is none. */
export function normalTime(text: string): string | undefined {
  const parts = TIME.exec(text);
  if (parts === null) return undefined;
  const [, , , , , , , fraction = ""] = parts;
  const ms = Date.parse(text.replace(/\.\d+/, ""));
  if (Number.isNaN(ms) || ms < -62_135_596_800_000) return undefined;
  return `${new Date(ms).toISOString().slice(0, 19)}${normalFraction(fraction)}Z`;
}

/** A time of the clock as the platform writes it. */
export function timeText(date: Date): string {
  return date.toISOString();
}

/** Seconds with 0, 3, 6 or 9 fractional digits and an `s`, or undefined when `text` is no duration. */
export function normalDuration(text: string): string | undefined {
  const parts = DURATION.exec(text);
  if (parts === null) return undefined;
  const [, sign = "", seconds = "0", fraction = ""] = parts;
  if (BigInt(seconds) > 315_576_000_000n) return undefined;
  return `${sign}${BigInt(seconds)}${normalFraction(fraction)}s`;
}

/** Milliseconds of a duration that `normalDuration` wrote. */
export function durationMs(text: string): number {
  return Number(text.slice(0, -1)) * 1000;
}

/** The integer that `text` writes within `bits`, in decimal; undefined when it is none. `1e2` and `3.0` are integers. */
export function normalInteger(text: string, kind: "int32" | "uint32" | "int64"): string | undefined {
  if (!/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return undefined;
  const plain = /^-?\d+$/.test(text) ? text : String(Number(text));
  if (!/^-?\d{1,20}$/.test(plain)) return undefined;
  const value = BigInt(plain);
  const low = kind === "uint32" ? 0n : kind === "int32" ? -(2n ** 31n) : -(2n ** 63n);
  const high = kind === "uint32" ? 2n ** 32n : kind === "int32" ? 2n ** 31n : 2n ** 63n;
  return value >= low && value < high ? value.toString() : undefined;
}

/** Standard base64 of a text in standard or URL-safe base64, or undefined. */
export function normalBase64(text: string): string | undefined {
  const plain = text.replace(/-/g, "+").replace(/_/g, "/").replace(/=+$/, "");
  if (!/^[A-Za-z0-9+/]*$/.test(plain) || plain.length % 4 === 1) return undefined;
  return Buffer.from(plain, "base64").toString("base64");
}

function normalFraction(digits: string): string {
  const trimmed = digits.replace(/0+$/, "");
  if (trimmed === "") return "";
  return `.${trimmed.padEnd(Math.ceil(trimmed.length / 3) * 3, "0")}`;
}
