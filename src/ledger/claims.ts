/** What does a bearer token say of whoever sends it? (Read WITHOUT verifying: for statistics, never for access.) */
import { isJsonObject, member } from "../model/json.ts";
import type { HeaderList } from "../model/message.ts";

/** One bearer token (RFC 6750 section 2.1) that is a JWT: three parts (RFC 7519). Its payload is the first group. */
const BEARER_JWT = /^Bearer +[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]*$/i;
/** Longest payload that is read, decoded bytes. Real ones have a few hundred. */
export const MAX_PAYLOAD = 16 * 1024;
const MAX_ENCODED = Math.ceil((MAX_PAYLOAD * 4) / 3);

/** One claim at the top of a payload, as text; undefined when it is absent or no text. */
export type Claims = (name: string) => string | undefined;

/**
 * Reads claims of the one bearer token among `headers`. Undefined when there is no token, more than one Authorization, one that is no JWT, or one with more than `MAX_PAYLOAD`.
 *
 * Nothing of it is verified: anybody can write any claim into a token. It may name, count and choose a side of the cutover;
 * it must never decide what somebody may do. The platform does that, and the ledger takes nobody whom it answered 401.
 */
export function readClaims(headers: HeaderList): Claims | undefined {
  let value: string | undefined;
  for (const [name, given] of headers) {
    if (name !== "authorization") continue;
    if (value !== undefined) return undefined;
    value = given;
  }
  // Before the pattern and the parser see it.
  if (value === undefined || value.length > MAX_ENCODED * 4) return undefined;
  const encoded = BEARER_JWT.exec(value)?.[1];
  if (encoded === undefined || encoded.length > MAX_ENCODED) return undefined;
  const payload = parse(encoded);
  return isJsonObject(payload) ? (name) => claimText(member(payload, name)) : undefined;
}

/** Without state of its own: it is never given a part of a text. */
const UTF8 = new TextDecoder("utf-8", { fatal: true });

function parse(encoded: string): unknown {
  try {
    const bytes = Buffer.from(encoded, "base64url");
    return JSON.parse(UTF8.decode(bytes));
  } catch {
    return undefined;
  }
}

/** Texts as they are, whole numbers in decimal (some issuers number their subjects). Anything else says nothing. */
function claimText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return Number.isSafeInteger(value) ? String(value) : undefined;
}
