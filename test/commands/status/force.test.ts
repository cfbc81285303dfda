import { expect, test } from "vitest";
import { run } from "./support.ts";

const TOKEN = "0123456789-admin-token";
const env = { CARRYOVER_ADMIN_TOKEN: TOKEN };

const OWN = [{ domain: "carryover" }];

/** Answers as instances do: `a` forced by the command alone, `b` by its rules file as well, others refuse. */
const fetch = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
  const url = new URL(String(input));
  const sent = [
    init.method,
    url.pathname,
    new Headers(init.headers).get("authorization"),
    new Headers(init.headers).get("content-type"),
  ];
  expect(sent).toEqual(["POST", "/force", `Bearer ${TOKEN}`, "application/json"]);
  const { force, ...note } = JSON.parse(String(init.body));
  if (url.hostname === "a")
    return Response.json({ effective: force, file: "none", command: force, survives: true, ...note });
  // Versions without --reason refuse a body with more members.
  if (Object.keys(note).length > 0) return Response.json({ message: "no", details: OWN }, { status: 400 });
  if (url.hostname === "b") return Response.json({ effective: "native", file: "native", command: force });
  const refusal = { message: "only GET and HEAD are allowed here", details: [{ domain: "carryover" }] };
  return Response.json(refusal, { status: 405 });
};

test("carryover force tells each instance, and says what is in force then", async () => {
  expect(await run(["force", "native", "a:1", "b:1"], { env, fetch })).toMatchObject({
    code: 0,
    out: "http://a:1 is forced to native v1 from the next request on\nhttp://b:1 is forced to native v1 from the next request on, until it restarts: it has no state.dir that can be written\n",
  });
  expect(await run(["force", "none", "a:1", "b:1"], { env, fetch })).toMatchObject({
    code: 0,
    out: "http://a:1 is no longer forced: its rules decide\nhttp://b:1 is still forced to native, by the rules file: lift it there, too\n",
  });
});

test("it ends with 2, and says so first, when an instance did not do it", async () => {
  const { code, out } = await run(["force", "native", "a:1", "old:1"], { env, fetch });
  expect([code, out.split("\n")]).toEqual([
    2,
    [
      "NOT DONE on 1 of 2: carryover force native",
      "http://a:1 is forced to native v1 from the next request on",
      "http://old:1 is an older version of carryover, which cannot be told that",
      "",
    ],
  ]);
  expect(JSON.parse((await run(["force", "none", "a:1", "--json"], { env, fetch })).out)).toEqual({
    version: 1,
    mode: "none",
    results: [{ address: "http://a:1", state: { effective: "none", file: "none", command: "none", survives: true } }],
  });
});

test("a reason and a name are sent, and instances that keep none do it all the same", async () => {
  const note = ["--reason", " v2 returns\n503 ", "--by", "anna"];
  expect((await run(["force", "native", "a:1", "b:1", ...note], { env, fetch })).out).toBe(
    "http://a:1 is forced to native v1 from the next request on\nhttp://b:1 is forced to native v1 from the next request on, until it restarts: it has no state.dir that can be written; it is an older version, which keeps no --reason and --by\n",
  );
  const { results } = JSON.parse((await run(["force", "none", "a:1", "--json", ...note], { env, fetch })).out);
  expect(results[0].state).toMatchObject({ reason: "v2 returns 503", by: "anna" });
  for (const bad of ["", " ", "a\u202eb", "a".repeat(101)]) {
    expect((await run(["force", "native", "a:1", "--by", bad], { env, fetch })).code).toBe(64);
  }
});

test("without a token, or for another mode, nothing is sent", async () => {
  const asked = () => Promise.reject(new Error("asked"));
  const without = await run(["force", "native", "a:1"], { fetch: asked });
  expect([without.code, without.out]).toEqual([64, ""]);
  expect(without.err).toContain("--token-file");
  expect((await run(["force", "translate", "a:1"], { env, fetch: asked })).code).toBe(64);
});

