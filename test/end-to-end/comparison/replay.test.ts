import { describe, expect, test } from "vitest";
import type { ApiRequest, ApiResponse } from "../../../src/model/http.ts";
import { at, type Call, get, idOf, post, put, rootId, type Scenario } from "./call.ts";
import { disappointments } from "./expect.ts";
import { inMemory, type MemoryFront, startSide, unchanged } from "./harness.ts";
import { expectNone, record, replay } from "./replay.ts";
import { scenarios } from "./scenarios.ts";

const below = at("/iam/v1/groups/", rootId);
const one = at("/iam/v1/groups/", idOf("one"));
const small: Scenario = {
  name: "small",
  organisation: false,
  calls: [
    post("one", below, { name: "one", description: "d" }),
    put("another name", one, { name: "two", description: "d" }),
    put("no description", one, { name: "two" }),
    get("it", at("/iam/v1/groups?id=", idOf("one"))),
  ],
};
const recording = await record(small);

const asText = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
const asBytes = (text: string): Uint8Array => new TextEncoder().encode(text);

type Pass = (request: ApiRequest) => Promise<ApiResponse>;

/** Native v1's own answers, but for what `meddle` does to a call. */
const noticed = (meddle: (request: ApiRequest, pass: Pass) => Promise<ApiResponse>) => {
  const front: MemoryFront = (v2) => (request) => meddle(request, unchanged(v2));
  return replay(recording, inMemory(front));
};

describe("a replay", () => {
  test("notices nothing where nothing is changed", async () => {
    expect(await noticed((request, pass) => pass(request))).toBeUndefined();
    for (const scenario of scenarios.slice(0, 5))
      expect(await replay(await record(scenario), inMemory(unchanged))).toBeUndefined();
  });

  test("names the first answer that differs", async () => {
    const found = await noticed(async (request, pass) => {
      const answer = await pass(request);
      return { ...answer, body: asBytes(asText(answer.body).replace('"description":', '"describes":')) };
    });
    expect(found).toMatchObject({ scenario: "small", call: "POST one" });
    expect(found?.lines).toContain('/description: "d", (absent)');
    expect(() => expectNone("small", found)).toThrow(/small\n {2}POST one\n {2}.*describe/s);
  });

  test("names a write that was answered rightly and not done", async () => {
    const found = await noticed((request, pass) =>
      request.method === "PUT" ? Promise.resolve(recording.calls[1]!.answer) : pass(request),
    );
    expect(found).toMatchObject({ call: "PUT another name" });
    expect(found?.lines.join("\n")).toContain('name: "two", "one"');
  });

  test("names a write that was taken back", async () => {
    const found = await noticed(async (request, pass) => {
      const answer = await pass(request);
      if (request.method === "PUT") await pass({ ...request, body: asBytes('{"name":"one","description":"d"}') });
      return answer;
    });
    expect(found?.call).toBe("PUT another name");
    expect(found?.lines.join("\n")).toContain('name: "two", "one"');
  });

  test("names what was written twice, and what reading wrote", async () => {
    const twice = await noticed(async (request, pass) => {
      if (request.method === "POST") await pass(request);
      return pass(request);
    });
    expect(twice?.lines).not.toEqual([]);
    const reading = await noticed(async (request, pass) => {
      if (request.method === "GET")
        await pass({ ...request, method: "POST", target: "/iam/v1/groups/", body: asBytes('{"name":"x"}') });
      return pass(request);
    });
    expect(reading?.call).toBe("GET it");
    expect(reading?.lines.join("\n")).toContain("/groups/");
  });

  test("names one that keeps what a client left out", async () => {
    const found = await noticed((request, pass) => {
      if (request.method !== "PUT") return pass(request);
      const asked = JSON.parse(asText(request.body)) as object;
      return pass({ ...request, body: asBytes(JSON.stringify({ description: "d", ...asked })) });
    });
    expect(found?.call).toBe("PUT no description");
    expect(found?.lines).toContain('/description: "", "d"');
    expect(found?.lines.join("\n")).toMatch(/^\/groups\/\d+\/description: \(absent\), "d"$/m);
  });

  test("names a header, a status, and a front that breaks", async () => {
    const answered = (change: (answer: ApiResponse) => ApiResponse) =>
      noticed(async (request, pass) => change(await pass(request)));
    expect((await answered((answer) => ({ ...answer, status: 418 })))?.lines[0]).toBe("status: 200, 418");
    const bare = await answered((answer) => ({ ...answer, headers: [] }));
    expect(bare?.lines.join("\n")).toContain("media type: application/json, (absent)");
    const broken = await noticed(() => Promise.reject(new Error("it broke")));
    expect(broken?.lines).toEqual(["no answer: Error: it broke"]);
  });
});

test("a scenario with two calls of one name and method is refused", async () => {
  const twice: Scenario = { ...small, calls: [...small.calls, ...small.calls] };
  await expect(record(twice)).rejects.toThrow("small: two calls are named POST one");
});

test("every expectation of native v1 can be disappointed", async () => {
  const native = await startSide({}, inMemory(unchanged));
  const list = get("root", (seen) => `/iam/v1/groups?id=${seen.known.root}`);
  const bad = post("bad", below, { name: "NO" }, 400);
  const answers = { list: await native.ask(list), bad: await native.ask(bad) };
  const told = (call: Call, extra: Partial<Call>) =>
    disappointments({ ...call, ...extra }, call === list ? answers.list : answers.bad, native.seen);
  expect(told(list, { items: 1, every: ({ known: { root } }) => ({ id: root }), shows: {} }).length).toBe(1);
  expect(told(list, { items: 1, every: { verified: true } })).toEqual([]);
  expect(told(list, { status: 201 })).toHaveLength(1);
  expect(told(list, { items: 0 })).toHaveLength(1);
  expect(told(list, { items: "over 200" })).toHaveLength(1);
  expect(told(list, { every: { name: "no" } })).toHaveLength(1);
  expect(told(bad, { code: 3, field: "name" })).toEqual([]);
  expect(told(bad, { code: 9 })).toHaveLength(1);
  expect(told(bad, { field: "description" })).toHaveLength(1);
  expect(told(bad, { items: "some" })).toHaveLength(1);
  expect(told(bad, { shows: { code: 5 } })).toHaveLength(1);
});
