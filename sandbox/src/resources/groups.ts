/** Groups: their rules, v1 and v2. */
import type { Caller, Context } from "../context.ts";
import { keep, times, type V1Face } from "../faces/v1.ts";
import type { V2Face } from "../faces/v2.ts";
import { type JsonObject, member } from "../json.ts";
import { forbidden, invalid, precondition } from "../refusal.ts";
import type { StoredRecord } from "../store/collection.ts";
import { nameTest } from "../store/select.ts";
import { RESOURCES } from "../store/store.ts";
import type { Draft, Resource, Write } from "./resource.ts";

const NAME = /^[a-z0-9 ._-]{1,}$/;
/** ORG_STATUS_READY. */
const READY = 2;

/** Throws unless `name` matches the one pattern that names of groups and identities have. */
export function checkName(value: JsonObject): void {
  if (!NAME.test(String(member(value, "name") ?? ""))) throw invalid("name", `name must match ${NAME.source}`);
}

function check(write: Write): Draft {
  const { next, before, caller, parent } = write;
  checkName(next.value);
  const verified = member(next.value, "verified") === true;
  if (verified !== (member(before?.value, "verified") === true) && !caller.staff) throw forbidden();
  const kind = Number(member(next.value, "kind") ?? 0);
  if (parent === "") {
    if (verified && kind === 0) throw invalid("kind", "a verified root group has a kind");
    return before === undefined ? { value: { ...next.value, status: READY }, extra: next.extra } : next;
  }
  const inherited = inheritedKind(write);
  if (kind !== inherited && (kind !== 0 || before !== undefined)) {
    throw invalid("kind", "a subgroup inherits the kind of its parent");
  }
  return { value: { ...next.value, kind: inherited }, extra: next.extra };
}

/** The kind a subgroup has: its own once it exists, its parent's before. */
function inheritedKind({ before, context, parent }: Write): number {
  const source = before ?? context.store.collection("groups").get(parent);
  return Number(member(source?.value, "kind") ?? 0);
}

function checkRemoval(context: Context, record: StoredRecord): void {
  for (const name of RESOURCES) {
    const collection = context.store.collection(name);
    const inside = collection.children(record.uid).length > 0 || (name !== "groups" && collection.get(record.uid));
    if (inside) throw precondition("RESOURCE_NOT_EMPTY", record.uid, `the group still contains ${name}`);
  }
}

export const groups: Resource = {
  name: "groups",
  type: "Group",
  rootless: true,
  times: ["createTime", "updateTime"],
  check,
  checkRemoval,
};

// v1

/** A group as v1 knows it. */
export function viewGroup(record: StoredRecord): JsonObject {
  const same = keep(record.value, ["name", "description", "resourceLimits", "verified", "kind", "status"]);
  return { id: record.uid, ...same, ...times(record.value) };
}

/**
 * A full replace of what a v1 client may set. Limits and status belong to the server. A customer's silence about
 * `verified` and `kind` is no request to change them: only staff clear them by leaving them out.
 */
function readGroup(given: JsonObject, before: StoredRecord | undefined, _context: Context, caller: Caller): Draft {
  const server = keep(before?.value, ["createTime", "resourceLimits", "status"]);
  const guarded: JsonObject = {};
  const verified = member(given, "verified") === true;
  const keepVerified = !verified && !caller.staff && member(before?.value, "verified") === true;
  if (verified || keepVerified) guarded["verified"] = true;
  const asked = Number(member(given, "kind") ?? 0);
  const kind = asked === 0 ? member(before?.value, "kind") : asked;
  if (kind !== undefined) guarded["kind"] = kind;
  return { value: { ...keep(given, ["name", "description"]), ...guarded, ...server }, extra: before?.extra ?? {} };
}

export const groupsV1: V1Face = {
  resource: groups,
  domain: "iam",
  collection: "groups",
  operations: ["list", "create", "update", "delete"],
  filter: "GroupFilter",
  item: "Group",
  view: viewGroup,
  tests: nameTest,
  key: "id",
  write: { message: "Group", read: readGroup, answer: "Group", view: viewGroup },
};

// v2

export const groupsV2: V2Face = {
  resource: groups,
  domain: "iam",
  collection: "groups",
  operations: ["list", "get", "create", "update", "delete"],
  listRequest: "ListGroupsRequest",
  order: "uid",
  tests: nameTest,
};
