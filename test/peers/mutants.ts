/** Requests made by small damage to others. (The same for the same seed.) */
import { randomOf } from "../support/random.mjs";
import type { Hostile } from "./hostile.ts";

const PIECES: readonly string[] = [
  ...[
    "\r\n",
    "\n",
    "\r",
    "\r\n\r\n",
    "\0",
    " ",
    "\t",
    "\x0b",
    ":",
    ",",
    ";",
    "\xff",
    "%",
    "%2f",
    "%00",
    "..",
    "//",
    "\\",
    "#",
    "?",
    "@",
  ],
  ...[
    "Content-Length: 5\r\n",
    "Content-Length: 0\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: identity\r\n",
    "Host: b\r\n",
  ],
  ...[
    "Connection: close\r\n",
    "Connection: Host, Content-Length\r\n",
    "Expect: 100-continue\r\n",
    "Upgrade: h2c\r\n",
    "X-Forwarded-For: 6.6.6.6\r\n",
  ],
  ...[
    "0\r\n\r\n",
    "5\r\nhello\r\n",
    "GET /hidden HTTP/1.1\r\nHost: hidden\r\n\r\n",
    " HTTP/1.1\r\n",
    " HTTP/1.0\r\n",
    "chunked",
    "0",
    "1",
    "a",
  ],
];

/** `count` requests, each one of `seeds` with one to three changes. */
export function mutants(seeds: readonly Hostile[], count: number, seed: number): Hostile[] {
  const next = randomOf(seed);
  const below = (end: number): number => Math.floor(next() * end);
  // The very long ones try limits, which a change does not move.
  const short = seeds.filter(({ bytes }) => bytes.length < 4096);
  return Array.from({ length: count }, (_, number) => {
    const origin = short[below(short.length)] ?? { name: "", bytes: "" };
    let { bytes } = origin;
    for (let changes = 1 + below(3); changes > 0; changes--) bytes = changed(bytes, below);
    return { name: `mutant ${number} of ${origin.name}`, bytes };
  });
}

function changed(bytes: string, below: (end: number) => number): string {
  const at = below(bytes.length + 1);
  const piece = PIECES[below(PIECES.length)] ?? "";
  switch (below(6)) {
    case 0:
      return bytes.slice(0, at) + piece + bytes.slice(at);
    case 1:
      return bytes.slice(0, at) + bytes.slice(at + 1 + below(4));
    case 2:
      return bytes.slice(0, at) + String.fromCharCode(below(256)) + bytes.slice(at + 1);
    case 3:
      return swapped(bytes, below);
    case 4:
      return repeated(bytes, below);
    default: {
      const line = bytes.indexOf("\r\n", at);
      return line < 0 ? bytes + piece : bytes.slice(0, line + 2) + piece + bytes.slice(line + 2);
    }
  }
}

/** Two lines change places. */
function swapped(bytes: string, below: (end: number) => number): string {
  const lines = bytes.split("\r\n");
  const [one, other] = [below(lines.length), below(lines.length)];
  [lines[one], lines[other]] = [lines[other] ?? "", lines[one] ?? ""];
  return lines.join("\r\n");
}

/** A line is said twice. */
function repeated(bytes: string, below: (end: number) => number): string {
  const lines = bytes.split("\r\n");
  const at = below(lines.length);
  lines.splice(at, 0, lines[at] ?? "");
  return lines.join("\r\n");
}
