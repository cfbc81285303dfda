/** How does native v1 show and write roles? (Field map 2.4, 2.E and 3.3.) */

import { CAPABILITIES } from "../data/capabilities.ts";
import { type JsonObject, member } from "../json.ts";
import { invalid } from "../refusal.ts";
import type { Draft } from "../resources/resource.ts";
import { capabilitiesOf, roles } from "../resources/roles.ts";
import type { StoredRecord } from "../store/collection.ts";
import type { RecordTest } from "../store/select.ts";
import { parentOf } from "../store/uid.ts";
import type { V1Face } from "./face.ts";
import { keep, times } from "./shape.ts";

const NUMBER_OF: ReadonlyMap<string, number> = new Map(
  CAPABILITIES.filter(([text]) => text !== "").map(([text, , number]) => [text, number]),
);
const TEXT_OF: ReadonlyMap<number, string> = new Map(CAPABILITIES.map(([text, , number]) => [number, text]));

/** A role as v1 knows it: dotted capability strings. */
export function viewRole(record: StoredRecord): JsonObject {
  const capabilities = capabilitiesOf(record.value).map((number) => TEXT_OF.get(number) ?? "");
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
