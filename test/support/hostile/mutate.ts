/** Mutates requests. Every mutation takes bytes (latin1: one character is one byte) and returns others. */
import type { Random } from "../../../sandbox/src/seed/prng.ts";
import { CHUNKED, CODINGS, FIELDS, HOSTS, IDENTITY, LENGTHS, TRAILERS } from "./fields.ts";
import { PIECES as JSON_PIECES } from "./json.ts";
import { NO_METHODS, OTHER_METHODS, PATH_PIECES } from "./targets.ts";

/** The input of a mutation. `other` is a second request. */
interface Ground {
  readonly text: string;
  readonly other: string;
  readonly random: Random;
}

type Some<T> = readonly [T, ...T[]];
type Mutation = (ground: Ground) => string;

/** The most bytes of a mutated request: longer ones only take longer. */
const LONGEST = 64 * 1024;

const place = (text: string, random: Random): number => random.int(text.length + 1);
const splice = (text: string, at: number, removed: number, added: string): string =>
  text.slice(0, at) + added + text.slice(at + removed);
const byte = (random: Random): string => String.fromCharCode(random.int(256));

/** Bytes that parsers differ about. */
const MARKS = [
  ...["\0", "\r", "\n", "\r\n", "\t", "\x0b", "\x0c", " ", ":", ",", ";", "%", "\x7f", "\x80", "\xa0", "\xff"],
] as const;

/** Without any idea of what the bytes mean. */
const BLIND: Some<Mutation> = [
  ({ text, random }) => splice(text, place(text, random), 1, byte(random)),
  ({ text, random }) => splice(text, place(text, random), 0, random.pick(MARKS)),
  ({ text, random }) => splice(text, place(text, random), 1 + random.int(8), ""),
  ({ text, random }) => text.slice(0, place(text, random)),
  ({ text, random }) => {
    const at = place(text, random);
    return splice(text, at, 0, text.slice(at, at + 1 + random.int(40)).repeat(1 + random.int(4)));
  },
  ({ text, other, random }) => text.slice(0, place(text, random)) + other.slice(place(other, random)),
];

const linesOf = (text: string): string[] => text.split("\r\n");

/** Whole lines, without a look at their contents. */
const LINES: Some<Mutation> = [
  ({ text, random }) => {
    const lines = linesOf(text);
    const at = random.int(lines.length);
    return lines.toSpliced(at, 0, lines[at] ?? "").join("\r\n");
  },
  ({ text, random }) => {
    const lines = linesOf(text);
    return lines.toSpliced(random.int(lines.length), 1).join("\r\n");
  },
  ({ text, random }) => {
    const lines = linesOf(text);
    const [moved = ""] = lines.splice(random.int(lines.length), 1);
    return lines.toSpliced(random.int(lines.length + 1), 0, moved).join("\r\n");
  },
  ({ text, other, random }) => {
    const lines = linesOf(text);
    const others = linesOf(other);
    return lines.toSpliced(random.int(lines.length), 0, others[random.int(others.length)] ?? "").join("\r\n");
  },
  ({ text, other, random }) => {
    const lines = linesOf(text);
    const others = linesOf(other);
    return [...lines.slice(0, random.int(lines.length)), ...others.slice(random.int(others.length))].join("\r\n");
  },
  ({ text, random }) => {
    const ends = [...text.matchAll(/\r\n/g)].map(({ index }) => index);
    const at = ends[random.int(ends.length)];
    return at === undefined
      ? text
      : splice(text, at, 2, random.pick(["\n", "\r", "\r\n ", "\n\r", "\r\r\n", "\r\n\t"]));
  },
];

/** Two requests, one behind the other. */
const PIPED: Some<Mutation> = [
  ({ text, other }) => text + other,
  ({ text, other }) => other + text,
  ({ text, other, random }) => text + random.pick(["\r\n", "\n", "\0", "0\r\n\r\n", "x"]) + other,
];