test("carryover confirm lets a rule go on, and says so where nothing was to be confirmed", async () => {
  const answers = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(String(input));
    expect([init.method, url.pathname, init.body]).toEqual(["POST", "/confirm", '{"rule":"reads"}']);
    if (url.hostname === "old") {
      const refusal = { message: "only GET and HEAD are allowed here", details: [{ domain: "carryover" }] };
      return Response.json(refusal, { status: 405 });
    }
    return Response.json({ rule: "reads", wasUnknown: url.hostname === "a", doing: "translate", survives: true });
  };
  expect(await run(["confirm", "reads", "a:1", "b:1"], { env, fetch: answers })).toMatchObject({
    code: 0,
    out: "http://a:1 lets reads go on: it does translate, and its evidence begins at zero\nhttp://b:1 knows the state of reads, so that nothing was to be confirmed: it does translate\n",
  });
  expect(await run(["confirm", "reads", "old:1"], { env, fetch: answers })).toMatchObject({
    code: 2,
    out: "NOT DONE on 1 of 1: carryover confirm reads\nhttp://old:1 is an older version of carryover, which cannot be told that\n",
  });
  expect((await run(["confirm", "reads", "a:1"], { fetch: answers })).code).toBe(64);
});

test("carryover forget drops a client everywhere, and says what was dropped or which client may be meant", async () => {
  const entry = { v1: 1876, v2: 1, operations: 2, firstSeen: 0, lastSeen: 86_400_000 };
  const answers = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
    const { hostname, pathname } = new URL(String(input));
    expect([init.method, pathname, init.body]).toEqual(["POST", "/forget", '{"client":"ci-bot"}']);
    if (hostname === "gone") throw new Error("no route");
    const dropped = { client: "ci-bot", comparisons: 12, samples: 0, survives: true };
    return Response.json(
      hostname === "a"
        ? { ...dropped, known: true, entry }
        : { ...dropped, comparisons: 0, known: false, ...(hostname === "b" ? { near: "cd-bot" } : {}) },
    );
  };
  const forget = (...addresses: string[]) => run(["forget", "ci-bot", ...addresses], { env, fetch: answers });
  expect(await forget("a:1", "b:1")).toMatchObject({
    code: 0,
    out: "http://a:1 has forgotten ci-bot: 1876 v1 requests of 2 operations and 1 v2 request, from 1970-01-01 to 1970-01-02; 12 comparisons\nhttp://b:1 knows no client ci-bot: did you mean cd-bot?\n",
  });
  expect((await forget("b:1", "c:1")).code).toBe(1);
  const part = await forget("a:1", "gone:1");
  expect([part.code, part.out.split("\n")[0]]).toEqual([2, "NOT DONE on 1 of 2: carryover forget ci-bot"]);
  expect((await run(["forget", "ci-bot", "a:1"], { fetch: answers })).code).toBe(64);
});

test("carryover forget names those that share the store and still have the client, unless they were told, too", async () => {
  const others = [
    { name: "web/bbbbbbbb", instance: "b", gone: false },
    { name: "web/cccccccc", instance: "c", gone: true },
  ];
  const answers = async (input: unknown): Promise<Response> => {
    const { hostname: instance } = new URL(String(input));
    const dropped = { client: "ci-bot", comparisons: 1, samples: 0, survives: true, known: true, instance };
    return Response.json(instance === "a" ? { ...dropped, others } : dropped);
  };
  const forget = (...addresses: string[]) => run(["forget", "ci-bot", ...addresses], { env, fetch: answers });
  const one = await forget("a:1");
  expect(one.code).toBe(2);
  expect(one.out).toContain(
    "; still known to web/bbbbbbbb: forget it there, too; still in the store, counted by web/cccccccc",
  );
  expect((await forget("a:1", "b:1")).out).not.toContain("web/bbbbbbbb");
});
