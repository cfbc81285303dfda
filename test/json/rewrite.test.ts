import { describe, expect, it } from "vitest";
import { JsonError } from "../../src/json/error.ts";
import type { MemberPlan, ObjectPlan, PagePlan, ValuePlan } from "../../src/json/plan.ts";
import { createPageRewriter, createValueRewriter, rewriteValue } from "../../src/json/rewrite.ts";
import { text, utf8 } from "./documents.ts";

const object = (members: Record<string, MemberPlan>, rest: Partial<ObjectPlan> = {}): ObjectPlan => ({
  kind: "object",
  members: new Map(Object.entries(members)),
  ...rest,
});
const edit = (source: string, plan: ValuePlan): string => text(rewriteValue(utf8(source), plan).bytes);
const refusal = (run: () => unknown): JsonError => {
  try {
    run();
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("untouched bytes", () => {
  it("keep every digit, escape, order and space", () => {
    const kept = '"n":[1.0,1e2,-0,12345678901234567890,1E+400],"s":"\\u0041\\/\\ud83d","m" : { "uid" :  null }';
    expect(edit(`\n{ ${kept}\t, "uid":"a" }\r\n`, object({ uid: { rename: "id" } }))).toBe(
      `\n{ ${kept}\t, "id":"a" }\r\n`,
    );
  });

  it("keep what stands under the same name elsewhere: only the planned place is edited", () => {
    const plan = object({
      uid: { rename: "id" },
      labels: { value: { kind: "map", values: object({ uid: { rename: "id" } }) } },
    });
    const source = '{"other":{"uid":1},"labels":{"uid":{"uid":2},"uid":3},"uid":"a"}';
    expect(edit(source, plan)).toBe('{"other":{"uid":1},"labels":{"uid":{"id":2},"uid":3},"id":"a"}');
  });

  it("keep members that repeat when nothing is done to them", () => {
    const source = '{"a":1,"a":2,"b":3,"b":4}';
    expect(edit(source, object({ a: {}, uid: { rename: "id" } }))).toBe(source);
  });

  it("keep names of prototypes as data", () => {
    const plan = object({ uid: { rename: "__proto__" }, constructor: { rename: "toString" } }, { unknown: "pass" });
    expect(edit('{"uid":{"polluted":1},"constructor":{"prototype":2}}', plan)).toBe(
      '{"__proto__":{"polluted":1},"toString":{"prototype":2}}',
    );
    const source = '{"__proto__":{"polluted":1}}';
    const { bytes, reports } = rewriteValue(utf8(source), object({}));
    expect(text(bytes)).toBe(source);
    expect(reports).toEqual([{ kind: "unknown", object: "", member: "__proto__", count: 1 }]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe("names", () => {
  it("are found however they are escaped", () => {
    expect(edit('{"u\\u0069d":1}', object({ uid: { rename: "id" } }))).toBe('{"id":1}');
    expect(edit('{"caf\\u00e9":1,"x\\ty":2}', object({ café: { rename: "é" }, "x\ty": { drop: true } }))).toBe(
      '{"é":1}',
    );
  });

  it("are told apart when they have the same length, first and last letter", () => {
    expect(edit('{"abbc":1,"accc":2}', object({ accc: { rename: "x" }, abbc: { rename: "y" } }))).toBe('{"y":1,"x":2}');
  });

  it("may repeat in objects of the same plan at different levels", () => {
    const members = new Map<string, MemberPlan>();
    const plan: ObjectPlan = { kind: "object", members };
    members.set("uid", { rename: "id" }).set("child", { value: plan });
    expect(edit('{"child":{"child":{"uid":3},"uid":2},"uid":1}', plan)).toBe(
      '{"child":{"child":{"id":3},"id":2},"id":1}',
    );
    expect(refusal(() => edit('{"uid":1,"child":{"uid":2},"uid":3}', plan)).reason).toBe("repeated member");
    expect(refusal(() => edit('{"child":{"uid":2,"uid":3},"uid":3}', plan)).pointer).toBe("/child/uid");
  });

  it("given to two members of the source are refused when both are there", () => {
    const plan = object({ claim_match: { rename: "claimMatch" }, claimMatch: {} });
    expect(edit('{"claim_match":1}', plan)).toBe('{"claimMatch":1}');
    expect(refusal(() => edit('{"claim_match":1,"claimMatch":2}', plan)).offset).toBe(17);
  });

  it.each([
    ["renamed", { rename: "x" }],
    ["dropped", { drop: true }],
    ["captured", { capture: "c" }],
    ["mapped", { value: { kind: "enum", names: new Map() } }],
  ] as [string, MemberPlan][])("refuse to repeat when they are %s", (_, member) => {
    const error = refusal(() => edit('{"k":1,"a":"x","\\u0061":"y"}', object({ a: member })));
    expect([error.reason, error.offset, error.pointer]).toEqual(["repeated member", 15, "/a"]);
    expect(error.message).toBe('repeated member at byte 15, JSON pointer "/a"');
  });
});

describe("reports", () => {
  it("are told apart by everything that they say", () => {
    const labelled = (label: string) => object({}, { label });
    const plan = object({ a: { value: labelled("x") }, b: { value: labelled("xy") }, c: { value: labelled("x 1") } });
    const { reports } = rewriteValue(utf8('{"a":{"yz":1,"1 z":1,"":1},"b":{"z":1},"c":{"z":1,"":1}}'), plan);
    expect(reports.map(({ object: of, member, count }) => [of, member, count])).toEqual([
      ["x", "yz", 1],
      ["x", "1 z", 1],
      ["x", "", 1],
      ["xy", "z", 1],
      ["x 1", "z", 1],
      ["x 1", "", 1],
    ]);
  });
});

describe("dropping", () => {
  it.each([
    ['{"x":1}', "{}"],
    ['{ "x":1 }', "{ }"],
    ['{"x":1,"a":2}', '{"a":2}'],
    ['{"x":1,"y":3, "a":2}', '{"a":2}'],
    ['{"a":2,"x":1}', '{"a":2}'],
    ['{"a":2,"x":1,"y":1,"b":3 }', '{"a":2,"b":3 }'],
    ['{"x":[{"x":1}],"a":{"x":1},"y":2}', '{"a":{"x":1}}'],
  ])("takes a member of %s with exactly one comma", (source, wanted) => {
    expect(edit(source, object({ x: { drop: true }, y: { drop: true } }))).toBe(wanted);
  });
});

describe("values by table", () => {
  const kind: ValuePlan = {
    kind: "enum",
    names: new Map([
      ["ON", "on"],
      ["ÄON", "é"],
    ]),
    numbers: new Map([[2, "two"]]),
  };

  it("are exchanged for strings, numbers, and arrays of them", () => {
    expect(edit('["ON","\\u004fN","ÄON",2,2.0,20e-1,["ON"],null]', kind)).toBe(
      '["on","on","é","two","two","two",["on"],null]',
    );
  });

  it("that are in no table are copied and reported with the value", () => {
    const plan = object({ kind: { value: kind } }, { label: "group" });
    const { bytes, reports } = rewriteValue(utf8('{"kind":["constructor",7,true,"ON"]}'), plan);
    expect(text(bytes)).toBe('{"kind":["constructor",7,true,"on"]}');
    expect(reports).toEqual([
      { kind: "enum", object: "group", member: "kind", value: "constructor", count: 1 },
      { kind: "enum", object: "group", member: "kind", value: "7", count: 1 },
      { kind: "shape", object: "group", member: "kind", count: 1 },
    ]);
  });
});

describe("insertion", () => {
  const plan = object(
    { d: { rename: "description" } },
    {
      insert: [
        { key: "description", value: '""' },
        { key: "tags", value: "[]" },
      ],
    },
  );

  it("is refused a repeated member of that name", () => {
    expect(refusal(() => edit('{"tags":[],"tags":[]}', plan)).pointer).toBe("/tags");
  });
});

describe("conversion and capture", () => {
  it("hand over the raw bytes of a value and put the answer in its place", () => {
    const seen: string[] = [];
    const convert = (raw: Uint8Array): string => {
      seen.push(text(raw));
      return "true";
    };
    expect(edit('{"a": {"x":1.0} ,"b":null}', object({ a: { value: { kind: "convert", convert } } }))).toBe(
      '{"a": true ,"b":null}',
    );
    expect(seen).toEqual(['{"x":1.0}']);
  });

  it("let new members be made of several old ones", () => {
    const plan = object(
      { group: { capture: "group" }, role: { capture: "role" } },
      {
        emits: ["pair"],
        insert: [{ key: "pair", value: "null" }],
        finish: (captured, emit) => {
          const [group, role] = [captured.get("group"), captured.get("role")];
          if (group && role) emit("pair", `[${text(group)},${text(role)}]`);
        },
      },
    );
    expect(edit('{"group":{"uid":1},"a":0,"role":"r"}', plan)).toBe('{"a":0,"pair":[{"uid":1},"r"]}');
    expect(edit('{"group":{"uid":1},"pair":3}', plan)).toBe('{"pair":null}');
  });

  it("are an error of the plan when they emit a name that is there already", () => {
    const plan = object({ a: {} }, { emits: ["a"], finish: (_, emit) => emit("a", "1") });
    expect(refusal(() => edit('{"a":2}', plan)).reason).toBe("repeated member");
  });

  it("make room when the answer is much longer than the source", () => {
    const long = `"${"x".repeat(10_000)}"`;
    const plan: ValuePlan = { kind: "array", items: { kind: "convert", convert: () => long } };
    expect(edit("[1,2]", plan)).toBe(`[${long},${long}]`);
  });
});

describe("another kind of value than planned", () => {
  it("is refused when it is the whole body and an object was expected", () => {
    for (const source of ["[]", " null", '"x"', "1"])
      expect(refusal(() => edit(source, object({}))).reason).toBe("expected an object");
  });
});

describe("broken texts", () => {
  const deep: ValuePlan = object({ a: { value: { kind: "array", items: object({ uid: { rename: "id" } }) } } });

  it("are refused when cut off anywhere", () => {
    const whole = utf8('{"a":[{"uid":"\\u00e9é"},{"uid":-1.5e+3}],"b":[true,false,null,{"x":{}}]}');
    expect(rewriteValue(whole, deep).reports).toHaveLength(1);
    for (let length = 0; length < whole.length; length++) {
      const error = refusal(() => rewriteValue(whole.subarray(0, length), deep));
      expect(error.offset).toBeLessThanOrEqual(length);
    }
  });

  it.each([
    ['{"a":[1,]}', 8, "/a/1", "comma after the last one"],
    ['{"a":1,}', 7, "", "comma after the last one"],
    ['{"a" 1}', 5, "/a", 'expected ":"'],
    ['{"a":1 "b":2}', 7, "/a", 'expected "," or "}"'],
    ['{"b":[1 2]}', 8, "/b/0", 'expected "," or "]"'],
    ["{a:1}", 1, "", "expected a member name"],
    ['{"m~/n":[01]}', 10, "/m~0~1n/0", 'expected "," or "]"'],
    ['{"b":[-]}', 7, "/b/0", "expected a digit"],
    ['{"b":1.}', 7, "/b", "expected a digit"],
    ['{"b":1e}', 7, "/b", "expected a digit"],
    ['{"b":tru3}', 8, "/b", "expected a value"],
    ['{"b":NaN}', 5, "/b", "expected a value"],
    ['{"b":"\\x"}', 7, "/b", "invalid escape"],
    ['{"b":"\\u00g0"}', 10, "/b", "invalid escape"],
    ['{"b":"a\tb"}', 7, "/b", "control character in a string"],
    ['{"b":1}\u0000', 7, "", "data after the value"],
    ['{"b":1} {}', 8, "", "data after the value"],
    ['\ufeff{"b":1}', 0, "", "byte order mark"],
    ["", 0, "", "unexpected end of data"],
    ['{"b":"x', 7, "", "unexpected end of data"],
  ])("%j is refused at byte %i, place %j", (source, offset, pointer, reason) => {
    for (const plan of [
      deep,
      object({ b: { rename: "B" } }),
      { kind: "map", values: "copy" } as const,
      "copy" as const,
    ]) {
      const error = refusal(() => edit(source, plan));
      expect(error).toMatchObject({ offset, reason });
      if (reason !== "unexpected end of data") expect(error.pointer).toBe(pointer);
    }
  });

  it("are refused when they are not UTF-8, at the first bad byte", () => {
    for (const bad of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0xf5, 0x80, 0x80, 0x80]]) {
      const bytes = Buffer.concat([utf8('{"é":"é'), Uint8Array.from(bad), utf8('"}')]);
      const error = refusal(() => rewriteValue(bytes, "copy"));
      expect([error.reason, error.pointer, error.offset]).toEqual(["invalid UTF-8", "/é", 9]);
    }
  });

  it("are refused above the allowed depth, however deep, without exhausting the stack", () => {
    const nested = (levels: number): Uint8Array => utf8("[".repeat(levels) + "]".repeat(levels));
    expect(rewriteValue(nested(100), "copy").bytes).toHaveLength(200);
    expect(refusal(() => rewriteValue(nested(101), "copy"))).toMatchObject({
      reason: "nested too deeply",
      offset: 100,
    });
    expect(refusal(() => rewriteValue(nested(200_000), "copy")).offset).toBe(100);
    expect(refusal(() => edit('{"a":'.repeat(200_000), { kind: "map", values: "copy" })).offset).toBe(500);
  });

  it("with half a character in an escape pass", () => {
    for (const lone of ["\\ud800", "x\\udfff", "\\ud800\\ud800", "\\ud83dx\\ude00", "\\\\\\udc00", "\\ud800\\n"]) {
      const source = utf8(`{"a":"${lone}"}`);
      expect(rewriteValue(source, "copy").bytes).toBe(source);
    }
  });

  it("say little when a name in them is long", () => {
    const error = refusal(() => edit(`{"${"k".repeat(5000)}":x}`, "copy"));
    expect(error.message.length).toBeLessThan(300);
    expect(error.pointer).toHaveLength(5001);
  });
});

describe("a page", () => {
  const plan: PagePlan = {
    items: "groups",
    key: "uid",
    record: object({ uid: { rename: "id" } }),
    scalars: ["nextPageToken", "totalCount", "skipped"],
  };
  const page = (source: string, changes: Partial<PagePlan> = {}) =>
    createPageRewriter({ ...plan, ...changes })(utf8(source));

  it("becomes a range of records with their keys as they were, and the scalars beside", () => {
    const got = page(
      '{"totalCount":2.50,"groups":[ {"uid":"é\\n"} ,\n{"x":1,"uid":"b"}\t],"nextPageToken":"t\\u0031","skipped":null}',
    );
    expect(text(got.bytes)).toBe('{"id":"é\\n"},{"x":1,"id":"b"}');
    expect([...got.starts].map((start, i) => text(got.bytes.subarray(start, got.ends[i])))).toEqual([
      '{"id":"é\\n"}',
      '{"x":1,"id":"b"}',
    ]);
    expect(got.keys).toEqual(["é\n", "b"]);
    expect([...got.scalars]).toEqual([
      ["totalCount", { number: "2.50" }],
      ["nextPageToken", "t1"],
      ["skipped", null],
    ]);
    expect(got.reports).toEqual([{ kind: "unknown", object: "", member: "x", count: 1 }]);
  });

  it("of untouched records is a view of the bytes given", () => {
    const source = utf8('{"groups":[{"uid":"a"},{"uid":"b","x":1.0}]}');
    const got = createPageRewriter({ ...plan, record: "copy" })(source);
    expect(got.bytes.buffer).toBe(source.buffer);
    expect(text(got.bytes)).toBe('{"uid":"a"},{"uid":"b","x":1.0}');
    expect([...got.starts, ...got.ends]).toEqual([0, 12, 11, 31]);
    expect(got.reports).toEqual([]);
  });

  it("lies between the texts that the plan puts around its records, edited or not", () => {
    for (const [record, name] of [
      ["copy", "uid"],
      [plan.record, "id"],
    ] as const) {
      const got = page('{"groups":[{"uid":"a"},{"uid":"bc"}]}', { record, around: { open: "<<<", close: ">" } });
      const records = [`{"${name}":"a"}`, `{"${name}":"bc"}`];
      expect(text(got.bytes)).toBe(`<<<${records}>`);
      expect([...got.starts].map((start, i) => text(got.bytes.subarray(start, got.ends[i])))).toEqual(records);
    }
  });

  it("says whether its keys ascend, as strings do, unless one of them is not plain ASCII", () => {
    const ascending = (...uids: string[]) => page(JSON.stringify({ groups: uids.map((uid) => ({ uid })) })).ascending;
    const long = "0123456789abcdef";
    expect(ascending()).toBe(true);
    expect(ascending("a", "b\u007f", "c")).toBe(true);
    expect(ascending("a", "é", "b")).toBeUndefined();
    const keys = ["", "a", "b", "~", "ab"].flatMap((end) =>
      [end, long.slice(1), long, `${long}/`].map((way) => way + end),
    );
    for (const one of keys)
      for (const other of keys) expect([one, other, ascending(one, other)]).toEqual([one, other, one < other]);
    expect(ascending(long, `${long}b`, `${long}a`)).toBe(false);
    const many = Array.from({ length: 1_100 }, (_, i) => String(i + 1_000));
    expect(ascending(...many)).toBe(true);
    // Wherever one slice of the page ends and the next begins.
    for (let i = 1; i < many.length; i++) if (ascending(...many.slice(i), ...many.slice(0, i))) expect(i).toBe(0);
  });

  it("without the member, or with null in it, is empty only where the plan says so", () => {
    for (const source of ["{}", '{"groups":null}', '{"totalCount":0}']) {
      expect(refusal(() => page(source)).pointer).toMatch(/^(\/groups)?$/);
      expect(page(source, { missingItems: "empty" }).keys).toEqual([]);
    }
  });

  it.each([
    ["[]", "expected an object", ""],
    ['{"groups":{}}', "expected an array of records", "/groups"],
    ['{"groups":[{"uid":"a"},1]}', "expected an object as record", "/groups/1"],
    ['{"groups":[{"uid":"a"},null]}', "expected an object as record", "/groups/1"],
    ['{"groups":[{"uid":"a"},{"id":"b"}]}', "record without its key", "/groups/1"],
    ['{"groups":[{"uid":"a"},{"x":{"uid":"b"}}]}', "record without its key", "/groups/1"],
    ['{"groups":[{"uid":7}]}', "expected a string as the record's key", "/groups/0/uid"],
    ['{"groups":[{"uid":"a","uid":"b"}]}', "repeated member", "/groups/0/uid"],
    ['{"groups":[],"groups":[]}', "repeated member", "/groups"],
    ['{"skipped":1,"groups":[],"skipped":2}', "repeated member", "/skipped"],
    ['{"groups":[{"uid":"a"}]} x', "data after the value", ""],
    ['{"groups":[{"uid":"a"},]}', "comma after the last one", "/groups/1"],
  ])("like %s is refused", (source, reason, pointer) => {
    expect(refusal(() => page(source))).toMatchObject({ reason, pointer });
    expect(refusal(() => page(source, { record: "copy", missingItems: "empty" }))).toMatchObject({ reason, pointer });
  });

  it("is refused when cut off anywhere", () => {
    const whole = '{"groups":[{"uid":"a"},{"uid":"b"}],"nextPageToken":"t","totalCount":12}';
    expect(page(whole).keys).toEqual(["a", "b"]);
    for (let length = 0; length < whole.length; length++)
      refusal(() => page(whole.slice(0, length), { missingItems: "empty" }));
  });

  it("reports members of its own that no one asked for, and scalars that are none", () => {
    const got = page('{"groups":[],"totalCount":{"a":1},"more":true,"skipped":false}', { label: "page" });
    expect(got.scalars.size).toBe(0);
    expect(got.reports.map(({ kind, object: of, member }) => [kind, of, member])).toEqual([
      ["shape", "page", "totalCount"],
      ["unknown", "page", "more"],
      ["shape", "page", "skipped"],
    ]);
  });

  it("takes keys by their place: nested records of the same plan need none", () => {
    const members = new Map<string, MemberPlan>([["uid", { rename: "id" }]]);
    const record: ObjectPlan = { kind: "object", members };
    members.set("parent", { value: record });
    expect(text(page('{"groups":[{"parent":{"uid":7},"uid":"a"}]}', { record }).bytes)).toBe(
      '{"parent":{"id":7},"id":"a"}',
    );
  });
});

describe("memory", () => {
  const long = "x".repeat(200);

  it("grows as far as new names are longer than old ones", () => {
    const plan: ValuePlan = { kind: "array", items: object({ a: { rename: long }, b: { rename: `${long}y` } }) };
    const source = Array.from({ length: 50 }, (_, i) => ({ a: i, b: "\u0000" }));
    const wanted = source.map(({ a, b }) => ({ [long]: a, [`${long}y`]: b }));
    expect(edit(JSON.stringify(source), plan)).toBe(JSON.stringify(wanted));
  });

  it("of one call is not touched by the next ones, nor by one inside it", () => {
    const rewrite = createValueRewriter(object({ uid: { rename: "id" } }));
    const outer = createValueRewriter(
      object({
        a: { value: { kind: "convert", convert: (raw) => (raw.length > 20 ? outer(raw).bytes : raw) } },
        z: { rename: "Z" },
      }),
    );
    const nested = utf8('{"z":1,"a":{"z":2,"a":{"z":3,"b":"unlike the others"}},"b":4}');
    // The first call leaves memory behind, which the second one takes and its inner call must not.
    for (let call = 0; call < 2; call++) {
      expect(text(outer(nested).bytes)).toBe('{"Z":1,"a":{"Z":2,"a":{"Z":3,"b":"unlike the others"}},"b":4}');
    }
    const first = rewrite(utf8('{"uid":"first"}'));
    const second = rewrite(utf8('{"uid":"second","more":"than before"}'));
    expect([text(first.bytes), text(second.bytes)]).toEqual(['{"id":"first"}', '{"id":"second","more":"than before"}']);
    expect(text(rewrite(utf8('{"uid":1}')).bytes)).toBe('{"id":1}');
  });

  it("is not given to any number of strange names", () => {
    const source = Object.fromEntries(Array.from({ length: 6000 }, (_, i) => [`name${i}`, i]));
    const { bytes, reports } = rewriteValue(utf8(JSON.stringify([source, source])), {
      kind: "array",
      items: object({}),
    });
    expect(text(bytes)).toBe(JSON.stringify([source, source]));
    expect(reports).toHaveLength(1001);
    expect(reports.at(-1)).toMatchObject({ kind: "unknown", object: "", member: "…" });
    expect(reports.reduce((sum, { count }) => sum + count, 0)).toBe(12_000);
  });
});
