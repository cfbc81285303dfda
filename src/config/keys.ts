/** Where does a key stand in a YAML document? (Looked up, never searched for: a map may have very many.) */
import { type Document, isAlias, isMap, isNode, isPair, isScalar, isSeq, type Pair, type YAMLMap } from "yaml";

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

/** Where keys begin that their map has already, however they are written. The parser would compare each with all before it. */
export function repeatedKeys(document: Document): readonly number[] {
  const found: number[] = [];
  const search = (node: unknown): void => {
    if (isPair(node)) {
      search(node.key);
      search(node.value);
    } else if (isSeq(node)) {
      for (const item of node.items) search(item);
    } else if (isMap(node)) {
      const seen = new Set<string>();
      for (const pair of node.items) {
        const name = nameOf(pair.key, document);
        if (name !== undefined && seen.has(name)) found.push(isNode(pair.key) ? (pair.key.range?.[0] ?? 0) : 0);
        if (name !== undefined) seen.add(name);
        search(pair);
      }
    }
  };
  search(document.contents);
  return found;
}

/** What the tree calls a key: 1 and "1" are one there, and an alias is what it stands for. */
function nameOf(key: unknown, document: Document): string | undefined {
  const node = isAlias(key) ? key.resolve(document) : key;
  return isScalar(node) ? String(node.value) : undefined;
}
