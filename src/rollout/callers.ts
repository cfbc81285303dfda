/** In which bucket is a client, the same on every replica? (Design section 7: sticky.) */
import { createHmac } from "node:crypto";
import { credentialFields, readClaims } from "../ledger/identity.ts";
import { type HeaderList, header } from "../model/http.ts";
import { bucketOfDigest } from "../model/rule-match.ts";
import { credentialOf, keyedDigest } from "../upstream/credentials.ts";

/** Set before the client's name, so that the salt's other uses (hashes of clients) tell nothing about buckets. */
const PURPOSE = "bucket\0";

/** Clients remembered; it is only about time. */
const REMEMBERED = 1000;

/**
 * Buckets (0 included to 100 excluded) by nothing but salt and client: not by rule, so that the rules nest and reads and
 * writes of one client fall on the same side.
 */
export function createBucket(salt: string): (client: string) => number {
  const known = new Map<string, number>();
  return (client) => {
    const before = known.get(client);
    if (before !== undefined) return before;
    const bucket = bucketOfDigest(createHmac("sha256", salt).update(PURPOSE).update(client).digest());
    // All at once: a list of uses would cost more than making them again.
    if (known.size >= REMEMBERED) known.clear();
    known.set(client, bucket);
    return bucket;
  };
}

/** Whose credential came with a request, so that a caller under many names is still one? (Design section 7: step back.) */

/** What stands for whoever sent `headers`: a keyed digest, to be counted and never to be shown. */
export type CredentialOf = (headers: HeaderList) => string;

/** All who send no credential are one caller. */
export const NO_CREDENTIAL = "";

/**
 * Goes by the subject of a token that names one, so that a fresh token is no further caller; by any other Authorization as
 * it is; without one by the first field of `identify` (`clients.identify`) that carries a credential. Claims are not verified
 * here: what is counted was let in by the platform, and whoever writes a token of his own is not.
 */
export function createCredentials(identify: readonly string[], secret: Uint8Array): CredentialOf {
  const fields = credentialFields(identify);
  const digest = (...parts: readonly string[]): string => keyedDigest(JSON.stringify(parts), secret);
  return (headers) => {
    const claims = readClaims(headers);
    const [issuer = "", subject = ""] = [claims?.("iss"), claims?.("sub")];
    if (issuer !== "" && subject !== "") return digest("subject", issuer, subject);
    const bearer = credentialOf(headers, secret);
    if (bearer !== undefined) return bearer.digest;
    for (const name of ["authorization", ...fields]) {
      const value = header(headers, name) ?? "";
      if (value !== "") return digest(name, value);
    }
    return NO_CREDENTIAL;
  };
}
