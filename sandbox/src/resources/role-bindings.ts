/** Role bindings: their rules, the records that they join, v1 and v2. */
import type { Context } from "../context.ts";
import { pick, textV1, type V1Face } from "../faces/v1.ts";
import { decodeBody, recordText, type V2Face, writableOnly } from "../faces/v2.ts";
import type { Route } from "../gateway/route.ts";
import { type Json, type JsonObject, member } from "../json.ts";
import { gatewayRefusal, invalid, notFound, RpcCode } from "../refusal.ts";
import { parentOf, type StoredRecord } from "../store/collection.ts";
import type { RecordTest } from "../store/select.ts";
import { decodeMessage } from "../wire/decode.ts";
import { bodyText, parseFirst } from "../wire/parse.ts";
import { V2 } from "../wire/schema.ts";
import { viewGroup } from "./groups.ts";
import { claimsOf } from "./identities.ts";
import { checkCreation, createRecord, type Draft, type Resource, type Write } from "./resource.ts";
import { viewRole } from "./roles.ts";

/** What a binding ties together; undefined for what is no longer there. */
export function partsOf(context: Context, record: StoredRecord) {
  const find = (name: "identities" | "groups" | "roles", uid: unknown) =>
    context.store.collection(name).get(String(uid ?? ""));
  return {
    identity: find("identities", member(record.value, "identityUid")),
    group: find("groups", parentOf(record.uid)),
    role: find("roles", member(record.value, "roleUid")),
  };
}

function check({ context, next }: Write): Draft {
  const identity = String(member(next.value, "identityUid") ?? "");
  const role = String(member(next.value, "roleUid") ?? "");
  if (identity === "") throw invalid("identityUid", "an identity is required");
  if (role === "") throw invalid("roleUid", "a role is required");
  if (context.store.collection("identities").get(identity) === undefined) throw notFound("Identity", identity);
  if (context.store.collection("roles").get(role) === undefined) throw notFound("Role", role);
  return next;
}

function summary(record: StoredRecord | undefined, more: JsonObject = {}): JsonObject {
  if (record === undefined) return {};
  const name = member(record.value, "name") ?? "";
  return { uid: record.uid, name, description: member(record.value, "description") ?? "", ...more };
}

function joined(context: Context, record: StoredRecord): JsonObject {
  const { identity, group, role } = partsOf(context, record);
  const who = { ...claimsOf(identity?.value), email: member(identity?.value, "email") ?? "" };
  const flat = context.settings.nestedUidsOnly ? { identityUid: "", roleUid: "" } : {};
  return { ...record.value, ...flat, identity: summary(identity, who), group: summary(group), role: summary(role) };
}

export const roleBindings: Resource = {
  name: "roleBindings",
  type: "RoleBinding",
  times: ["createTime"],
  check,
  removalIsIdempotent: true,
  joined,
};

// v1: three shapes of a binding.

/** What a list shows: whole groups and roles, and the claims of the identity. */
function viewItem(record: StoredRecord, context: Context): JsonObject {
  const { identity, group, role } = partsOf(context, record);
  const { issuer, subject } = claimsOf(identity?.value);
  return {
    id: record.uid,
    ...(group === undefined ? {} : { group: viewGroup(group) }),
    identity: member(record.value, "identityUid") ?? "",
    ...(role === undefined ? {} : { role: viewRole(role) }),
    email: member(identity?.value, "email") ?? "",
    claimMatchIssuer: issuer,
    claimMatchSubject: subject,
    ...pick(record.value, [["createTime", "createdAt"]]),
    emailUnverified: member(identity?.value, "emailUnverified") ?? "",
  };
}

/** What creates and updates answer: four texts. */
function viewFlat(record: StoredRecord): JsonObject {
  const named = pick(record.value, [
    ["identityUid", "identity"],
    ["roleUid", "role"],
  ]);
  return { id: record.uid, ...named, group: parentOf(record.uid) };
}

/** `group` is ignored: the path says it. */
function readBinding(given: JsonObject, before?: StoredRecord): Draft {
  const named = pick(given, [
    ["identity", "identityUid"],
    ["role", "roleUid"],
  ]);
  return { value: { ...named, ...pick(before?.value, [["createTime", "createTime"]]) }, extra: {} };
}

const NAMES: ReadonlyMap<string, string> = new Map([
  ["uid", "id"],
  ["identityUid", "identity"],
  ["roleUid", "role"],
]);

