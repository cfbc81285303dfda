import { describe, expect, test } from "vitest";
import type { ApiRequest, ApiResponse } from "../../src/model/http.ts";
import type { Filter } from "../../src/model/resource.ts";
import { callsOf, ID, json, NAME, problemOf, queryOf, run, thing } from "./support.ts";

const FILTERS: readonly Filter[] = [
  { v1: "id", use: "get" },
  { v1: "name", use: "send", v2: "name", kind: "string", local: { member: "name" } },
  { v1: "tag", use: "send", v2: "tags", kind: "string", repeated: true, local: { member: "tag" } },
  { v1: "old", use: "send", v2: "old", kind: "bool", local: { member: "old" } },
  { v1: "size", use: "send", v2: "size", kind: "int32", local: { member: "size" } },
  { v1: "parent", use: "parent" },
  { v1: "uidp.ids", use: "send", v2: "uidp.ids", kind: "string", repeated: true, local: { hierarchy: "ids" } },
  { v1: "uidp.children_of", use: "send", v2: "uidp.children_of", kind: "string", local: { hierarchy: "children" } },
  {
    v1: "uidp.descendants_of",
    use: "send",
    v2: "uidp.descendants_of",
    kind: "string",
    local: { hierarchy: "descendants" },
  },
  { v1: "uidp.ancestors_of", use: "send", v2: "uidp.ancestors_of", kind: "string", local: { hierarchy: "ancestors" } },
  { v1: "uidp.in_root", use: "send", v2: "uidp.in_root", kind: "bool", local: { hierarchy: "root" } },
  { v1: "text", use: "send", v2: "text", kind: "string" },
  { v1: "exclude_old", use: "inverted", v2: "include_old" },
  {
    v1: "order_by",
    use: "enum",
    v2: "order_by",
    values: {
      name: "order",
      unknown: "drop",
      values: [
        ["NONE", 0, null, -1],
        ["ID_ASC", 1, "uid asc", -1],
      ],
    },
  },
  { v1: "page_size", use: "page-size", v2: "page_size" },
  { v1: "page_token", use: "page-token", v2: "page_token" },
];
const THINGS = thing({ rows: [ID, NAME], filters: FILTERS });

const errorInfo = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "NOT_FOUND", domain: "iam" };
const resourceInfo = { "@type": "type.googleapis.com/google.rpc.ResourceInfo", resourceName: "a/b" };

function page(records: readonly unknown[], nextPageToken = ""): ApiResponse {
  return json(200, { things: records, nextPageToken, totalCount: "7", skipped: 0 });
}

