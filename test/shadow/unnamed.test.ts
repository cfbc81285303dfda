import { describe, expect, test } from "vitest";
import type { Json } from "../../src/model/json.ts";
import type { OperationMatch } from "../../src/model/request.ts";
import type { Row } from "../../src/model/resource.ts";
import { judgeUnnamed } from "../../src/shadow/written-fields.ts";
import { createBodyNotes, readBody } from "../../src/translate/body.ts";
import { buildPatch } from "../../src/translate/update.ts";

const tier = {
  name: "tier",
  unknown: "drop",
  values: [
    ["NONE", 0, "TIER_UNSPECIFIED", 0],
    ["FREE", 1, "TIER_FREE", 1],
  ],
} as const;
const TEXT = { v1: "text", v2: "longText", kind: "string", zero: "" } as const satisfies Row;
const TIME = { v1: "at", v2: "time", kind: "timestamp", access: "output" } as const satisfies Row;
const KEY = { v1: "id", v2: "uid", kind: "string", access: "output" } as const satisfies Row;
const TIER = { v1: "tier", v2: "tier", kind: "enum", values: tier, zero: "NONE" } as const satisfies Row;
const READ_ONLY = { v1: "text", v2: "longText", kind: "string", access: "output" } as const satisfies Row;

/** An update by `rows`, where a create takes `created`, of a record that v2 holds as `stored`. */
function judge(rows: readonly Row[], created: readonly Row[], sent: Json, native: Json, stored: Json = {}) {
  const body = readBody(Buffer.from(JSON.stringify(sent)), rows, "drop", createBodyNotes());
  const patch = buildPatch(rows, body, stored);
  const mask = patch.asked.map((field) => field.mask.snake_case).join(",");
  const operation = { kind: "update", name: "update", body: { rows, v2Only: [] }, answer: { rows: [], v2Only: [] } };
  const create = { kind: "create", body: { rows: created, v2Only: [] } };
  const match = { operation, resource: { key: "id", operations: [create, operation] }, uidPath: "p/r" };
  const request = { method: "PATCH", target: `/x/v2/things/p/r?updateMask=${mask}`, headers: [] };
  const { differences, unproved } = judgeUnnamed(
    match as unknown as OperationMatch,
    [{ request, stored: {} }],
    sent,
    native,
  );
  return [differences.map(({ class: name, path }) => `${name} ${path}`), unproved];
}

const within = (rows: readonly Row[]): Row => ({
  v1: "part",
  v2: "part",
  kind: "message",
  rows,
  zero: null,
  mask: "members",
});

describe("a member that a create takes and the update does not", () => {
  test.each([
    ["read-only, sent", READ_ONLY, { text: "a" }, { text: "a" }],
    ["read-only, left out", READ_ONLY, {}, { text: "" }],
    ["not in v2, sent", { ...TEXT, v2: null }, { text: "a" }, { text: "a" }],
    ["`never`, sent", { ...TEXT, mask: "never" }, { text: "a" }, { text: "a" }],
    ["`never`, left out", { ...TEXT, mask: "never" }, {}, { text: "" }],
    ["`when-present`, left out", { ...TEXT, mask: "when-present" }, {}, {}],
    ["`when-changed`, left out", { ...TEXT, mask: "when-changed" }, {}, { text: "" }],
    ["an enum by number, read-only", { ...TIER, access: "output" }, { tier: 1 }, { tier: "FREE" }],
    ["an enum left out, read-only", { ...TIER, access: "output" }, {}, { tier: "NONE" }],
  ] as const)("is missing: %s", (_name, row, sent, native) => {
    const created = row.v1 === "tier" ? TIER : TEXT;
    expect(judge([row as Row], [created], sent, native)).toEqual([[`missing ${row.v1}`], false]);
    const [differences] = judge([within([row as Row])], [within([created])], { part: sent }, { part: native });
    expect(differences).toEqual([`missing part.${row.v1}`]);
  });

  test("is missing where the update does not know it at all", () => {
    expect(judge([], [TEXT], { text: "a" }, { text: "a" })).toEqual([["missing text"], false]);
    expect(judge([], [TEXT], {}, { text: "" })).toEqual([["missing text"], false]);
  });

  test.each([
    ["kept another value than was sent", { text: "a" }, { text: "b" }],
    ["kept a value that was left out", {}, { text: "b" }],
    ["kept a value that was to be empty", { text: "" }, { text: "b" }],
  ])("is none that native changes: it %s", (_name, sent, native) => {
    expect(judge([READ_ONLY], [TEXT], sent, native)).toEqual([[], false]);
  });
});

describe("nothing can be said", () => {
  const NEVER = { ...TEXT, mask: "never" } as const;
  test.each([
    ["of what v2 alone sets", NEVER, [NEVER], "text"],
    ["of what is read-only wherever it stands", READ_ONLY, [READ_ONLY], "text"],
    ["of what is read-only, and no create is there", READ_ONLY, [], "text"],
    ["of what nobody knows", TIME, [TIME], "motto"],
  ] as const)("%s, when it is sent and shown", (_name, row, created, name) => {
    expect(judge([row], created, { [name]: "a" }, { [name]: "a" })).toEqual([[], true]);
    expect(judge([row], created, { [name]: "a" }, { [name]: "b" })).toEqual([[], false]);
    expect(judge([row], created, { [name]: "" }, { [name]: "" })).toEqual([[], false]);
    expect(judge([row], created, {}, {})).toEqual([[], false]);
  });
});

describe("nothing is open", () => {
  test.each([
    ["a member that the mask names", [TEXT], { text: "a" }, { text: "a" }],
    ["one that was left out and is named with its zero", [TEXT], {}, { text: "" }],
    ["one whose v2 name has another spelling in masks", [{ ...TEXT, v2Proto: "long_t" }], { text: "a" }, { text: "a" }],
    ["the record's own name", [KEY], { id: "r" }, { id: "r" }],
    ["a time that the server sets", [TIME], { at: "2024-01-01T00:00:00Z" }, { at: "2024-01-01T00:00:00Z" }],
    ["members of a message that are named", [within([TEXT])], { part: { text: "a" } }, { part: { text: "a" } }],
    ["a message of a class that was left out", [within([TEXT])], {}, {}],
    [
      "what the path says",
      [{ v1: "group", v2: null, from: ["uid"], kind: "string", access: "output" }],
      { group: "g" },
      { group: "g" },
    ],
  ] as [string, Row[], Json, Json][])("%s", (_name, rows, sent, native) => {
    expect(judge(rows, rows, sent, native)).toEqual([[], false]);
  });

  test("what is only named when it differs was found as it was sent, at its v2 name", () => {
    const row = { ...TEXT, mask: "when-changed" } as const;
    const native = { text: "a" };
    expect(judge([row], [TEXT], native, native, { longText: "a" })).toEqual([[], false]);
    expect(judge([row], [row], { text: "" }, { text: "" }, {})).toEqual([[], false]);
    // Named, and so compared as any other.
    expect(judge([row], [row], native, native, { longText: "b" })).toEqual([[], false]);
  });
});