export const roleBindingsV1: V1Face = {
  resource: roleBindings,
  domain: "iam",
  collection: "rolebindings",
  operations: ["list", "create", "update", "delete"],
  filter: "RoleBindingFilter",
  item: "RoleBindingList.Binding",
  view: viewItem,
  joins: true,
  tests: () => [],
  key: "id",
  write: { message: "RoleBinding", read: readBinding, answer: "RoleBinding", view: viewFlat },
  names: NAMES,
};

/** `POST rolebindings/batch/{parent}`: a bare array in, `{roleBindings}` out, all or nothing. */
export function batchCreateV1(context: Context): Route {
  return {
    method: "POST",
    domain: "iam",
    version: "v1",
    collection: "rolebindings",
    shape: "prefix",
    word: "batch",
    names: NAMES,
    prepare(call) {
      const { v1 } = context;
      const node = parseFirst(bodyText(call.body)) ?? { kind: "array", items: [] };
      if (node.kind !== "array") throw gatewayRefusal(RpcCode.INVALID_ARGUMENT, "an array of bindings is expected");
      const given = node.items.map((item) => decodeMessage(v1, v1.message("RoleBinding"), item));
      return (caller) => {
        const drafts = given.map((one) => readBinding(one));
        for (const draft of drafts) checkCreation(context, roleBindings, caller, call.tail, draft);
        const made = drafts.map((draft) => createRecord(context, roleBindings, caller, call.tail, draft));
        return textV1(context, "RoleBindingBatch", { roleBindings: made.map(viewFlat) });
      };
    },
  };
}

// v2

/** Most bindings in one batch. */
const MAX_BATCH = 25;

function tests(request: JsonObject): readonly RecordTest[] {
  const found: RecordTest[] = [];
  const text = (key: string) => String(member(request, key) ?? "");
  if (text("identity") !== "") found.push((record) => member(record.value, "identityUid") === text("identity"));
  if (text("role") !== "") found.push((record) => member(record.value, "roleUid") === text("role"));
  if (text("group") !== "") found.push((record) => parentOf(record.uid) === text("group"));
  return found;
}

export const roleBindingsV2: V2Face = {
  resource: roleBindings,
  domain: "iam",
  collection: "roleBindings",
  operations: ["list", "get", "create", "update", "delete"],
  listRequest: "ListRoleBindingsRequest",
  order: "uid",
  tests,
};

/** One binding of a batch, its role taken from the batch when it names none. Throws 400 for contradictions. */
function batchItem(item: Json, parent: string, roleUid: string): JsonObject {
  const above = String(member(item, "parent") ?? "");
  if (above !== "" && above !== parent) throw invalid("requests.parent", "all bindings have the parent of the batch");
  const binding = (member(item, "roleBinding") ?? {}) as JsonObject;
  const own = String(member(binding, "roleUid") ?? "");
  if (own !== "" && roleUid !== "" && own !== roleUid) {
    throw invalid("requests.role_binding.role_uid", "a binding names another role than the batch");
  }
  const value = writableOnly(V2.message("RoleBinding"), binding);
  return roleUid === "" ? value : { ...value, roleUid };
}

/** `POST roleBindings:batchCreate`: all or nothing, answers in the order of the requests. */
export function batchCreateV2(context: Context): Route {
  return {
    method: "POST",
    domain: "iam",
    version: context.settings.version,
    collection: "roleBindings",
    shape: "collectionVerb",
    word: "batchCreate",
    prepare(call) {
      const { given } = decodeBody(V2.message("BatchCreateRoleBindingsRequest"), call.body);
      return (caller) => {
        const parent = String(member(given, "parent") ?? "");
        const requests = member(given, "requests");
        const items = Array.isArray(requests) ? requests : [];
        if (items.length === 0) throw invalid("requests", "a batch has at least one request");
        if (items.length > MAX_BATCH) throw invalid("requests", `a batch has at most ${MAX_BATCH} requests`);
        const roleUid = String(member(given, "roleUid") ?? "");
        const drafts = items.map((item) => ({ value: batchItem(item, parent, roleUid), extra: {} }));
        for (const draft of drafts) checkCreation(context, roleBindings, caller, parent, draft);
        const made = drafts.map((draft) => createRecord(context, roleBindings, caller, parent, draft));
        return `{"roleBindings":[${made.map((one) => recordText(context, roleBindingsV2, one, false)).join(",")}]}`;
      };
    },
  };
}
