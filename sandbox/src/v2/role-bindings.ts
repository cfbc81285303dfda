/** How does v2 show role bindings? (Specification sections 2 and 4; field map 2.5 and 3.4.) */

import type { Context } from "../context.ts";
import type { Route } from "../gateway/route.ts";
import { type Json, type JsonObject, member } from "../json.ts";
import { invalid } from "../refusal.ts";
import { roleBindings } from "../resources/role-bindings.ts";
import { checkCreation, createRecord } from "../resources/writes.ts";
import type { RecordTest } from "../store/select.ts";
import { parentOf } from "../store/uid.ts";
import { V2 } from "../wire/schemas.ts";
import { decodeBody, recordText, type V2Face, writableOnly } from "./face.ts";

/** Most bindings in one batch (field map section 3, limits). */
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
