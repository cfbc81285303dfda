/** What are the bytes of an answer that came compressed although identity was asked for? */
import { promisify } from "node:util";
import * as zlib from "node:zlib";

/** Bytes in, bytes out; rejects when the bytes are no such format or the result is longer than `limit`. */
type Inflate = (bytes: Uint8Array, limit: number) => Promise<Uint8Array>;
type Codec = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;

/** An answer may grow to this many times its size; JSON lists reach about 40. */
const MAX_RATIO = 200;
/** Below this the ratio is not looked at. */
const SMALL = 1 << 20;

const CODECS: ReadonlyMap<string, Inflate> = new Map<string, Inflate>([
  ["gzip", bounded(promisify(zlib.gunzip))],
  ["x-gzip", bounded(promisify(zlib.gunzip))],
  ["deflate", bounded(promisify(zlib.inflate))],
  ["br", bounded(promisify(zlib.brotliDecompress))],
  ...zstd(),
]);

/**
 * `bytes` without `encoding` (the value of Content-Encoding), at most `limit` of them (design: HTTP on translated routes).
 * Rejects with an Error for an encoding this Node does not know, for more than one, for wrong bytes and for bombs.
 */
export async function decode(encoding: string, bytes: Uint8Array, limit: number): Promise<Uint8Array> {
  const inflate = CODECS.get(encoding.trim().toLowerCase());
  if (inflate === undefined) throw new Error("content-encoding that cannot be decoded");
  return inflate(bytes, Math.min(limit, Math.max(SMALL, bytes.length * MAX_RATIO)));
}

function bounded(codec: Codec): Inflate {
  return (bytes, limit) => codec(bytes, { maxOutputLength: limit });
}

/** zstd came with Node 22.15. */
function zstd(): [string, Inflate][] {
  const found: unknown = Reflect.get(zlib, "zstdDecompress");
  return typeof found === "function"
    ? [["zstd", bounded(promisify(found as Parameters<typeof promisify>[0]) as Codec)]]
    : [];
}
