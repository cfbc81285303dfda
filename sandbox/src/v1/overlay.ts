/** How does a custom overlay look in v1? Three keys are spelt otherwise there. (Field map 2.11, traps T07 to T09.) */
import { type Json, type JsonObject, member } from "../json.ts";
import { keep } from "./shape.ts";

const SAME = ["contents", "environment", "annotations", "certificates"] as const;
const USER = ["uid", "groupName", "shell", "homeDir"] as const;
const GROUP = ["gid", "members"] as const;

function list(value: Json | undefined, key: string): readonly Json[] {
  const items = member(value, key);
  return Array.isArray(items) ? items : [];
}

function renamed(source: Json, from: string, to: string): JsonObject {
  const value = member(source, from) ?? "";
  return value === "" ? {} : { [to]: value };
}

/** Stored to v1. A group id of zero is not shown: the store cannot tell it from none. */
export function overlayToV1(overlay: Json): JsonObject {
  const accounts = member(overlay, "accounts");
  if (accounts === undefined) return keep(overlay, SAME);
  const users = list(accounts, "users").map((user) => {
    const gid = Number(member(user, "gid") ?? 0);
    return { ...keep(user, USER), ...renamed(user, "username", "userName"), ...(gid === 0 ? {} : { gid }) };
  });
  const groups = list(accounts, "groups").map((group) => {
    return { ...keep(group, GROUP), ...renamed(group, "groupname", "groupName") };
  });
  return { ...keep(overlay, SAME), accounts: { ...keep(accounts, ["runAs"]), users, groups } };
}

/** v1 to stored. */
export function overlayFromV1(overlay: Json): JsonObject {
  const accounts = member(overlay, "accounts");
  if (accounts === undefined) return keep(overlay, SAME);
  const users = list(accounts, "users").map((user) => {
    return { ...keep(user, [...USER, "gid"]), ...renamed(user, "userName", "username") };
  });
  const groups = list(accounts, "groups").map((group) => {
    return { ...keep(group, GROUP), ...renamed(group, "groupName", "groupname") };
  });
  return { ...keep(overlay, SAME), accounts: { ...keep(accounts, ["runAs"]), users, groups } };
}
