import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { SandboxOptions } from "../../../sandbox/src/options.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { answered, type Judged, type Platform, platform, settings } from "./support.ts";

takeDownAfterEach();

/** Checks with writing in a group that has children of its own, and tells whether the platform is as it was. */
async function written(
  made: Platform,
  argv: readonly string[] = [],
  as = "admin",
): Promise<{ report: Judged; same: boolean }> {
  const before = made.sandbox.snapshot();
  const report = await made.judge(["--write-under", made.sandbox.wellKnown.someGroup, ...argv], as);
  return { report, same: JSON.stringify(made.sandbox.snapshot()) === JSON.stringify(before) };
}

/** Answers `method` on targets that match with `status`, without doing anything; `after`: once that many were served. */
function refusing(method: string, target: RegExp, status: number, after = 0): NonNullable<SandboxOptions["faults"]> {
  let served = 0;
  return (next) => (request, options) => {
    if (request.method !== method || !target.test(request.target) || served++ < after) return next(request, options);
    return Promise.resolve(answered(status, { code: status === 403 ? 7 : 13, message: "", details: [] }));
  };
}

/** Does what was asked, and cuts the connection instead of answering. */
function unanswered(method: string, target: RegExp, after = 0): NonNullable<SandboxOptions["faults"]> {
  let served = 0;
  return (next) => async (request, options) => {
    const response = await next(request, options);
    if (request.method === method && target.test(request.target) && served++ >= after) throw new Error("cut");
    return response;
  };
}

