/** What replicas tell each other in rows of the shared store: each keeps its own, and anybody may read those of all, also of replicas that are gone. */
import type { SharedStore } from "./protocol.ts";
import type { Rows } from "./rows.ts";

/** One that has rows. A process with `state.dir` goes on as the one before it. */
export interface Contributor {
  readonly id: string;
  /** By the clock of the store, milliseconds since 1970. */
  readonly heardAt: number;
  /** JSON of the process that wrote last: its host, version, rules and start. */
  readonly about: string;
}

export interface Contributions {
  /** Replaces the row `name` of this contributor; undefined removes it. Takes no time: it is sent with one of the next ticks. */
  put(name: string, text: string | undefined): void;
  /** Those that are gone included. Rejects with `StoreError`. */
  contributors(): Promise<readonly Contributor[]>;
  /** By name. Rejects with `StoreError`. */
  rowsOf(id: string): Promise<ReadonlyMap<string, string>>;
}

/** Begins the owner of a contributor's rows: other owners have rows of another kind. */
const KIND = "d.";

export function ownerOf(contributor: string): string {
  return `${KIND}${contributor}`;
}

/** `rows`: of this contributor, made with `ownerOf` its id. */
export function createContributions(rows: Rows, store: Pick<SharedStore, "owners" | "rowsOf">): Contributions {
  return {
    put: rows.put,
    contributors: async () =>
      (await store.owners()).flatMap(({ owner, ...rest }) =>
        owner.startsWith(KIND) ? [{ id: owner.slice(KIND.length), ...rest }] : [],
      ),
    rowsOf: (id) => store.rowsOf(ownerOf(id)),
  };
}
