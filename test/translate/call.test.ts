import { describe, expect, test } from "vitest";
import type { Operation, Resource } from "../../src/model/resource.ts";
import { createRouter } from "../../src/router/router.ts";
import { COLOUR, callsOf, json, problemOf, runOperation, textOf, thing } from "./support.ts";

const paint: Operation = {
  kind: "call",
  name: "paint",
  method: "POST",
  path: "things/{thing_id=**}:paint",
  v2: { method: "POST", path: "objects/{uid}:paintObject" },
  body: {
    rows: [
      { v1: "thingId", v2: null, kind: "string", zero: "" },
      { v1: "colour", v2: "paint", kind: "enum", values: COLOUR, zero: "ANY" },
      { v1: "dry", v2: "dry", kind: "duration", zero: null },
    ],
    v2Only: [],
  },
  answer: {
    rows: [
      { v1: "thingId", v2: "objectUid", kind: "string", access: "output" },
      { v1: "state", v2: "status", kind: "enum", values: COLOUR, access: "output" },
      { v1: "done", v2: "done", kind: "bool", access: "output" },
    ],
    v2Only: ["hidden"],
  },
};

const find: Operation = {
  kind: "call",
  name: "find",
  method: "GET",
  path: "things:find",
  v2: { method: "GET", path: "objects:findObject" },
  filters: [{ v1: "first_name", use: "send", v2: "given_name", kind: "string" }],
  answer: { rows: [{ v1: "count", v2: "total", kind: "int64", access: "output" }], v2Only: [] },
};

const resource: Resource = { ...thing({ rows: [] }), operations: [paint, find] };
const route = createRouter({ resources: [resource], natives: [], version: "v2beta1", extraPrefixes: [] });

interface More {
  readonly body?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly answer?: ReturnType<typeof json>;
}

/** Asks for `path` below `/iam/v1/`. */
function ask(method: "GET" | "POST", path: string, { body, headers, answer = json(200, {}) }: More = {}) {
  const routed = route(method, `/iam/v1/${path}`);
  if (routed.kind !== "match") throw new Error(`${path} is routed as ${routed.kind}`);
  return runOperation({
    resources: [resource],
    resource,
    operation: routed.match.operation,
    match: routed.match,
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
    answer: () => answer,
  });
}

describe("a verb that writes", () => {
  test("is one call to its own path, with the uid of the v1 path and the body in v2's words", async () => {
    const { sent, body } = await ask("POST", "things/a/b:paint", {
      body: '{"thingId":"z","colour":"RED","dry":"0s"}',
      answer: json(200, { objectUid: "a/b", status: "COLOUR_RED", done: true, hidden: 1 }),
    });
    expect(callsOf({ sent })).toEqual(["POST /iam/v2beta1/objects/a/b:paintObject"]);
    expect(textOf(sent[0])).toBe('{"paint":"COLOUR_RED","dry":"0s"}');
    expect(body).toEqual({ thingId: "a/b", state: "RED", done: true });
  });

  test("sends what the client said and nothing else: what is left out stays out", async () => {
    const { sent } = await ask("POST", "things/a:paint", { body: '{"colour":null}' });
    expect(textOf(sent[0])).toBe("{}");
  });

  test.each(["", "  \n"])("takes an empty body for an empty message: %j", async (body) => {
    const { sent } = await ask("POST", "things/a:paint", { body });
    expect(textOf(sent[0])).toBe("{}");
  });

  test("counts fields that v1 does not have, by name, and does not send them", async () => {
    const { sent, exchange } = await ask("POST", "things/a:paint", { body: '{"secret":"hush"}' });
    expect(textOf(sent[0])).toBe("{}");
    expect(exchange.unknownFields).toEqual([{ direction: "request", name: "secret" }]);
  });

  test.each([
    ['{"colour":true}', "colour"],
    ['{"dry":"soon"}', "dry"],
    ['{"thingId":7}', "thingId"],
    ["[]", "the body"],
    ["null", "the body"],
    ["{", ""],
  ])("is refused in v1's words before anything is sent: %s", async (body, where) => {
    const problem = await problemOf(ask("POST", "things/a:paint", { body }));
    expect(problem.reason).toBe("INVALID_BODY");
    expect(problem.message).toContain(where);
  });

  test("shows the zero of what v2 leaves out, also for an answer without a body", async () => {
    const empty = { status: 200, headers: [], body: new Uint8Array() };
    const { body } = await ask("POST", "things/a:paint", { answer: empty });
    expect(body).toEqual({ thingId: "", state: "ANY", done: false });
  });

  test("TRAP-50: leaves no trace of what was shown, known or not, in what is recorded of the request", async () => {
    const { body, exchange } = await ask("POST", "things/a:paint", {
      body: '{"colour":"RED","extra":"hush"}',
      answer: json(200, { objectUid: "hush", status: "HUSH", done: "hush", token: "hush" }),
    });
    expect(body).toMatchObject({ thingId: "hush", token: "hush" });
    expect(JSON.stringify(exchange)).not.toMatch(/hush/i);
  });

  test("keeps a condition: it is one call", async () => {
    const { sent } = await ask("POST", "things/a:paint", { headers: [["if-match", '"1"']] });
    expect(sent[0]?.headers).toContainEqual(["if-match", '"1"']);
    expect(sent[0]?.headers).toContainEqual(["content-type", "application/json"]);
  });

  test.each([500, 503, 504])("is sent once, whatever the platform answers: %i", async (status) => {
    const { sent, response } = await ask("POST", "things/a:paint", { answer: json(status, { code: 14, message: "" }) });
    expect(sent).toHaveLength(1);
    expect(response.status).toBe(status);
  });

  test("whose answer cannot be read tells the client that it may have been done", async () => {
    const problem = await problemOf(ask("POST", "things/a:paint", { answer: json(200, []) }));
    expect(problem.reason).toBe("UPSTREAM_INVALID");
    expect(problem.metadata).toEqual({ state: "unknown" });
  });

  test("gives the platform's refusal with v1's names", async () => {
    const refusal = { code: 3, message: "Invalid argument: paint: is too red", details: [] };
    const { response, body } = await ask("POST", "things/a:paint", { answer: json(400, refusal) });
    expect(response.status).toBe(400);
    expect(body).toEqual({ ...refusal, message: "Invalid argument: colour: is too red" });
  });
});

