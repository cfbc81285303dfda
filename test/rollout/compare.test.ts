import { describe, expect, test } from "vitest";
import { compareAnswers } from "../../src/shadow/compare.ts";
import { type Body, compare, compareLists, compareTexts, driven, LIST, ONE, placesOf } from "./compared.ts";

const A = { id: "a", name: "one" };
const B = { id: "b", name: "two" };

describe("status", () => {
  test("another status is all that is said", () => {
    const body = (text: string) => new TextEncoder().encode(text);
    const compared = driven(
      compareAnswers({ status: 200, body: body("{}") }, { status: 404, body: body('{"code":5}') }, ONE),
    );
    expect(compared).toMatchObject({
      result: "status",
      total: 1,
      differences: [{ class: "status", path: "status", id: undefined, native: "200", translated: "404" }],
    });
  });
});

/** Every class of a member, at every depth: what native has, what the translation has, class and path below the member's place. */
const MEMBERS: readonly (readonly [title: string, native: unknown, translated: unknown, expected: string])[] = [
  ["a value that is gone", { m: 1 }, {}, "missing m"],
  ["a value that became null", { m: "x" }, { m: null }, "missing m"],
  ["a message that is gone", { m: { a: 0, b: 1 } }, {}, "missing m"],
  ["a value that is new", {}, { m: [0] }, "extra m"],
  ["a value that was null", { m: null }, { m: true }, "extra m"],
  ["another text", { m: "x" }, { m: "y" }, "value m"],
  ["a zero for a value", { m: "x" }, { m: "" }, "value m"],
  ["a value for a zero", { m: 0 }, { m: 5 }, "value m"],
  ["another number", { m: 1 }, { m: 2 }, "value m"],
  ["a number as a text", { m: 1 }, { m: "1" }, "value m"],
  ["another truth", { m: false }, { m: true }, "value m"],
  ["an object for an array", { m: {} }, { m: [] }, "value m"],
  ["zeros of two kinds", { m: "" }, { m: 0 }, "value m"],
  ["nothing for an empty text", {}, { m: "" }, "presence m"],
  ["null for nothing", { m: null }, {}, "presence m"],
  ["nothing for false", {}, { m: false }, "presence m"],
  ["zero for null", { m: 0 }, { m: null }, "presence m"],
  ["an empty list for nothing", { m: [] }, {}, "presence m"],
  ["an empty object for null", { m: {} }, { m: null }, "presence m"],
  ["a message of zeros for nothing", { m: { a: 0, b: "", c: { d: null } } }, {}, "presence m"],
  ["a message that lacks its zero", { m: { a: 0 } }, { m: {} }, "presence m.a"],
  ["another member of a message", { m: { a: { b: 1 } } }, { m: { a: { b: 2 } } }, "value m.a.b"],
  ["another element", { m: [1, 2] }, { m: [1, 3] }, "value m[]"],
  ["an element less", { m: [1, 2] }, { m: [1] }, "missing m[]"],
  ["an element more", { m: [] }, { m: [{}] }, "extra m[]"],
  ["a member of an element", { m: [[{ a: 1 }]] }, { m: [[{ a: 2 }]] }, "value m[][].a"],
  ["a part with an id", { m: [{ id: "p", a: 1 }] }, { m: [{ id: "p", a: 2 }] }, "value m[].a"],
  ["a part that is gone", { m: [{ id: "p" }, { id: "q" }] }, { m: [{ id: "q" }] }, "missing m[]"],
  [
    "a part whose id is there twice",
    {
      m: [
        { id: "p", a: 1 },
        { id: "p", a: 2 },
      ],
    },
    {
      m: [
        { id: "p", a: 1 },
        { id: "p", a: 3 },
      ],
    },
    "value m[].a",
  ],
  ["parts in another order", { m: [{ id: "p" }, { id: "q" }] }, { m: [{ id: "q" }, { id: "p" }] }, "value m[]"],
  ["a label", { labels: { "my key": "x" } }, { labels: { "my key": "y" } }, "value labels.*"],
  ["an empty label that is gone", { labels: { k: "" } }, { labels: {} }, "presence labels.*"],
  ["labels that are gone", { labels: { k: "" } }, {}, "missing labels"],
  ["a member of a message by key", { apps: { k: { n: 1 } } }, { apps: { k: { n: 2 } } }, "value apps.*.n"],
  ["an enum's zero for nothing", { kind: "NONE" }, {}, "presence kind"],
  ["an enum's zero for an empty text", { kind: "NONE" }, { kind: "" }, "presence kind"],
  ["a text that is an enum's zero elsewhere", { m: "NONE" }, {}, "missing m"],
  ["a 64-bit zero for nothing", { big: "0" }, {}, "presence big"],
  ["a 64-bit number as a number", { big: "0" }, { big: 0 }, "value big"],
  ["a set in another order", { tags: ["x", "y"] }, { tags: ["y", "x"] }, "order tags[]"],
  ["another element of a set", { tags: ["x", "y"] }, { tags: ["z", "x"] }, "value tags[]"],
  ["a repeat in a set", { tags: ["x"] }, { tags: ["x", "x"] }, "extra tags[]"],
  ["another instant", { at: "2026-01-01T00:00:00Z" }, { at: "2026-01-01T00:00:00.000000001Z" }, "value at"],
  ["an instant as text", { m: "2026-01-01T00:00:00Z" }, { m: "2026-01-01T00:00:00.0Z" }, "value m"],
  ["no time in a time", { at: "yesterday" }, { at: "today" }, "value at"],
];

