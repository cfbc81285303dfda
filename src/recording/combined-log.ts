/** Reads lines of nginx's and Apache's "combined" and "common" formats. */
import { credentialInTarget, credentialInText, type FoundCredential } from "./credentials.ts";
import { type Found, isMethod, skipped, targetOf } from "./found.ts";
import { timeOf } from "./json-log.ts";
import type { Line } from "./lines.ts";

/** In their order; each begins where the one before ends. */
const PARTS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["the address", /(\S{1,255}) \S{1,255} /y],
  ["the user", /([^["\]]{1,255}) /y],
  ["the time", /\[([^\]]{1,64})\] /y],
  ["the request line", /"((?:[^"\\]|\\.)*)" /y],
  ["the status", /(\d{3}) /y],
  ["the length", /(\d{1,20}|-)/y],
];
const REFERER = / "((?:[^"\\]|\\.)*)"/y;

/** True for a line that begins as one of this format. */
export function looksCombined(text: string): boolean {
  return /^\S{1,255} \S{1,255} [^["\]]{1,255} \[/.test(text);
}

export function readCombinedLine({ bytes, number, last }: Line, refuse: (found: FoundCredential) => never): Found {
  const text = Buffer.from(bytes).toString("utf8").replace(/\r$/, "");
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return undefined;
    at = pattern.lastIndex;
    return match[1] ?? "";
  };
  const values: string[] = [];
  const starts: number[] = [];
  for (const [name, pattern] of PARTS) {
    starts.push(at);
    const value = take(pattern);
    if (value === undefined) {
      return skipped(
        last ? "the file ends within this line" : `${name} is not where the format has it`,
        number,
        at + 1,
      );
    }
    values.push(value);
  }
  // Formats are often extended behind these.
  const rest = text.slice(at);
  const inRest = credentialInText(rest);
  if (inRest !== undefined) refuse({ name: "referer, agent or what follows", offset: at + inRest });
  take(REFERER);
  const agent = take(REFERER);
  const [, , time = "", line = "", status = ""] = values;
  const [, method = "", given = ""] = /^(\S+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(line) ?? [];
  const plain = unescaped(given);
  const inTarget = credentialInTarget(plain);
  if (inTarget !== undefined) {
    refuse({ name: "the request line", offset: (starts[3] ?? 0) + 1 + method.length + 1 + inTarget });
  }
  const target = targetOf(plain);
  if (!isMethod(method) || target === undefined) {
    return skipped("the request line is not a method and a path in visible ASCII", number, (starts[3] ?? 0) + 1);
  }
  const client = agent === undefined || agent === "-" ? "" : unescaped(agent);
  const request = { at: timeOf(time), method, target, client, status: Number(status), mode: undefined };
  return { kind: "request", format: "combined log", at: { line: number, column: 1 }, request };
}

/** nginx writes `"`, `\` and all that is not printable as `\xHH`. */
function unescaped(text: string): string {
  return text
    .replaceAll(/\\x([0-9A-Fa-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replaceAll(/\\(["\\])/g, "$1");
}
