import { describe, expect, test } from "vitest";
import type { ApiRequest, ApiResponse } from "../../src/model/http.ts";
import type { Row } from "../../src/model/resource.ts";
import type { TranslateOptions } from "../../src/translate/operation.ts";
import { COLOUR, callsOf, ID, json, maskOf, NAME, problemOf, type Run, run, textOf, thing } from "./support.ts";

const DESCRIPTION: Row = { v1: "text", v2: "longText", kind: "string", zero: "" };
const STAFF: Row = { v1: "verified", v2: "isVerified", kind: "bool", zero: false, mask: "when-changed" };
const KIND: Row = { v1: "kind", v2: "kind", kind: "enum", values: COLOUR, zero: "ANY", mask: "when-changed" };
const KIND_ALWAYS: Row = { ...KIND, mask: "always" };
const LARGE: Row = { v1: "large", v2: "large", kind: "int64", zero: "0" };
const APPS: Row = { v1: "apps", v2: "apps", kind: "map", keys: "int64", of: { rows: [LARGE] }, zero: {} };
const TTL: Row = { v1: "ttl", v2: "ttl", kind: "duration", zero: null };
const BLOB: Row = { v1: "blob", v2: "blob", kind: "bytes", zero: "" };
/** A record, with the digits of a number that a double does not hold. */
const LARGE_IN_DIGITS = '{"uid":"a/b","large":9007199254740993}';
const SECRET: Row = { v1: "key", v2: "secretKey", kind: "string", zero: "", mask: "when-present", echo: "none" };

/** A platform that stores what it is sent, by the mask, and answers with it. */
function platform(stored: Record<string, unknown>, spelling: "camelCase" | "snake_case" | "both" = "both") {
  return (request: ApiRequest): ApiResponse => {
    if (request.method === "GET") return json(200, stored);
    const wrong = spelling === "camelCase" ? /_/ : /[A-Z]/;
    if (spelling !== "both" && maskOf(request).some((path) => wrong.test(path))) {
      return json(400, { code: 3, message: "invalid mask", details: [] });
    }
    return json(200, { ...stored, ...(JSON.parse(textOf(request)) as object) });
  };
}

interface More {
  readonly stored?: Record<string, unknown>;
  readonly answer?: (request: ApiRequest) => ApiResponse;
  readonly options?: Partial<TranslateOptions>;
  readonly headers?: readonly (readonly [string, string])[];
  readonly known?: "camelCase" | "snake_case";
  readonly fixed?: boolean;
}

function put(rows: readonly Row[], body: unknown, { stored = { uid: "a/b" }, ...more }: More = {}): Promise<Run> {
  return run(thing({ rows: [ID, ...rows] }), "update", { uid: "a/b", body, answer: platform(stored), ...more });
}
const methods = ({ sent }: Run) => sent.map(({ method }) => method);
const patchOf = ({ sent }: Run) => sent.find(({ method }) => method === "PATCH");

test.each([{ uid: "a/c" }, { uid: null }, {}])("an update takes no other record for its own: %j", async (record) => {
  const problem = await problemOf(put([NAME], { name: "n" }, { answer: () => json(200, { ...record, name: "n" }) }));
  expect([problem.reason, problem.metadata]).toEqual(["UPSTREAM_INVALID", { state: "unknown" }]);
});

