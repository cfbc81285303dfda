import { describe, expect, test } from "vitest";
import type { Row } from "../../src/model/resource.ts";
import type { TranslateOptions } from "../../src/translate/operation.ts";
import { COLOUR, ID, NAME, problemOf, run, thing } from "./support.ts";

interface More extends Partial<TranslateOptions> {
  readonly v2Only?: readonly string[];
}

/** The text of the v1 record for the text of a v2 record, and what was noted. */
async function show(rows: readonly Row[], v2: string, { v2Only = [], ...options }: More = {}) {
  const resource = thing({ rows, v2Only });
  const { uid } = JSON.parse(v2) as { uid?: string };
  const { response, exchange } = await run(resource, "get", {
    uid: uid ?? "u",
    options,
    answer: () => ({ status: 200, headers: [], body: Buffer.from(v2) }),
  });
  return { text: Buffer.from(response.body).toString(), exchange };
}
const textOf = async (rows: readonly Row[], v2: string, more?: More) => (await show(rows, v2, more)).text;

const PART: readonly Row[] = [
  { v1: "userName", v2: "username", kind: "string", access: "output" },
  { v1: "until", v2: "untilTime", kind: "timestamp", access: "output", presence: "explicit" },
];
const message = (more: object = {}): Row =>
  ({ v1: "part", v2: "piece", kind: "message", rows: PART, access: "output", ...more }) as Row;

test("only names change; numbers, escapes, order and white space are v2's", async () => {
  const v2 =
    '{ "n":1.50e+2, "uid" : "\\u0061\\/", "big":12345678901234567890,"name":"\\ud83d\\ude00\\u2028" , "z":[1,{"uid":2}] }\n';
  expect(await textOf([ID, NAME], v2)).toBe(v2.replace('"uid" :', '"id" :'));
});

test("a name is a name only where a row says so", async () => {
  const v2 = '{"uid":"a","x":{"uid":"b","name":1},"l":[{"uid":"c"}],"name":"n"}';
  expect(await textOf([ID, NAME], v2)).toBe('{"id":"a","x":{"uid":"b","name":1},"l":[{"uid":"c"}],"name":"n"}');
});

describe("members in no row", () => {
  const v2 = '{"uid":"a","novel":{"b":1},"piece":{"username":"x","fresh":2}}';
  const rows = [ID, message()];

  test("are passed, and counted", async () => {
    const { text, exchange } = await show(rows, v2);
    expect(text).toBe('{"id":"a","novel":{"b":1},"part":{"userName":"x","fresh":2}}');
    expect(exchange.unknownFields).toEqual([
      { direction: "response", name: "novel" },
      { direction: "response", name: "part.fresh" },
    ]);
  });

  test("are dropped when told so, and counted all the same", async () => {
    const { text, exchange } = await show(rows, v2, { unknownResponse: "drop" });
    expect(text).toBe('{"id":"a","part":{"userName":"x"}}');
    expect(exchange.unknownFields).toHaveLength(2);
  });

  test("that v1 is known never to have shown are dropped without a word", async () => {
    const { text, exchange } = await show([ID], '{"company":"c","uid":"a","email":null}', {
      v2Only: ["company", "email"],
    });
    expect(text).toBe('{"id":"a"}');
    expect(exchange).toMatchObject({ unknownFields: [], notes: [] });
  });

  test("never take the place of one that has a row", async () => {
    const { text, exchange } = await show([ID, NAME], '{"id":"v2 has its own","uid":"a","name":"n"}');
    expect(JSON.parse(text)).toEqual({ id: "a", name: "n" });
    expect(exchange.notes).toEqual(["answer-shadowed"]);
  });

  test("__proto__ is one of them", async () => {
    expect(await textOf([ID], '{"__proto__":{"a":1},"uid":"a"}')).toBe('{"__proto__":{"a":1},"id":"a"}');
  });
});

