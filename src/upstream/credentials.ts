/** Credentials as keyed digests, and which of them the platform accepted lately. */

import { createHmac, hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { bearerToken, readAuthorization } from "../model/authorization.ts";
import { ANONYMOUS_SHARE, type CredentialShares } from "../model/credential-shares.ts";
import { isRecognised } from "../model/exchange.ts";
import { type HeaderList, onlyValue } from "../model/http.ts";

/** A bearer token (RFC 6750 section 2.1). */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/** The keyed digest of a bearer token, the same for `Bearer TOKEN` and `TOKEN`. Undefined for no credential, two, or another kind. */
export function bearerDigest(headers: HeaderList, secret: Uint8Array): string | undefined {
  const token = bearerToken(onlyValue(headers, "authorization") ?? "");
  if (token === undefined || !TOKEN.test(token)) return undefined;
  return keyedDigest(`Bearer ${token}`, secret);
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
