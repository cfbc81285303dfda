/** How does native v1 show and write account associations? They are known by their group. (Field map 2.7.) */

import type { Context } from "../context.ts";
import { VENDOR_KEY } from "../data/vendor.ts";
import type { Route } from "../gateway/route.ts";
import { type JsonObject, member } from "../json.ts";
import { invalid } from "../refusal.ts";
import { accountAssociations } from "../resources/account-associations.ts";
import type { Draft } from "../resources/resource.ts";
import { readable } from "../resources/writes.ts";
import type { StoredRecord } from "../store/collection.ts";
import { nameTest } from "../store/select.ts";
import { decodeV1, textV1, type V1Face } from "./face.ts";
import { keep, times } from "./shape.ts";

const SAME = ["name", "description", "amazon", "google", "azure", "github", VENDOR_KEY] as const;
const NAMES: ReadonlyMap<string, string> = new Map([
  ["uid", "group"],
  ["providerType", "accountType"],
]);
/** Account types of v1 by number; the states are 1 for ready and 2 for not. */
const ACCOUNTS = ["", "google", "amazon", "azure"] as const;

function viewAssociation(record: StoredRecord): JsonObject {
  return { group: record.uid, ...keep(record.value, SAME), ...times(record.value) };
}

/** `group` in the body is ignored: the path says it. */
function readAssociation(given: JsonObject, before: StoredRecord | undefined): Draft {
  return { value: { ...keep(given, SAME), ...keep(before?.value, ["createTime"]) }, extra: {} };
}

export const accountAssociationsV1: V1Face = {
  resource: accountAssociations,
  domain: "iam",
  collection: "account_associations",
  operations: ["list", "create", "update", "delete"],
  filter: "AccountAssociationsFilter",
  item: "AccountAssociations",
  view: viewAssociation,
  tests: nameTest,
  key: "group",
  write: {
    message: "AccountAssociations",
    read: readAssociation,
    answer: "AccountAssociations",
    view: viewAssociation,
  },
  names: NAMES,
};

/** `POST account_associations/{group}:check`: `{ready, reason, message}`. */
export function checkAssociationV1(context: Context): Route {
  return {
    method: "POST",
    domain: "iam",
    version: "v1",
    collection: "account_associations",
    shape: "verb",
    word: "check",
    names: NAMES,
    prepare(call) {
      const given = decodeV1(context, "AccountAssociationsCheckRequest", call.body);
      return (caller) => {
        const record = readable(context, accountAssociations, caller, call.tail);
        const account = ACCOUNTS[Number(member(given, "accountType") ?? 0)] ?? "";
        if (account === "") throw invalid("providerType", "a provider is required");
        const there = member(record.value, account) !== undefined;
        const answer = there
          ? { ready: 1 }
          : { ready: 2, reason: "NotConfigured", message: `no ${account} account is associated` };
        return textV1(context, "AccountAssociationsStatus", answer);
      };
    },
  };
}
