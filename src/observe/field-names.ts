/** Under which names are the unknown fields of a request counted and shown? */
import type { Exchange } from "../model/exchange.ts";
import { scrub } from "./scrub.ts";

type UnknownField = Exchange["unknownFields"][number];

/** Which element of a list it was. */
const INDEX = /\[\d+\]/g;
const MAX_SHOWN = 80;
/** So much of a name is looked at that no secret in the part that is shown is cut until nobody knows it for one. */
const MAX_READ = 200;
/** Whatever a terminal or a page could take for more than a letter: controls, marks of direction, halves of characters. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Each unknown field of `exchange` once, without its place in lists; in the order in which they were met. */
export function distinctFields({ unknownFields }: Pick<Exchange, "unknownFields">): readonly UnknownField[] {
  if (unknownFields.length === 0) return unknownFields;
  const distinct = new Map<string, UnknownField>();
  for (const { direction, name } of unknownFields) {
    // What a body that is an array itself holds has nothing before its index.
    const plain = name.includes("[") ? name.replace(INDEX, "").replace(/^\./, "") : name;
    const key = `${direction} ${plain}`;
    distinct.set(key, { direction, name: plain });
  }
  return [...distinct.values()];
}

/** A name that somebody else gave, for operators: at most 80 characters, all of them printable, no secret. */
export function shownName(name: string): string {
  const plain = scrub(name.slice(0, MAX_READ)).replace(UNPRINTABLE, escaped);
  // Half a character at the end would be none.
  return plain.length > MAX_SHOWN ? `${plain.slice(0, MAX_SHOWN - 1).replace(/[\ud800-\udbff]$/, "")}…` : plain;
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
