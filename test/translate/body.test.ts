import { describe, expect, test } from "vitest";
import type { EnumTable, Row } from "../../src/model/resource.ts";
import { createBodyNotes, readBody } from "../../src/translate/body.ts";
import type { TranslateOptions } from "../../src/translate/operation.ts";
import { COLOUR, ID, NAME, problemOf, run, textOf, thing } from "./support.ts";

const POWER: EnumTable = {
  name: "power",
  unknown: "refuse",
  values: [
    [null, -1, "UNKNOWN", 0],
    ["things.list", -1, "CAP_THINGS_LIST", 3],
    ["things.old", -1, null, -1],
    ["things.number", 4, "CAP_THINGS_NUMBER", 4],
  ],
};

const PART: readonly Row[] = [
  { v1: "userName", v2: "username", kind: "string", zero: "" },
  { v1: "made", v2: "makeTime", kind: "timestamp", access: "output" },
  { v1: "changed", v2: "changeTime", kind: "timestamp", access: "output", unpublished: true },
  { v1: "colour", v2: "hue", kind: "enum", values: COLOUR, zero: "ANY" },
];

const THING = thing({
  rows: [
    ID,
    NAME,
    { v1: "claimMatch", v2: "matchClaim", kind: "string", zero: "" },
    { v1: "legacyID", v2: "legacyId", v1Proto: "legacyID", kind: "string", zero: "" },
    { v1: "sync_config", v2: "sync_config", kind: "string", zero: "" },
    { v1: "on", v2: "on", kind: "bool", zero: false },
    { v1: "small", v2: "small", kind: "int32", zero: 0 },
    { v1: "natural", v2: "natural", kind: "uint32", zero: 0 },
    { v1: "large", v2: "large", kind: "int64", zero: "0" },
    { v1: "until", v2: "untilTime", kind: "timestamp", zero: null },
    { v1: "ttl", v2: "ttl", kind: "duration", zero: null },
    { v1: "blob", v2: "blob", kind: "bytes", zero: "" },
    { v1: "tags", v2: "labels", kind: "string", list: true, zero: [] },
    { v1: "colour", v2: "hue", kind: "enum", values: COLOUR, zero: "ANY" },
    { v1: "colours", v2: "hues", kind: "enum", values: COLOUR, list: true, zero: [] },
    { v1: "powers", v2: "capabilities", kind: "enum", values: POWER, list: true, zero: [] },
    { v1: "part", v2: "piece", kind: "message", rows: PART, zero: null },
    { v1: "parts", v2: "pieces", kind: "message", rows: PART, list: true, zero: [] },
    { v1: "notes", v2: "annotations", kind: "map", of: "string", zero: {} },
    { v1: "limits", v2: "limits", kind: "map", of: "int32", zero: {} },
    { v1: "apps", v2: "applications", kind: "map", of: { rows: PART }, zero: {} },
    { v1: "gone", v2: null, kind: "bool", zero: false },
    { v1: "served", v2: "served", kind: "int32", zero: 0, mask: "never" },
    { v1: "createdAt", v2: "createTime", kind: "timestamp", access: "output" },
    { v1: "updatedAt", v2: "updateTime", kind: "timestamp", access: "output", unpublished: true },
    { v1: "one", v2: "uno", kind: "string", presence: "explicit", oneof: "which", zero: null },
    { v1: "two", v2: "due", kind: "message", rows: PART, presence: "explicit", oneof: "which", zero: null },
    { v1: "three", v2: "tre", kind: "enum", values: COLOUR, presence: "explicit", oneof: "which", zero: null },
  ],
});

const create = (body: unknown, options: Partial<TranslateOptions> = {}) =>
  run(THING, "create", { uid: "p", body, options });
const sentText = async (body: unknown, options?: Partial<TranslateOptions>) =>
  textOf((await create(body, options)).sent[0]);
const refusal = async (body: unknown, options?: Partial<TranslateOptions>) => {
  const problem = await problemOf(create(body, options));
  expect(problem.reason).toBe("INVALID_BODY");
  return problem;
};

