/** Maps that remember only what was set last. */

/** Sets `key` as the latest entry of `map`, and drops the oldest one if there are more than `most`. */
export function setLatest<V>(map: Map<string, V>, key: string, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
