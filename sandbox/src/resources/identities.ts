/** Identities: their rules, v1 and v2. */
import { createHash } from "node:crypto";
import { type Context, now } from "../context.ts";
import { keep, pick, queryV1, textV1, type V1Face } from "../faces/v1.ts";
import type { V2Face } from "../faces/v2.ts";
import type { Route } from "../gateway/route.ts";
import { type Json, type JsonObject, member } from "../json.ts";
import { invalid, notFound } from "../refusal.ts";
import type { StoredRecord } from "../store/collection.ts";
import { nameTest, type RecordTest } from "../store/select.ts";
import { decodeQuery } from "../wire/decode.ts";
import { V2 } from "../wire/schema.ts";
import { checkName } from "./groups.ts";
import type { Draft, Resource, Write } from "./resource.ts";

/** The ways in which an identity can be recognised; at most one is set. */
export const RELATIONSHIPS = ["claimMatch", "staticKeys", "servicePrincipal", "awsIdentity"] as const;

function needOneOf(value: Json | undefined, where: string, names: readonly string[]): void {
  if (!names.some((name) => (member(value, name) ?? "") !== "")) {
    throw invalid(where, `one of ${names.join(", ")} is required`);
  }
}

function check({ context, before, next }: Write): Draft {
  checkName(next.value);
  const match = member(next.value, "claimMatch");
  if (match !== undefined) {
    needOneOf(match, "claimMatch.issuer", ["issuer", "issuerPattern"]);
    needOneOf(match, "claimMatch.subject", ["subject", "subjectPattern"]);
  }
  const keys = member(next.value, "staticKeys");
  for (const name of keys === undefined ? [] : ["issuer", "subject", "issuerKeys"]) {
    needOneOf(keys, `staticKeys.${name}`, [name]);
  }
  const aws = member(next.value, "awsIdentity");
  if (aws !== undefined && !/^\d{12}$/.test(String(member(aws, "awsAccount") ?? ""))) {
    throw invalid("awsIdentity.awsAccount", "an account has 12 digits");
  }
  return before === undefined ? { ...next, value: { ...next.value, lastSeenTime: now(context) } } : next;
}

/** Bindings of an identity go with it. */
function checkRemoval(context: Context, record: StoredRecord): void {
  const bindings = context.store.collection("roleBindings");
  const bound = bindings.uids().filter((uid) => member(bindings.get(uid)?.value, "identityUid") === record.uid);
  for (const uid of bound) bindings.remove(uid);
}

/** The issuer and subject that an identity is recognised by, empty when it has none. */
export function claimsOf(identity: JsonObject | undefined): { issuer: string; subject: string } {
  const source = member(identity, "claimMatch") ?? member(identity, "staticKeys");
  return { issuer: String(member(source, "issuer") ?? ""), subject: String(member(source, "subject") ?? "") };
}

/** The uid that a subject has, or would get: it follows from who issued it and whom it names. */
export function uidOfSubject(context: Context, issuer: string, subject: string): string {
  const promised = createHash("sha256").update(`${issuer}\n${subject}`).digest("hex").slice(0, 40);
  return findIdentity(context, issuer, subject)?.uid ?? promised;
}

/** The identity that an issuer and a subject mean exactly, if there is one. */
export function findIdentity(context: Context, issuer: string, subject: string): StoredRecord | undefined {
  const collection = context.store.collection("identities");
  for (const uid of collection.uids()) {
    const record = collection.get(uid);
    const claims = claimsOf(record?.value);
    if (claims.issuer === issuer && claims.subject === subject) return record;
  }
  return undefined;
}

export const identities: Resource = {
  name: "identities",
  type: "Identity",
  times: ["createTime", "updateTime"],
  check,
  checkRemoval,
};

// v1

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

// v2

/** The members of the oneof by the number of their relationship type. */
const BY_TYPE: ReadonlyMap<number, string> = new Map([
  [1, "claimMatch"],
  [2, "staticKeys"],
  [3, "awsIdentity"],
  [4, "servicePrincipal"],
]);

function relationshipTest(request: JsonObject): readonly RecordTest[] {
  const wanted = BY_TYPE.get(Number(member(request, "relationshipType") ?? 0));
  return wanted === undefined ? [] : [(record) => member(record.value, wanted) !== undefined];
}

function needRelationship(value: JsonObject): void {
  if (!RELATIONSHIPS.some((name) => member(value, name) !== undefined)) {
    throw invalid("relationship", `exactly one of ${RELATIONSHIPS.join(", ")} is required`);
  }
}

export const identitiesV2: V2Face = {
  resource: identities,
  domain: "iam",
  collection: "identities",
  operations: ["list", "get", "create", "update", "delete"],
  listRequest: "ListIdentitiesRequest",
  order: "uid",
  tests: (request) => [...nameTest(request), ...relationshipTest(request)],
  demand: (next, before) => {
    // A record that v1 left without a relationship can still be renamed.
    const had = before === undefined || RELATIONSHIPS.some((name) => member(before.value, name) !== undefined);
    if (had) needRelationship(next);
  },
};

/** `GET identities:lookupIdentity`: the uid that the subject has or would get; it never says "not found". */
export function lookupIdentityV2(context: Context): Route {
  return {
    method: "GET",
    domain: "iam",
    version: context.settings.version,
    collection: "identities",
    shape: "collectionVerb",
    word: "lookupIdentity",
    prepare(call) {
      const request = decodeQuery(V2, V2.message("LookupIdentityRequest"), call.query);
      return () => {
        const issuer = String(member(request, "issuer") ?? "");
        const subject = String(member(request, "subject") ?? "");
        if (issuer === "") throw invalid("issuer", "an issuer is required");
        if (subject === "") throw invalid("subject", "a subject is required");
        return JSON.stringify({ uid: uidOfSubject(context, issuer, subject) });
      };
    },
  };
}
