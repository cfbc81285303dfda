/** All records of the platform. */
import { createHash } from "node:crypto";
import type { JsonObject } from "../json.ts";
import { type Collection, createCollection } from "./collection.ts";

export const RESOURCES = [
  "groups",
  "identities",
  "roles",
  "roleBindings",
  "identityProviders",
  "accountAssociations",
  "groupInvites",
  "repos",
  "tags",
  "advisories",
] as const;
/** The ten kinds of records, as v2 spells their collections. */
export type ResourceName = (typeof RESOURCES)[number];

export interface Store {
  collection(name: ResourceName): Collection;
  /** A uid that was never given out: 16 hex digits below `parent`, 40 at the root. Advances the counter. */
  nextUid(parent: string): string;
  /** `length` hex digits, a function of the seed and the counter, which it advances. */
  nextHex(length: number): string;
  /** Grows with every write to any collection: what joined records depend on. */
  epoch(): number;
  /** What callers said about themselves, by subject: v2's IdentityMetadata in normal form, and what only v1 has under `extra`. */
  readonly profiles: Map<string, JsonObject>;
  /** Who asked to be let into which group: `{uid, subject}` under a key of both. */
  readonly accessRequests: Map<string, JsonObject>;
}

/** One record as the store holds it: what v2 shows of it, and what it does not. */
export interface Content {
  readonly value: JsonObject;
  readonly extra: JsonObject;
}

/** All records by resource, ascending by uid, and what is known of callers. */
export type Contents = Readonly<Record<ResourceName | "identityMetadata" | "accessRequests", readonly Content[]>>;

/** The same as plain JSON. */
export type Snapshot = Record<keyof Contents, JsonObject[]>;

/** An empty store whose new uids follow from `seed`. */
export function createStore(seed: string): Store {
  const collections = new Map<ResourceName, Collection>(RESOURCES.map((name) => [name, createCollection()]));
  let counter = 0;
  function collection(name: ResourceName): Collection {
    const found = collections.get(name);
    if (found === undefined) throw new Error(`the sandbox has no collection ${name}`);
    return found;
  }
  function nextHex(length: number): string {
    counter++;
    return createHash("sha256").update(`${seed}:${counter}`).digest("hex").slice(0, length);
  }
  return {
    collection,
    profiles: new Map(),
    accessRequests: new Map(),
    nextHex,
    nextUid: (parent) => (parent === "" ? nextHex(40) : `${parent}/${nextHex(16)}`),
    epoch() {
      let sum = 0;
      for (const one of collections.values()) sum += one.version();
      return sum;
    },
  };
}

const NOTHING: JsonObject = {};

/** Everything the store holds, nothing copied: what was not written since is the same array. */
export function contentsOf(store: Store): Contents {
  const all = (name: ResourceName): readonly Content[] => store.collection(name).all();
  const sorted = (entries: ReadonlyMap<string, JsonObject>) =>
    [...entries.keys()].sort().map((key) => ({ value: entries.get(key) ?? NOTHING, extra: NOTHING }));
  return {
    ...(Object.fromEntries(RESOURCES.map((name) => [name, all(name)])) as Record<ResourceName, readonly Content[]>),
    identityMetadata: sorted(store.profiles),
    accessRequests: sorted(store.accessRequests),
  };
}

/** A deep copy of everything the store holds. Members that v2 does not show are under `extra`. */
export function snapshotOf(store: Store): Snapshot {
  const copy = ({ value, extra }: Content) =>
    JSON.parse(JSON.stringify(Object.keys(extra).length === 0 ? value : { ...value, extra })) as JsonObject;
  const copies = Object.entries(contentsOf(store)).map(([name, contents]) => [name, contents.map(copy)]);
  return Object.fromEntries(copies) as Snapshot;
}
