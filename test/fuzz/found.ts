/** Stores and lists inputs that made a fuzz test fail. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";

/** A failing input, kept for ever. */
export interface Found {
  readonly file: string;
  /** What it did when it was found. */
  readonly why: string;
  readonly seed: string;
  /** Latin-1: one character is one byte. */
  readonly bytes: string;
}

const HOME = new URL("../corpus/found/", import.meta.url);

/** Saves `bytes`; returns the name of the file. */
export function save(bytes: string, why: string, seed: string): string {
  const file = `${createHash("sha256").update(bytes, "latin1").digest("hex").slice(0, 12)}.json`;
  mkdirSync(HOME, { recursive: true });
  writeFileSync(new URL(file, HOME), `${JSON.stringify({ why: why.slice(0, 120), seed, bytes }, null, 2)}\n`);
  return `test/corpus/found/${file}`;
}

export function found(): readonly Found[] {
  return readdirSync(HOME)
    .filter((file) => file.endsWith(".json"))
    .map((file) => ({ file, ...JSON.parse(readFileSync(new URL(file, HOME), "utf8")) }));
}
