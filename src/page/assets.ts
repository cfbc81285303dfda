/** What a browser loads besides the page itself. An address changes with its content, so browsers keep each for good. */
import { brotliDecompressSync, gzipSync } from "node:zlib";
import { ASSET_BYTES } from "./asset-bytes.ts";

export interface Asset {
  readonly type: string;
  /** Undefined if the client takes no such encoding. */
  readonly encoding: "br" | "gzip" | undefined;
  readonly body: Buffer;
}

export const ASSET_PATHS = {
  css: ASSET_BYTES.css.path,
  script: ASSET_BYTES.script.path,
  icon: ASSET_BYTES.icon.path,
} as const;

/** Undefined for an address that this version does not have. `accepted`: the header `Accept-Encoding`. */
export function assetAt(path: string, accepted = ""): Asset | undefined {
  const found = Object.values(ASSET_BYTES).find((one) => one.path === path);
  if (found === undefined) return undefined;
  const { type } = found;
  const compressed = Buffer.from(found.brotli, "base64");
  if (/\bbr\b/.test(accepted)) return { type, encoding: "br", body: compressed };
  const plain = brotliDecompressSync(compressed);
  return /\bgzip\b/.test(accepted)
    ? { type, encoding: "gzip", body: gzipSync(plain) }
    : { type, encoding: undefined, body: plain };
}
