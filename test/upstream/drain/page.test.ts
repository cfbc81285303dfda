import { describe, expect, it } from "vitest";
import { Problem } from "../../../src/model/problem.ts";
import { createStopper } from "../../../src/model/signal.ts";
import { fetchPage, mayRepair, type Place } from "../../../src/upstream/drain/page.ts";
import { settled } from "../clock.ts";
import { keysOf, type Options, pageOf, planOf, quiet, raw, respond, type Served, stage } from "./simulator.ts";
import { holding, runOf, SMALL } from "./stage.ts";

const KEYS = keysOf(40);
const BAD = () => raw(200, "<html>");

async function fetched(place: Place, served: Served, options: Options = {}, repairs = 1) {
  let calls = 0;
  const run = runOf(
    (selector, call, signal) => {
      calls += 1;
      return served(selector, call, signal);
    },
    { ...options, limits: { ...SMALL, ...options.limits } },
  );
  run.repairs = repairs;
  const page = await fetchPage(run, place).catch((error: unknown) => ({ kind: "thrown" as const, error }));
  return { page, run, calls };
}

describe("a page", () => {
  it("tells at which rank it was to begin", async () => {
    expect((await fetched({}, quiet(KEYS))).page).toMatchObject({ kind: "page", skip: 0 });
    expect((await fetched({ skip: 0 }, quiet(KEYS))).page).toMatchObject({ kind: "page", skip: 0 });
    expect((await fetched({ skip: 7 }, quiet(KEYS))).page).toMatchObject({ kind: "page", skip: 7 });
    const behind = (await fetched({ token: "k:u000009" }, quiet(KEYS))).page;
    expect(behind).toMatchObject({ kind: "page", skip: undefined, keys: KEYS.slice(10, 20) });
  });

  it("that is the first goes its own way, every other waits for its turn", async () => {
    const ways: string[] = [];
    const { parts } = stage(quiet(KEYS));
    const way = (name: string): Options["parts"] => ({
      send: (request, options) => {
        ways.push("first");
        return parts.send(request, options);
      },
      reads: (request, options) => {
        ways.push(name);
        return parts.reads(request, options);
      },
    });
    for (const place of [{}, { skip: 0 }, { skip: 5 }, { token: "k:u000009" }]) {
      await fetched(place, quiet(KEYS), { parts: way("further") ?? {} });
    }
    expect(ways).toEqual(["first", "further", "further", "further"]);
  });

  it("that is the first gives the list its header fields", async () => {
    const named: Served = async (s) => ({ ...quiet(KEYS)(s, 0), headers: [["x", String(s.skip)]] });
    expect((await fetched({}, named)).run.headers).toEqual([["x", "undefined"]]);
    expect((await fetched({ skip: 5 }, named)).run.headers).toEqual([]);
  });

  it("is counted when it is answered 200, whatever it holds", async () => {
    expect((await fetched({}, quiet(KEYS))).run.pages).toBe(1);
    expect((await fetched({}, BAD)).run.pages).toBe(1);
    expect((await fetched({ skip: 5 }, BAD)).run.pages).toBe(2);
    expect((await fetched({}, () => raw(403, "{}"))).run.pages).toBe(0);
  });

  it("holds no more records than were asked for", async () => {
    const eleven: Served = (s) => respond(pageOf(KEYS, { ...s, size: 11 }, "keyset"));
    expect((await fetched({}, eleven)).page).toMatchObject({ error: { reason: "UPSTREAM_INVALID" } });
    const ten: Served = (s) => respond(pageOf(KEYS, { ...s, size: 10 }, "keyset"));
    expect((await fetched({}, ten)).page).toMatchObject({ kind: "page" });
  });

  it("is asked for while there is time", async () => {
    const asked = async (ms: number) => {
      const { page, calls } = await fetched({}, quiet(KEYS), { limits: { maxSeconds: 5 }, parts: { now: () => ms } });
      return [page.kind, calls];
    };
    expect(await asked(4999)).toEqual(["page", 1]);
    expect(await asked(5000)).toEqual(["thrown", 0]);
    // The clock began long before the list did.
    let ms = 1e9;
    const tick = () => {
      ms += 600;
      return ms;
    };
    const slow = stage(quiet(KEYS), { limits: { ...SMALL, maxSeconds: 2 }, parts: { now: tick } });
    await expect(slow.drain(planOf())).rejects.toMatchObject({ reason: "UPSTREAM_TIMEOUT" });
    expect(slow.requests).toHaveLength(3);
  });
});