describe("the PATCH for a full replace", () => {
  test("TRAP-26, T-PUT-01, T-PUT-05: names every field, in the order of the rows, with zeros for what was left out", async () => {
    const rows: readonly Row[] = [
      NAME,
      DESCRIPTION,
      { v1: "on", v2: "on", kind: "bool", zero: false },
      { v1: "size", v2: "size", kind: "int32", zero: 0 },
      { v1: "large", v2: "large", kind: "int64", zero: "0" },
      { v1: "until", v2: "untilTime", kind: "timestamp", zero: null },
      { v1: "tags", v2: "tags", kind: "string", list: true, zero: [] },
      { v1: "colour", v2: "hue", kind: "enum", values: COLOUR, zero: "ANY" },
      { v1: "choice", v2: "choice", kind: "enum", values: COLOUR, presence: "explicit", zero: null },
      { v1: "part", v2: "part", kind: "message", rows: [NAME], zero: null },
      { v1: "notes", v2: "notes", kind: "map", of: "string", zero: {} },
    ];
    const result = await put(rows, {});
    expect(callsOf(result)).toEqual([
      "PATCH /iam/v2beta1/things/a/b?updateMask=name,longText,on,size,large,untilTime,tags,hue,choice,part,notes",
    ]);
    expect(JSON.parse(textOf(result.sent[0]))).toEqual({
      name: "",
      longText: "",
      on: false,
      size: 0,
      large: "0",
      untilTime: null,
      tags: [],
      hue: "COLOUR_UNSPECIFIED",
      choice: null,
      part: null,
      notes: {},
    });
    expect(result.exchange.defaultedFields).toEqual(rows.map(({ v1 }) => v1));
  });

  test("TRAP-30: names a field in snake_case where the upstream wants that", async () => {
    const rows: readonly Row[] = [
      DESCRIPTION,
      { v1: "sync_config", v2: "sync_config", kind: "message", rows: [DESCRIPTION], zero: null, mask: "members" },
      { v1: "odd", v2: "oddName", v2Proto: "odd_one", kind: "string", zero: "" },
    ];
    const body = { sync_config: { text: "t" } };
    expect(maskOf((await put(rows, body, { known: "snake_case" })).sent[0])).toEqual([
      "long_text",
      "sync_config.long_text",
      "odd_one",
    ]);
  });

  test("keeps the client's bytes", async () => {
    const { sent } = await put(
      [NAME, { v1: "large", v2: "large", kind: "int64", zero: "0" }],
      '{"large":9007199254740993,"name":"\\u0041"}',
      {
        options: { mismatch: "report" },
      },
    );
    expect(textOf(sent[0])).toBe('{"name":"\\u0041","large":9007199254740993}');
  });

  test("TRAP-27, TRAP-29, T-PUT-03, T-PUT-04: never names what the server sets, whatever the client sends", async () => {
    const rows: readonly Row[] = [
      NAME,
      { v1: "made", v2: "makeTime", kind: "timestamp", access: "output" },
      { v1: "limit", v2: "limit", kind: "int32", zero: 0, mask: "never" },
      { v1: "gone", v2: null, kind: "bool", zero: false },
    ];
    const result = await put(rows, {
      id: "x",
      name: "n",
      made: "2026-03-01T09:30:00Z",
      limit: 3,
      gone: true,
      nonsense: 1,
    });
    expect(maskOf(result.sent[0])).toEqual(["name"]);
    expect(textOf(result.sent[0])).toBe('{"name":"n"}');
    expect(result.exchange.notes).toContain("server-set-dropped");
  });

  test("TRAP-31, T-PUT-01: is never sent with an empty mask, which means everything: the record is read instead", async () => {
    const result = await put([STAFF], {}, { stored: { uid: "a/b", isVerified: true } });
    expect(callsOf(result)).toEqual(["GET /iam/v2beta1/things/a/b"]);
    expect(result.body).toEqual({ id: "a/b", verified: true });
    expect(result.exchange.notes).toEqual(["update-empty", "field-left-alone"]);
    const unchanged = await put([STAFF], { verified: true }, { stored: { uid: "a/b", isVerified: true } });
    expect(methods(unchanged)).toEqual(["GET"]);
    expect(unchanged.body).toEqual({ id: "a/b", verified: true });
  });
});

describe("a field named only when it is sent", () => {
  const arm = { presence: "explicit", oneof: "which", zero: null, mask: "when-present" } as const;
  const arms: readonly Row[] = [
    { v1: "one", v2: "uno", kind: "message", rows: [NAME], ...arm },
    { v1: "two", v2: "due", kind: "string", ...arm },
  ];
  test.each([
    ["{}", [], ["name"]],
    ['{"one":{}}', ["uno"], ["name", "uno"]],
    ['{"two":""}', ["due"], ["name", "due"]],
    ['{"one":null}', [], ["name"]],
  ])("%s", async (body, named, mask) => {
    const result = await put([NAME, ...arms], body);
    expect(maskOf(patchOf(result))).toEqual(mask);
    expect(Object.keys(JSON.parse(textOf(patchOf(result))) as object)).toEqual(["name", ...named]);
    expect(result.exchange.notes.filter((note) => note === "field-left-alone")).toHaveLength(2 - named.length);
  });

  test.each([
    ['{"key":"s3cret"}', ["name", "secretKey"]],
    ['{"key":""}', ["name"]],
    ['{"key":null}', ["name"]],
    ["{}", ["name"]],
  ])("TRAP-28: a secret, which an empty text would wipe: %s", async (body, mask) => {
    const result = await put([NAME, SECRET], body);
    expect(maskOf(result.sent[0])).toEqual(mask);
    expect(textOf(result.sent[0]).includes("secretKey")).toBe(mask.length > 1);
  });
});

