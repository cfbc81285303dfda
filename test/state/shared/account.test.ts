import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { STORE_COMMANDS } from "../../../src/state/shared/commands.ts";
import { documentedRights } from "./account.ts";

const SOURCES = resolve(import.meta.dirname, "../../../src/state/shared");

test("the documented account may run what replicas need, and nothing else", () => {
  const rights = documentedRights().flatMap((word) => (word.startsWith("+") ? [word.slice(1).toUpperCase()] : []));
  // Valkey and Redis take these two of every account.
  expect(rights.toSorted()).toEqual([...STORE_COMMANDS, "HELLO", "AUTH"].toSorted());
  expect(documentedRights()).toEqual(expect.arrayContaining(["resetchannels", "-@all", "~{carryover}:1:*"]));
});

test("the script needs every command that the check tries, and no other", () => {
  const text = readdirSync(SOURCES).map((name) => readFileSync(join(SOURCES, name), "utf8"));
  const called = [...text.join("\n").matchAll(/redis\.p?call\(\s*['"](\w+)['"]/g)].map(([, name]) => name ?? "");
  expect([...new Set([...called, "EVAL", "EVALSHA"])].toSorted()).toEqual([...STORE_COMMANDS].toSorted());
});
