import { describe, expect, test } from "vitest";
import { json, maskOf, problemOf, queryOf, textOf } from "../support.ts";
import { ask, callsOf, headerOf, lost, PARENT, REPO, refusal, world, writesOf } from "./registry.ts";

const post = (held: ReturnType<typeof world>, body: unknown, more = {}, query = "") =>
  ask(held, "POST", `repos/${PARENT}${query}`, { body, ...more });
const none = () => ({ ...world(), repos: new Map(), readmes: new Map() });
const MADE = `${PARENT}/90`;

describe("TRAP-12, DIFF-26: creating a repo", () => {
  test("whose name is free makes it, as the client says, below the parent in the path", async () => {
    const held = none();
    const run = await post(held, { id: "x", name: "web", catalogTier: 5, description: "d" });
    expect(callsOf(run)).toEqual(["GET repos", `POST repos/${PARENT}`]);
    expect(queryOf(run.sent[0])).toBe(`name=web&uidp.children_of=${PARENT}`);
    expect(JSON.parse(textOf(run.sent[1]))).toEqual({
      name: "web",
      catalogTier: "CATALOG_TIER_BASE",
      description: "d",
    });
    expect(run.body).toMatchObject({ id: MADE, name: "web", catalogTier: "BASE", readme: "" });
  });

  test("whose name is taken updates that one in full", async () => {
    const held = world({ description: "old", aliases: ["a"] }, "text");
    const run = await post(held, { name: "nginx", aliases: ["a"] });
    const readme = `repos/${REPO}/readme`;
    expect(callsOf(run)).toEqual(["GET repos", `GET ${readme}`, `PATCH ${readme}`, `PATCH repos/${REPO}`]);
    expect(maskOf(run.sent[3])).toEqual(["description"]);
    expect(run.body).toMatchObject({ id: REPO, description: "", readme: "" });
    expect([held.repos.size, run.exchange.defaultedFields]).toEqual([1, ["readme", "description"]]);
  });

  test("TRAP-10: whose name is taken writes its readme when it is another one", async () => {
    const held = world({}, "old");
    const run = await post(held, { name: "nginx", readme: "new" });
    expect(writesOf(run)).toEqual([`PATCH repos/${REPO}/readme`, `PATCH repos/${REPO}`]);
    expect(held.readmes.get(REPO)).toBe("new");
  });

  test.each(["preventExisting=true", "prevent_existing=1"])("whose name is taken is refused with %s", async (query) => {
    const held = world({ description: "old" });
    const problem = await problemOf(post(held, { name: "nginx", description: "d" }, {}, `?${query}`));
    expect([problem.reason, problem.http, problem.code]).toEqual(["ALREADY_EXISTS", 409, 6]);
    expect(held.repos.get(REPO)).toMatchObject({ description: "old" });
  });

  test.each(["preventExisting=false", "prevent_existing=0", "other=true"])("is not forbidden by %s", async (query) => {
    const run = await post(world(), { name: "nginx", description: "d" }, {}, `?${query}`);
    expect(writesOf(run)).toEqual([`PATCH repos/${REPO}`]);
    expect(run.exchange.notes.includes("query-unknown")).toBe(query.startsWith("other"));
  });

  test.each(["preventExisting=", "preventExisting=yes", "preventExisting=true&preventExisting=true"])(
    "with %s is refused, and nothing is asked",
    async (query) => {
      const calls: string[] = [];
      const interfere = (call: string) => void calls.push(call);
      const problem = await problemOf(post(world(), { name: "nginx" }, { interfere }, `?${query}`));
      expect([problem.reason, calls]).toEqual(["INVALID_FILTER", []]);
    },
  );

  test("is free to use a name that is prevented to exist and does not", async () => {
    const run = await post(none(), { name: "web" }, {}, "?preventExisting=true");
    expect(writesOf(run)).toEqual([`POST repos/${PARENT}`]);
  });

  test.each([{}, { name: "" }, { description: "d" }])(
    "without a name is refused, and looks for none: %j",
    async (body) => {
      const calls: string[] = [];
      const interfere = (call: string) => {
        calls.push(call);
        return json(400, { code: 3, message: "Invalid argument: name", details: [] });
      };
      const status = await post(world(), body, { interfere }).then(
        ({ response }) => response.status,
        (problem) => (problem as { http: number }).http,
      );
      expect(status).toBe(400);
      expect(calls).not.toContain("GET repos");
    },
  );

  test("compares names exactly, and looks below this parent only, whatever the list gives", async () => {
    const strangers = [
      { uid: `${PARENT}/1`, name: "NGINX" },
      { uid: `${PARENT}/2`, name: "nginx-fips" },
      { uid: `${PARENT}/3/4`, name: "nginx" },
      { uid: "0a1b/99", name: "nginx" },
    ];
    const interfere = (call: string) => (call === "GET repos" ? json(200, { repos: strangers }) : undefined);
    expect(writesOf(await post(none(), { name: "nginx" }, { interfere }))).toEqual([`POST repos/${PARENT}`]);
  });

  test("finds the name on a later page, too", async () => {
    let pages = 0;
    const interfere = (call: string) => {
      if (call !== "GET repos") return undefined;
      pages += 1;
      if (pages === 1) return json(200, { repos: [{ uid: `${PARENT}/1`, name: "other" }], nextPageToken: "t" });
      return json(200, { repos: [{ uid: REPO, name: "nginx" }] });
    };
    const run = await post(world(), { name: "nginx", description: "d" }, { interfere });
    expect([pages, writesOf(run)]).toEqual([2, [`PATCH repos/${REPO}`]]);
  });

  test.each([401, 403, 503])(
    "is refused when the name cannot be looked up (%i), and nothing is written",
    async (status) => {
      const interfere = (call: string) => (call === "GET repos" ? json(status, { code: 7, details: [] }) : undefined);
      const run = await post(world(), { name: "nginx" }, { interfere });
      expect([run.response.status, writesOf(run)]).toEqual([status, []]);
    },
  );

  test("is not begun under a condition that only one call could keep", async () => {
    const headers = [["if-unmodified-since", "x"]] as const;
    const calls: string[] = [];
    const interfere = (call: string) => void calls.push(call);
    const problem = await problemOf(post(world(), { name: "nginx" }, { headers, interfere }));
    expect([problem.reason, calls]).toEqual(["CONDITION_UNSUPPORTED", []]);
  });

  test("takes no answer without a uid for a repo", async () => {
    const interfere = (call: string) => (call.startsWith("POST") ? json(200, { name: "web" }) : undefined);
    const problem = await problemOf(post(none(), { name: "web", readme: "r" }, { interfere }));
    expect([problem.reason, problem.metadata]).toEqual(["UPSTREAM_INVALID", { state: "unknown" }]);
  });

  test("TRAP-56, DIFF-32: with what v2 alone sets is refused unless it is empty", async () => {
    const held = none();
    const body = { name: "web", sync_config: { source: "s", uniqueTags: true, syncApks: true } };
    const problem = await problemOf(post(held, body));
    expect(problem.fieldViolations.map(({ field }) => field)).toEqual([
      "sync_config.uniqueTags",
      "sync_config.syncApks",
    ]);
    expect(held.repos.size).toBe(0);
    const run = await post(held, { ...body, sync_config: { source: "s", uniqueTags: false, syncApks: false } });
    expect(JSON.parse(textOf(run.sent[1]))).toEqual({ name: "web", sync_config: { source: "s" } });
  });
});

