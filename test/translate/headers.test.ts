import { describe, expect, test } from "vitest";
import { optionsResponse, readHeaders, respondWith, writeHeaders } from "../../src/translate/headers.ts";
import { anything, ID, json, NAME, run, thing } from "./support.ts";

const THINGS = thing({ rows: [ID, NAME], filters: [{ v1: "id", use: "get" }] });
const KINDS = ["list", "get", "create", "update", "delete"] as const;

const NEVER_SENT = [
  "x-http-method-override",
  "x-http-method",
  "x-method-override",
  "range",
  "if-range",
  "if-none-match",
  "if-modified-since",
  "accept-encoding",
  "content-encoding",
  "content-length",
  "content-md5",
  "content-digest",
  "repr-digest",
  "digest",
  "host",
];

describe.each(KINDS)("with a %s", (kind) => {
  test.each(NEVER_SENT)("DIFF-59, DIFF-76: %s does not go along", async (name) => {
    const { sent } = await run(THINGS, kind, { uid: "a", body: kind === "get" ? "" : "{}", headers: [[name, "x"]] });
    expect(sent).toHaveLength(1);
    expect(sent[0]?.headers.map(([key]) => key)).not.toContain(name);
  });

  test("the caller's own fields go along, in order, repeats kept", async () => {
    const headers = [
      ["authorization", "Bearer t"],
      ["x-a", "1"],
      ["cookie", "c"],
      ["x-a", "2"],
      ["grpc-timeout", "5S"],
    ] as const;
    const { sent } = await run(THINGS, kind, { uid: "a", headers });
    expect(sent[0]?.headers.slice(0, 5)).toEqual(headers);
  });

  test("JSON is asked for, whatever the client accepts", async () => {
    const { sent } = await run(THINGS, kind, {
      uid: "a",
      headers: [
        ["accept", "text/html"],
        ["accept", "*/*"],
      ],
    });
    expect(sent[0]?.headers.filter(([name]) => name === "accept")).toEqual([["accept", "application/json"]]);
  });

  test("the type of a body is JSON, and a call without a body has none", async () => {
    const { sent } = await run(THINGS, kind, { uid: "a", headers: [["content-type", "text/plain"]] });
    const types = sent[0]?.headers.filter(([name]) => name === "content-type");
    const written = kind === "create" || kind === "update";
    expect(types).toEqual(written ? [["content-type", "application/json"]] : []);
    expect(sent[0]?.body === undefined).toBe(!written);
  });

  test.each([
    "etag",
    "last-modified",
    "content-length",
    "content-encoding",
    "transfer-encoding",
    "accept-ranges",
    "content-range",
    "content-md5",
    "digest",
    "content-digest",
    "repr-digest",
    "content-location",
    "trailer",
  ])("DIFF-76: %s of v2's bytes does not come back", async (name) => {
    const { response } = await run(THINGS, kind, {
      uid: "a",
      answer: (request) => ({ ...anything(THINGS)(request), headers: [[name, "x"]] }),
    });
    expect(response.headers.map(([key]) => key)).not.toContain(name);
  });

  test("other fields of v2 come back, in order, and the type is JSON", async () => {
    const { response } = await run(THINGS, kind, {
      uid: "a",
      answer: (request) => ({
        ...anything(THINGS)(request),
        headers: [
          ["x-a", "1"],
          ["content-type", "text/plain"],
          ["x-a", "2"],
        ],
      }),
    });
    expect(response.headers.slice(0, 3)).toEqual([
      ["x-a", "1"],
      ["x-a", "2"],
      ["content-type", "application/json"],
    ]);
  });
});

test.each(KINDS)(
  "DIFF-77: a condition goes along with a %s when that writes, and means nothing to one that reads",
  async (kind) => {
    const conditions = [
      ["if-match", "x"],
      ["if-unmodified-since", "y"],
    ] as const;
    const { sent } = await run(THINGS, kind, { uid: "a", headers: conditions });
    const given = sent[0]?.headers.filter(([name]) => name.startsWith("if-"));
    expect(given).toEqual(kind === "get" || kind === "list" ? [] : conditions);
  },
);

test("names are not matched inside other names", () => {
  const headers = [
    ["x-range", "1"],
    ["ranges", "2"],
  ] as const;
  expect(readHeaders(headers).slice(0, 2)).toEqual(headers);
  expect(() => writeHeaders([["x-if-match", "1"]], "several")).not.toThrow();
});

test("fields that carryover adds stand last", () => {
  expect(respondWith(json(200, {}), 201, Buffer.from("{}"), [["carryover-list", "x"]])).toEqual({
    status: 201,
    headers: [
      ["content-type", "application/json"],
      ["carryover-list", "x"],
    ],
    body: Buffer.from("{}"),
  });
});

describe("OPTIONS", () => {
  test.each([
    ["allow", "GET, PATCH, DELETE", "GET, PUT, DELETE"],
    ["access-control-allow-methods", "PATCH", "PUT"],
    ["access-control-allow-methods", "GET,PATCH", "GET,PUT"],
    ["allow", "DISPATCH", "DISPATCH"],
    ["access-control-allow-headers", "PATCH", "PATCH"],
  ])("%s: %s", (name, v2, v1) => {
    expect(optionsResponse({ status: 204, headers: [[name, v2]], body: new Uint8Array() }).headers).toEqual([
      [name, v1],
    ]);
  });
});