describe("calls of one list", () => {
  it("are bounded, and a page that the list waits for goes before those that are read ahead", async () => {
    const { served, open } = holding(quiet(KEYS));
    const run = runOf(served, { limits: { ...SMALL, readers: 2 } });
    const ahead = createStopper().signal;
    const pages = [1, 2, 3].map((skip) => fetchPage(run, { skip }, ahead));
    pages.push(fetchPage(run, { skip: 4 }));
    const asked = () => open.map((call) => call.selector.skip);
    await settled();
    expect(asked()).toEqual([1, 2]);
    await open[0]?.answer();
    expect(asked()).toEqual([2, 4]);
    await open[0]?.answer();
    await open[0]?.answer();
    await open[0]?.answer();
    expect((await Promise.all(pages)).map((page) => page.kind)).toEqual(["page", "page", "page", "page"]);
  });

  it("are stopped with the part they are for, or with the list", async () => {
    const { served, open } = holding(quiet(KEYS));
    const run = runOf(served, { limits: SMALL });
    const part = createStopper();
    const ahead = fetchPage(run, { skip: 1 }, part.signal);
    const own = fetchPage(run, { skip: 2 });
    await settled();
    const dropped = expect(ahead).rejects.toThrow("dropped");
    part.abort(new Error("dropped"));
    await dropped;
    expect(open.map((call) => call.selector.skip)).toEqual([2]);
    const over = expect(own).rejects.toThrow("over");
    run.stopper.abort(new Error("over"));
    await over;
  });

  it("behind the first wait for their turn to be made", async () => {
    let turns = 0;
    const turn = async () => {
      turns += 1;
    };
    const parts = { turn };
    await fetched({}, quiet(KEYS), { parts });
    expect(turns).toBe(0);
    await fetched({ skip: 1 }, quiet(KEYS), { parts });
    await fetched({ token: "k:u000009" }, quiet(KEYS), { parts });
    expect(turns).toBe(2);
  });
});

describe("what was skipped", () => {
  const says =
    (skipped: unknown): Served =>
    (s) =>
      respond({ ...pageOf(KEYS, s, "keyset"), skipped });

  it("must be what was asked for, where the platform says it", async () => {
    expect((await fetched({ skip: 5 }, says(5))).page).toMatchObject({ kind: "page" });
    expect((await fetched({ skip: 5 }, says(undefined))).page).toMatchObject({ kind: "page" });
    expect((await fetched({ skip: 5 }, says(0))).page).toEqual({ kind: "unskipped" });
    expect((await fetched({ skip: 5 }, says(6))).page).toEqual({ kind: "unskipped" });
    expect((await fetched({ skip: 0 }, says(1))).page).toEqual({ kind: "unskipped" });
  });

  it("must be nothing where nothing was to be skipped", async () => {
    for (const place of [{}, { token: "k:u000009" }]) {
      expect((await fetched(place, says(0))).page).toMatchObject({ kind: "page" });
      expect((await fetched(place, says(1))).page).toMatchObject({ error: { reason: "UPSTREAM_INVALID" } });
    }
  });
});

describe("a page behind the first that is bad", () => {
  it("is asked for once more", async () => {
    for (const place of [{ skip: 5 }, { skip: 0 }, { token: "k:u000009" }]) {
      for (const bad of [BAD, () => raw(500, "{}"), () => raw(599, "{}")]) {
        const { page, run, calls } = await fetched(place, (s, call) => (call === 0 ? bad() : quiet(KEYS)(s, call)));
        expect([page.kind, calls, run.notesOf(), run.repairs]).toEqual(["page", 2, ["list-page-again"], 0]);
      }
    }
  });

  it("is asked for no third time, and what is wrong with it is told", async () => {
    const unreadable = await fetched({ skip: 5 }, BAD, {}, 5);
    expect([unreadable.page, unreadable.calls]).toMatchObject([{ error: { reason: "UPSTREAM_INVALID" } }, 2]);
    const refused = await fetched({ skip: 5 }, () => raw(503, "{}"), {}, 5);
    expect([refused.page, refused.calls]).toMatchObject([{ kind: "refused", response: { status: 503 } }, 2]);
  });

  it("is not asked for again when nothing may be repaired any more", async () => {
    const unreadable = await fetched({ skip: 5 }, BAD, {}, 0);
    expect([unreadable.page, unreadable.calls, unreadable.run.notesOf()]).toMatchObject([
      { error: { reason: "UPSTREAM_INVALID" } },
      1,
      [],
    ]);
    const refused = await fetched({ skip: 5 }, () => raw(503, "{}"), {}, 0);
    expect([refused.page.kind, refused.calls]).toEqual(["refused", 1]);
  });

  it("is not asked for again when nobody wants it any more", async () => {
    const part = createStopper();
    let calls = 0;
    const run = runOf(
      () => {
        calls += 1;
        part.abort(new Error("dropped"));
        return raw(503, "{}");
      },
      { limits: SMALL },
    );
    await expect(fetchPage(run, { skip: 5 }, part.signal)).rejects.toThrow("dropped");
    expect(calls).toBe(1);
  });

  it("is none when it is refused for good, or not skipped", async () => {
    for (const status of [400, 403, 404, 429, 499]) {
      expect(await fetched({ skip: 5 }, () => raw(status, "{}"))).toMatchObject({
        page: { kind: "refused" },
        calls: 1,
        run: { repairs: 1 },
      });
    }
  });

  it("is none when it did not come at all", async () => {
    for (const boom of [new Problem("UPSTREAM_UNREACHABLE", "gone"), new Error("boom")]) {
      const { page, calls } = await fetched({ skip: 5 }, () => Promise.reject(boom));
      expect([page, calls]).toEqual([{ kind: "thrown", error: boom }, 1]);
    }
  });
});

describe("a first page that is bad", () => {
  it("is told at once", async () => {
    expect((await fetched({}, BAD)).calls).toBe(1);
    expect((await fetched({}, () => raw(500, "{}"))).calls).toBe(1);
  });
});

describe("repairs", () => {
  it("run out", () => {
    const run = runOf(quiet([]));
    run.repairs = 2;
    expect([mayRepair(run), mayRepair(run), mayRepair(run), mayRepair(run)]).toEqual([true, true, false, false]);
  });
});