describe("TRAP-61: a repo that is made with a readme", () => {
  test("gets it behind the repo itself, and shows it", async () => {
    const held = none();
    const run = await post(held, { name: "web", readme: "text" });
    expect(writesOf(run)).toEqual([`POST repos/${PARENT}`, `PATCH repos/${MADE}/readme`]);
    expect([maskOf(run.sent[2]), textOf(run.sent[2])]).toEqual([["content"], '{"content":"text"}']);
    expect(run.body).toMatchObject({ id: MADE, readme: "text" });
    expect(headerOf(run, "carryover-mismatch")).toBeUndefined();
  });

  test("needs no further call for an empty one", async () => {
    expect(writesOf(await post(none(), { name: "web", readme: "" }))).toEqual([`POST repos/${PARENT}`]);
  });

  test("is there although its readme was refused, which is said; repeated, the readme is written", async () => {
    const held = none();
    const interfere = (call: string) => (call.endsWith("/readme") ? refusal(403, 7) : undefined);
    const run = await post(held, { name: "web", readme: "text" }, { interfere });
    expect([run.response.status, run.body]).toMatchObject([403, { code: 7 }]);
    expect(headerOf(run, "carryover-partial")).toBe("repo");
    expect(run.exchange.notes).toContain("partial-write");
    const again = await post(held, { name: "web", readme: "text" });
    expect(writesOf(again)).toEqual([`PATCH repos/${MADE}/readme`, `PATCH repos/${MADE}`]);
    expect([held.repos.size, held.readmes.get(MADE)]).toEqual([1, "text"]);
  });

  test("says so too when the connection is lost", async () => {
    const interfere = (call: string) => (call.startsWith("PATCH") ? lost() : undefined);
    const problem = await problemOf(post(none(), { name: "web", readme: "text" }, { interfere }));
    expect([problem.reason, problem.metadata]).toEqual(["UPSTREAM_UNREACHABLE", { state: "unknown", partial: "repo" }]);
  });

  test("is not written into another repo, when that is what the platform says was made", async () => {
    const elsewhere = json(200, { uid: "ff/ff/ff", name: "web" });
    const calls: string[] = [];
    const interfere = (call: string) => {
      calls.push(call);
      return call.startsWith("POST") ? elsewhere : undefined;
    };
    const problem = await problemOf(post(none(), { name: "web", readme: "text" }, { interfere }));
    expect([problem.reason, problem.metadata]).toEqual(["UPSTREAM_INVALID", { state: "unknown" }]);
    expect(calls).toEqual(["GET repos", `POST repos/${PARENT}`]);
  });

  test("is refused as a whole when the repo is", async () => {
    const interfere = (call: string) => (call.startsWith("POST") ? refusal(403, 7) : undefined);
    const run = await post(none(), { name: "web", readme: "text" }, { interfere });
    expect([run.response.status, writesOf(run)]).toEqual([403, [`POST repos/${PARENT}`]]);
    expect(headerOf(run, "carryover-partial")).toBeUndefined();
  });
});