describe("a drained list", () => {
  test("TRAP-02, TRAP-35, DIFF-06: joins every page in v2's order, in one envelope without paging members", async () => {
    const { body, sent, response } = await run(THINGS, "list", {
      answer: ({ target }) =>
        target.includes("page_token=")
          ? page([{ uid: "c", name: "3" }])
          : page([{ uid: "a" }, { uid: "b", name: "2" }], "t/+"),
    });
    expect(body).toEqual({
      items: [
        { id: "a", name: "" },
        { id: "b", name: "2" },
        { id: "c", name: "3" },
      ],
    });
    expect(sent.map(({ target }) => target)).toEqual([
      "/iam/v2beta1/things?include_old=true&page_size=200",
      "/iam/v2beta1/things?include_old=true&page_size=200&page_token=t%2F%2B",
    ]);
    expect(response.headers).toContainEqual(["carryover-list", "witness=none; pages=2; records=3"]);
  });

  test.each([
    ["an empty array", { things: [] }],
    ["no array at all", {}],
    ["null", { things: null }],
  ])("is empty when v2 sends %s", async (_, answer) => {
    const { response } = await run(THINGS, "list", { answer: () => json(200, answer) });
    expect(Buffer.from(response.body).toString()).toBe('{"items":[]}');
  });

  test.each([
    ["no JSON", "<html>"],
    ["nothing", ""],
    ["an array", "[]"],
    ["a token that is no string", '{"things":[],"nextPageToken":7}'],
    ["a record without its uid", '{"things":[{"name":"a"}]}'],
    ["a record that is no object", '{"things":[1]}'],
    ["the records twice", '{"things":[],"things":[]}'],
    ["a record with its uid twice", '{"things":[{"uid":"a","uid":"b"}]}'],
    ["an empty uid", '{"things":[{"uid":""}]}'],
    ["an empty uid after another one", '{"things":[{"uid":"a"},{"uid":""}]}'],
    ["a word", '{"message":"maintenance"}'],
    ["an error with status 200", '{"code":5,"message":"Not Found","details":[]}'],
    ["v1's envelope", '{"items":[{"uid":"a"}]}'],
    ["another list", '{"others":[]}'],
    ["a token under its other name", '{"things":[{"uid":"a"}],"next_page_token":"t"}'],
    ["a token that is an object", '{"things":[{"uid":"a"}],"nextPageToken":{}}'],
    ["a token that is true", '{"things":[{"uid":"a"}],"nextPageToken":true}'],
  ])("DIFF-64: is an error when v2 sends %s", async (_, text) => {
    const answer = () => ({ status: 200, headers: [], body: Buffer.from(text) });
    expect((await problemOf(run(THINGS, "list", { answer }))).reason).toBe("UPSTREAM_INVALID");
  });

  test("is the platform's refusal when v2 refuses a page", async () => {
    const { response, body } = await run(THINGS, "list", {
      answer: ({ target }) =>
        target.includes("page_token") ? json(403, { code: 7, message: "no", details: [] }) : page([{ uid: "a" }], "t"),
    });
    expect(response.status).toBe(403);
    expect(body).toEqual({ code: 7, message: "no", details: [] });
  });

  test("may say more than is known of it", async () => {
    const { body, exchange } = await run(THINGS, "list", { answer: () => json(200, { things: [], region: "eu" }) });
    expect([body, exchange.unknownFields]).toEqual([{ items: [] }, [{ direction: "response", name: "page.region" }]]);
  });

  test("has the fields of its first page, not of its last", async () => {
    const { response } = await run(THINGS, "list", {
      answer: ({ target }) => {
        const last = target.includes("page_token");
        return {
          ...page([{ uid: last ? "b" : "a" }], last ? "" : "t"),
          headers: [["x-of", last ? "last" : "first"]],
        };
      },
    });
    expect(response.headers[0]).toEqual(["x-of", "first"]);
  });

  test("has no field that leads from page to page, or speaks of one page", async () => {
    const { response } = await run(THINGS, "list", {
      answer: () => ({
        ...page([{ uid: "a" }], ""),
        headers: [
          ["link", '</iam/v2beta1/things?page_token=t>; rel="next"'],
          ["link", '<a,b?x=","&y=1>; title="a, b"; rel="help NEXT", </terms>; rel="terms-of-service", <c>; rel=last'],
          ["link", "<<<"],
          ["x-total-count", "1000"],
          ["X-Next-Page".toLowerCase(), "2"],
          ["grpc-metadata-x-next-page-token", "t"],
          ["content-range", "items 0-199/1000"],
          ["etag", '"e"'],
          ["signature", "sig1=:YQ==:"],
          ["x-pagedown", "kept"],
        ],
      }),
    });
    expect(response.headers.slice(0, 2)).toEqual([
      ["link", '</terms>; rel="terms-of-service"'],
      ["x-pagedown", "kept"],
    ]);
    expect(response.headers.map(([name]) => name)).toEqual(["link", "x-pagedown", "content-type", "carryover-list"]);
  });

  test("of the root shows only root records, whatever v2 sends", async () => {
    const { body, sent, response } = await run(THINGS, "list", {
      query: "parent=/",
      answer: () => page([{ uid: "a" }, { uid: "a/b" }, { uid: "c" }]),
    });
    expect(queryOf(sent[0])).toBe("include_old=true&uidp.in_root=true");
    expect(body).toEqual({
      items: [
        { id: "a", name: "" },
        { id: "c", name: "" },
      ],
    });
    expect(response.headers).toContainEqual(["carryover-list", "witness=none; pages=1; records=2"]);
  });

  test("notes a parameter that it ignores", async () => {
    const { exchange, sent } = await run(THINGS, "list", { query: "uid=a", answer: () => page([]) });
    expect(exchange.notes).toEqual(["query-unknown"]);
    expect(queryOf(sent[0])).toBe("include_old=true");
  });
});