describe("DIFF-22: a field named only when it changes", () => {
  test.each([
    ["left out", {}, { isVerified: true }, ["PATCH"], ["name"]],
    ["the same", { verified: true }, { isVerified: true }, ["GET", "PATCH"], ["name"]],
    ["false where v2 leaves it out", { verified: false }, {}, ["GET", "PATCH"], ["name"]],
    ["another one", { verified: false }, { isVerified: true }, ["GET", "PATCH"], ["name", "isVerified"]],
    ["an enum that says nothing", { kind: "ANY" }, { kind: "COLOUR_RED" }, ["PATCH"], ["name"]],
    ["an enum that says nothing, by number", { kind: 0 }, { kind: "COLOUR_RED" }, ["PATCH"], ["name"]],
    ["the same enum", { kind: 1 }, { kind: "COLOUR_RED" }, ["GET", "PATCH"], ["name"]],
    ["another enum", { kind: "RED" }, { kind: "COLOUR_NEW" }, ["GET", "PATCH"], ["name", "kind"]],
  ])("%s", async (_, body, stored, calls, mask) => {
    const rows = [NAME, STAFF, { ...KIND, zeroUnsaid: true } as Row];
    const result = await put(rows, body, { stored: { uid: "a/b", ...stored } });
    expect(methods(result)).toEqual(calls);
    expect(maskOf(patchOf(result))).toEqual(mask);
  });

  test("is named for its zero too, unless that leaves the choice open", async () => {
    const stored = { uid: "a/b", kind: "COLOUR_RED" };
    expect(maskOf(patchOf(await put([NAME, KIND], { kind: "ANY" }, { stored })))).toEqual(["name", "kind"]);
  });

  test("in another order is a change: a client may mean the order", async () => {
    const row: Row = { v1: "tags", v2: "tags", kind: "string", list: true, zero: [], mask: "when-changed" };
    const stored = { uid: "a/b", tags: ["x", "y"] };
    for (const each of [row, { ...row, echo: "normalised" } as Row]) {
      const same = await put([NAME, each], { tags: ["x", "y"] }, { stored });
      expect(maskOf(patchOf(same))).toEqual(["name"]);
      expect(maskOf(patchOf(await put([NAME, each], { tags: ["y", "x"] }, { stored })))).toEqual(["name", "tags"]);
    }
  });

  test("inside a message is compared with what is stored there, not with nothing", async () => {
    const config: Row = {
      v1: "config",
      v2: "settings",
      kind: "message",
      rows: [{ v1: "source", v2: "source", kind: "string", zero: "", mask: "when-changed" }],
      zero: null,
      mask: "members",
    };
    const stored = { uid: "a/b", settings: { source: "s" } };
    const same = await put([NAME, config], { config: { source: "s" } }, { stored });
    expect(methods(same)).toEqual(["GET", "PATCH"]);
    expect(maskOf(patchOf(same))).toEqual(["name"]);
    expect(textOf(patchOf(same))).toBe('{"name":""}');
    const other = await put([NAME, config], { config: { source: "t" } }, { stored });
    expect(maskOf(patchOf(other))).toEqual(["name", "settings.source"]);
  });

  test.each([404, 403, 401, 503])(
    "asks once and answers the refusal when the record cannot be read: %i",
    async (status) => {
      const result = await put(
        [NAME, STAFF],
        { verified: true },
        { answer: () => json(status, { code: 5, message: "m", details: [] }) },
      );
      expect(methods(result)).toEqual(["GET"]);
      expect(result.response.status).toBe(status);
    },
  );

  test.each(["", "[]", "null", "<html>"])("writes nothing when the stored record is no record: %s", async (text) => {
    const sent: string[] = [];
    const answer = ({ method }: ApiRequest) => {
      sent.push(method);
      return { status: 200, headers: [], body: Buffer.from(text) };
    };
    expect((await problemOf(put([NAME, STAFF], { verified: true }, { answer }))).reason).toBe("UPSTREAM_INVALID");
    expect(sent).toEqual(["GET"]);
  });
});

