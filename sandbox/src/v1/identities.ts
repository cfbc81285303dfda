/** How does native v1 show and write identities? (Field map 2.2.) */

import type { Context } from "../context.ts";
import type { Route } from "../gateway/route.ts";
import { type JsonObject, member } from "../json.ts";
import { notFound } from "../refusal.ts";
import { findIdentity, identities, uidOfSubject } from "../resources/identities.ts";
import type { Draft } from "../resources/resource.ts";
import type { StoredRecord } from "../store/collection.ts";
import { queryV1, textV1, type V1Face } from "./face.ts";
import { keep, pick } from "./shape.ts";

const KEYS: readonly (readonly [v1: string, stored: string])[] = [
  ["issuer", "issuer"],
  ["subject", "subject"],
  ["issuerKeys", "issuerKeys"],
  ["expiration", "expirationTime"],
  ["audiences", "audiences"],
];
const TIMES: readonly (readonly [v1: string, stored: string])[] = [
  ["createdAt", "createTime"],
  ["updatedAt", "updateTime"],
  ["lastSeen", "lastSeenTime"],
];
/** The same in both shapes. */
const SAME = ["name", "description", "claimMatch", "servicePrincipal", "awsIdentity"] as const;

const turned = (rows: typeof KEYS) => rows.map(([v1, stored]) => [stored, v1] as const);

/** An identity as v1 knows it: no e-mail, no company. */
function viewIdentity(record: StoredRecord): JsonObject {
  const keys = member(record.value, "staticKeys");
  const fixed = keys === undefined ? {} : { static: pick(keys, turned(KEYS)) };
  return { id: record.uid, ...keep(record.value, SAME), ...pick(record.value, turned(TIMES)), ...fixed };
}

function readIdentity(given: JsonObject, before: StoredRecord | undefined): Draft {
  const server = keep(before?.value, ["email", "emailUnverified", "company", "lastSeenTime", "createTime"]);
  const keys = member(given, "static");
  const fixed = keys === undefined ? {} : { staticKeys: pick(keys, KEYS) };
  return { value: { ...keep(given, SAME), ...fixed, ...server }, extra: before?.extra ?? {} };
}

export const identitiesV1: V1Face = {
  resource: identities,
  domain: "iam",
  collection: "identities",
  operations: ["list", "create", "update", "delete"],
  filter: "IdentityFilter",
  item: "Identity",
  view: viewIdentity,
  tests: () => [],
  key: "id",
  write: { message: "Identity", read: readIdentity, answer: "Identity", view: viewIdentity },
  names: new Map([
    ["uid", "id"],
    ["staticKeys.issuer", "static.issuer"],
    ["staticKeys.subject", "static.subject"],
    ["staticKeys.issuerKeys", "static.issuerKeys"],
  ]),
};

/** `GET identities/lookup`: the whole identity for any caller, or 404. */
export function lookupIdentityV1(context: Context): Route {
  return {
    method: "GET",
    domain: "iam",
    version: "v1",
    collection: "identities",
    shape: "literal",
    word: "lookup",
    prepare(call) {
      const request = queryV1(context, "LookupRequest", call.query);
      return () => {
        const text = (key: string) => String(member(request, key) ?? "");
        const found = findIdentity(context, text("issuer"), text("subject"));
        if (found === undefined || text("subject") === "") {
          throw notFound("Identity", uidOfSubject(context, text("issuer"), text("subject")));
        }
        return textV1(context, "Identity", viewIdentity(found));
      };
    },
  };
}
