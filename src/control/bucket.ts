/** In which bucket is a client, the same on every replica? (Design section 7: sticky.) */
import { createHmac } from "node:crypto";
import { bucketOfDigest } from "../cutover/bucket.ts";

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