describe("DIFF-77: conditions of a write", () => {
  test.each(["if-match", "if-unmodified-since"])("%s is refused before the first of several calls", async (name) => {
    const answer = () => {
      throw new Error("nothing may be sent");
    };
    const problem = await problemOf(put([NAME, STAFF], { verified: true }, { headers: [[name, "x"]], answer }));
    expect([problem.reason, problem.http]).toEqual(["CONDITION_UNSUPPORTED", 412]);
  });
});

describe("a message that may have members which v1 does not know", () => {
  const PART: Row = { v1: "part", v2: "part", kind: "message", rows: [NAME], zero: null };
  const stored = { uid: "a/b", part: { name: "old", spin: "9007199254740993" } };

  test("is read first, and its members are sent along, under the condition of the client's", async () => {
    const result = await put([PART], { part: { name: "new" } }, { stored, headers: [["if-match", "x"]] });
    expect(methods(result)).toEqual(["GET", "PATCH"]);
    expect(JSON.parse(textOf(patchOf(result)))).toEqual({ part: { name: "new", spin: "9007199254740993" } });
    expect(patchOf(result)?.headers).toContainEqual(["if-match", "x"]);
  });

  test("is written as it is sent where the client may not read the record", async () => {
    const answer = (request: ApiRequest) =>
      request.method === "GET" ? json(403, { code: 7, message: "no", details: [] }) : platform(stored)(request);
    const result = await put([PART], { part: { name: "new" } }, { answer });
    expect([result.response.status, textOf(patchOf(result))]).toEqual([200, '{"part":{"name":"new"}}']);
  });

  test("T-PUT-05: gets none of them where the client chooses another member of a oneof", async () => {
    const choice = { presence: "explicit", oneof: "which", zero: null } as const;
    const rows: readonly Row[] = [NAME, { v1: "one", v2: "one", kind: "string", ...choice }];
    const result = await put([{ ...PART, rows } as Row], { part: { name: "old", one: "x" } }, { stored });
    expect(JSON.parse(textOf(patchOf(result)))).toEqual({ part: { name: "old", one: "x" } });
  });
});

describe("members named one by one", () => {
  const oidc: Row = {
    v1: "oidc",
    v2: "openId",
    kind: "message",
    presence: "explicit",
    zero: null,
    mask: "members",
    rows: [
      { v1: "client", v2: "clientUid", kind: "string", zero: "" },
      SECRET,
      { v1: "made", v2: "made", kind: "string", access: "output" },
    ],
  };
  test("are named below their message, and only those that are to be set", async () => {
    const { sent, exchange } = await put([NAME, oidc], { oidc: { made: "x" } });
    expect(maskOf(sent[0])).toEqual(["name", "openId.clientUid"]);
    expect(textOf(sent[0])).toBe('{"name":"","openId":{"clientUid":""}}');
    expect(exchange.defaultedFields).toEqual(["name", "oidc.client"]);
  });

  test("DIFF-18: are left alone with their message, and named when they keep a value", async () => {
    const kept = await put([NAME, oidc], {}, { stored: { uid: "a/b", openId: { clientUid: "c" } } });
    expect(kept.response.headers).toContainEqual(["carryover-mismatch", "oidc"]);
    const nothing = await put([NAME, oidc], {}, { stored: { uid: "a/b", openId: {} } });
    expect(nothing.response.headers.map(([name]) => name)).not.toContain("carryover-mismatch");
    const { sent, exchange } = await put([NAME, oidc], { oidc: null });
    expect(maskOf(sent[0])).toEqual(["name"]);
    expect(exchange.notes).toEqual(["field-left-alone"]);
  });

  test("take unknown members with them when those are passed", async () => {
    const { sent } = await put([NAME, oidc], { oidc: { x: 1 }, y: 2 }, { options: { unknownRequest: "pass" } });
    expect(textOf(sent[0])).toBe('{"name":"","openId":{"clientUid":"","x":1},"y":2}');
  });
});

