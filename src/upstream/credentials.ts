/** Credentials as keyed digests, and which of them the platform accepted lately. */

import { createHmac, hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { bearerToken, readAuthorization } from "../model/authorization.ts";
import { ANONYMOUS_SHARE, type CredentialShares } from "../model/credential-shares.ts";
import { isRecognised } from "../model/exchange.ts";
import { type HeaderList, onlyValue } from "../model/http.ts";

/** Nothing of it can be turned back into the token. */
export interface Credential {
  /** Keyed digest of the token. */
  readonly digest: string;
  /** The token's own expiry, in seconds since 1970; Infinity when it has none. */
  readonly ends: number;
}

/** A bearer token (RFC 6750 section 2.1). */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * `Bearer TOKEN` and `TOKEN` are one credential, so that no write of it is missed. Undefined for a request with no credential, two, or
 * one that is not a bearer token: such a request shares nothing.
 */
export function credentialOf(headers: HeaderList, secret: Uint8Array): Credential | undefined {
  const token = bearerToken(onlyValue(headers, "authorization") ?? "");
  if (token === undefined || !TOKEN.test(token)) return undefined;
  return { digest: keyedDigest(`Bearer ${token}`, secret), ends: endOf(token) };
}

/** Stands for `text` where others may see it: without `secret` it cannot even be guessed. */
export function keyedDigest(text: string, secret: Uint8Array): string {
  return createHmac("sha256", secret).update(text).digest("base64url");
}

/**
 * The cheapest keyed digest of an Authorization value, the same for all spellings of its scheme. Empty for none: anonymous callers
 * count as one.
 */
export function createDigest(secret: string): (authorization: string) => string {
  return (authorization) => {
    const read = readAuthorization(authorization);
    return read === undefined ? "" : hash("sha256", `${secret}${read.scheme} ${read.credentials}`, "base64url");
  };
}

/** The claim `exp` of a JWT (RFC 7519), read without trusting it, since it can only shorten. Infinity for any other token. */
function endOf(token: string): number {
  const claims = token.split(".")[1];
  if (claims === undefined) return Infinity;
  try {
    const read: unknown = JSON.parse(Buffer.from(claims, "base64url").toString());
    const exp = typeof read === "object" && read !== null && "exp" in read ? read.exp : undefined;
    return typeof exp === "number" ? exp : Infinity;
  } catch {
    return Infinity;
  }
}

const MOST_CREDENTIALS = 10_000;

/** Remembers the latest `most` credentials, which are keyed digests. */
export function createAcceptedCallers(most: number = MOST_CREDENTIALS): CredentialShares {
  const accepted = new LRUCache<string, true>({ max: most });
  return {
    shareOf: (credential) => (accepted.has(credential) ? credential : ANONYMOUS_SHARE),
    accepted: (credential) => accepted.has(credential),
    answered: (credential, status) => {
      if (status === 401) accepted.delete(credential);
      else if (isRecognised(status) && credential !== ANONYMOUS_SHARE) accepted.set(credential, true);
    },
  };
}