describe("an enum", () => {
  const rows: readonly Row[] = [
    { v1: "colour", v2: "hue", kind: "enum", values: COLOUR, access: "output" },
    { v1: "colours", v2: "hues", kind: "enum", values: COLOUR, list: true, access: "output" },
  ];
  test.each([
    ['{"hue":"COLOUR_RED","hues":[]}', '{"colour":"RED","colours":[]}'],
    ['{"hue":7,"hues":["COLOUR_UNSPECIFIED",7,0]}', '{"colour":"RED","colours":["ANY","RED","ANY"]}'],
    ['{"hue":null,"hues":null}', '{"colour":null,"colours":null}'],
  ])("%s", async (v2, v1) => {
    expect(await textOf(rows, v2)).toBe(v1);
  });

  test.each(['"COLOUR_NEW"', '"RED"', '"constructor"', "1", "99", "-1", "1.5"])(
    "DIFF-12: that v1 does not know passes and is noted: %s",
    async (value) => {
      const { text, exchange } = await show(rows, `{"hue":${value},"hues":[${value}]}`);
      expect(text).toBe(`{"colour":${value},"colours":[${value}]}`);
      expect(exchange.notes).toEqual(["answer-enum", "answer-enum"]);
    },
  );

  test("of another shape passes and is noted", async () => {
    const { text, exchange } = await show(rows, '{"hue":{"a":1},"hues":[]}');
    expect(text).toBe('{"colour":{"a":1},"colours":[]}');
    expect(exchange.notes).toEqual(["answer-shape"]);
  });
});

describe("what v2 left out", () => {
  const kinds: readonly (readonly [Row, string | undefined])[] = [
    [{ v1: "s", v2: "s", kind: "string", access: "output" }, '""'],
    [{ v1: "y", v2: "y", kind: "bytes", access: "output" }, '""'],
    [{ v1: "b", v2: "b", kind: "bool", access: "output" }, "false"],
    [{ v1: "i", v2: "i", kind: "int32", access: "output" }, "0"],
    [{ v1: "u", v2: "u", kind: "uint32", access: "output" }, "0"],
    [{ v1: "l", v2: "l", kind: "int64", access: "output" }, '"0"'],
    [{ v1: "e", v2: "e", kind: "enum", values: COLOUR, access: "output" }, '"ANY"'],
    [{ v1: "a", v2: "a", kind: "string", list: true, access: "output" }, "[]"],
    [{ v1: "d", v2: "d", kind: "timestamp", list: true, access: "output" }, "[]"],
    [{ v1: "ml", v2: "ml", kind: "message", rows: PART, list: true, access: "output" }, "[]"],
    [{ v1: "m", v2: "m", kind: "map", of: "string", access: "output" }, "{}"],
    [{ v1: "p", v2: "p", kind: "message", rows: PART, access: "output" }, "null"],
    [{ v1: "t", v2: "t", kind: "timestamp", access: "output" }, "null"],
    [{ v1: "f", v2: "f", kind: "duration", access: "output" }, "null"],
    [{ v1: "o", v2: "o", kind: "string", access: "output", presence: "explicit", oneof: "x" }, undefined],
    [{ v1: "z", v2: "z", kind: "timestamp", access: "output", presence: "explicit" }, undefined],
    [{ v1: "q", v2: "q", kind: "message", rows: PART, access: "output", presence: "explicit" }, undefined],
  ];
  test.each(kinds.map(([row, zero]) => ({ kind: row.kind, zero, row })))("a $kind is $zero", async ({ row, zero }) => {
    expect(await textOf([row], "{}")).toBe(zero === undefined ? "{}" : `{"${row.v1}":${zero}}`);
    // Where v2 is known to send zeros nothing is added; null counts as sent.
    expect(await textOf([row], "{}", { insertZeros: false })).toBe("{}");
    expect(await textOf([row], `{"${row.v2}":null}`)).toBe(`{"${row.v1}":null}`);
  });

  test("is added inside messages as well, in each of a list, and in each of a map", async () => {
    const rows: readonly Row[] = [
      message(),
      { v1: "parts", v2: "pieces", kind: "message", rows: PART, list: true, access: "output" },
      { v1: "byKey", v2: "byKey", kind: "map", of: { rows: PART }, access: "output" },
    ];
    expect(
      await textOf(rows, '{"piece":{},"pieces":[{},{"username":"x"}],"byKey":{"username":{"untilTime":null},"k":{}}}'),
    ).toBe(
      '{"part":{"userName":""},"parts":[{"userName":""},{"userName":"x"}],"byKey":{"username":{"until":null,"userName":""},"k":{"userName":""}}}',
    );
  });

  test("is there whatever v2's habits are, where v2 has no such member", async () => {
    const row: Row = { v1: "gone", v2: null, kind: "bool", zero: false };
    for (const insertZeros of [true, false]) expect(await textOf([row], "{}", { insertZeros })).toBe('{"gone":false}');
  });

  test("is not added to what is no message", async () => {
    expect(await textOf([message()], '{"piece":"text"}')).toBe('{"part":"text"}');
  });
});