describe("the spelling of the mask, while it is not known", () => {
  const body = { text: "t" };
  const maskTargets = ({ sent }: Run) => sent.map((request) => maskOf(request).join());

  test("is camelCase first, and learned when that is understood", async () => {
    const result = await put([DESCRIPTION], body, { answer: platform({ uid: "a/b" }, "camelCase") });
    expect(maskTargets(result)).toEqual(["longText"]);
    expect(result.learned).toEqual(["camelCase"]);
  });

  test("is not learned from an update whose fields are spelled the same in both", async () => {
    expect((await put([NAME], { name: "n" })).learned).toEqual([]);
  });

  test.each(["camelCase", "snake_case"] as const)(
    "is not learned to be %s when the field that it names did not take effect",
    async (spelling) => {
      const answer = (request: ApiRequest) =>
        maskOf(request).includes("longText") && spelling === "snake_case"
          ? json(400, { code: 3, message: "longText is too long", details: [] })
          : json(200, { uid: "a/b", name: "n" });
      const result = await put([NAME, DESCRIPTION], { name: "n", text: "t" }, { answer });
      expect(result.exchange.mismatches).toEqual(["text"]);
      expect(result.learned).toEqual([]);
    },
  );

  test("is learned although another field was not stored as asked", async () => {
    const result = await put(
      [NAME, DESCRIPTION],
      { name: "n", text: "t" },
      { answer: () => json(200, { uid: "a/b", name: "N", longText: "t" }) },
    );
    expect(result.learned).toEqual(["camelCase"]);
  });

  test("is snake_case once when camelCase is refused, and learned when that succeeds", async () => {
    const result = await put([DESCRIPTION], body, { answer: platform({ uid: "a/b" }, "snake_case") });
    expect(maskTargets(result)).toEqual(["longText", "long_text"]);
    expect(result.response.status).toBe(200);
    expect(result.learned).toEqual(["snake_case"]);
    expect(result.sent.map(textOf)).toEqual(['{"longText":"t"}', '{"longText":"t"}']);
  });

  test("is not learned when both are refused, and the client gets the first refusal", async () => {
    let calls = 0;
    const answer = () => json(400, { code: 3, message: `refusal ${++calls}`, details: [] });
    const result = await put([DESCRIPTION], body, { answer });
    expect(result.body).toMatchObject({ message: "refusal 1" });
    expect(result.sent).toHaveLength(2);
    expect(result.learned).toEqual([]);
  });

  test.each([
    [403, 7],
    [404, 5],
    [409, 10],
    [400, 9],
    [503, 14],
  ])(
    "is not learned when the second call ends with %i, code %i, and the client gets that: the mask was not what was wrong",
    async (status, code) => {
      const answer = (request: ApiRequest) =>
        maskOf(request).includes("longText")
          ? json(400, { code: 3, message: "mask", details: [] })
          : json(status, { code, message: "other", details: [] });
      const result = await put([DESCRIPTION], body, { answer });
      expect([result.response.status, result.body]).toMatchObject([status, { code, message: "other" }]);
      expect(result.learned).toEqual([]);
    },
  );

  test.each([
    ["another status", 404, { code: 3 }],
    ["another code", 400, { code: 9 }],
    ["no API error", 400, { error: "x" }],
    ["a server error", 500, { code: 3 }],
    ["a conflict", 409, { code: 10 }],
  ])("is not tried again after %s", async (_, status, error) => {
    const result = await put([DESCRIPTION], body, { answer: () => json(status, error) });
    expect(result.sent).toHaveLength(1);
    expect(result.response.status).toBe(status);
  });

  test("is not tried again when both spellings are the same", async () => {
    const result = await put([NAME], { name: "?" }, { answer: () => json(400, { code: 3, message: "", details: [] }) });
    expect(result.sent).toHaveLength(1);
  });

  test.each(["camelCase", "snake_case"] as const)(
    "is not tried again when the configuration says %s",
    async (known) => {
      const result = await put([DESCRIPTION], body, {
        known,
        fixed: true,
        answer: () => json(400, { code: 3, message: "invalid mask", details: [] }),
      });
      expect(maskTargets(result)).toEqual([known === "camelCase" ? "longText" : "long_text"]);
    },
  );
});