describe("a member arrives as v2 calls it", () => {
  test.each([
    ["a plain text", '{"name":"a"}', '{"name":"a"}'],
    ["its camelCase spelling", '{"claimMatch":"a"}', '{"matchClaim":"a"}'],
    ["its snake_case spelling", '{"claim_match":"a"}', '{"matchClaim":"a"}'],
    ["a spelling of its own", '{"legacyID":"a"}', '{"legacyId":"a"}'],
    ["a name that is snake_case in both", '{"sync_config":"a"}', '{"sync_config":"a"}'],
    ["an escaped name", '{"\\u006eame":"a"}', '{"name":"a"}'],
    ["escapes in a text, as they came", '{"name":"\\u0041\\/\\ud83d\\ude00é"}', '{"name":"\\u0041\\/\\ud83d\\ude00é"}'],
    ["a boolean", '{"on":false}', '{"on":false}'],
    ["a number with all its digits", '{"small":1.0}', '{"small":1.0}'],
    ["a number with an exponent", '{"small":1e2}', '{"small":1e2}'],
    ["a number as text", '{"small":"7"}', '{"small":"7"}'],
    ["the largest unsigned number that v2 holds", '{"natural":2147483647}', '{"natural":2147483647}'],
    ["a 64-bit number as text", '{"large":"9223372036854775807"}', '{"large":"9223372036854775807"}'],
    ["a 64-bit number with all its digits", '{"large":9007199254740993}', '{"large":9007199254740993}'],
    ["the smallest 64-bit number", '{"large":"-9223372036854775808"}', '{"large":"-9223372036854775808"}'],
    [
      "a time",
      '{"until":"2026-03-01T09:30:00.123456789+01:00"}',
      '{"untilTime":"2026-03-01T09:30:00.123456789+01:00"}',
    ],
    ["a duration", '{"ttl":"86400s"}', '{"ttl":"86400s"}'],
    ["bytes", '{"blob":"aGk="}', '{"blob":"aGk="}'],
    ["a list", '{"tags":["a","b"]}', '{"labels":["a","b"]}'],
    ["an empty list", '{"tags":[]}', '{"labels":[]}'],
    ["an enum by name", '{"colour":"RED"}', '{"hue":"COLOUR_RED"}'],
    ["an enum by its v1 number", '{"colour":1}', '{"hue":"COLOUR_RED"}'],
    ["an enum by its v1 number, written long", '{"colour":1.0}', '{"hue":"COLOUR_RED"}'],
    ["an enum's zero", '{"colour":"ANY"}', '{"hue":"COLOUR_UNSPECIFIED"}'],
    ["an enum's zero number", '{"colour":0}', '{"hue":"COLOUR_UNSPECIFIED"}'],
    ["a capability", '{"powers":["things.list"]}', '{"capabilities":["CAP_THINGS_LIST"]}'],
    ["a message", '{"part":{"userName":"u","user_name_x":1}}', '{"piece":{"username":"u"}}'],
    ["an empty message", '{"part":{}}', '{"piece":{}}'],
    [
      "messages in a list",
      '{"parts":[{"user_name":"u"},{"colour":1}]}',
      '{"pieces":[{"username":"u"},{"hue":"COLOUR_RED"}]}',
    ],
    ["messages in a map", '{"apps":{"id":{"userName":"u"}}}', '{"applications":{"id":{"username":"u"}}}'],
    ["a oneof member that is empty", '{"one":""}', '{"uno":""}'],
    ["white space around it", ' {\n"name" : "a" }\r\n\t', '{"name":"a"}'],
  ])("%s", async (_, v1, v2) => {
    expect(await sentText(v1)).toBe(v2);
  });

  test("a map of user data keeps its bytes, whatever its keys are called", async () => {
    const map = '{ "id": "1", "uid":"2", "createdAt":"\\u0033", "__proto__":"4","constructor":"5", "userName":"6" }';
    expect(await sentText(`{"notes":${map}}`)).toBe(`{"annotations":${map}}`);
  });

  test("numbers of a map keep their bytes", async () => {
    expect(await sentText('{"limits":{"a":1e1,"b":-0,"c":"3"}}')).toBe('{"limits":{"a":1e1,"b":-0,"c":"3"}}');
  });

  test("__proto__ among members is an unknown field and no more", async () => {
    expect(await sentText('{"__proto__":{"name":"x"},"constructor":1,"name":"a"}')).toBe('{"name":"a"}');
    expect(await sentText('{"__proto__":{"name":"x"},"name":"a"}', { unknownRequest: "pass" })).toBe(
      '{"name":"a","__proto__":{"name":"x"}}',
    );
  });
});

