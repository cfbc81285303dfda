/** What must be known of a kind of record, whichever face serves it? */

import type { Caller } from "../auth/caller.ts";
import type { Context } from "../context.ts";
import type { JsonObject } from "../json.ts";
import type { StoredRecord } from "../store/collection.ts";
import type { ResourceName } from "../store/store.ts";

/** What a write would store: members of the v2 message, and what v2 does not show. */
export interface Draft {
  readonly value: JsonObject;
  readonly extra: JsonObject;
}

/** A write about to happen. `before` is undefined for a new record. */
export interface Write {
  readonly context: Context;
  readonly caller: Caller;
  readonly parent: string;
  readonly before: StoredRecord | undefined;
  readonly next: Draft;
}

export interface Resource {
  readonly name: ResourceName;
  /** The v2 message, which is also the type that errors name. */
  readonly type: string;
  /** Where parents live; undefined: in groups. */
  readonly parents?: ResourceName;
  /** True when a record may be made at the root. */
  readonly rootless?: boolean;
  /** The times that this kind carries: not all have both (field map C01). */
  readonly times: readonly ("createTime" | "updateTime")[];
  /** The uid of a new record, when it is not a fresh one below the parent. */
  readonly uidFor?: (parent: string) => string;
  /** A record that a new one would double: same name below the same parent, or the one record of a group. */
  readonly twin?: (context: Context, parent: string, value: JsonObject) => StoredRecord | undefined;
  /** What the server draws for a new record once nothing can fail any more: keys, codes. */
  readonly secrets?: (context: Context) => Draft;
  /** The rules of both faces: throws a refusal, or says what is really stored. */
  readonly check: (write: Write) => Draft;
  /** Throws when a record must stay; removes what goes with it. */
  readonly checkRemoval?: (context: Context, record: StoredRecord) => void;
  /** True when deleting what is not there succeeds. */
  readonly removalIsIdempotent?: boolean;
  /** The v2 record with its joined parts; without it the stored value is the record. */
  readonly joined?: (context: Context, record: StoredRecord) => JsonObject;
  /** True for records that everybody may read, whatever their grants. */
  readonly open?: (uid: string) => boolean;
}