describe("a remembered spelling of the mask", () => {
  const body = { text: "t" };
  const masks = ({ sent }: Run) => sent.map((request) => maskOf(request).join());

  test.each([
    ["camelCase", "snake_case", ["longText", "long_text"]],
    ["snake_case", "camelCase", ["long_text", "longText"]],
  ] as const)("that is %s is learned anew from a platform that wants %s", async (known, wanted, sent) => {
    const result = await put([DESCRIPTION], body, { known, answer: platform({ uid: "a/b" }, wanted) });
    expect([result.response.status, masks(result), result.learned]).toEqual([200, sent, [wanted]]);
  });

  test("is kept when the other one is refused as well, and the client gets the first refusal", async () => {
    let calls = 0;
    const answer = () => json(400, { code: 3, message: `mask refused: ${++calls}`, details: [] });
    const result = await put([DESCRIPTION], body, { known: "snake_case", answer });
    expect([result.body, calls, result.learned]).toMatchObject([{ message: "mask refused: 1" }, 2, []]);
  });

  test("is sent once when the refusal is not about the mask: the client's values are wrong", async () => {
    const answer = () => json(400, { code: 3, message: "Invalid argument: long_text: is too long", details: [] });
    const result = await put([DESCRIPTION], body, { known: "snake_case", answer });
    expect([result.response.status, masks(result)]).toEqual([400, ["long_text"]]);
  });
});