describe("a zero that v2 cannot tell from unset", () => {
  const row: Row = {
    v1: "gid",
    v2: "groupId",
    kind: "uint32",
    access: "output",
    presence: "explicit",
    absentZero: true,
  };
  const users: Row = { v1: "users", v2: "people", kind: "message", rows: [row, NAME], list: true, access: "output" };
  test.each([
    ['{"groupId":0}', "{}"],
    ['{"groupId":7}', '{"gid":7}'],
    ["{}", "{}"],
    ['{"people":[{"groupId":0,"name":"a"},{"groupId":1,"name":"b"}]}', '{"users":[{"name":"a"},{"name":"b","gid":1}]}'],
  ])("is unset: %s", async (v2, v1) => {
    expect(await textOf(v2.includes("people") ? [users] : [row], v2)).toBe(v1);
  });
});

describe("a map of user data", () => {
  test("keeps its keys, whatever they are called, and its bytes", async () => {
    const map = '{"uid":"1","createTime":"\\u0032","__proto__":"3","uid":"again","n":1.0}';
    expect(
      await textOf(
        [ID, { v1: "notes", v2: "annotations", kind: "map", of: "string", access: "output" }],
        `{"uid":"a","annotations":${map}}`,
      ),
    ).toBe(`{"id":"a","notes":${map}}`);
  });
});

