/** Mutates requests. Every mutation takes bytes (latin1: one character is one byte) and returns others. */
import type { Random } from "../../sandbox/src/seed/prng.ts";
import { spoilBody } from "./spoil-body.ts";
import { spoilHead } from "./spoil-head.ts";

/** What a mutation has to work with: `other` is a second request. */
export interface Ground {
  readonly text: string;
  readonly other: string;
  readonly random: Random;
}

export type Mutation = (ground: Ground) => string;

/** At most so many bytes: what is longer tests patience only. */
const LONGEST = 64 * 1024;

const place = (text: string, random: Random): number => random.int(text.length + 1);
const splice = (text: string, at: number, removed: number, added: string): string =>
  text.slice(0, at) + added + text.slice(at + removed);
const byte = (random: Random): string => String.fromCharCode(random.int(256));

/** Bytes that parsers differ about. */
const MARKS: readonly [string, ...string[]] = [
  "\0",
  "\r",
  "\n",
  "\r\n",
  "\t",
  "\x0b",
  "\x0c",
  " ",
  ":",
  ",",
  ";",
  "%",
  "\x7f",
  "\x80",
  "\xa0",
  "\xff",
];

/** Without any idea of what the bytes mean. */
const BLIND: readonly [Mutation, ...Mutation[]] = [
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

/** Whole lines, whatever stands in them. */
const LINES: readonly [Mutation, ...Mutation[]] = [
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
const PIPED: readonly [Mutation, ...Mutation[]] = [
  ({ text, other }) => text + other,
  ({ text, other }) => other + text,
  ({ text, other, random }) => text + random.pick(["\r\n", "\n", "\0", "0\r\n\r\n", "x"]) + other,
];

const KINDS: readonly [readonly [Mutation, ...Mutation[]], ...(readonly [Mutation, ...Mutation[]])[]] = [
  BLIND,
  LINES,
  spoilHead,
  spoilHead,
  spoilBody,
  spoilBody,
  PIPED,
];

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
