/** How the rollout tells callers apart: by a bucket for percentages, and by a keyed digest of the credential. */
import { createHmac } from "node:crypto";
import { credentialFields, readClaims } from "../ledger/identity.ts";
import { type HeaderList, header } from "../model/http.ts";
import { bearerDigest, keyedDigest } from "../upstream/credentials.ts";

/** Set before the client's name, so that other uses of the salt (hashes of clients) tell nothing about buckets. */
const PURPOSE = "bucket\0";
/** Bytes of the digest that make a bucket: 48 bits, which a number holds exactly. */
const BYTES = 6;
/** Clients whose buckets are remembered, to save time. */
const REMEMBERED = 1000;

/**
 * Buckets from 0 to below 100, the same on every replica. They depend on salt and client alone, not on the rule: rules nest,
 * and all requests of a client fall on the same side.
 */
export function createBucket(salt: string): (client: string) => number {
  const known = new Map<string, number>();
  return (client) => {
    const before = known.get(client);
    if (before !== undefined) return before;
    const digest = createHmac("sha256", salt).update(PURPOSE).update(client).digest();
    const bucket = (digest.readUIntBE(0, BYTES) / 256 ** BYTES) * 100;
    // All at once: keeping them in the order of use would cost more than computing them again.
    if (known.size >= REMEMBERED) known.clear();
    known.set(client, bucket);
    return bucket;
  };
}

/** Gives a keyed digest for the sender of `headers`, to be counted and never to be shown. */
export type CredentialOf = (headers: HeaderList) => string;

/** All callers without a credential count as one. */
export const NO_CREDENTIAL = "";

/**
 * Uses the subject of a token that has one, so that a fresh token is no further caller; else the Authorization field as it is;
 * else the first field of `identify` (`clients.identify`) with a credential. Claims are not verified here, but only requests
 * that the platform let in are counted.
 */
export function createCredentials(identify: readonly string[], secret: Uint8Array): CredentialOf {
  const fields = credentialFields(identify);
  const digest = (...parts: readonly string[]): string => keyedDigest(JSON.stringify(parts), secret);
  return (headers) => {
    const claims = readClaims(headers);
    const [issuer = "", subject = ""] = [claims?.("iss"), claims?.("sub")];
    if (issuer !== "" && subject !== "") return digest("subject", issuer, subject);
    const bearer = bearerDigest(headers, secret);
    if (bearer !== undefined) return bearer;
    for (const name of ["authorization", ...fields]) {
      const value = header(headers, name) ?? "";
      if (value !== "") return digest(name, value);
    }
    return NO_CREDENTIAL;
  };
}