describe("members", () => {
  test.each(MEMBERS)("%s, of a record that is asked for alone", (_, native, translated, expected) => {
    const compared = compare(native, translated, ONE);
    expect(placesOf(compared)).toEqual([expected]);
    expect(compared).toMatchObject({ result: expected.split(" ")[0], total: 1 });
    expect(compared.differences[0]?.id).toBeUndefined();
  });

  test("elements that are no set count by position", () => {
    const compared = compare({ m: [1, 2, 3] }, { m: [1, 3, 2] }, ONE);
    expect(placesOf(compared)).toEqual(["value m[]"]);
    expect(compared.total).toBe(2);
  });

  test("what each side has is shown", () => {
    const { differences } = compare({ m: 1, n: { a: 1 } }, { m: "1" }, ONE);
    expect(differences).toEqual([
      { class: "missing", path: "n", id: undefined, native: '{"a":1}', translated: undefined },
      { class: "value", path: "m", id: undefined, native: "1", translated: '"1"' },
    ]);
  });

  test("classes come worst first, one line for each class and path, all counted", () => {
    const native = Array.from({ length: 30 }, (_, i) => ({ id: `${i}`, a: 1, b: 1, c: "" }));
    const translated = native.map(({ id }) => ({ id, b: 2, d: 1 }));
    const compared = compareLists(native, translated);
    expect(placesOf(compared)).toEqual([
      "missing items[].a",
      "extra items[].d",
      "value items[].b",
      "presence items[].c",
    ]);
    expect(compared).toMatchObject({ result: "missing", total: 120 });
  });

  test("twenty differences are shown at most", () => {
    const native = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`m${i}`, 1]));
    const compared = compare(native, {}, ONE);
    expect(compared.differences).toHaveLength(20);
    expect(compared.total).toBe(50);
  });
});