describe("an id filter", () => {
  const stored = { uid: "a/b", name: "docs", tag: "x", old: true };
  const getIt = ({ target }: ApiRequest): ApiResponse =>
    target === "/iam/v2beta1/things/a/b"
      ? json(200, stored)
      : json(404, { code: 5, message: "m", details: [errorInfo] });

  test("TRAP-01: becomes a Get, and the record a list of one", async () => {
    const { body, sent } = await run(THINGS, "list", { query: "id=a%2Fb", answer: getIt });
    expect(callsOf({ sent })).toEqual(["GET /iam/v2beta1/things/a/b"]);
    expect(body).toEqual({ items: [{ id: "a/b", name: "docs", tag: "x", old: true }] });
  });

  test.each([
    [404, 5, errorInfo],
    [403, 7, resourceInfo],
  ])(
    "TRAP-03: is an empty list, and noted, when the platform itself says %i, code %i",
    async (status, code, detail) => {
      const { body, response, exchange } = await run(THINGS, "list", {
        query: "id=a",
        answer: () => json(status, { code, message: "m", details: [{ "@type": "x" }, detail] }),
      });
      expect({ status: response.status, body }).toEqual({ status: 200, body: { items: [] } });
      expect(exchange.notes).toEqual(["id-filter-empty"]);
    },
  );

  test.each([
    ["404 without details", 404, 5, []],
    ["403 without details", 403, 7, []],
    ["404 with another detail", 404, 5, [{ "@type": "type.googleapis.com/google.rpc.Help" }]],
    ["404 with a detail of a similar name", 404, 5, [{ "@type": "x/google.rpc.ErrorInfoX" }]],
    ["404 with another code", 404, 12, [errorInfo]],
    ["403 with the code of a missing record", 403, 5, [errorInfo]],
    ["400", 400, 3, [errorInfo]],
    ["500", 500, 13, [errorInfo]],
  ])("stays an error: %s", async (_, status, code, details) => {
    const error = { code, message: "m", details };
    const { body, response, exchange } = await run(THINGS, "list", {
      query: "id=a",
      answer: () => json(status, error),
    });
    expect([response.status, body, exchange.notes]).toEqual([status, error, []]);
  });

  test.each(["<html>not here</html>", "", '{"error":"no route"}'])(
    "DIFF-07: stays an error: 404 with %j",
    async (text) => {
      const answer = () => ({ status: 404, headers: [], body: Buffer.from(text) });
      const { response, body } = await run(THINGS, "list", { query: "id=a", answer });
      expect([response.status, body]).toMatchObject([404, { code: 5, details: [] }]);
    },
  );

  test.each(["id=../x", "id=/", "id=a%3Fb"])(
    "that no uid can be reaches no path and shows nothing: %s",
    async (query) => {
      const answer = () => json(200, { things: [{ uid: "a" }] });
      const { body, sent } = await run(THINGS, "list", { query, answer });
      expect(sent.map(({ target }) => target)).toEqual(["/iam/v2beta1/things?page_size=1"]);
      expect(body).toEqual({ items: [] });
    },
  );

  test("that no uid can be is the platform's to refuse to somebody it does not know", async () => {
    const answer = () => json(401, { code: 16, message: "who?", details: [] });
    expect((await run(THINGS, "list", { query: "id=../x", answer })).response.status).toBe(401);
  });

  const shownBeside = async (query: string) => {
    const { body, sent } = await run(THINGS, "list", { query: `id=a/b&${query}`, answer: getIt });
    expect(sent).toHaveLength(1);
    return (body as { items: unknown[] }).items.length;
  };

  test.each([
    ["name=docs", "name=other"],
    ["tag=y&tag=x", "tag=y&tag=z"],
    ["old=true", "old=false"],
    ["size=0", "size=1"],
    ["parent=a", "parent=b"],
    ["uidp.ids=c&uidp.ids=a/b", "uidp.ids=a"],
    ["uidp.children_of=a", "uidp.children_of=a/b"],
    ["uidp.descendants_of=a/b", "uidp.descendants_of=a/bb"],
    ["uidp.ancestors_of=a/b/c", "uidp.ancestors_of=a/bc"],
    ["uidp.in_root=false", "uidp.in_root=true"],
    ["name=docs&uidp.children_of=a&parent=a", "name=docs&uidp.children_of=a&parent=/"],
  ])("is left by %s, and emptied by %s", async (matching, other) => {
    expect([await shownBeside(matching), await shownBeside(other)]).toEqual([1, 0]);
  });

  test.each(["name=", "text=", "exclude_old=false", "order_by=ID_ASC", "order_by=NONE", "page_size=10"])(
    "is left by %s, which says nothing of it",
    async (query) => {
      expect(await shownBeside(query)).toBe(1);
    },
  );

  test.each(["text=a", "exclude_old=true", "page_token=t"])(
    "is asked of the list by its uid beside %s, which only a list can apply",
    async (query) => {
      const both = { things: [{ uid: "a/b" }, { uid: "c" }] };
      const { body, sent } = await run(THINGS, "list", { query: `id=a/b&${query}`, answer: () => json(200, both) });
      expect(sent[0]?.target).toContain("uidp.ids=a%2Fb");
      expect((body as { items: { id: string }[] }).items.map(({ id }) => id)).toEqual(["a/b"]);
    },
  );

  test("is not narrowed by a false that means no filter", async () => {
    const { body } = await run(THINGS, "list", {
      query: "id=a&uidp.in_root=false",
      answer: () => json(200, { uid: "a" }),
    });
    expect(body).toEqual({ items: [{ id: "a", name: "" }] });
  });

  test("is an error when v2's record is none", async () => {
    for (const text of ["", "[]", '"a"', '{"uid":"a"} x']) {
      const answer = () => ({ status: 200, headers: [], body: Buffer.from(text) });
      expect((await problemOf(run(THINGS, "list", { query: "id=a", answer }))).reason).toBe("UPSTREAM_INVALID");
    }
  });
});

