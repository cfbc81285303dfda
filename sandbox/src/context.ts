/** What every handler works with: settings, records, and the caller with their rights. */
import type { SandboxSettings } from "./options.ts";
import { forbidden } from "./refusal.ts";
import { isWithin } from "./store/collection.ts";
import type { Store } from "./store/store.ts";
import { timeText } from "./wire/scalars.ts";
import type { Schema } from "./wire/schema.ts";

export interface Context {
  readonly store: Store;
  readonly settings: SandboxSettings;
  /** The messages of native v1. */
  readonly v1: Schema;
  /** The messages of v2, with the names of `newerNames`. */
  readonly v2: Schema;
}

/** The time of the injected clock as records carry it. */
export function now(context: Context): string {
  return timeText(context.settings.clock());
}

/** A right on a group and all below it; the empty scope is everything. */
export interface Grant {
  readonly scope: string;
  readonly write: boolean;
}

export interface Caller {
  readonly subject: string;
  /** Staff may do what customers may not: set `verified`, write what `repo.internal.admin` guards. */
  readonly staff: boolean;
  readonly grants: readonly Grant[];
}

/** True when the caller may see `uid`. */
export function mayRead(caller: Caller, uid: string): boolean {
  return caller.grants.some((grant) => isWithin(uid, grant.scope));
}

/** True when the caller sees everything. */
export function readsAll(caller: Caller): boolean {
  return caller.grants.some((grant) => grant.scope === "");
}

/** Throws 403 unless the caller may write at `uid`; for a new root group (empty uid) any writer will do. */
export function needWrite(caller: Caller, uid: string): void {
  if (!caller.grants.some((grant) => grant.write && (uid === "" || isWithin(uid, grant.scope)))) throw forbidden();
}
