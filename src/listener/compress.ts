/** In which encoding does a client get an answer? */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

export type Encoding = "br" | "gzip";

/** Shorter bodies are not worth it. */
const MIN_BYTES = 1024;
const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json(?:\s*;|\s*$)/i;

const compressors: Readonly<Record<Encoding, (body: Uint8Array) => Promise<Uint8Array>>> = {
  // Quality 4 is faster than gzip's default and still smaller.
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (body) => promisify(gzip)(body),
};

/** True when an answer may come compressed to those who ask: then it varies with what they ask. */
export function isCompressible(contentType: string | undefined, bytes: number): boolean {
  return bytes >= MIN_BYTES && contentType !== undefined && JSON_TYPE.test(contentType);
}

/** The client's choice among ours by the values of its Accept-Encoding (RFC 9110 section 12.5.3); undefined: identity. */
export function chooseEncoding(accepted: readonly string[] | undefined): Encoding | undefined {
  if (accepted === undefined) return undefined;
  const weights = new Map<string, number>();
  for (const part of accepted.join(",").toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    const q = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = q === undefined ? 1 : Number(q.slice(2));
    weights.set(name === "x-gzip" ? "gzip" : name, Number.isFinite(weight) ? weight : 0);
  }
  const of = (name: Encoding) => weights.get(name) ?? weights.get("*") ?? 0;
  const best = of("br") >= of("gzip") ? "br" : "gzip";
  return of(best) > 0 && of(best) >= (weights.get("identity") ?? 0) ? best : undefined;
}

/** `body` in `encoding`, off the event loop. */
export function compress(body: Uint8Array, encoding: Encoding): Promise<Uint8Array> {
  return compressors[encoding](body);
}