describe("a verb that reads", () => {
  test("sends its parameters under v2's names, in either spelling, and no body", async () => {
    for (const name of ["first_name", "firstName"]) {
      const { sent, body } = await ask("GET", `things:find?${name}=a%20b`, { answer: json(200, { total: "7" }) });
      expect(callsOf({ sent })).toEqual(["GET /iam/v2beta1/objects:findObject?given_name=a%20b"]);
      expect(sent[0]?.body).toBeUndefined();
      expect(body).toEqual({ count: "7" });
    }
  });

  test("drops parameters that v1 does not know, and counts them", async () => {
    const { sent, exchange } = await ask("GET", "things:find?uid=x");
    expect(sent[0]?.target).toBe("/iam/v2beta1/objects:findObject");
    expect(exchange.notes).toContain("query-unknown");
  });

  test("leaves a condition away: a rewritten answer has other bytes", async () => {
    const { sent } = await ask("GET", "things:find", { headers: [["if-match", '"1"']] });
    expect(sent[0]?.headers.map(([name]) => name)).not.toContain("if-match");
  });

  test("whose answer cannot be read has changed nothing", async () => {
    const problem = await problemOf(ask("GET", "things:find", { answer: json(200, []) }));
    expect(problem.metadata).toEqual({});
  });
});

describe("a verb whose answer names the record of the path", () => {
  const issue: Operation = {
    ...paint,
    name: "issue",
    path: "things/{thing_id=**}:issue",
    v2: { method: "POST", path: "objects/{uid}:issue" },
    body: { rows: [{ v1: "thingId", v2: "objectUid", kind: "string", access: "output" }], v2Only: [] },
    answer: {
      rows: [
        { v1: "secret", v2: "secret", kind: "string", access: "output" },
        { v1: "thingId", v2: "objectUid", kind: "string", access: "output" },
      ],
      v2Only: [],
    },
  };
  const issuing: Resource = { ...resource, operations: [issue] };
  const issued = (answer: ReturnType<typeof json>) =>
    runOperation({ resources: [issuing], resource: issuing, operation: issue, uid: "a/b", answer: () => answer });

  test.each([
    ["nothing", { ...json(200, {}), body: new Uint8Array() }],
    ["an empty message", json(200, {})],
    ["something else", json(200, { greeting: "hello" })],
    ["another record", json(200, { secret: "s", objectUid: "z" })],
  ])("answered with %s is no success: nothing is made up", async (_, answer) => {
    const problem = await problemOf(issued(answer));
    expect([problem.reason, problem.metadata]).toEqual(["UPSTREAM_INVALID", { state: "unknown" }]);
  });

  test("is believed, also when it leaves that name out", async () => {
    expect((await issued(json(200, { secret: "s", objectUid: "a/b" }))).body).toEqual({ secret: "s", thingId: "a/b" });
    expect((await issued(json(200, { secret: "s" }))).body).toEqual({ secret: "s", thingId: "" });
  });
});