describe("the spelling of masks", () => {
  it.each([
    ["both", [], ["ok both spellings are taken; auto is right"], []],
    [
      "camelCase",
      [],
      ["note only camelCase is taken (claimMatch: 200; claim_match: 400, code 3)"],
      ["upstream.v2.maskSpelling=camelCase"],
    ],
    [
      "snake_case",
      [],
      ["note only snake_case is taken (claimMatch: 400, code 3; claim_match: 200)"],
      ["upstream.v2.maskSpelling=snake_case"],
    ],
    [
      "snake_case",
      ["--upstream-v2-mask-spelling", "camelCase"],
      ["fail only snake_case is taken (claimMatch: 400, code 3; claim_match: 200)"],
      ["upstream.v2.maskSpelling=snake_case"],
    ],
    [
      "camelCase",
      ["--upstream-v2-mask-spelling", "camelCase"],
      ["ok only camelCase is taken (claimMatch: 200; claim_match: 400, code 3)"],
      [],
    ],
  ] as const)("%s with %j", async (maskSpelling, argv, told, set) => {
    const { report, same } = await written(await platform({ maskSpelling }), argv);
    expect(report.told("mask")).toEqual(["ok a field that is named with its zero is cleared", ...told]);
    expect(settings(report.of("mask"))).toEqual(set);
    expect(report.told("write")).toEqual(["ok nothing is left of it: 6 records removed"]);
    expect(same).toBe(true);
  });

  it("an answer of 200 that stored nothing is no taking", async () => {
    const faults: NonNullable<SandboxOptions["faults"]> = (next) => (request, options) =>
      next(
        request.method === "PATCH"
          ? { ...request, method: "GET", target: request.target.replace(/\?.*/, "") }
          : request,
        options,
      );
    const { report, same } = await written(await platform({ faults }));
    expect(report.told("mask")).toEqual([
      "fail a field that is named with its zero keeps its value",
      "fail neither spelling is taken (claimMatch: 200; claim_match: 200)",
    ]);
    expect([report.code, same]).toEqual([1, true]);
  });

  it("without leave to make identities it is not judged", async () => {
    const { report, same } = await written(await platform({ faults: refusing("POST", /\/identities\//, 403) }));
    expect(report.told("mask")[1]).toBe("skipped no identity can be made to try it with");
    expect(same).toBe(true);
  });
});

describe("page tokens", () => {
  const POSITIONS = "page tokens are positions in the order: a list read while others write loses nothing";
  const ROWS = "page tokens are row numbers: a list read by them while somebody deletes loses a record";
  it.each([
    ["keyset", "unknown", `note ${POSITIONS}`, ["upstream.v2.pageTokens=keyset"]],
    ["keyset", "offset", `note ${POSITIONS}`, ["upstream.v2.pageTokens=keyset"]],
    ["keyset", "keyset", `ok ${POSITIONS}`, []],
    ["offset", "unknown", `warn ${ROWS}`, ["upstream.v2.pageTokens=offset"]],
    ["offset", "keyset", `fail ${ROWS}`, ["upstream.v2.pageTokens=offset"]],
    [
      "offset",
      "offset",
      "ok page tokens are row numbers: long lists are read through windows that overlap, where skip is honoured",
      [],
    ],
  ] as const)("that are %s where %s is set", async (tokens, configured, told, set) => {
    const { report, same } = await written(await platform({ tokens }), ["--upstream-v2-page-tokens", configured]);
    expect(report.told("tokens")).toEqual([told]);
    expect(settings(report.of("tokens"))).toEqual(set);
    expect(same).toBe(true);
  });

  it("that are row numbers in another order than by uid", async () => {
    const { report } = await written(await platform({ tokens: "offset", order: "name desc" }));
    expect(report.told("tokens").join()).toMatch(/^warn page tokens are row numbers/);
  });

  it("that restart their list are neither", async () => {
    const { report, same } = await written(await platform({ tokenLifetimeMs: 0 }));
    expect(report.told("tokens").join()).toMatch(/^warn a token leads to a page that begins somewhere else/);
    expect(same).toBe(true);
  });

  it("are not judged where new groups are refused", async () => {
    const { report, same } = await written(await platform({ faults: refusing("POST", /\/groups\//, 403, 3) }));
    expect(report.told("tokens").join()).toMatch(/^skipped not enough groups/);
    expect(same).toBe(true);
  });
});

describe("tidiness", () => {
  it("writes only in a group of its own below the one that was named", async () => {
    const made = await platform();
    await written(made);
    const group = made.sandbox.wellKnown.someGroup;
    const writes = made.sandbox.requests.filter(({ method }) => method !== "GET");
    const [first, ...others] = writes.map(({ target }) => target.replace(/\?.*/, ""));
    expect(first).toBe(`/iam/v2beta1/groups/${group}`);
    const own = /\/(?:groups|identities)\/(.*)$/.exec(others[0] ?? "")?.[1] ?? "";
    expect(own.startsWith(`${group}/`)).toBe(true);
    for (const target of others) expect(target).toMatch(new RegExp(`/${own}(/|$)`));
  });

  it.each([
    ["an update is cut off", unanswered("PATCH", /\/groups\//)],
    ["the group's own creation is never answered", unanswered("POST", /\/groups\//)],
    ["a group's creation is never answered", unanswered("POST", /\/groups\//, 2)],
    ["an identity's creation is never answered", unanswered("POST", /\/identities\//)],
    ["a delete is never answered", unanswered("DELETE", /\/groups\//)],
    ["the first tidying is refused", refusing("DELETE", /\/identities\//, 500)],
  ])("nothing stays when %s", async (name, faults) => {
    let used = 0;
    // Only the first such call goes wrong.
    const once: NonNullable<SandboxOptions["faults"]> = (next) => {
      const faulty = faults(next);
      return async (request, options) => {
        if (used > 0) return next(request, options);
        const before = used;
        try {
          const response = await faulty(request, options);
          if (response.status === 500) used++;
          return response;
        } catch (error) {
          used = before + 1;
          throw error;
        }
      };
    };
    const { report, same } = await written(await platform({ faults: once }));
    expect([name, used, same]).toEqual([name, 1, true]);
    expect(report.told("write").join()).toMatch(/^(fail the check .*,)?ok nothing is left of it: \d records? removed$/);
  });

  it("a group that was there before is not emptied, though the platform says that it was just made", async () => {
    const foreign: { uid: string; name: string }[] = [];
    const made = await platform({
      faults: (next) => (request, options) => {
        if (request.method !== "POST") return next(request, options);
        return Promise.resolve(answered(200, foreign[0]));
      },
    });
    const { someGroup } = made.sandbox.wellKnown;
    const parent = someGroup.slice(0, someGroup.lastIndexOf("/"));
    foreign.push({ uid: someGroup, name: "production" });
    const before = JSON.stringify(made.sandbox.snapshot());
    const report = await made.judge(["--write-under", parent], "admin");
    expect(report.code).toBe(1);
    expect(JSON.stringify(made.sandbox.snapshot())).toBe(before);
    expect(made.sandbox.requests.filter(({ method }) => method === "DELETE")).toEqual([]);
  });

  it("nothing but what lies in the group is removed, whatever uids the platform lists", async () => {
    const made = await platform({
      faults: (next) => async (request, options) => {
        const response = await next(request, options);
        if (request.method !== "GET" || !request.target.includes("/identities?uidp.children_of=")) return response;
        const within = decodeURIComponent(/children_of=([^&]*)/.exec(request.target)?.[1] ?? "");
        const identities = [`${within}/../x`, `${within}/a?b`, `${within}/a/b`, "elsewhere/a"].map((uid) => ({ uid }));
        return { ...response, body: new TextEncoder().encode(JSON.stringify({ identities })) };
      },
    });
    await made.judge(["--write-under", made.sandbox.wellKnown.someGroup], "admin");
    const deleted = made.sandbox.requests.filter(({ method }) => method === "DELETE").map(({ target }) => target);
    expect(deleted.length).toBeGreaterThan(0);
    expect(deleted.filter((target) => target.includes("/identities/"))).toEqual([]);
  });

  it("what cannot be removed is told by its uid, and is a failure", async () => {
    const made = await platform({ faults: refusing("DELETE", /\/identities\//, 403) });
    const { report } = await written(made);
    const before = new Set(made.sandbox.snapshot()["identities"]?.map((record) => String(record["uid"])));
    const [finding] = report.of("write");
    const left = [...before].filter((uid) => finding?.what.includes(uid));
    expect(left).toHaveLength(1);
    expect(finding?.what).toMatch(new RegExp(`^left behind: ${left[0]}, `));
    expect([report.code, finding?.level]).toEqual([1, "fail"]);
  });

  it("a group that may not be written in is a failure, and nothing was made", async () => {
    const { report, same } = await written(await platform(), [], "viewer");
    expect(report.told("write")).toEqual(["fail no group can be made there (403, code 7)"]);
    for (const id of ["mask", "tokens"]) expect(report.told(id)).toEqual(["skipped it was not tried to the end"]);
    expect([report.code, same]).toEqual([1, true]);
  });

  it("a group that there is not is a failure", async () => {
    const { judge } = await platform();
    expect((await judge(["--write-under", "f".repeat(40)])).told("write")).toEqual([
      "fail no group can be made there (404, code 5)",
    ]);
  });

  it("nothing is written where reading already failed", async () => {
    const made = await platform({ version: "v9" });
    const { report } = await written(made);
    for (const id of ["mask", "tokens", "write"]) expect(report.told(id)).toEqual(["skipped no known version answers"]);
    expect(made.sandbox.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });
});

describe("a check that is told to stop", () => {
  /** The way to stop a check that runs with `around`. */
  function stoppable() {
    const held = { stop: async () => {} };
    const onStop = (given: () => Promise<void>): void => {
      held.stop = given;
    };
    return { stop: () => held.stop(), around: { onStop } };
  }

  it.each(["POST", "PATCH", "DELETE"])("during its first %s removes what it made", async (method) => {
    const { stop, around } = stoppable();
    let stopping: Promise<unknown> = Promise.resolve();
    let stopped = false;
    const made = await platform({
      faults: (next) => (request, options) => {
        if (request.method === method && !stopped) {
          stopped = true;
          stopping = stop().catch((error: Error) => error.message);
        }
        return next(request, options);
      },
    });
    const before = made.sandbox.snapshot();
    const report = await made.judge(["--write-under", made.sandbox.wellKnown.someGroup], "admin", around);
    expect(await stopping).toBe("the check was stopped");
    expect(report.told("write").join()).toMatch(/broke off \(the check was stopped\)/);
    expect(report.code).toBe(1);
    expect(made.sandbox.snapshot()).toEqual(before);
  });

  it("while its own group is being made waits for that, to remove it", async () => {
    const { stop, around } = stoppable();
    let posts = 0;
    let finished: Promise<unknown> = Promise.resolve();
    const made = await platform({
      faults: (next) => (request, options) => {
        if (request.method !== "POST" || posts++ > 0) return next(request, options);
        void stop().catch(() => undefined);
        // A platform finishes what it has begun, whether anybody still listens or not.
        const later = setTimeout(20).then(() => next(request, { signal: new AbortController().signal }));
        finished = later;
        return later;
      },
    });
    const before = made.sandbox.snapshot();
    const report = await made.judge(["--write-under", made.sandbox.wellKnown.someGroup], "admin", around);
    await finished;
    expect([posts, made.sandbox.snapshot()]).toEqual([1, before]);
    expect(report.told("write").join()).toMatch(/nothing is left of it: 1 record removed/);
  });

  it("before it wrote ends at once", async () => {
    const { stop, around } = stoppable();
    const made = await platform({
      faults: (next) => (request, options) => {
        if (request.target.includes("/roles?")) void stop().catch(() => undefined);
        return next(request, options);
      },
    });
    await expect(made.judge(["--write-under", made.sandbox.wellKnown.someGroup], "admin", around)).rejects.toThrow(
      /stopped before anything was written/,
    );
    expect(made.sandbox.requests.filter(({ method }) => method !== "GET")).toEqual([]);
  });
});
