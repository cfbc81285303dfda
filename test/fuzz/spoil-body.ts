/** Mutates the body of a request and keeps its framing valid, so that the body is read. */
import type { Random } from "../../sandbox/src/seed/prng.ts";
import type { Mutation } from "./mutate.ts";
import { endOfHead } from "./spoil-head.ts";

const JSON_PIECES: readonly [string, ...string[]] = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  "\\",
  "\\u",
  '"\\ud800"',
  "null",
  "1e400",
  "-0",
  "9007199254740993",
  '"__proto__":{"polluted":true},',
  '"constructor":{"prototype":{"polluted":true}},',
  '"name":"a","name":"b",',
  "\xef\xbb\xbf",
  "\xff",
  "\xc0\x80",
  "\0",
  "[".repeat(2000),
  '{"a":'.repeat(300),
  `"${"s".repeat(3000)}"`,
];

/** `text` with `change` done to the bytes of its body; in whichever framing it had, it is framed right again. */
function onBody(text: string, random: Random, change: (body: string) => string): string {
  const end = endOfHead(text);
  const head = text.slice(0, end);
  const raw = text.slice(end + 2);
  if (/^transfer-encoding: *chunked *\r$/im.test(head)) return `${head}\r\n${chunked(change(unchunk(raw)), random)}`;
  const body = change(raw);
  if (!/^content-length:/im.test(head)) return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  return `${head.replace(/^content-length:.*\r$/im, `Content-Length: ${body.length}\r`)}\r\n${body}`;
}

function unchunk(raw: string): string {
  return [...raw.matchAll(/(?:^|\r\n)([0-9a-f]+)\r\n/g)]
    .map((found) => {
      const from = found.index + found[0].length;
      return raw.slice(from, from + Number.parseInt(found[1] ?? "0", 16));
    })
    .join("");
}

const ENDS: readonly [string, ...string[]] = [
  "0\r\n\r\n",
  "0\r\n\r\n",
  "0\r\n\r\n",
  "00\r\n\r\n",
  "0\r\nAuthorization: Bearer other\r\n\r\n",
  "0\r\nX-A: 1\r\nContent-Length: 3\r\n\r\n",
  "0\r\n",
];

/** Chunks of odd sizes, sometimes with extensions, sizes in odd digits, or trailers. */
function chunked(body: string, random: Random): string {
  let framed = "";
  for (let at = 0; at < body.length; ) {
    const size = Math.min(body.length - at, 1 + random.int(random.chance(0.5) ? 3 : 300));
    const digits = random.chance(0.1) ? size.toString(16).toUpperCase().padStart(4, "0") : size.toString(16);
    const extension = random.chance(0.1) ? random.pick([";a", ';a="b"', ";", " ", ";a\n", `;${"e".repeat(5000)}`]) : "";
    framed += `${digits}${extension}\r\n${body.slice(at, at + size)}\r\n`;
    at += size;
  }
  return framed + random.pick(ENDS);
}

export const spoilBody: readonly [Mutation, ...Mutation[]] = [
  ({ text, random }) =>
    onBody(text, random, (body) => {
      const at = random.int(body.length + 1);
      return body.slice(0, at) + random.pick(JSON_PIECES) + body.slice(at);
    }),
  ({ text, random }) =>
    onBody(text, random, (body) => {
      const at = random.int(body.length + 1);
      return body.slice(0, at) + body.slice(at + 1 + random.int(6));
    }),
  ({ text, random }) =>
    onBody(text, random, (body) => {
      const at = random.int(body.length + 1);
      return body.slice(0, at) + String.fromCharCode(random.int(256)) + body.slice(at + 1);
    }),
  ({ text, other, random }) => onBody(text, random, () => other),
  ({ text, random }) => onBody(text, random, (body) => body),
  ({ text, random }) => {
    const body = text.slice(endOfHead(text) + 2);
    const head = text.slice(0, endOfHead(text)).replace(/^content-length:.*\r\n/im, "");
    return `${head}Transfer-Encoding: chunked\r\n\r\n${chunked(body, random)}`;
  },
];
