/** Where does a key stand in a YAML document? (Looked up, never searched for: a map may have very many.) */
import { isMap, isPair, isScalar, isSeq, type Pair, type YAMLMap } from "yaml";

/** What stands under a path. */
export interface Keys {
  /** The value at `path` from `node` on, aliases not followed; undefined when there is none. */
  valueAt(node: unknown, path: readonly PropertyKey[]): unknown;
  /** The key `key` itself of the map `node`. */
  keyOf(node: unknown, key: string): unknown;
}

/** Each map is walked through once, when it is first asked for. */
export function createKeys(): Keys {
  const known = new Map<YAMLMap, ReadonlyMap<string, Pair>>();
  const pairOf = (map: YAMLMap, key: PropertyKey): Pair | undefined => {
    const pairs = known.get(map) ?? pairsOf(map);
    known.set(map, pairs);
    return pairs.get(String(key));
  };
  const valueAt: Keys["valueAt"] = (node, path) => {
    let found = node;
    for (const key of path) {
      if (isMap(found)) found = pairOf(found, key)?.value;
      else if (isSeq(found)) found = found.items[Number(key)];
      else return undefined;
    }
    return found;
  };
  return { valueAt, keyOf: (node, key) => (isMap(node) ? pairOf(node, key)?.key : undefined) };
}

/** Each name once: a document in which one is there twice is refused. */
function pairsOf(map: YAMLMap): ReadonlyMap<string, Pair> {
  return new Map(map.items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair] as const] : [])));
}

/** Where keys begin that their map has already. The parser would compare each with all before it. */
export function repeatedKeys(node: unknown, found: number[] = []): readonly number[] {
  if (isPair(node)) {
    repeatedKeys(node.key, found);
    repeatedKeys(node.value, found);
  } else if (isSeq(node)) {
    for (const item of node.items) repeatedKeys(item, found);
  } else if (isMap(node)) {
    const seen = new Set<unknown>();
    for (const pair of node.items) {
      if (isScalar(pair.key)) {
        if (seen.has(pair.key.value)) found.push(pair.key.range?.[0] ?? 0);
        seen.add(pair.key.value);
      }
      repeatedKeys(pair, found);
    }
  }
  return found;
}