describe("same, however it is spelled", () => {
  const SAME: readonly (readonly [string, string, string])[] = [
    ["white space and the order of members", '{"a":1,"b":{"c":[1,2]}}', '{ "b" : {"c":[ 1 ,2]},\n"a":1}'],
    ["escapes", '{"a":"\\u00e9\\/<"}', '{"a":"é/\\u003c"}'],
    ["escapes in names", '{"\\u0061":1}', '{"a":1}'],
    ["numbers", '{"a":[1,10,0.5,0,1e400]}', '{"a":[1.0,1e1,5E-1,-0.0e7,10e399]}'],
    ["instants", '{"at":"2026-01-01T00:00:00Z"}', '{"at":"2026-01-01T01:00:00.000+01:00"}'],
    ["instants in messages", '{"box":{"at":"2026-01-01T00:00:00.5Z"}}', '{"box":{"at":"2026-01-01T00:00:00.50Z"}}'],
    [
      "instants by key",
      '{"apps":{"k":{"at":"2026-01-01T00:00:00Z"}}}',
      '{"apps":{"k":{"at":"2026-01-01T00:00:00.0Z"}}}',
    ],
    ["a name that is there twice: the last counts", '{"a":1,"a":2}', '{"a":2}'],
    ["half a character", '{"a":"\\ud800"}', '{"a":"\\uD800"}'],
  ];
  test.each(SAME)("%s", (_, native, translated) => {
    expect(compareTexts(native, translated, ONE)).toMatchObject({ result: "equal", total: 0, differences: [] });
  });

  const OTHER: readonly (readonly [string, string, string])[] = [
    ["whole numbers beyond 2^53", '{"a":9007199254740993}', '{"a":9007199254740992}'],
    ["fractions beyond a double", '{"a":0.1}', '{"a":0.1000000000000000055511151231257827}'],
    ["exponents beyond a double", '{"a":1e400}', '{"a":1e401}'],
    ["signs", '{"a":-1}', '{"a":1}'],
    ["a name that is there twice: the last counts", '{"a":1,"a":2}', '{"a":1}'],
    ["characters that look alike", '{"a":"é"}', '{"a":"e\u0301"}'],
  ];
  test.each(OTHER)("but not %s", (_, native, translated) => {
    expect(placesOf(compareTexts(native, translated, ONE))).toEqual(["value a"]);
  });

  test.each([
    ["2026-02-30T00:00:00Z", "2026-03-02T00:00:00Z"],
    ["2026-02-29T00:00:00Z", "2026-03-01T00:00:00Z"],
    ["2026-04-31T12:00:00+02:00", "2026-05-01T12:00:00+02:00"],
    ["2026-01-01T24:00:00Z", "2026-01-02T00:00:00Z"],
    ["2026-01-01T00:00:00+24:00", "2025-12-31T00:00:00Z"],
  ])("but not a day or an hour that does not exist, and another one: %s", (never, other) => {
    expect(placesOf(compare({ at: never }, { at: other }, ONE))).toEqual(["value at"]);
    // Nor is it a time that changed by itself.
    expect(placesOf(compare({ seen: never }, { seen: other }, ONE))).toEqual(["value seen"]);
  });

  test.each([
    ["2024-02-29T23:30:00Z", "2024-03-01T00:30:00.0+01:00"],
    ["2026-12-31T23:59:59Z", "2027-01-01T23:58:59+23:59"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000z"],
  ])("the first and last days of a month are days: %s", (time, same) => {
    expect(compare({ at: time }, { at: same }, ONE).result).toBe("equal");
  });

  test("members beyond any number that is sorted at once, in any order", () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `k${(i * 7919) % 20_000}`);
    const member = (name: string) => `"${name}":"${name}"`;
    const listed = (inner: string) => `{"items":[{"held":{${inner}}},{"name":"other"}]}`;
    const [native, reversed] = [names.map(member), names.map(member).reverse()];
    expect(compareTexts(listed(native.join()), listed(reversed.join(" ,\n")), LIST).result).toBe("equal");
    const changed = reversed.map((each) => (each.includes('k777"') ? '"k777":"x"' : each));
    expect(placesOf(compareTexts(listed(native.join()), listed(changed.join()), LIST))).toEqual([
      "value items[].held.k777",
    ]);
  });
});

