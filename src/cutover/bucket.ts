/** On which side of a percentage does a client stand? (Design section 7: sticky.) */

/** Bytes of a digest that are looked at: 48 bits, all of which a number holds exactly. */
const BYTES = 6;

/**
 * The place of a digest on the scale of percentages: 0 included, 100 excluded, evenly spread. Throws `Error` for a digest of
 * less than 6 bytes.
 */
export function bucketOfDigest(digest: Uint8Array): number {
  if (digest.length < BYTES) throw new Error(`a digest of ${digest.length} bytes is too short`);
  let value = 0;
  for (let at = 0; at < BYTES; at++) value = value * 256 + (digest[at] ?? 0);
  return (value / 256 ** BYTES) * 100;
}

/** True when a rule of `percent` takes a client in `bucket`: 0 takes nobody, 100 everybody, and more never means fewer. */
export function isTaken(bucket: number, percent: number): boolean {
  return bucket < percent;
}
