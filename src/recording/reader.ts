/** Reads a recording or an access log, whatever its format, in bounded memory. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { shownName } from "../rules/words.ts";
import { looksCombined, readCombinedLine } from "./combined-log.ts";
import type { FoundCredential } from "./credentials.ts";
import { type Found, type LogPlace, RecordingRefused, skipped } from "./found.ts";
import { looksLikeHar, readHar } from "./har.ts";
import { readJsonLine } from "./json-log.ts";
import { type Line, linesOf } from "./lines.ts";

const GZIP = [0x1f, 0x8b] as const;
const PEEK = 4096;
const LONG_LINE = "this line is longer than 1 MiB";
const NO_FORMAT = "no known format: expected a carryover recording or log, JSON or combined access log, or HAR";

/**
 * Makes a function that yields everything in a file, in its order; `.gz` is recognised by its content. A file that grows is read again and again
 * as long as it was the first time. Throws RecordingRefused at a credential, and the file system's errors.
 */
export function createRecordingReader(): (file: string) => AsyncGenerator<Found> {
  const lengths = new Map<string, number>();
  return async function* read(file) {
    const length = lengths.get(file) ?? (await lengthOf(file));
    lengths.set(file, length);
    if (length > 0) yield* readRecorded(createReadStream(file, { end: length - 1 }), file);
  };
}

/** Only a regular file has a length. */
async function lengthOf(file: string): Promise<number> {
  const found = await stat(file);
  return found.isFile() ? found.size : Number.POSITIVE_INFINITY;
}

/** Everything in `bytes`; `name` is for messages. */
export async function* readRecorded(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Found> {
  const peeked = await peek(bytes);
  const zipped = GZIP.every((byte, index) => peeked.first[index] === byte);
  const plain = zipped ? await peek(unzipped(peeked.all)) : peeked;
  let fault: Found | undefined;
  const all = untilFault(plain.all, (why, line) => {
    fault = skipped(why, line);
  });
  const refuse = ({ name: member, offset }: FoundCredential, { line, column }: LogPlace): never => {
    const what = `there is a credential in ${shownName(member)}`;
    const remedy = "remove it from the recording, and from the log's format; nothing was sent";
    throw new RecordingRefused(name, { line, column: column + offset }, what, remedy);
  };
  const start = Buffer.from(plain.first).toString("utf8");
  if (looksLikeHar(start)) yield* readHar(all, refuse);
  else {
    for await (const line of linesOf(all)) {
      const found = readLine(line, (credential) => refuse(credential, { line: line.number, column: 1 }));
      if (found !== undefined) yield found;
    }
  }
  if (fault !== undefined) yield fault;
}

function readLine(line: Line, refuse: (found: FoundCredential) => never): Found | undefined {
  if (line.tooLong) return skipped(LONG_LINE, line.number);
  const start = Buffer.from(line.bytes.subarray(0, PEEK)).toString("utf8").trimStart();
  if (start === "") return undefined;
  if (start.startsWith("{")) return readJsonLine(line, refuse);
  return looksCombined(start) ? readCombinedLine(line, refuse) : skipped(NO_FORMAT, line.number);
}

interface Peeked {
  readonly first: Uint8Array;
  /** All bytes, the first ones included. */
  readonly all: AsyncIterable<Uint8Array>;
}

async function peek(bytes: AsyncIterable<Uint8Array>): Promise<Peeked> {
  const iterator = bytes[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (length < PEEK) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    chunks.push(value);
    length += value.length;
  }
  const rest: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => iterator };
  return { first: Buffer.concat(chunks).subarray(0, PEEK), all: joined(chunks, rest) };
}

async function* joined(first: readonly Uint8Array[], rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* first;
  yield* rest;
}

async function* unzipped(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { Readable } = await import("node:stream");
  const source = Readable.from(bytes);
  const gunzip = createGunzip();
  source.on("error", (error) => gunzip.destroy(error));
  try {
    yield* source.pipe(gunzip);
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}

const GZIP_FAULTS: ReadonlyMap<string, string> = new Map([
  ["Z_BUF_ERROR", "the compressed data ends early"],
  ["Z_DATA_ERROR", "the compressed data is damaged from here on"],
]);

/** Uses the data before the place where compressed data is damaged. */
async function* untilFault(
  bytes: AsyncIterable<Uint8Array>,
  fault: (why: string, line: number) => void,
): AsyncGenerator<Uint8Array> {
  let line = 1;
  try {
    for await (const chunk of bytes) {
      yield chunk;
      for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) line += 1;
    }
  } catch (error) {
    const why = GZIP_FAULTS.get(String((error as { readonly code?: unknown }).code));
    if (why === undefined) throw error;
    fault(why, line);
  }
}