describe("records of a list", () => {
  test("one that is gone and one that is new, by id", () => {
    const { differences } = compareLists([A, B], [{ ...A, id: "c" }, B]);
    expect(differences).toEqual([
      { class: "missing", path: "items[]", id: "a", native: JSON.stringify(A), translated: undefined },
      { class: "extra", path: "items[]", id: "c", native: undefined, translated: JSON.stringify({ ...A, id: "c" }) },
    ]);
  });

  test("another order is reported, and what differs beside it", () => {
    expect(compareLists([A, B], [B, A])).toMatchObject({ result: "order", total: 1 });
    expect(placesOf(compareLists([A, B], [{ ...B, name: "x" }, A]))).toEqual(["value items[].name", "order items[]"]);
  });

  test("an id that is there twice: equal records first, then what is left", () => {
    const twice = [A, { ...A, name: "other" }];
    expect(compareLists(twice, [...twice].reverse()).result).toBe("order");
    expect(placesOf(compareLists(twice, [{ ...A, name: "third" }, A]))).toContain("value items[].name");
    expect(compareLists(twice, [A])).toMatchObject({ total: 1, result: "missing" });
    expect(compareLists([A], [A, A])).toMatchObject({
      total: 1,
      result: "extra",
      differences: [{ id: "a", path: "items[]" }],
    });
  });

  test("records without an id are paired by what they say", () => {
    const [x, y] = [{ name: "x" }, { name: "y" }];
    expect(compareLists([x, y, 7, null], [null, y, 7, x])).toMatchObject({ result: "order", total: 1 });
    expect(placesOf(compareLists([x, y], [y, { name: "z" }]))).toContain("value items[].name");
    expect(compareLists([{ id: "" }, { id: null }], [{ id: null }, { id: "" }]).result).toBe("order");
    expect(compareLists([x, y], [y])).toMatchObject({ total: 1, differences: [{ class: "missing", id: undefined }] });
  });

  test("an id that is a number, however it is spelled", () => {
    expect(compareTexts('{"items":[{"id":10},{"id":"b"}]}', '{"items":[{"id":"b"},{"id":1e1}]}', LIST).result).toBe(
      "order",
    );
  });

  test("an id that is there twice in one record, and one with escapes: the last counts", () => {
    const two = '{"items":[{"id":"b","n":1,"\\u0069d":"a"},{"id":"b"}]}';
    expect(compareTexts(two, '{"items":[{"id":"a","n":2},{"id":"b"}]}', LIST).differences).toMatchObject([
      { class: "value", path: "items[].n", id: "a" },
    ]);
  });

  test("another name for the id", () => {
    const list = (...groups: string[]) => ({ items: groups.map((group) => ({ group, id: "same" })) });
    expect(compare(list("a", "b"), list("b", "c"), { ...LIST, key: "group" }).differences).toMatchObject([
      { class: "missing", id: "a" },
      { class: "extra", id: "c" },
    ]);
  });

  test("members of the envelope", () => {
    expect(placesOf(compare({ items: [], count: 1 }, { items: [] }, LIST))).toEqual(["missing count"]);
    expect(placesOf(compare({ items: [A] }, {}, LIST))).toEqual(["missing items"]);
    expect(placesOf(compare({ items: [] }, {}, LIST))).toEqual(["presence items"]);
    expect(placesOf(compare({ items: [A] }, [A], LIST))).toEqual(["value "]);
    expect(placesOf(compare({ items: { a: 1 } }, { items: { a: 2 } }, LIST))).toEqual(["value items.a"]);
  });
});

describe("what changes by itself", () => {
  const [T1, T2] = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"];
  const seen = (value: unknown) => [{ ...A, seen: value }];

  test("another time is noise, counted and not shown", () => {
    expect(compareLists(seen(T1), seen(T2))).toMatchObject({ result: "noise", total: 1, differences: [] });
    expect(compare({ seen: T1 }, { seen: T2 }, ONE).result).toBe("noise");
    expect(compareLists(seen(T1), seen(T1.replace("Z", ".0Z"))).result).toBe("equal");
  });

  test("noise beside a difference is counted, and the difference is the result", () => {
    const compared = compareLists(seen(T1), [{ ...A, seen: T2, name: "x" }]);
    expect(compared).toMatchObject({ result: "value", total: 2 });
    expect(placesOf(compared)).toEqual(["value items[].name"]);
  });

  test.each([undefined, null, ""])("a time on one side only is presence: %j", (nothing) => {
    expect(placesOf(compareLists(seen(T1), seen(nothing)))).toEqual(["presence items[].seen"]);
    expect(placesOf(compareLists(seen(nothing), seen(T1)))).toEqual(["presence items[].seen"]);
  });

  test("what is no time is a value", () => {
    expect(placesOf(compareLists(seen(T1), seen("soon")))).toEqual(["value items[].seen"]);
    expect(placesOf(compareLists(seen(T1), seen(1)))).toEqual(["value items[].seen"]);
    expect(placesOf(compareLists(seen({ a: "\\" }), seen({ a: "\\\\" })))).toEqual(["value items[].seen"]);
  });

  test("the same name elsewhere is no noise", () => {
    expect(placesOf(compare({ items: [], seen: T1 }, { items: [], seen: T2 }, LIST))).toEqual(["value seen"]);
    expect(compare({ items: [], token: "x" }, { items: [], token: "y" }, LIST).result).toBe("noise");
  });
});

