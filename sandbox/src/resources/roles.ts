/** Roles: their rules, v1 and v2. */
import type { Context } from "../context.ts";
import { CAPABILITIES } from "../data/capabilities.ts";
import { keep, times, type V1Face } from "../faces/v1.ts";
import type { V2Face } from "../faces/v2.ts";
import { type JsonObject, member } from "../json.ts";
import { invalid, precondition } from "../refusal.ts";
import { parentOf, type StoredRecord } from "../store/collection.ts";
import { nameTest, type RecordTest } from "../store/select.ts";
import type { Draft, Resource, Write } from "./resource.ts";

const BY_NUMBER = new Map(CAPABILITIES.map((row) => [row[2], row]));
/** CAP_INTERNAL. */
const INTERNAL = 2;

/** The numbers of a role's capabilities. */
export function capabilitiesOf(role: JsonObject | undefined): readonly number[] {
  const list = member(role, "capabilities");
  return Array.isArray(list) ? list.map(Number) : [];
}

/** True when a role allows changing anything. */
export function allowsWrites(role: JsonObject | undefined): boolean {
  return capabilitiesOf(role).some((one) => /\.(create|update|delete)$/.test(BY_NUMBER.get(one)?.[0] ?? ""));
}

function check({ before, next, caller }: Write): Draft {
  if (before !== undefined && !before.uid.includes("/") && !caller.staff) throw builtIn(before.uid);
  if ((member(next.value, "name") ?? "") === "") throw invalid("name", "a name is required");
  const held = capabilitiesOf(next.value);
  const secret = held.find((one) => BY_NUMBER.get(one)?.[3] === true);
  if (secret !== undefined && !held.includes(INTERNAL)) {
    throw invalid("capabilities", `${BY_NUMBER.get(secret)?.[1]} needs CAP_INTERNAL beside it`);
  }
  return next;
}

function builtIn(uid: string) {
  return precondition("ROLE_BUILT_IN", uid, "built-in roles are managed by the platform");
}

function checkRemoval(context: Context, record: StoredRecord): void {
  if (!record.uid.includes("/")) throw builtIn(record.uid);
  const bindings = context.store.collection("roleBindings");
  const bound = bindings.uids().some((uid) => member(bindings.get(uid)?.value, "roleUid") === record.uid);
  if (bound) throw precondition("ROLE_IN_USE", record.uid, "the role is bound to an identity");
}

export const roles: Resource = {
  name: "roles",
  type: "Role",
  times: ["createTime", "updateTime"],
  check,
  checkRemoval,
  open: (uid) => !uid.includes("/"),
};

// v1

const NUMBER_OF: ReadonlyMap<string, number> = new Map(
  CAPABILITIES.filter(([text]) => text !== "").map(([text, , number]) => [text, number]),
);
const TEXT_OF: ReadonlyMap<number, string> = new Map(CAPABILITIES.map(([text, , number]) => [number, text]));

/** A role as v1 knows it: dotted capability strings. */
export function viewRole(record: StoredRecord): JsonObject {
  // v1 has no text for a capability that is newer than its own.
  const capabilities = capabilitiesOf(record.value).flatMap((number) => TEXT_OF.get(number) ?? []);
  return { id: record.uid, ...keep(record.value, ["name", "description"]), capabilities, ...times(record.value) };
}

function readRole(given: JsonObject, before: StoredRecord | undefined): Draft {
  const texts = member(given, "capabilities");
  const capabilities = (Array.isArray(texts) ? texts : []).map((text) => {
    const number = NUMBER_OF.get(String(text));
    if (number === undefined) throw invalid("capabilities", `${JSON.stringify(text)} is no capability`);
    return number;
  });
  const value = { ...keep(given, ["name", "description"]), ...keep(before?.value, ["createTime"]), capabilities };
  return { value, extra: before?.extra ?? {} };
}

/** `parent=/` means the built-in roles, anything else the roles directly below. */
function tests(request: JsonObject): readonly RecordTest[] {
  const name = String(member(request, "name") ?? "");
  const parent = String(member(request, "parent") ?? "");
  const above = parent === "/" ? "" : parent;
  return [
    ...(name === "" ? [] : [(record: StoredRecord) => member(record.value, "name") === name]),
    ...(parent === "" ? [] : [(record: StoredRecord) => parentOf(record.uid) === above]),
  ];
}

export const rolesV1: V1Face = {
  resource: roles,
  domain: "iam",
  collection: "roles",
  operations: ["list", "create", "update", "delete"],
  filter: "RoleFilter",
  item: "Role",
  view: viewRole,
  tests,
  key: "id",
  write: { message: "Role", read: readRole, answer: "Role", view: viewRole },
};

// v2

export const rolesV2: V2Face = {
  resource: roles,
  domain: "iam",
  collection: "roles",
  operations: ["list", "get", "create", "update", "delete"],
  listRequest: "ListRolesRequest",
  order: "uid",
  tests: nameTest,
  demand: (next, before) => {
    if (before === undefined && capabilitiesOf(next).length === 0) {
      throw invalid("capabilities", "a role has at least one capability");
    }
  },
};
