/** Requests kept byte for byte, for every test that reads requests. */
import { readFileSync } from "node:fs";

/** One connection's worth of bytes, and what becomes of them. */
export interface Entry {
  readonly name: string;
  /** The test that it belongs to: `T-SMG-01`. */
  readonly id: string | undefined;
  /** Latin-1: one character is one byte. */
  readonly bytes: string;
  /** Any of these; empty: the connection is closed without an answer. */
  readonly status: readonly number[];
  /** How many requests of it reach the platform; none when left out. */
  readonly upstream: number | undefined;
}

/** A row of the file: the id and the name as one title. */
type Row = readonly [title: string, bytes: string, status: number | readonly number[], upstream?: number];

const rows: readonly Row[] = JSON.parse(readFileSync(new URL("./requests.json", import.meta.url), "utf8"));

export const requests: readonly Entry[] = rows.map(([title, bytes, status, upstream]) => {
  const [, id, name = title] = /^(T-[A-Z]{3}-\d{2}): (.+)$/.exec(title) ?? [];
  return { id, name, bytes, status: [status].flat(), upstream };
});