const FRAMINGS: Some<string> = [
  "Content-Length: 99999",
  "Content-Length:\t3",
  "Transfer-Encoding: chunked",
  "Transfer_Encoding: chunked",
  ...[CODINGS, IDENTITY, CHUNKED].flatMap(Object.values),
  ...[0, 5].flatMap((bytes) => [`Content-Length: ${bytes}`, ...Object.values(LENGTHS).map((of) => of(bytes))]),
];
const METHODS: Some<string> = [
  ...(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT"] as const),
  ...[NO_METHODS, OTHER_METHODS].flatMap(Object.values),
];
const OTHER_FIELDS: Some<string> = ["Connection: close", "Host: api.example", ...Object.values(HOSTS)];
const NUMBERS = ["0", "-1", "00", "9007199254740993", "18446744073709551616", "1e400", "9".repeat(400)] as const;

/** Where the head ends: behind its last line end. */
const endOfHead = (text: string): number => {
  const end = text.indexOf("\r\n\r\n");
  return end < 0 ? text.length : end + 2;
};

/** Puts `line` in front of a line of the head that is not the first. */
function withLine(text: string, line: string, random: Random): string {
  const end = endOfHead(text);
  const starts = [...text.slice(0, end).matchAll(/\r\n/g)].map(({ index }) => index + 2);
  const at = starts[random.int(starts.length)] ?? end;
  return splice(text, at, 0, `${line}\r\n`);
}

function onTarget(text: string, change: (target: string) => string): string {
  const line = text.slice(0, Math.max(0, text.indexOf("\r\n")));
  const from = line.indexOf(" ") + 1;
  const to = line.lastIndexOf(" ");
  return to <= from ? text : text.slice(0, from) + change(text.slice(from, to)) + text.slice(to);
}

/** Escapes one character of the target, or gives one escape back as its byte. */
function recoded(target: string, random: Random): string {
  const at = random.int(Math.max(1, target.length));
  const written = Number.parseInt(target.slice(at + 1, at + 3), 16) || 0;
  if (target[at] === "%") return splice(target, at, 3, String.fromCharCode(written));
  const code = target.charCodeAt(at) || 0x61;
  const hex = code.toString(16).padStart(2, "0");
  return splice(target, at, 1, `%${random.chance(0.5) ? hex : hex.toUpperCase()}`);
}

const flipCase = (letter: string): string =>
  letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();

const HEAD: Some<Mutation> = [
  ({ text, random }) => withLine(text, random.pick(FRAMINGS), random),
  ({ text, random }) => {
    const framing = random.pick(FRAMINGS);
    return text.replace(/^(?:content-length|transfer-encoding):.*$/im, () => framing);
  },
  ({ text, random }) => withLine(text, random.pick(FIELDS), random),
  ({ text, random }) => withLine(text, random.pick(OTHER_FIELDS), random),
  ({ text, random }) => onTarget(text, (target) => splice(target, place(target, random), 0, random.pick(PATH_PIECES))),
  ({ text, random }) => onTarget(text, (target) => recoded(target, random)),
  ({ text, random }) => onTarget(text, (target) => `${target}?${"t".repeat(random.int(20_000))}`),
  ({ text, random }) => text.replace(/^[A-Za-z-]+/, () => random.pick(METHODS)),
  ({ text, random }) => text.replace(/HTTP\/1\.1/, () => random.pick(["HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "http/1.1"])),
  ({ text, random }) => {
    const digits = [...text.matchAll(/\d+/g)];
    const found = digits[random.int(digits.length)];
    if (found === undefined) return text;
    return splice(text, found.index, found[0].length, random.pick(NUMBERS));
  },
  ({ text, random }) => {
    const at = random.int(endOfHead(text));
    return splice(text, at, 1, flipCase(text[at] ?? ""));
  },
  ({ text, random }) => withLine(text, `X-Long: ${"l".repeat(random.int(20_000))}`, random),
  ({ text, random }) =>
    withLine(text, Array.from({ length: random.int(120) }, (_, i) => `X-${i}: 1`).join("\r\n"), random),
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

const LAST = "0\r\n\r\n";
const ENDS: Some<string> = ["00\r\n\r\n", "0\r\n", ...TRAILERS.map((trailer) => `0\r\n${trailer}\r\n\r\n`)];

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
  return framed + (random.chance(0.5) ? LAST : random.pick(ENDS));
}

const BODY: Some<Mutation> = [
  ({ text, random }) => onBody(text, random, (body) => splice(body, place(body, random), 0, random.pick(JSON_PIECES))),
  ({ text, random }) => onBody(text, random, (body) => splice(body, place(body, random), 1 + random.int(6), "")),
  ({ text, random }) => onBody(text, random, (body) => splice(body, place(body, random), 1, byte(random))),
  ({ text, other, random }) => onBody(text, random, () => other),
  ({ text, random }) => onBody(text, random, (body) => body),
  ({ text, random }) => {
    const body = text.slice(endOfHead(text) + 2);
    const head = text.slice(0, endOfHead(text)).replace(/^content-length:.*\r\n/im, "");
    return `${head}Transfer-Encoding: chunked\r\n\r\n${chunked(body, random)}`;
  },
];

const KINDS: Some<Some<Mutation>> = [BLIND, LINES, HEAD, HEAD, BODY, BODY, PIPED];

/** `text` after one to four mutations, of all kinds alike. Sometimes none: then its neighbours on the connection are what is tried. */
export function mutate(ground: Ground): string {
  const { random } = ground;
  let { text } = ground;
  for (let left = random.int(5); left > 0; left--) {
    const kind = random.pick(KINDS);
    text = random
      .pick(kind)({ ...ground, text })
      .slice(0, LONGEST);
  }
  return text;
}
