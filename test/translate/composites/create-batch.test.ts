import { describe, expect, test } from "vitest";
import type { Operation, Resource } from "../../../src/model/resource.ts";
import { callsOf, ID, json, NAME, problemOf, type Run, refusalOf, runOperation, textOf, thing } from "../support.ts";

const shape = {
  rows: [
    ID,
    NAME,
    { v1: "role", v2: "roleUid", kind: "string", zero: "" },
    { v1: "size", v2: "size", kind: "int32", zero: 0 },
  ],
  v2Only: ["createTime"],
} as const;
const batch: Operation & { kind: "composite" } = {
  kind: "composite",
  name: "create-batch",
  method: "POST",
  path: "things/batch/{parent=**}",
  by: "create-batch",
  v2: "things:batchCreate",
  wrap: "someThing",
  body: shape,
  answer: shape,
};
const resource: Resource = { ...thing({ rows: shape.rows }), operations: [batch] };

type Answer = ReturnType<typeof json>;

function create(body: unknown, answer?: Answer, options = {}): Promise<Run> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return runOperation({
    resources: [resource],
    resource,
    operation: batch,
    uid: "org/team",
    body: text,
    options,
    answer: (request) => answer ?? made(JSON.parse(textOf(request)).requests.length),
  });
}

/** As many records as were asked for. */
function made(count: number): Answer {
  return json(200, { things: Array.from({ length: count }, (_, index) => ({ uid: `u${index}`, name: "" })) });
}

describe("a batch", () => {
  test("is one call, with the parent of the path in the body and in each request", async () => {
    const { sent, body } = await create(
      [
        { name: "a", role: "r" },
        { id: "mine", name: "b" },
      ],
      json(200, {
        things: [
          { uid: "1", name: "a", roleUid: "r", createTime: "2026-03-01T09:30:00Z" },
          { uid: "2", name: "b" },
        ],
      }),
    );
    expect(callsOf({ sent })).toEqual(["POST /iam/v2beta1/things:batchCreate"]);
    expect(JSON.parse(textOf(sent[0]))).toEqual({
      parent: "org/team",
      requests: [
        { parent: "org/team", someThing: { name: "a", roleUid: "r" } },
        { parent: "org/team", someThing: { name: "b" } },
      ],
    });
    expect(body).toEqual({
      things: [
        { id: "1", name: "a", role: "r", size: 0 },
        { id: "2", name: "b", role: "", size: 0 },
      ],
    });
  });

  test("keeps the digits of numbers", async () => {
    const { sent } = await create('[{"size":1e2}]');
    expect(textOf(sent[0])).toContain('{"size":1e2}');
  });

  test.each(["", " \r\n\t"])("of nothing is an empty one: %j", async (text) => {
    const { sent, body } = await create(text);
    expect(JSON.parse(textOf(sent[0]))).toEqual({ parent: "org/team", requests: [] });
    expect(body).toEqual({ things: [] });
  });

  test.each([
    ["{}", "the body: expected an array, found an object"],
    ["null", "the body: expected an array, found null"],
    ['"x"', "the body: expected an array, found a string"],
    ["[null]", "[0]: null is no element"],
    ["[{},7]", "[1]: expected an object, found a number"],
    ['[{},{"role":7}]', "[1].role: expected a string, found a number"],
    ['[{"name":"a","name":"b"}]', "[0].name: is given twice"],
    ['[{"size":"x"}]', "[0].size: expected a whole number"],
    ["[{}", "invalid body: unexpected end of data at byte 3"],
    ["[]]", "at byte 2"],
    ["\u00a0[]", "at byte 0"],
  ])("that is none is refused with the element in v1's words: %s", async (text, message) => {
    const problem = await problemOf(create(text));
    expect(problem.reason).toBe("INVALID_BODY");
    expect(problem.message).toContain(message);
  });

  test("counts fields that v1 does not have", async () => {
    const { sent, exchange } = await create([{ roleUid: "x" }]);
    expect(JSON.parse(textOf(sent[0])).requests).toEqual([{ parent: "org/team", someThing: {} }]);
    expect(exchange.unknownFields.map(({ direction }) => direction)).toEqual(["request"]);
    expect((await problemOf(create([{ x: 1 }], undefined, { unknownRequest: "refuse" }))).reason).toBe("INVALID_BODY");
  });

  test("is sent once, and keeps a condition", async () => {
    const run = await runOperation({
      resources: [resource],
      resource,
      operation: batch,
      uid: "p",
      body: "[{}]",
      headers: [["if-match", '"1"']],
      answer: () => json(503, { code: 14, message: "" }),
    });
    expect(run.sent).toHaveLength(1);
    expect(run.sent[0]?.headers).toContainEqual(["if-match", '"1"']);
    expect(run.response.status).toBe(503);
  });
});

describe("the platform's answer", () => {
  test.each([
    ["fewer records than were asked for", { things: [{ uid: "1" }] }],
    ["more records", { things: [{ uid: "1" }, { uid: "2" }, { uid: "3" }] }],
    ["none", {}],
    ["a record without its uid", { things: [{ uid: "1" }, { uid: "" }] }],
    ["another kind of record", { things: ["a", "b"] }],
  ])("with %s is an error that says that they may have been made", async (_, answer) => {
    const problem = await problemOf(create([{}, {}], json(200, answer)));
    expect(problem.reason).toBe("UPSTREAM_INVALID");
    expect(problem.metadata).toEqual({ state: "unknown" });
  });

  test("passes on what v1 does not know, and counts it", async () => {
    const { body, exchange } = await create([{}], json(200, { things: [{ uid: "1", name: "a", fresh: 1 }] }));
    expect(body).toEqual({ things: [{ id: "1", name: "a", role: "", size: 0, fresh: 1 }] });
    expect(exchange.unknownFields).toEqual([{ direction: "response", name: "fresh" }]);
  });

  test.each([
    ["requests[3].someThing.roleUid", "[3].role"],
    ["requests[3].some_thing.role_uid", "[3].role"],
    ["requests[3].roleUid", "[3].role"],
    ["someThing.roleUid", "role"],
    ["some_thing.role_uid", "role"],
    ["roleUid", "role"],
    ["requests", "things"],
    ["parent", "parent"],
    ["requests[12].someThing.name", "[12].name"],
  ])("that refuses %s names v1's %s", async (field, v1) => {
    const { response, body } = await create([{}], json(400, refusalOf(field)));
    expect(response.status).toBe(400);
    expect(body).toEqual(refusalOf(v1));
  });
});

test.each(["v2", "wrap", "body"] as const)("a batch without `%s` is a mistake in the catalogue", async (name) => {
  const { [name]: _, ...operation } = batch;
  const broken: Resource = { ...resource, operations: [operation] };
  const input = { resources: [broken], resource: broken, operation, answer: () => made(0) };
  await expect(runOperation(input)).rejects.toThrow(/create-batch needs/);
});
