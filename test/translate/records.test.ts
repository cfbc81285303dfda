import { describe, expect, test } from "vitest";
import type { ApiResponse } from "../../src/model/http.ts";
import type { Row } from "../../src/model/resource.ts";
import { createTranslations } from "../../src/translate/translations.ts";
import { callsOf, ID, json, NAME, OPTIONS, operationOf, problemOf, run, textOf, thing } from "./support.ts";

const THINGS = thing({ rows: [ID, NAME, { v1: "role", v2: "roleUid", kind: "string", zero: "" }] });
const raw =
  (status: number, text: string): (() => ApiResponse) =>
  () => ({ status, headers: [], body: Buffer.from(text) });

describe("a get", () => {
  test("is a get of the same uid, in v1's words", async () => {
    const { sent, body } = await run(THINGS, "get", {
      uid: "a/b",
      query: "ignored=1",
      answer: () => json(200, { uid: "a/b", roleUid: "r" }),
    });
    expect(callsOf({ sent })).toEqual(["GET /iam/v2beta1/things/a/b"]);
    expect(body).toEqual({ id: "a/b", role: "r", name: "" });
  });

  test.each([404, 403, 401, 429, 500, 503])("answers v2's refusal: %i", async (status) => {
    const { response, body } = await run(THINGS, "get", {
      uid: "a",
      answer: () => json(status, { code: 5, message: "Invalid argument: role_uid: x", details: [] }),
    });
    expect(response.status).toBe(status);
    expect(body).toEqual({ code: 5, message: "Invalid argument: role: x", details: [] });
  });

  test.each(["", "{}", '{"error":"no route"}', "[]", "null", "7", "<html>", '{"uid":"a"}{}', '{"uid":"a","uid":"b"}'])(
    "shows no record where v2 sent none: %j",
    async (text) => {
      const problem = await problemOf(run(THINGS, "get", { uid: "a", answer: raw(200, text) }));
      expect([problem.reason, problem.metadata]).toEqual(["UPSTREAM_INVALID", {}]);
    },
  );

  test.each([
    '{"uid":"b"}',
    '{"n":1,"uid":"b"}',
    '{"uid":null}',
    '{"uid":1}',
    '{"uid":""}',
    '{"part":{"uid":"a"}}',
    '{"uid":"a/b"}',
  ])("shows no other record than the one that was asked for: %s", async (text) => {
    expect((await problemOf(run(THINGS, "get", { uid: "a", answer: raw(200, text) }))).reason).toBe("UPSTREAM_INVALID");
  });

  test.each(['{"uid":"a"}', '{ "uid" : "\\u0061" }', '{"name":"n","uid":"a"}'])("finds the uid in %s", async (text) => {
    expect((await run(THINGS, "get", { uid: "a", answer: raw(200, text) })).body).toMatchObject({ id: "a" });
  });

  test.each([201, 204, 206, 301, 302, 304])("takes %i for no answer", async (status) => {
    expect((await problemOf(run(THINGS, "get", { uid: "a", answer: raw(status, '{"uid":"a"}') }))).reason).toBe(
      "UPSTREAM_INVALID",
    );
  });
});