describe("a member read from elsewhere", () => {
  const row: Row = { v1: "role", v2: "roleUid", from: ["roleUid", "role.uid"], kind: "string", access: "output" };
  test.each([
    ['{"roleUid":"a","role":{"uid":"b"}}', '{"role":"a"}'],
    ['{"roleUid":"","role":{"uid":"b"}}', '{"role":"b"}'],
    ['{"roleUid":null,"role":{"uid":"b"}}', '{"role":"b"}'],
    ['{"role":{"uid":"\\u0062"}}', '{"role":"\\u0062"}'],
    ['{"role":{"name":"x"}}', '{"role":""}'],
    ['{"role":"b"}', '{"role":""}'],
    ['{"role":null,"roleUid":null}', '{"role":""}'],
    ["{}", '{"role":""}'],
  ])("%s", async (v2, v1) => {
    expect(await textOf([row], v2, { v2Only: ["role"] })).toBe(v1);
  });

  test.each([
    ['{"uid":"a/b/c","group":{"uid":"g"}}', '{"id":"a/b/c","group":"g"}'],
    ['{"uid":"a/b/c","group":{"uid":""}}', '{"id":"a/b/c","group":"a/b"}'],
    ['{"uid":"a/b/c"}', '{"id":"a/b/c","group":"a/b"}'],
    ['{"uid":"a"}', '{"id":"a","group":""}'],
  ])("falls back on the parent of a uid: %s", async (v2, v1) => {
    const group: Row = { v1: "group", v2: null, from: ["group.uid", "uid/.."], kind: "string", access: "output" };
    expect(JSON.parse(await textOf([ID, group], v2, { v2Only: ["group"] }))).toEqual(JSON.parse(v1));
  });

  test("falls back further where a uid has no parent", async () => {
    const group: Row = { v1: "group", v2: null, from: ["uid/..", "group.uid"], kind: "string", access: "output" };
    expect(JSON.parse(await textOf([ID, group], '{"uid":"a","group":{"uid":"g"}}', { v2Only: ["group"] }))).toEqual({
      id: "a",
      group: "g",
    });
  });

  test("that has two v1 names shows under both", async () => {
    const rows: readonly Row[] = [
      { v1: "createTime", v2: "createTime", kind: "timestamp", access: "output", presence: "explicit" },
      { v1: "createdAt", v2: null, from: ["createTime"], kind: "timestamp", access: "output", presence: "explicit" },
    ];
    expect(JSON.parse(await textOf(rows, '{"createTime":"2026-03-01T09:30:00.120Z"}'))).toEqual({
      createTime: "2026-03-01T09:30:00.120Z",
      createdAt: "2026-03-01T09:30:00.120Z",
    });
    expect(await textOf(rows, "{}")).toBe("{}");
  });

  test("of a message that v2 left out makes the message, when it says anything", async () => {
    const rows: readonly Row[] = [
      {
        v1: "role",
        v2: "role",
        kind: "message",
        access: "output",
        rows: [{ v1: "id", v2: "uid", from: ["role.uid", "roleUid"], kind: "string", access: "output" }, NAME],
      },
    ];
    const more = { v2Only: ["roleUid"] };
    expect(await textOf(rows, '{"roleUid":"r"}', more)).toBe('{"role":{"id":"r","name":""}}');
    expect(await textOf(rows, '{"role":null,"roleUid":"r"}', more)).toBe('{"role":{"id":"r","name":""}}');
    expect(await textOf(rows, '{"role":{"uid":"q","name":"n"},"roleUid":"r"}', more)).toBe(
      '{"role":{"id":"q","name":"n"}}',
    );
    expect(await textOf(rows, '{"roleUid":""}', more)).toBe('{"role":null}');
    const elsewhere = { ...rows[0], v2: null, from: ["role"] } as Row;
    expect(await textOf([elsewhere], "{}", { v2Only: ["role", "roleUid"] })).toBe('{"role":null}');
    expect(await textOf(rows, "{}", more)).toBe('{"role":null}');
  });

  test("of a message that v2 does not have is always there, whether v2 writes its zeros or leaves them out", async () => {
    const inner = (v1: string, kind: "string" | "bool" | "int32" | "int64"): Row => ({
      v1,
      v2: v1,
      from: [v1],
      kind,
      access: "output",
    });
    const rows: readonly Row[] = [
      {
        v1: "about",
        v2: null,
        kind: "message",
        access: "output",
        rows: [inner("text", "string"), inner("flag", "bool"), inner("number", "int32"), inner("long", "int64")],
      },
    ];
    const more = { v2Only: ["text", "flag", "number", "long"] };
    const nothing = '{"about":{"text":"","flag":false,"number":0,"long":"0"}}';
    expect(await textOf(rows, "{}", more)).toBe(nothing);
    expect(await textOf(rows, '{"text":"","flag":false,"number":0,"long":"0"}', more)).toBe(nothing);
    expect(await textOf(rows, '{"number":7}', more)).toBe('{"about":{"text":"","flag":false,"number":7,"long":"0"}}');
    expect(await textOf(rows, '{"flag":true,"long":"0"}', more)).toBe(
      '{"about":{"text":"","flag":true,"number":0,"long":"0"}}',
    );
  });

  test("is looked for in each of a list, and makes none of the record's own", async () => {
    const inner: Row = { v1: "id", v2: "uid", from: ["uid"], kind: "string", access: "output" };
    const row: Row = { v1: "parts", v2: "pieces", kind: "message", rows: [inner], list: true, access: "output" };
    expect(JSON.parse(await textOf([ID, row], '{"uid":"a"}'))).toEqual({ id: "a", parts: [] });
  });

  test("twice in the source is refused, as it cannot be told which is meant", async () => {
    for (const v2 of ['{"roleUid":"a","roleUid":"b"}', '{"role":{},"role":{}}']) {
      expect((await problemOf(show([row], v2, { v2Only: ["role"] }))).reason).toBe("UPSTREAM_INVALID");
    }
  });
});