describe("a list that v1 paged", () => {
  const paged = thing({
    rows: [ID, NAME],
    list: "paged",
    filters: FILTERS,
    envelope: [
      { v1: "id", v2: null, kind: "string", access: "output", fromQuery: ["uidp.children_of", "uidp.descendants_of"] },
      { v1: "nextPageToken", v2: "nextPageToken", kind: "string", access: "output" },
      { v1: "totalCount", v2: "totalCount", kind: "int64", access: "output", presence: "explicit" },
    ],
  });

  test("TRAP-39, DIFF-50: is one page of v2 with v1's envelope; the token goes through unchanged", async () => {
    const { body, sent } = await run(paged, "list", {
      query: "uidp.descendantsOf=a%2Fb&page_size=500&page_token=opaque%2B%2F%3D",
      answer: () => page([{ uid: "a/b/c" }], 'next"+/='),
    });
    expect(sent).toHaveLength(1);
    expect(queryOf({ ...(sent[0] as ApiRequest), target: sent[0]?.target.replace("page_size", "size") ?? "" })).toBe(
      "include_old=true&page_token=opaque+/=&size=200&uidp.descendants_of=a/b",
    );
    expect(body).toEqual({ items: [{ id: "a/b/c", name: "" }], id: "a/b", nextPageToken: 'next"+/=', totalCount: "7" });
  });

  test("shows the zeros of its envelope, but no optional member, when v2 leaves them out", async () => {
    const { body } = await run(paged, "list", { answer: () => json(200, {}) });
    expect(body).toEqual({ items: [], id: "", nextPageToken: "" });
  });

  test("shows a 64-bit count as text, as v1 did", async () => {
    const { body } = await run(paged, "list", { answer: () => json(200, { things: [{ uid: "a" }], totalCount: 12 }) });
    expect(body).toMatchObject({ totalCount: "12" });
  });

  test.each([
    ["9007199254740993", "9007199254740993"],
    ["-9223372036854775808", "-9223372036854775808"],
    ["12e1", "120"],
    ["1.0", "1"],
  ])("shows the count %s exactly, as %s", async (number, shown) => {
    const answer = () => ({ status: 200, headers: [], body: Buffer.from(`{"things":[],"totalCount":${number}}`) });
    expect((await run(paged, "list", { answer })).body).toMatchObject({ totalCount: shown });
  });

  test.each(["1e400", "1.5", "9223372036854775808"])("has no count where v2's is %s", async (number) => {
    const answer = () => ({ status: 200, headers: [], body: Buffer.from(`{"things":[],"totalCount":${number}}`) });
    expect((await run(paged, "list", { answer })).body).not.toHaveProperty("totalCount");
  });

  test("shows a token that is a number as v2 sent it", async () => {
    const answer = () => ({ status: 200, headers: [], body: Buffer.from('{"things":[],"nextPageToken":1e400}') });
    const { response } = await run(paged, "list", { answer });
    expect(Buffer.from(response.body).toString()).toContain('"nextPageToken":1e400');
  });

  test("is no list where a first page has a count and no list, unless a token says where it is", async () => {
    const answer = () => json(200, { totalCount: 12 });
    expect((await problemOf(run(paged, "list", { answer }))).reason).toBe("UPSTREAM_INVALID");
    const { body } = await run(paged, "list", { query: "page_token=t", answer });
    expect(body).toMatchObject({ items: [], totalCount: "12" });
    const first = await run(paged, "list", { answer: () => json(200, { nextPageToken: "t", totalCount: 12 }) });
    expect(first.body).toMatchObject({ items: [], nextPageToken: "t" });
  });

  test("keeps its envelope for an id filter, found or not", async () => {
    const found = await run(paged, "list", { query: "id=a", answer: () => json(200, { uid: "a" }) });
    expect(found.body).toEqual({ items: [{ id: "a", name: "" }], id: "", nextPageToken: "", totalCount: "1" });
    const missing = await run(paged, "list", {
      query: "id=a&uidp.children_of=b",
      answer: () => json(404, { code: 5, message: "", details: [errorInfo] }),
    });
    expect(missing.body).toEqual({ items: [], id: "b", nextPageToken: "", totalCount: "0" });
    const never = await run(paged, "list", { query: "id=.." });
    expect(never.body).toEqual({ items: [], id: "", nextPageToken: "", totalCount: "0" });
  });

  test("asks the list for one record where only the list can apply a filter, and shows no other", async () => {
    const others = () => page([{ uid: "a" }, { uid: "b" }, { uid: "c" }]);
    const { sent, body } = await run(paged, "list", { query: "id=a&text=x", answer: others });
    expect(queryOf(sent[0])).toBe("include_old=true&text=x&uidp.ids=a");
    expect((body as { items: unknown[] }).items).toEqual([{ id: "a", name: "" }]);
    const narrowed = await run(paged, "list", { query: "id=a&text=x&uidp.ids=b", answer: others });
    expect(narrowed.body).toMatchObject({ items: [] });
    expect(narrowed.sent.map(queryOf)).toEqual([""]);
    const both = await run(paged, "list", { query: "id=a&text=x&uidp.ids=b&uidp.ids=a", answer: others });
    expect(queryOf(both.sent[0])).toBe("include_old=true&text=x&uidp.ids=a");
    const parent = await run(paged, "list", {
      query: "parent=/",
      answer: () => page([{ uid: "a" }, { uid: "a/b" }, { uid: "c" }]),
    });
    expect((parent.body as { items: { id: string }[] }).items.map(({ id }) => id)).toEqual(["a", "c"]);
  });

  test("answers v2's refusal and refuses what is no page", async () => {
    expect(
      (await run(paged, "list", { answer: () => json(400, { code: 3, message: "m", details: [] }) })).response.status,
    ).toBe(400);
    expect((await problemOf(run(paged, "list", { answer: () => json(200, []) }))).reason).toBe("UPSTREAM_INVALID");
  });
});

describe("an answer that is neither success nor error", () => {
  test.each([204, 206, 301, 302, 304, 307])("DIFF-64: is no answer to a list: %i", async (status) => {
    const answer = () => ({ status, headers: [["location", "http://inside/"] as const], body: Buffer.from("{}") });
    for (const query of ["", "id=a"]) {
      const problem = await problemOf(run(THINGS, "list", { query, answer }));
      expect(problem.reason).toBe("UPSTREAM_INVALID");
      expect(problem.message).not.toContain("inside");
    }
  });
});