describe("a create", () => {
  test("is a post below the parent, the record in both directions in its version's words", async () => {
    const { sent, body, response } = await run(THINGS, "create", {
      uid: "a/b",
      body: { name: "n", role: "r", id: "made up" },
      answer: () => json(200, { uid: "a/b/c", name: "n", roleUid: "r" }),
    });
    expect(callsOf({ sent })).toEqual(["POST /iam/v2beta1/things/a/b"]);
    expect(textOf(sent[0])).toBe('{"name":"n","roleUid":"r"}');
    expect([response.status, body]).toEqual([200, { id: "a/b/c", name: "n", role: "r" }]);
  });

  test("without a parent is a post to the collection", async () => {
    const { sent } = await run(THINGS, "create", { body: {} });
    expect(callsOf({ sent })).toEqual(["POST /iam/v2beta1/things"]);
  });

  test("is answered with 200 whatever success v2 calls it", async () => {
    expect((await run(THINGS, "create", { answer: () => json(201, { uid: "u" }) })).response.status).toBe(200);
  });

  test.each([400, 403, 409, 500])("answers v2's refusal: %i", async (status) => {
    expect(
      (await run(THINGS, "create", { answer: () => json(status, { code: 6, message: "", details: [] }) })).response
        .status,
    ).toBe(status);
  });

  test.each([
    [200, ""],
    [200, "[]"],
    [200, "{}"],
    [200, '{"uid":""}'],
    [200, '{"uid":null}'],
    [201, "<html>"],
    [204, ""],
    [302, "{}"],
    [304, ""],
  ])("that v2 answered with %i %j may have happened, and the error says so", async (status, text) => {
    const problem = await problemOf(run(THINGS, "create", { answer: raw(status, text) }));
    expect([problem.reason, problem.metadata]).toEqual(["UPSTREAM_INVALID", { state: "unknown" }]);
  });

  test("with a wrong body sends nothing", async () => {
    const answer = () => {
      throw new Error("nothing may be sent");
    };
    expect((await problemOf(run(THINGS, "create", { body: { name: 1 }, answer }))).reason).toBe("INVALID_BODY");
  });
});

describe("a delete", () => {
  test.each([
    ["nothing", 200, ""],
    ["an empty object", 200, "{}"],
    ["nothing, and says so", 204, ""],
    ["anything", 200, "<html>"],
  ])("TRAP-64: gets {} when v2 responds with %s", async (_, status, text) => {
    const { sent, response } = await run(THINGS, "delete", {
      uid: "a/b",
      body: "not even JSON",
      answer: raw(status, text),
    });
    expect(callsOf({ sent })).toEqual(["DELETE /iam/v2beta1/things/a/b"]);
    expect(sent[0]?.body).toBeUndefined();
    expect([response.status, Buffer.from(response.body).toString()]).toEqual([200, "{}"]);
  });

  test("answers v2's refusal with its details", async () => {
    const error = {
      code: 9,
      message: "Precondition failed: x",
      details: [{ violations: [{ type: "RESOURCE_NOT_EMPTY" }] }],
    };
    const { response, body } = await run(THINGS, "delete", { uid: "a", answer: () => json(400, error) });
    expect([response.status, body]).toEqual([400, error]);
  });

  test("that was redirected may have happened, and the error says so", async () => {
    expect((await problemOf(run(THINGS, "delete", { uid: "a", answer: raw(307, "") }))).metadata).toEqual({
      state: "unknown",
    });
  });
});

test("an operation without a translation has none, all others have one", () => {
  const native = { kind: "native", name: "check", method: "POST", path: "things/{id=**}:check" } as const;
  const resource = { ...THINGS, operations: [...THINGS.operations, native] };
  const translations = createTranslations([resource], OPTIONS);
  expect(translations.get(native)).toBeUndefined();
  expect(translations.size).toBe(5);
  for (const kind of ["list", "get", "create", "update", "delete"] as const) {
    expect(translations.get(operationOf(resource, kind))).toBeTypeOf("function");
  }
});

test("the version in every target is the one that is configured", async () => {
  for (const kind of ["list", "get", "create", "update", "delete"] as const) {
    const { sent } = await run(THINGS, kind, { uid: kind === "list" ? "" : "a", options: { version: "v9" } });
    expect(sent[0]?.target).toMatch(/^\/iam\/v9\/things/);
  }
});

test("TRAP-60: a create that lacks what v2 wants is refused by the platform, in its own words and v1's names", async () => {
  const rows: readonly Row[] = [ID, NAME, { v1: "print", v2: "printDigest", kind: "string", zero: "", required: true }];
  const refusal = (field: string) => ({
    code: 3,
    message: `Invalid argument: ${field}: is wanted`,
    details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "INVALID_ARGUMENT", domain: "iam" }],
  });
  const answer = () => json(400, refusal("print_digest"));
  const { sent, response, body } = await run(thing({ rows }), "create", { uid: "p", body: { name: "n" }, answer });
  expect([textOf(sent[0]), response.status, body]).toEqual(['{"name":"n"}', 400, refusal("print")]);
});
