import { describe, expect, test } from "vitest";
import type { Operation, Resource } from "../../../src/model/resource.ts";
import { createRouter } from "../../../src/router/router.ts";
import { callsOf, ID, json, NAME, problemOf, type Run, runOperation, thing } from "../support.ts";

const parts: Operation = {
  kind: "composite",
  name: "list-parts",
  method: "GET",
  path: "things/{parent_id=**}/parts",
  by: "list-member",
  answer: {
    rows: [
      { v1: "parentId", v2: "uid", kind: "string", access: "output" },
      { v1: "items", v2: "pieces", kind: "message", rows: [ID, NAME], list: true, access: "output" },
    ],
    v2Only: [],
  },
};
const resource: Resource = { ...thing({ rows: [ID] }), operations: [parts] };
const route = createRouter({ resources: [resource], natives: [], version: "v2beta1", extraPrefixes: [] });

function list(answer: ReturnType<typeof json>, path = "things/a/b/parts", options = {}): Promise<Run> {
  const routed = route("GET", `/iam/v1/${path}`);
  if (routed.kind !== "match") throw new Error(`${path} is routed as ${routed.kind}`);
  const { match } = routed;
  return runOperation({
    resources: [resource],
    resource,
    operation: match.operation,
    match,
    options,
    answer: () => answer,
  });
}

describe("a list out of a record", () => {
  test("is one Get, and nothing else of the record is shown or counted", async () => {
    const record = { uid: "a/b", name: "whole", pieces: [{ uid: "1", name: "x" }, { uid: "2" }], fresh: 1 };
    const { sent, body, exchange } = await list(json(200, record));
    expect(callsOf({ sent })).toEqual(["GET /iam/v2beta1/things/a/b"]);
    expect(body).toEqual({
      parentId: "a/b",
      items: [
        { id: "1", name: "x" },
        { id: "2", name: "" },
      ],
    });
    expect(exchange.unknownFields).toEqual([]);
  });

  test("passes on what v1 does not know of an item, and counts it", async () => {
    const { body, exchange } = await list(json(200, { uid: "a/b", pieces: [{ uid: "1", name: "x", fresh: 1 }] }));
    expect(body).toEqual({ parentId: "a/b", items: [{ id: "1", name: "x", fresh: 1 }] });
    expect(exchange.unknownFields).toEqual([{ direction: "response", name: "items.fresh" }]);
  });

  test.each([true, false])(
    "that v2 leaves out is empty, and names no record either, whether zeros are inserted or not: %s",
    async (insertZeros) => {
      const { body } = await list(json(200, { uid: "a/b", name: "whole" }), undefined, { insertZeros });
      expect(body).toEqual({ parentId: "", items: [] });
    },
  );

  test("that v2 shows empty names its record", async () => {
    const { body } = await list(json(200, { uid: "a/b", pieces: [] }));
    expect(body).toEqual({ parentId: "a/b", items: [] });
  });

  test("of another record than the one asked for is an error", async () => {
    expect((await problemOf(list(json(200, { uid: "a/c", pieces: [] })))).reason).toBe("UPSTREAM_INVALID");
    expect((await problemOf(list(json(200, { pieces: [] })))).reason).toBe("UPSTREAM_INVALID");
    expect((await problemOf(list(json(200, { uid: "a/c" })))).reason).toBe("UPSTREAM_INVALID");
    expect((await problemOf(list(json(200, [])))).reason).toBe("UPSTREAM_INVALID");
  });

  test("ignores parameters as v1 did, and counts them", async () => {
    const { sent, exchange } = await list(json(200, { uid: "a/b" }), "things/a/b/parts?id=1");
    expect(sent[0]?.target).toBe("/iam/v2beta1/things/a/b");
    expect(exchange.notes).toEqual(["query-unknown"]);
  });
});

describe("a record that cannot be read", () => {
  const typed = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "X", domain: "y" }];

  test.each([
    [404, 5, typed],
    [403, 7, typed],
    [404, 5, []],
    [401, 16, typed],
    [429, 8, typed],
    [503, 14, typed],
  ])("is the platform's error, not a record without items: %i %i", async (status, code, details) => {
    const refusal = { code, message: "no", details };
    const { response, body } = await list(json(status, refusal));
    expect(response.status).toBe(status);
    expect(body).toEqual(refusal);
  });
});