describe("bodies that are no JSON", () => {
  const deep = (levels: number) => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  const BROKEN: readonly (readonly [string, Body])[] = [
    ["nothing at all", ""],
    ["white space", "  "],
    ["a page", "<html>"],
    ["a text cut off", '{"items":[{"id":"a'],
    ["a number cut off", '{"items":[1.'],
    ["something behind it", '{"items":[]} x'],
    ["a comma too many", '{"items":[1,]}'],
    ["brackets that do not match", '{"items":[}'],
    ["a name without a value", '{"items"}'],
    ["no UTF-8", new Uint8Array([0x22, 0xff, 0x22])],
    ["half a character at the end", new Uint8Array([0x22, 0xc3])],
    ["a byte order mark", "\ufeff{}"],
    ["a zero byte", "{}\0"],
    ["nested too deeply", deep(100)],
  ];
  test.each(BROKEN)("on one side it is an error: %s", (_, body) => {
    for (const shape of [LIST, ONE]) {
      for (const compared of [compareTexts('{"a":1}', body, shape), compareTexts(body, '{"a":1}', shape)]) {
        expect(compared).toMatchObject({ result: "error", total: 1, differences: [{ class: "error", path: "" }] });
      }
    }
  });

  test.each(BROKEN)("the same on both sides is equal: %s", (_, body) => {
    expect(compareTexts(body, body, LIST).result).toBe("equal");
  });

  test("two that differ are an error; error pages of one status are not", () => {
    expect(compareTexts("<a>", "<b>", ONE).result).toBe("error");
    expect(compareTexts("<a>", "<b>", ONE, 502).result).toBe("equal");
    expect(compareTexts("<a>", "{}", ONE, 502).result).toBe("error");
  });

  test("nested as deeply as may be is read", () => {
    expect(placesOf(compareTexts(deep(99), deep(98), ONE))).toEqual([`missing a${"[]".repeat(98)}`]);
  });
});

describe("bounds", () => {
  test("what is shown ends at 200 characters, never within one", () => {
    const long = (last: string) => ({ m: `${"x".repeat(197)}😀${"y".repeat(1000)}${last}` });
    const [shown] = compare(long("1"), long("2"), ONE).differences;
    expect(shown?.native).toBe(`"${"x".repeat(197)}…`);
    const wide = compare({ m: "語".repeat(400) }, { m: 1 }, ONE).differences[0]?.native;
    expect(wide).toBe(`"${"語".repeat(198)}…`);
    expect(compare({ ["k".repeat(500)]: 1 }, {}, ONE).differences[0]?.path).toBe(`${"k".repeat(199)}…`);
    expect(compareLists([{ id: "i".repeat(500) }], []).differences[0]?.id).toBe(`${"i".repeat(199)}…`);
  });

  test("a text of 3 MiB counts by its bytes", () => {
    const long = "x".repeat(3 * 1024 ** 2);
    expect(compare({ m: long }, { m: long, n: 1 }, ONE)).toMatchObject({ total: 1, result: "extra" });
    expect(compare({ m: `${long}1` }, { m: `${long}2` }, ONE)).toMatchObject({ total: 1, result: "value" });
  });

  test("a number of 5000 digits counts by its digits", () => {
    const long = "1".repeat(5000);
    expect(compareTexts(`{"a":${long}}`, `{"a": ${long}}`, ONE).result).toBe("equal");
    expect(compareTexts(`{"a":${long}1}`, `{"a":${long}2}`, ONE).result).toBe("value");
  });

  test("more places than are kept are counted, and the worst is the result", () => {
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`m${i}`, i + 1]));
    const compared = compare({ first: "x", ...many, last: 1 }, { first: "y" }, ONE);
    expect(compared).toMatchObject({ result: "missing", total: 3002 });
    const ended = compare({ ...many, z: 1 }, { ...Object.fromEntries(Object.keys(many).map((key) => [key, 0])) }, ONE);
    expect(ended.result).toBe("missing");
  });

  test("a long list pauses often, and an equal one as well", () => {
    const list = (name: string) =>
      JSON.stringify({ items: Array.from({ length: 5000 }, (_, i) => ({ id: `${i}`, name })) });
    const body = (text: string) => ({ status: 200, body: new TextEncoder().encode(text) });
    const pauses = (native: string, translated: string) => {
      let count = 0;
      for (const _ of compareAnswers(body(native), body(translated), LIST)) count++;
      return count;
    };
    expect(pauses(list("a"), list("b"))).toBeGreaterThan(20);
    // One record that holds it all is no single step either.
    expect(pauses(`{"a":${list("a")}}`, `{"a":${list("b")}}`)).toBeGreaterThan(20);
    const long = list("x".repeat(1000));
    expect(pauses(long, long)).toBeGreaterThan(10);
  });
});
