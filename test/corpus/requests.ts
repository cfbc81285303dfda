/** Which requests are kept byte for byte, to be tried again by every test that has something that reads requests? */
import { readFileSync } from "node:fs";

/** One connection's worth of bytes, and what becomes of them. */
export interface Entry {
  readonly name: string;
  /** The test that it belongs to: `T-SMG-01`. */
  readonly id?: string;
  /** Latin-1: one character is one byte. */
  readonly bytes: string;
  /** Any of these; empty: the connection is closed without an answer. */
  readonly status: readonly number[];
  /** How many requests of it reach the platform; none when left out. */
  readonly upstream?: number;
}

export const requests: readonly Entry[] = JSON.parse(readFileSync(new URL("./requests.json", import.meta.url), "utf8"));
