/** How does native v1 show and write role bindings, in their three shapes? (Field map 2.5 and 2.C.) */

import type { Context } from "../context.ts";
import type { Route } from "../gateway/route.ts";
import { type JsonObject, member } from "../json.ts";
import { gatewayRefusal, RpcCode } from "../refusal.ts";
import { claimsOf } from "../resources/identities.ts";
import type { Draft } from "../resources/resource.ts";
import { partsOf, roleBindings } from "../resources/role-bindings.ts";
import { checkCreation, createRecord } from "../resources/writes.ts";
import type { StoredRecord } from "../store/collection.ts";
import { parentOf } from "../store/uid.ts";
import { decodeMessage } from "../wire/decode.ts";
import { bodyText, parseFirst } from "../wire/parse.ts";
import { textV1, type V1Face } from "./face.ts";
import { viewGroup } from "./groups.ts";
import { viewRole } from "./roles.ts";
import { pick } from "./shape.ts";

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