describe("what counts as left out", () => {
  test.each([
    ["null", '{"name":null,"part":null,"tags":null,"colour":null,"on":null}'],
    ["null in the other spelling", '{"claim_match":null}'],
    ["an empty body", ""],
    ["white space", " \r\n\t"],
    ["an empty object", "{}"],
    ["what the server sets", '{"id":"a/b","createdAt":"2026-03-01T09:30:00Z"}'],
    ["what v2 no longer has", '{"gone":true}'],
    ["what v2 sets itself", '{"served":4}'],
  ])("%s", async (_, body) => {
    expect(await sentText(body)).toBe("{}");
  });

  test("a server-set member inside a message", async () => {
    expect(await sentText('{"part":{"made":"2026-03-01T09:30:00Z","userName":"u"}}')).toBe(
      '{"piece":{"username":"u"}}',
    );
  });

  test("null beside the other member of a oneof", async () => {
    expect(await sentText('{"one":null,"three":"RED"}')).toBe('{"tre":"COLOUR_RED"}');
  });

  test("what v2 sets itself is noted", async () => {
    expect((await create('{"served":4}')).exchange.notes).toEqual(["server-set-dropped"]);
  });

  test("an enum name that v1 does not know is dropped and noted", async () => {
    const { sent, exchange } = await create(
      '{"colour":"BLUE","colours":["RED","BLUE","colour_RED","COLOUR_RED"],"part":{"colour":"blue"}}',
    );
    expect(textOf(sent[0])).toBe('{"hues":["COLOUR_RED"],"piece":{}}');
    expect(exchange.notes).toEqual(Array(5).fill("enum-dropped"));
  });

  test.each([
    ["a new name", '{"colour":"COLOUR_QUANTUM"}', '{"hue":"COLOUR_QUANTUM"}'],
    ["a name that v1 never had", '{"colour":"COLOUR_NEW"}', '{"hue":"COLOUR_NEW"}'],
    ["a new name inside a message", '{"parts":[{"colour":"COLOUR_QUANTUM"}]}', '{"pieces":[{"hue":"COLOUR_QUANTUM"}]}'],
    ["a number that neither version has", '{"colour":3}', '{"hue":3}'],
    ["a number that reads show as text, as v1 has another meaning for it", '{"colour":"2"}', '{"hue":2}'],
    ["a new capability", '{"powers":["CAP_THINGS_FLY"]}', '{"capabilities":["CAP_THINGS_FLY"]}'],
  ])("an enum value in v2's spelling is sent on and noted: %s", async (_, v1, v2) => {
    const { sent, exchange } = await create(v1, { mismatch: "report" });
    expect(textOf(sent[0])).toBe(v2);
    expect(exchange.notes).toEqual(["enum-sent-on"]);
  });
});

describe("a map whose keys are numbers", () => {
  const rows: readonly Row[] = [{ v1: "apps", v2: "apps", kind: "map", of: "string", keys: "int64", zero: {} }];
  const sent = async (body: string) => textOf((await run(thing({ rows }), "create", { body })).sent[0]);

  test.each(["0", "-1", "9223372036854775807", "-9223372036854775808"])("takes %s", async (key) => {
    expect(await sent(`{"apps":{"${key}":"x"}}`)).toBe(`{"apps":{"${key}":"x"}}`);
  });

  test.each(["", "a", "1.0", "1e3", "9223372036854775808", "99999999999999999999"])("refuses %j", async (key) => {
    const problem = await problemOf(sent(`{"apps":{"${key}":"x"}}`));
    expect(problem.fieldViolations).toEqual([
      { field: "apps", description: "has a key that is no whole number of 64 bits" },
    ]);
  });
});

