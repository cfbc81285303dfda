import { expect, test } from "vitest";
import type { Operation, Resource } from "../../../src/model/resource.ts";
import { callsOf, ID, json, NAME, problemOf, type Run, runOperation, thing } from "../support.ts";

const lookup: Operation = {
  kind: "composite",
  name: "lookup",
  method: "GET",
  path: "things/lookup",
  by: "look-up",
  v2: "things:lookupThing",
  filters: [{ v1: "first_name", use: "send", v2: "given_name", kind: "string" }],
  answer: { rows: [ID, NAME], v2Only: [] },
};
const resource: Resource = { ...thing({ rows: [ID, NAME] }), operations: [lookup] };

function find(found: unknown, record: ReturnType<typeof json>, query = "first_name=ada"): Promise<Run> {
  return runOperation({
    resources: [resource],
    resource,
    operation: lookup,
    query,
    answer: ({ target }) => (target.includes(":lookupThing") ? json(200, found) : record),
  });
}

test("the verb gives the uid, a Get of it the rest", async () => {
  const { sent, body } = await find({ uid: "a/b" }, json(200, { uid: "a/b", name: "ada" }));
  expect(callsOf({ sent })).toEqual([
    "GET /iam/v2beta1/things:lookupThing?given_name=ada",
    "GET /iam/v2beta1/things/a/b",
  ]);
  expect(body).toEqual({ id: "a/b", name: "ada" });
});

test.each([
  [404, 5],
  [403, 7],
  [503, 14],
])(
  "TRAP-48, DIFF-42: the platform's refusal of the Get is the answer, and no record is made up: %i",
  async (status, code) => {
    const refusal = { code, message: "no", details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo" }] };
    const { response, body } = await find({ uid: "u" }, json(status, refusal));
    expect(response.status).toBe(status);
    expect(body).toEqual(refusal);
  },
);

test.each([{}, { uid: "" }, { uid: 7 }, { uid: "a/../b" }, []])(
  "what is no uid is asked for nowhere: %j",
  async (found) => {
    const problem = await problemOf(find(found, json(500, {})));
    expect(problem.reason).toBe("UPSTREAM_INVALID");
  },
);

test("the platform's refusal of the verb is the answer, with v1's names", async () => {
  const refusal = { code: 3, message: "Invalid argument: uid: is wrong", details: [] };
  const { sent, response, body } = await runOperation({
    resources: [resource],
    resource,
    operation: lookup,
    answer: () => json(400, refusal),
  });
  expect(sent).toHaveLength(1);
  expect(response.status).toBe(400);
  expect(body).toEqual({ ...refusal, message: "Invalid argument: id: is wrong" });
});

test("another record than the one that was named is an error", async () => {
  expect((await problemOf(find({ uid: "u" }, json(200, { uid: "v" })))).reason).toBe("UPSTREAM_INVALID");
});

test("parameters that v1 does not know are dropped and counted", async () => {
  const { sent, exchange } = await find({ uid: "u" }, json(200, { uid: "u" }), "email=x&firstName=");
  expect(sent[0]?.target).toBe("/iam/v2beta1/things:lookupThing");
  expect(exchange.notes).toEqual(["query-unknown"]);
});
