/** Account associations: their rules, v1 and v2. A group has at most one, whose uid is the group's. */

import type { Context } from "../context.ts";
import { VENDOR_KEY } from "../data/vendor.ts";
import { decodeV1, keep, textV1, times, type V1Face } from "../faces/v1.ts";
import { decodeBody, type V2Face } from "../faces/v2.ts";
import type { Route } from "../gateway/route.ts";
import { type JsonObject, member } from "../json.ts";
import { invalid } from "../refusal.ts";
import type { StoredRecord } from "../store/collection.ts";
import { nameTest } from "../store/select.ts";
import { encodeMessage } from "../wire/encode.ts";
import { V2 } from "../wire/schema.ts";
import { type Draft, type Resource, readable } from "./resource.ts";

export const accountAssociations: Resource = {
  name: "accountAssociations",
  type: "AccountAssociation",
  times: ["createTime", "updateTime"],
  uidFor: (parent) => parent,
  twin: (context, parent) => context.store.collection("accountAssociations").get(parent),
  check: ({ next }) => next,
  removalIsIdempotent: true,
};

// v1: the group is the id.

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

// v2

/** The members of an association by the number of their provider type. */
const PROVIDERS: ReadonlyMap<number, string> = new Map([
  [1, "google"],
  [2, "amazon"],
  [3, "azure"],
]);
const READY = 1;
const NOT_READY = 2;

function checkResult(value: unknown, provider: number) {
  const key = PROVIDERS.get(provider);
  if (key === undefined) throw invalid("providerType", "a provider is required");
  if (member(value, key) !== undefined) return { state: READY, reason: "", message: "" };
  return { state: NOT_READY, reason: "NotConfigured", message: `no ${key} account is associated` };
}

export const accountAssociationsV2: V2Face = {
  resource: accountAssociations,
  domain: "iam",
  collection: "accountAssociations",
  operations: ["list", "get", "create", "update", "delete"],
  listRequest: "ListAccountAssociationsRequest",
  order: "group",
  tests: nameTest,
  demand: (next) => {
    if ((member(next, "name") ?? "") === "") throw invalid("name", "a name is required");
  },
};

/** `POST accountAssociations/{uid}:checkAccountAssociation`. */
export function checkAssociationV2(context: Context): Route {
  return {
    method: "POST",
    domain: "iam",
    version: context.settings.version,
    collection: "accountAssociations",
    shape: "verb",
    word: "checkAccountAssociation",
    prepare(call) {
      const { given } = decodeBody(V2.message("CheckAccountAssociationRequest"), call.body);
      return (caller) => {
        const record = readable(context, accountAssociations, caller, call.tail);
        const { state, ...rest } = checkResult(record.value, Number(member(given, "providerType") ?? 0));
        const message = V2.message("CheckAccountAssociationResponse");
        return encodeMessage(V2, message, { status: state, ...rest }, { omitZeros: context.settings.omitZeros });
      };
    },
  };
}