describe("T-PUT-02, DIFF-21: the echo check", () => {
  const LIST: Row = { v1: "powers", v2: "capabilities", kind: "string", list: true, zero: [], echo: "normalised" };
  const ROLE: Row = { v1: "role", v2: "roleUid", from: ["roleUid", "role.uid"], kind: "string", zero: "" };
  const PART: Row = { v1: "p", v2: "p", kind: "message", rows: [NAME], zero: null };
  const answering = (record: object | string) => () => {
    const answer = json(200, { uid: "a/b", ...(typeof record === "string" ? {} : record) });
    return typeof record === "string" ? { ...answer, body: Buffer.from(record) } : answer;
  };

  // What is the same, and what is a zero: same.test.ts.
  test.each([
    ["the same", [NAME], { name: "a" }, { name: "a" }],
    ["a zero that v2 leaves out", [NAME], {}, {}],
    ["a list in another order", [LIST], { powers: ["a", "b"] }, { capabilities: ["b", "a"] }],
    ["an enum's zero, named", [KIND_ALWAYS], {}, { kind: "COLOUR_UNSPECIFIED" }],
    ["a number written otherwise", [{ v1: "n", v2: "n", kind: "int32", zero: 0 } as Row], { n: "1e2" }, { n: 100 }],
    ["a large number by its digits", [LARGE], '{"large":9007199254740993}', { large: "9007199254740993" }],
    ["a large number that the platform writes as digits", [LARGE], { large: "9007199254740993" }, LARGE_IN_DIGITS],
    ["a key with zeros before it", [APPS], { apps: { "0123": { large: 1 } } }, { apps: { 123: { large: "1" } } }],
    ["a duration and bytes by value", [TTL, BLOB], { ttl: "1.50s", blob: "-_8" }, { ttl: "1.500s", blob: "+/8=" }],
    ["an enum by its number", [KIND_ALWAYS], { kind: "RED" }, { kind: 7 }],
    ["an empty message, with its zeros", [PART], { p: {} }, { p: { name: "" } }],
    ["a secret, which reads never return", [NAME, SECRET], { key: "s" }, {}],
    ["a reference that v2 shows only in its object", [ROLE], { role: "r" }, { roleUid: "", role: { uid: "r" } }],
  ] as const)("is content with %s", async (_, rows, body, record) => {
    const result = await put(rows as readonly Row[], body, {
      answer: answering(record),
      options: { mismatch: "fail" },
    });
    expect(result.response.status).toBe(200);
    expect(result.exchange.mismatches).toEqual([]);
    expect(result.response.headers.map(([name]) => name)).not.toContain("carryover-mismatch");
  });

  test("a field that was to become empty and did not is an error that names it in v1's words", async () => {
    const problem = await problemOf(
      put([NAME, DESCRIPTION], { name: "n" }, { answer: answering({ name: "other", longText: "old" }) }),
    );
    expect([problem.reason, problem.http, problem.code]).toEqual(["UPDATE_INCOMPLETE", 502, 13]);
    expect(problem.fieldViolations).toEqual([{ field: "text", description: "was to become empty" }]);
    expect(problem.message).not.toContain("old");
  });

  test.each([
    ["a boolean", { v1: "on", v2: "on", kind: "bool", zero: false }, { on: true }],
    ["a map", { v1: "m", v2: "m", kind: "map", of: "string", zero: {} }, { m: { a: "" } }],
    ["an enum", { v1: "k", v2: "k", kind: "enum", values: COLOUR, zero: "ANY" }, { k: "COLOUR_RED" }],
    ["a reference in its object", ROLE, { roleUid: "", role: { uid: "x" } }],
  ] as const)("%s that was to become empty and did not is an error", async (_, row, record) => {
    const problem = await problemOf(put([row as Row], {}, { answer: answering(record) }));
    expect([problem.reason, problem.fieldViolations[0]?.field]).toEqual(["UPDATE_INCOMPLETE", row.v1]);
  });

  test("another difference is named in a header and in the exchange", async () => {
    const result = await put(
      [NAME, DESCRIPTION],
      { name: "n", text: "t" },
      { answer: answering({ name: "N", longText: "T" }) },
    );
    expect(result.response.status).toBe(200);
    expect(result.response.headers).toContainEqual(["carryover-mismatch", "name, text"]);
    expect(result.exchange.mismatches).toEqual(["name", "text"]);
    expect(result.body).toMatchObject({ name: "N", text: "T" });
  });

  test.each([
    ["report", { name: "n" }, undefined],
    ["fail", { name: "n" }, ["name", "text"]],
    ["zeros", { name: "n" }, ["text"]],
  ] as const)("is as strict as it is told: %s", async (mismatch, body, failing) => {
    const work = put([NAME, DESCRIPTION], body, {
      answer: answering({ name: "N", longText: "old" }),
      options: { mismatch },
    });
    if (failing === undefined) {
      expect((await work).response.headers).toContainEqual(["carryover-mismatch", "name, text"]);
    } else {
      expect((await problemOf(work)).fieldViolations.map(({ field }) => field)).toEqual(failing);
    }
  });

  test("sees another order where order counts, and a message that lost a member", async () => {
    const result = await put(
      [{ ...LIST, echo: "exact" } as Row, PART],
      { powers: ["a", "b"], p: { name: "x" } },
      { answer: answering({ capabilities: ["b", "a"], p: {} }), options: { mismatch: "report" } },
    );
    expect(result.exchange.mismatches).toEqual(["powers", "p"]);
  });

  test.each(["", "   ", "<html>", "{}", "[]", "null", '{"uid":"a"} {}', '{"uid":"a","uid":"b"}'])(
    "an answer that is no record leaves the state unknown, and says so: %s",
    async (text) => {
      const answer = () => ({ status: 200, headers: [], body: Buffer.from(text) });
      const problem = await problemOf(put([NAME], {}, { answer }));
      expect(problem.reason).toBe("UPSTREAM_INVALID");
      expect(problem.metadata).toEqual({ state: "unknown" });
    },
  );

  test.each([302, 304])("a redirect leaves the state unknown: %i", async (status) => {
    const problem = await problemOf(put([NAME], {}, { answer: () => json(status, {}) }));
    expect([problem.reason, problem.metadata]).toEqual(["UPSTREAM_INVALID", { state: "unknown" }]);
  });
});

test("a refused update changes nothing and counts nothing as set to zero", async () => {
  const result = await put([NAME], {}, { answer: () => json(409, { code: 10, message: "m", details: [] }) });
  expect(result.response.status).toBe(409);
  expect(result.exchange.defaultedFields).toEqual([]);
  const refused = await put([NAME, STAFF], {}, { answer: () => json(409, { code: 10, message: "m", details: [] }) });
  expect(refused.exchange.notes).toEqual([]);
});

test("a wrong body sends nothing", async () => {
  const answer = () => {
    throw new Error("nothing may be sent");
  };
  expect((await problemOf(put([NAME], { name: 1 }, { answer }))).reason).toBe("INVALID_BODY");
});