test.each([
  '{"updatedAt":1700000000000}',
  '{"updated_at":{"seconds":1}}',
  '{"updatedAt":"soon","updated_at":false,"updatedAt":null}',
  '{"part":{"changed":1}}',
  '{"parts":[{"changed":[]}]}',
  '{"apps":{"x":{"changed":1}}}',
])("a time that v1's published message lacks is ignored, whatever it is: %s", async (body) => {
  for (const unknownRequest of ["drop", "pass", "refuse"] as const) {
    const { sent, exchange } = await create(body, { unknownRequest });
    expect(textOf(sent[0])).not.toMatch(/update|change/i);
    expect(exchange.unknownFields).toEqual([]);
  }
});

describe("a body is refused", () => {
  // What else is no JSON, or no body: test/json/tree.test.ts, test/property/bad-input.test.ts.
  test.each([
    ["null", "null"],
    ["a lone surrogate in a value", '{"name":"\\ud800"}'],
    ["a lone surrogate in a value that is dropped", '{"nonsense":"\\udc00"}'],
    ["a lone surrogate in a name", '{"\\ud800":1}'],
  ])("as a whole: %s", async (_, body) => {
    expect((await refusal(body)).message).toMatch(/^invalid body: /);
  });

  test("as a whole: bytes that are not UTF-8", () => {
    const latin1 = Buffer.from('{"name":"\xe9"}', "latin1");
    expect(() => readBody(latin1, [NAME], "drop", createBodyNotes())).toThrow(/^invalid body: invalid UTF-8/);
  });

  test("DIFF-66: as a whole: nesting without end, instead of exhausting the stack", async () => {
    for (const deep of [
      `{"nonsense":${"[".repeat(100_000)}`,
      `{"nonsense":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
    ]) {
      expect((await refusal(deep)).message).toContain("nested too deeply");
    }
  });

  test.each([
    ["name", '{"name":1}', "a string", "a number"],
    ["name", '{"name":{"a":"b"}}', "a string", "an object"],
    ["on", '{"on":"true"}', "true or false", "a string"],
    ["on", '{"on":1}', "true or false", "a number"],
    ["small", '{"small":2147483648}', "from -2147483648 to 2147483647", "a number"],
    ["small", '{"small":1.5}', "a whole number", "a number"],
    ["small", '{"small":"007"}', "a whole number", "a string"],
    ["natural", '{"natural":2147483648}', "from 0 to 2147483647", "a number"],
    ["large", '{"large":9223372036854775808}', "from -9223372036854775808 to 9223372036854775807", "a number"],
    ["large", '{"large":"-9223372036854775809"}', "a whole number", "a string"],
    ["until", '{"until":"yesterday"}', "an RFC 3339 time", "a string"],
    ["until", '{"until":0}', "an RFC 3339 time", "a number"],
    ["ttl", '{"ttl":"1d"}', "a duration", "a string"],
    ["ttl", '{"ttl":60}', "a duration", "a number"],
    ["blob", '{"blob":"&&"}', "base64", "a string"],
    ["tags", '{"tags":"a"}', "an array", "a string"],
    ["tags[1]", '{"tags":["a",null]}', "null is no element", ""],
    ["tags[0]", '{"tags":[1]}', "a string", "a number"],
    ["part", '{"part":[]}', "an object", "an array"],
    ["part.userName", '{"part":{"userName":1}}', "a string", "a number"],
    ["part.user_name", '{"part":{"user_name":1}}', "a string", "a number"],
    ["parts[1].colour", '{"parts":[{},{"colour":{}}]}', "colour", "an object"],
    ["notes", '{"notes":[]}', "an object", "an array"],
    ["notes.a", '{"notes":{"a":1}}', "a string", "a number"],
    ["notes.a", '{"notes":{"a":null}}', "a string", "null"],
    ["limits.a", '{"limits":{"a":1.5}}', "a whole number", "a number"],
    ["apps.x", '{"apps":{"x":1}}', "an object", "a number"],
    ["apps.x.userName", '{"apps":{"x":{"userName":1}}}', "a string", "a number"],
    ["colour", '{"colour":true}', "colour", "true"],
    ["colour", '{"colour":{}}', "colour", "an object"],
    ["id", '{"id":1}', "a string", "a number"],
    ["createdAt", '{"createdAt":"now"}', "an RFC 3339 time", "a string"],
    ["gone", '{"gone":"x"}', "true or false", "a string"],
    ["served", '{"served":"x"}', "a whole number", "a string"],
  ])("with place, expectation and what was found: %s of %s", async (field, body, expected, found) => {
    const problem = await refusal(body);
    expect(problem.fieldViolations).toEqual([{ field, description: expect.stringContaining(expected) }]);
    expect(problem.message).toContain(`invalid body: ${field}: `);
    expect(problem.message).toContain(found);
  });

  test.each([
    ["a known member twice", '{"name":"a","name":"a"}', "name"],
    ["a known member twice, once null", '{"name":null,"name":"a"}', "name"],
    ["both spellings", '{"claimMatch":"a","claim_match":"a"}', "claim_match"],
    ["both spellings inside a message", '{"part":{"user_name":"a","userName":"a"}}', "part.userName"],
    ["a server-set member twice", '{"id":"a","id":"a"}', "id"],
    ["a key of a map twice", '{"notes":{"a":"1","a":"2"}}', "notes.a"],
    ["a key of a map of messages twice", '{"apps":{"a":{},"a":{}}}', "apps.a"],
    ["two members of a oneof", '{"one":"a","two":{}}', "two"],
    ["two members of a oneof, one with an unknown name", '{"three":"BLUE","one":"a"}', "one"],
    ["an enum that v2 lacks", '{"colour":"ULTRAVIOLET"}', "colour"],
    ["an enum that v2 lacks, by number", '{"colour":2}', "colour"],
    ["a negative number", '{"colour":-3}', "colour"],
    ["a number beyond 32 bits", '{"colour":2147483648}', "colour"],
    ["v2's number", '{"colour":7}', "colour"],
    ["the mark for having no number", '{"colour":-1}', "colour"],
    ["an unknown capability", '{"powers":["things.list","things.fly"]}', "powers[1]"],
    ["a capability in neither spelling", '{"powers":["CAP_OTHER"]}', "powers[0]"],
    ["a capability in v2's spelling, misspelt", '{"powers":["CAP_THINGS_fly"]}', "powers[0]"],
    ["a capability that v2 lacks", '{"powers":["things.old"]}', "powers[0]"],
    ["a capability by v2's number", '{"powers":[3]}', "powers[0]"],
    ["a capability by number", '{"powers":[4]}', "powers[0]"],
    ["a capability by no number", '{"powers":[-1]}', "powers[0]"],
    ["an empty capability", '{"powers":[""]}', "powers[0]"],
  ])("DIFF-15: with its place: %s", async (_, body, field) => {
    expect((await refusal(body)).fieldViolations.map((violation) => violation.field)).toEqual([field]);
  });

  test.each([
    '{"name":["hunter2"]}',
    '{"powers":["hunter2"]}',
    '{"colours":[-99999]}',
    '{"until":"hunter2"}',
    '{"name":"hunter2',
  ])("without repeating what was sent: %s", async (body) => {
    const { message, fieldViolations } = await refusal(body);
    expect(`${message}${JSON.stringify(fieldViolations)}`).not.toMatch(/hunter2|99999/);
  });

  test("with a short message, however long a name is", async () => {
    const { message, fieldViolations } = await refusal(`{"notes":{"${"k".repeat(100_000)}":1}}`);
    expect(message.length + JSON.stringify(fieldViolations).length).toBeLessThan(2_000);
  });
});

describe("an unknown member", () => {
  const body = '{"x":1e400,"name":"a","x":2,"part":{"y":3,"userName":"u"},"parts":[{"z":4}]}';

  test("is dropped and counted, as v1's decoder did; also twice, also inside messages", async () => {
    const { sent, exchange } = await create(body);
    expect(textOf(sent[0])).toBe('{"name":"a","piece":{"username":"u"},"pieces":[{}]}');
    expect(exchange.unknownFields).toEqual(
      ["x", "x", "part.y", "parts[0].z"].map((name) => ({ direction: "request", name })),
    );
  });

  test("is passed with its bytes when told so, and counted all the same", async () => {
    const { sent, exchange } = await create(body, { unknownRequest: "pass" });
    expect(textOf(sent[0])).toBe('{"name":"a","piece":{"username":"u","y":3},"pieces":[{"z":4}],"x":1e400,"x":2}');
    expect(exchange.unknownFields).toHaveLength(4);
  });

  test("is never passed under a name that v2 gives to something else", async () => {
    const { sent, exchange } = await create(
      '{"matchClaim":"x","match_claim":"x","uid":"x","create_time":"x","name":"a"}',
      {
        unknownRequest: "pass",
      },
    );
    expect(textOf(sent[0])).toBe('{"name":"a"}');
    expect(exchange.unknownFields).toHaveLength(4);
  });

  test("is refused when told so, with its place", async () => {
    const problem = await refusal('{"part":{"y":3}}', { unknownRequest: "refuse" });
    expect(problem.fieldViolations[0]?.field).toBe("part.y");
  });

  test("is v2's own spelling of a member", async () => {
    expect(await sentText('{"matchClaim":"a","uid":"u","hue":"COLOUR_RED","syncConfig":"x"}')).toBe("{}");
  });
});

describe("however much a body says", () => {
  /** `list`, and how often anybody looked into it. */
  function watched<T>(list: readonly T[]): { list: readonly T[]; looks: () => number } {
    let looks = 0;
    const get = (target: readonly T[], name: PropertyKey, receiver: unknown): unknown => {
      looks++;
      return Reflect.get(target, name, receiver);
    };
    return { list: new Proxy(list, { get }), looks: () => looks };
  }
  const read = (body: unknown, rows: readonly Row[]) =>
    readBody(new TextEncoder().encode(JSON.stringify(body)), rows, "pass", createBodyNotes());

  test("the names of an enum are gone through once", () => {
    const { list, looks } = watched(COLOUR.values);
    const rows: readonly Row[] = [
      { v1: "colours", v2: "hues", kind: "enum", values: { ...COLOUR, values: list }, list: true, zero: [] },
    ];
    const names = Array.from({ length: 1000 }, (_, i) => ["NAMED", 1, `NONE${i}`][i % 3]);
    expect(read({ colours: names }, rows).fields.get("colours")?.raw).toContain('"COLOUR_NAMED","COLOUR_RED"');
    expect(looks()).toBeLessThan(50);
  });

  test("the fields of a message are gone through once", () => {
    const { list, looks } = watched(PART);
    const unknown = Array.from({ length: 1000 }, (_, i) => [`x${i}`, i]);
    expect(read(Object.fromEntries(unknown), list).passed).toHaveLength(1000);
    expect(looks()).toBeLessThan(50);
  });
});

describe("DIFF-66: a body of more values than any record has", () => {
  const rows = [NAME];
  test.each([
    ["members", `{${Array.from({ length: 20_000 }, (_, i) => `"a${i}":1`).join(",")}}`],
    ["elements", `{"x":[${Array.from({ length: 20_000 }, () => "1").join(",")}]}`],
    ["arrays in arrays", `{"x":[${Array.from({ length: 1_000 }, () => "[".repeat(20) + "]".repeat(20)).join(",")}]}`],
  ])("is refused before it is read: %s", (_, text) => {
    const notes = createBodyNotes();
    expect(() => readBody(Buffer.from(text), rows, "drop", notes)).toThrow(
      expect.objectContaining({
        reason: "BODY_TOO_LARGE",
        message: "the request body has more than 20000 JSON values",
        metadata: { limit: "20000", unit: "values" },
      }),
    );
    expect(notes.unknown).toEqual([]);
  });

  test("may be as long as it likes otherwise", () => {
    const text = JSON.stringify({ name: ",".repeat(1_000_000) });
    expect(readBody(Buffer.from(text), rows, "drop", createBodyNotes()).fields.size).toBe(1);
  });
});
