/** Which rules do identities follow? (Specification section 2; field map 2.2 and 2.A.) */
import { createHash } from "node:crypto";
import { type Context, now } from "../context.ts";
import { type Json, type JsonObject, member } from "../json.ts";
import { invalid } from "../refusal.ts";
import type { StoredRecord } from "../store/collection.ts";
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
