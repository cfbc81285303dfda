import { describe, expect, it } from "vitest";
import type { SandboxOptions } from "../../../sandbox/src/options.ts";
import { PROBES } from "../../../src/commands/check/check.ts";
import { configOptions } from "../../../src/config/config.ts";
import type { SendLayer } from "../../../src/model/http.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { answered, answering, platform, settings, usualPlatform } from "./support.ts";

takeDownAfterEach();

const faulty = usualPlatform();

describe("a platform that is as specified", () => {
  it("is right, and was only read", async () => {
    const { sandbox, judge } = faulty();
    const [before, sent] = [sandbox.snapshot(), sandbox.requests.length];
    const report = await judge();
    const requests = sandbox.requests.slice(sent);
    expect([report.code, report.verdict]).toEqual([0, "ok"]);
    for (const { id } of PROBES) expect(report.told(id).join()).toMatch(/^ok /);
    expect(settings(report.findings)).toEqual([]);
    expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
    expect(requests.length).toBeLessThan(40);
    expect(sandbox.snapshot()).toEqual(before);
  });

  it("is right under another version, when that is configured", async () => {
    const { judge } = await platform({ version: "v2" });
    const report = await judge(["--upstream-v2-version", "v2"]);
    expect([report.verdict, report.version, report.told("version")]).toEqual(["ok", "v2", ["ok v2 answers"]]);
  });

  it("that is briefly unavailable is asked once more", async () => {
    let calls = 0;
    const { judge } = faulty((next) => (request, options) => {
      const busy = answered(503, { code: 14 });
      return [1, 7].includes(++calls) ? Promise.resolve(busy) : next(request, options);
    });
    expect([(await judge()).verdict, calls > 7]).toEqual(["ok", true]);
  });
});

describe("versions", () => {
  it("the wrong one is named with the right one, and everything else is judged under that", async () => {
    const { judge } = await platform({ version: "v2" });
    const report = await judge();
    expect([report.code, report.version]).toEqual([1, "v2"]);
    expect(report.told("version")).toEqual(["fail v2beta1 is answered 404, code 5, and v2 answers"]);
    expect(settings(report.findings)).toEqual(["upstream.v2.version=v2"]);
    expect(report.told("fields")[0]).toMatch(/^ok every name/);
  });

  it("one without a catalogue is replaced by one that answers", async () => {
    const { judge } = faulty();
    const report = await judge(["--upstream-v2-version", "v2alpha7"]);
    expect(settings(report.of("version"))).toEqual(["upstream.v2.version=v2beta1"]);
  });

  it("a path that stands before none of them is told, and nothing is called right", async () => {
    const { url, judge } = faulty();
    const report = await judge(["--upstream-v2-url", `${url}/api`]);
    expect(report.code).toBe(1);
    expect(report.told("version")).toEqual(["fail neither v2beta1 nor v2 answers (404, code 5)"]);
    for (const { id } of PROBES) expect(report.told(id)).toEqual(["skipped no known version answers"]);
  });

  it("is found behind a front that answers unknown paths with a page of its own", async () => {
    const { judge } = await platform({
      version: "v2",
      faults: (next) => async (request, options) => {
        const response = await next(request, options);
        if (response.status !== 404 || request.target.includes("/v2/")) return response;
        return { status: 404, headers: [["content-type", "text/html"]], body: new TextEncoder().encode("<h1>no</h1>") };
      },
    });
    const report = await judge();
    expect(settings(report.of("version"))).toEqual(["upstream.v2.version=v2"]);
    expect(report.told("reach")).toEqual(["ok upstream.v2.url answers (200)"]);
    expect(report.told("clock")).toEqual(["ok this machine and the platform agree"]);
    expect(report.of("reach").map(({ level }) => level)).not.toContain("fail");
  });
});

describe("fields", () => {
  it("names in no row are told with their place, and no value is", async () => {
    const { judge } = faulty(
      answering(/\/identities\?/, (page) => {
        page.identities[0].shoeSize = "secret-value";
        page.identities[0].claimMatch = { issuer: "i", newClaim: { deep: "secret-value" } };
        page.weather = "secret-value";
        return page;
      }),
    );
    const report = await judge();
    const [warning] = report.of("fields").filter(({ level }) => level === "warn");
    expect(warning?.what).toBe(
      "identity: v2 sends what the catalogue does not know: shoeSize, claimMatch.newClaim, page.weather",
    );
    expect(warning?.remedy).toBe("update carryover; v1 clients are not shown them");
    expect(report.out).not.toContain("secret-value");
    expect([report.code, report.verdict]).toEqual([0, "warn"]);
  });

  it("that are dropped anyway are told without advice to drop them", async () => {
    const { judge } = faulty(answering(/\/roles\?/, (page) => ({ ...page, weather: 1 })));
    const report = await judge(["--unknown-fields-response", "drop"]);
    expect(report.of("fields").find(({ level }) => level === "warn")?.remedy).toMatch(/are not shown them/);
  });

  it("hostile names cannot steer a terminal", async () => {
    const { judge } = faulty(
      answering(/\/roles\?/, (page) => ({ ...page, "\u001b[31mred\u202e": 1, ["x".repeat(5_000)]: 2 })),
    );
    const report = await judge();
    expect(report.out).not.toMatch(/[^\x20-\x7e\n…]|x{100}/);
    expect(report.told("fields").join()).toContain("[31mred");
  });

  it("that are the same in several resources are one finding", async () => {
    const { judge } = faulty(
      answering(/\/(roles|tags)\?/, (page) => {
        const [, first] = Object.entries(page).find(([, value]) => Array.isArray(value)) ?? [];
        (first as Record<string, unknown>[])[0] = { ...(first as object[])[0], etag: "x" };
        return page;
      }),
    );
    expect((await judge()).told("fields").filter((text) => text.startsWith("warn"))).toEqual([
      expect.stringMatching(/^warn (role, tag|tag, role): v2 sends what the catalogue does not know: etag$/),
    ]);
  });

  it("enum names that the catalogue lacks are told, other texts in an enum are not", async () => {
    const { judge } = faulty(
      answering(/\/groups\?page_size=200/, (page) => {
        page.groups[0].kind = "ORG_KIND_GALACTIC";
        page.groups[1].kind = "somebody's secret";
        return page;
      }),
    );
    const report = await judge();
    expect(report.told("fields").filter((text) => text.startsWith("warn"))).toEqual([
      "warn group: enum names that the catalogue does not know: kind: ORG_KIND_GALACTIC",
    ]);
    expect(report.out).not.toContain("somebody");
  });

  it("fields of the catalogue that never come are noted", async () => {
    const { judge } = faulty(
      answering(/\/groups\?/, (page) => {
        for (const group of page.groups) delete group.createTime;
        return page;
      }),
    );
    const report = await judge();
    expect(report.told("fields")).toContainEqual(
      expect.stringMatching(/^note group(, [\w-]+)*: never seen in 200 records: createTime$/),
    );
    expect(report.verdict).toBe("ok");
  });
});

describe("zeros", () => {
  it("left out are noted with the option that says so", async () => {
    const { judge } = await platform({ omitZeros: true });
    const report = await judge();
    expect(report.of("zeros").map(({ level }) => level)).toEqual(["note"]);
    expect(settings(report.of("zeros"))).toEqual(["upstream.v2.omitsZeros=yes"]);
  });

  it("left out against the configuration are a failure", async () => {
    const { judge } = await platform({ omitZeros: true });
    const report = await judge(["--upstream-v2-omits-zeros", "no"]);
    expect([report.code, report.of("zeros")[0]?.level, settings(report.findings)]).toEqual([
      1,
      "fail",
      ["upstream.v2.omitsZeros=yes"],
    ]);
  });

  it("left out as configured are well, and so are zeros that are sent", async () => {
    const [omits, sends] = [await platform({ omitZeros: true }), faulty()];
    expect((await omits.judge(["--upstream-v2-omits-zeros", "yes"])).of("zeros")[0]?.level).toBe("ok");
    expect((await sends.judge(["--upstream-v2-omits-zeros", "no"])).of("zeros")[0]?.level).toBe("ok");
  });
});

describe("pages", () => {
  it("that are shorter than asked for are told with what that costs", async () => {
    const { judge } = faulty(
      (next) => (request, options) =>
        next({ ...request, target: request.target.replace("page_size=200", "page_size=80") }, options),
    );
    const report = await judge();
    expect(report.told("page-size")).toEqual([
      "warn group: a page holds 80 records where 200 were asked for and more follow",
    ]);
    expect(report.of("page-size")[0]?.remedy).toContain("2.5 times the calls");
  });

  it("that are longer than asked for are a failure", async () => {
    const { judge } = faulty(
      answering(/\/groups\?page_size=200/, (page) => ({ ...page, groups: [...page.groups, ...page.groups] })),
    );
    expect((await judge()).told("page-size")).toEqual(["fail group: 400 records came on a page of 200"]);
  });

  it.each([
    ["ignored", { ignoreSkip: true }, "warn group: ignored"],
    [
      "reported wrongly",
      { faults: answering(/skip=/, (page) => ({ ...page, skipped: 7 })) },
      "warn group: honoured, but `skipped` says 7",
    ],
    [
      "wrong",
      { faults: answering(/skip=/, (page) => ({ ...page, groups: page.groups.slice(1) })) },
      "warn group: skip leads elsewhere than the token does, 3 times",
    ],
  ])("skip that is %s is told", async (_name, options, told) => {
    const { judge } = await platform(options);
    const report = await judge();
    expect(report.told("skip")).toEqual([told]);
    expect(report.of("skip")[0]?.remedy).toMatch(/read by their tokens.*upstream\.v2\.pageTokens: keyset/);
  });

  it("skip needs no word of its own: the pages tell", async () => {
    const faults = answering(/skip=/, ({ skipped: _skipped, ...page }) => page);
    const { judge } = faulty(faults);
    expect((await judge()).told("skip")).toEqual(["ok group: honoured"]);
  });

  it("skip is right while others write", async () => {
    const { judge } = await platform({ churnEveryPages: 7 });
    expect((await judge()).told("skip")).toEqual(["ok group: honoured"]);
  });

  it("a count that is missing is told; where lists.require needs it, it is a failure", async () => {
    const { judge } = await platform({ omitTotalCount: true });
    expect((await judge()).told("total-count")[0]).toMatch(/^warn there is none: group, /);
    const strict = await judge(["--lists-require", "group=count"]);
    expect(strict.told("total-count")[0]).toMatch(/^fail there is none/);
    expect(settings(strict.findings)).toEqual(["lists.require=none"]);
  });

  it("a count that is too small for a list that goes on is told", async () => {
    const { judge } = faulty(answering(/\/groups\?/, (page) => ({ ...page, totalCount: "3" })));
    expect((await judge()).told("total-count")).toEqual(["warn it is less than the records that come: group"]);
  });

  it.each([
    ["of one page", /\/roles\?/, "role"],
    ["of several pages", /\/groups\?/, "group"],
  ])("a count that is not met by a list %s is a failure, unless totals are ignored", async (_name, path, resource) => {
    const more = (page: Record<string, unknown>) => ({ ...page, totalCount: String(Number(page["totalCount"]) + 7) });
    const { judge } = faulty(answering(path, more));
    const report = await judge();
    expect(report.told("total-count")).toEqual([`fail it is more than the records that come: ${resource}`]);
    expect(settings(report.of("total-count"))).toEqual(["upstream.v2.totals=ignore"]);
    const ignoring = await judge(["--upstream-v2-totals", "ignore"]);
    expect(ignoring.told("total-count")).toEqual([`note it is more than the records that come: ${resource}`]);
  });

  it("totals that fit are not to be ignored", async () => {
    const { judge } = await platform({});
    const report = await judge(["--upstream-v2-totals", "ignore"]);
    expect(settings(report.of("total-count"))).toEqual(["upstream.v2.totals=verify"]);
  });

  it("another order than by uid is told, and cured where the platform orders by uid when asked", async () => {
    const { judge } = await platform({ order: "name" });
    const report = await judge();
    expect(report.told("order").find((text) => text.startsWith("warn"))).toMatch(/^warn not by uid: .*group/);
    expect(report.told("order").join()).toContain("an order of its own, the same twice: group-invite");
    expect(settings(report.of("order"))).toEqual(["lists.orderBy=uid"]);
    const cured = await judge(["--lists-order-by", "uid"]);
    expect(cured.told("order").filter((text) => !text.startsWith("ok"))).toEqual([]);
    expect(cured.told("lists").filter((text) => !text.startsWith("ok"))).toEqual([]);
    const vain = await judge(["--lists-order-by", "name"]);
    expect(settings(vain.of("order"))).toEqual([]);
    expect(vain.of("order").find(({ level }) => level === "warn")?.remedy).toContain("order_by=name is sent already");
  });

  it("an order is not to be asked for where one list ignores it, or refuses it", async () => {
    const ordered = /\/roles\?.*order_by=uid/;
    const refusing: NonNullable<SandboxOptions["faults"]> = (next) => (request, options) =>
      next(ordered.test(request.target) ? { ...request, target: "/iam/v2beta1/nothing" } : request, options);
    const ignoring = answering(ordered, (page) => ({ ...page, roles: page.roles.toReversed() }));
    for (const faults of [refusing, ignoring]) {
      const { judge } = await platform({ order: "name", faults });
      const report = await judge();
      expect(settings(report.of("order"))).toEqual([]);
      expect(report.of("order").find(({ level }) => level === "warn")?.remedy).toContain("is not heeded (role)");
    }
  });

  it("an order that changes from reading to reading is told", async () => {
    const { judge } = faulty(
      answering(/\/groupInvites\?page_size=5/, (page) => ({
        ...page,
        groupInvites: page.groupInvites.toReversed(),
      })),
    );
    expect((await judge()).told("order")).toContain("warn a list read twice begins differently: group-invite");
  });
});

describe("record times of native v1", () => {
  /** Native v1 whose groups and repos, or all records, lack what their published messages lack. */
  const without = (path: RegExp) =>
    answering(path, ({ items }) => ({
      items: items.map(({ createdAt: _, updatedAt: __, ...rest }: Record<string, unknown>) => rest),
    }));
  const [ALL, SOME] = [/^\/\w+\/v1\//, /^\/\w+\/v1\/groups/];

  it.each([
    ["all", undefined, /^ok native v1 shows the times/, []],
    [
      "all",
      ALL,
      /^warn native v1 does not show .*group\.createdAt.*, and carryover does$/,
      ["v1.recordTimes=published"],
    ],
    ["all", SOME, /^warn native v1 does not show group\.createdAt, group\.updatedAt, and/, []],
    ["published", ALL, /^ok native v1 shows the times/, []],
    [
      "published",
      undefined,
      /^warn native v1 shows .*group\.createdAt.*, and carryover does not$/,
      ["v1.recordTimes=all"],
    ],
    ["published", SOME, /^warn native v1 shows (?!.*group)/, []],
  ])(
    "%s is judged by one record of each list; native lacks the times of %s",
    async (recordTimes, lacking, told, set) => {
      const { judge, url, sandbox } = faulty(lacking === undefined ? undefined : without(lacking));
      const before = sandbox.requests.length;
      const report = await judge(["--upstream-v1-url", url, "--v1-record-times", recordTimes]);
      expect(report.told("times")).toEqual([expect.stringMatching(told)]);
      expect(settings(report.of("times"))).toEqual(set);
      const native = sandbox.requests.slice(before).filter(({ target }) => /^\/\w+\/v1\//.test(target));
      expect(native.length).toBeLessThan(10);
      for (const { target } of native) expect(target).toMatch(/\?(id|group)=/);
    },
  );

  it("are not judged without one of its records, and not asked for without native v1", async () => {
    const { judge, url } = faulty(answering(ALL, () => ({ items: [] })));
    const report = await judge(["--upstream-v1-url", url]);
    expect([report.verdict, ...report.told("times")]).toEqual([
      "incomplete",
      "skipped no record of both versions to compare",
    ]);
    expect((await judge()).told("times")).toEqual([]);
  });
});

describe("refusals", () => {
  it("TRAP-67: a collection taken for a record without a uid is reported with a remedy", async () => {
    const { judge } = await platform({ shadowedProviderList: true });
    const report = await judge();
    expect([report.code, report.verdict]).toEqual([1, "fail"]);
    const [finding] = report.of("lists").filter(({ level }) => level === "fail");
    expect(finding?.what).toMatch(/^identity-provider: the list is refused \(400, code 3\); .*without a uid/);
    expect(finding?.remedy).toMatch(/give the bare collection priority/);
    expect(finding?.remedy).toMatch(/^v1 lists of them fail, and without upstream\.v1\.url nothing else serves them/);
    expect(report.told("lists")[0]).not.toContain("identity-provider");
  });

  /** Nine of ten resources are missing. */
  const onlyGroups: SendLayer = (next) => (request, options) =>
    /^\/\w+\/v2beta1\/(?!groups)/.test(request.target)
      ? Promise.resolve(answered(404, { code: 5, message: "no", details: [] }))
      : next(request, options);
  const ABSENT =
    "account-association, advisory, group-invite, identity, identity-provider, repo, role, role-binding, tag";

  it("lists that a platform lacks are one failure, and nothing else is said of these resources", async () => {
    const { judge } = faulty(onlyGroups);
    const report = await judge();
    expect([report.code, report.verdict]).toEqual([1, "fail"]);
    expect(report.findings.filter(({ level }) => level === "warn" || level === "fail")).toEqual([
      expect.objectContaining({
        probe: "lists",
        what: expect.stringContaining(`${ABSENT}: the list is refused (404, code 5)`),
      }),
    ]);
  });

  const rules = (mode: string, resource = ABSENT) =>
    `version: carryover/v1\nrules:\n  - { name: not-in-v2, match: { resource: [${resource}] }, mode: ${mode} }\n`;

  it("TRAP-67: with a native v1 a rule keeps them there, and with that rule nothing is wrong", async () => {
    const { judge, url } = faulty(onlyGroups);
    const [remedy = ""] = (await judge(["--upstream-v1-url", url])).of("lists").flatMap((found) => found.remedy || []);
    const [, rule = ""] = /before all others: (\{.*?\}, .*?\});/.exec(remedy) ?? [];
    const file = `version: carryover/v1\nrules:\n  - ${rule}\n`;
    const kept = await judge(["--upstream-v1-url", url, "--rules", "r"], "admin", { files: { r: file } });
    expect([kept.code, kept.of("lists").map(({ level }) => level)]).toEqual([0, ["ok", "note"]]);
  });

  it.each([
    ["native", rules("translate", "group"), "note"],
    ["native", rules("translate", "tag"), "fail"],
    ["shadow", rules("translate", "group"), "warn"],
    ["translate", rules("native").replace("resource", "percent: 50, resource"), "fail"],
    ["translate", rules("native").replace("mode", "expires: 2199-01-01, mode"), "fail"],
    ["translate", rules("native").replace("mode", "force"), "fail"],
    ["native", rules("native").replace("rules:", "force: translate\nrules:"), "fail"],
  ])("cutover.mode: %s with rules %# makes a missing list of tags a %3$s", async (mode, text, level) => {
    const { judge, url } = faulty(onlyGroups);
    const argv = ["--upstream-v1-url", url, "--cutover-mode", mode, "--rules", "r"];
    const report = await judge(argv, "admin", { files: { r: text } });
    expect(report.of("lists").find(({ what }) => /^[^:]*\btag\b.*refused/.test(what))?.level).toBe(level);
  });

  it("a list that answers something else is a failure", async () => {
    const { judge } = faulty(answering(/\/tags\?/, () => ({ tags: "none" })));
    expect((await judge()).told("lists")).toContain("fail tag: the answer is no page of records");
  });

  it("a missing record without a typed refusal is told: id filters would be errors", async () => {
    const { judge } = faulty((next) => async (request, options) => {
      const response = await next(request, options);
      if (response.status !== 404) return response;
      return answered(404, { code: 5, message: "no", details: [] });
    });
    const [finding, ...others] = (await judge()).of("missing");
    expect(others).toEqual([]);
    expect(finding?.what).toMatch(
      /^answered 404, code 5, without the code and the ErrorInfo .*: account-association, /,
    );
    expect(finding?.remedy).toMatch(/id filter with an empty list/);
  });

  it("a record that there is not and that is answered all the same is told", async () => {
    const { judge, sandbox } = faulty(
      (next) => (request, options) =>
        next(
          /\/roles\/.*\/\w{16}$/.test(request.target)
            ? { ...request, target: `/iam/v2beta1/roles/${sandbox.wellKnown.viewerRole}` }
            : request,
          options,
        ),
    );
    expect((await judge()).told("missing")).toContain("warn answered 200: role");
  });
});

describe("what cannot be judged", () => {
  it("an empty platform is never called right", async () => {
    const { judge } = faulty();
    const report = await judge([], "nobody");
    expect([report.code, report.verdict]).toEqual([0, "incomplete"]);
    for (const id of ["page-size"]) expect(report.told(id).join()).toMatch(/^skipped /);
    expect(report.told("fields").join()).toMatch(/skipped no record to look at: .*identity/);
  });

  it("a token that sees a corner is told what it could not show", async () => {
    const { judge, sandbox } = faulty();
    const report = await judge([], `viewer@${sandbox.wellKnown.emptyGroup}`);
    expect(report.verdict).toBe("incomplete");
    expect(report.told("page-size").join()).toMatch(/^skipped no list has more than 200 records/);
    expect(report.told("missing").join()).toMatch(/^ok refused with a typed 404 or 403/);
  });

  it("a list that the token may not read is skipped, not blamed on the platform", async () => {
    const { judge } = faulty((next) => async (request, options) => {
      if (!request.target.startsWith("/registry/v2beta1/tags?")) return next(request, options);
      const details = [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "PERMISSION_DENIED" }];
      return answered(403, { code: 7, message: "", details });
    });
    const report = await judge();
    expect(report.told("lists")).toContain("skipped tag: the credential may not read it (403, code 7)");
    expect(report.verdict).toBe("incomplete");
  });

  it("a list that is never answered is a failure, and the others are judged", async () => {
    const { judge } = faulty(
      (next) => (request, options) =>
        request.target.includes("/tags") ? Promise.reject(new Error("cut")) : next(request, options),
    );
    const report = await judge();
    expect(report.told("lists")).toContain("fail tag: no usable answer (UPSTREAM_UNREACHABLE)");
    expect(report.told("skip")).toEqual(["ok group: honoured"]);
    expect(report.told("missing")).toEqual(["skipped the platform stopped answering (UPSTREAM_UNREACHABLE)"]);
  });

  it("a platform that goes away while its version is looked for is told so", async () => {
    const { judge } = await platform({
      version: "v2",
      faults: (next) => (request, options) =>
        request.target.startsWith("/iam/v2/") ? Promise.reject(new Error("cut")) : next(request, options),
    });
    const report = await judge();
    expect(report.verdict).toBe("fail");
    for (const id of ["version", "credential", "lists"])
      expect(report.told(id)).toEqual(["skipped the platform stopped answering (UPSTREAM_UNREACHABLE)"]);
  });

  it("a platform that goes away in the middle leaves the rest unjudged", async () => {
    let skips = 0;
    const { judge } = faulty((next) => (request, options) => {
      if (!request.target.includes("skip=")) return next(request, options);
      skips++;
      return Promise.reject(new Error("cut"));
    });
    const report = await judge();
    expect(skips).toBeGreaterThan(0);
    expect(report.told("skip")).toEqual(["skipped the platform stopped answering (UPSTREAM_UNREACHABLE)"]);
    expect(report.told("missing").join()).toMatch(/^ok/);
  });
});

describe("settings", () => {
  it("every option that a check tells to set exists", async () => {
    const paths = new Set(configOptions().map(({ path }) => path));
    const shapes = [{ omitZeros: true, omitTotalCount: true, version: "v2" }, { maskSpelling: "snake_case" as const }];
    for (const options of shapes) {
      const { judge, sandbox } = await platform(options);
      const report = await judge(["--lists-require", "count", "--write-under", sandbox.wellKnown.someGroup]);
      const set = report.findings.flatMap(({ set: one }) => one?.path ?? []);
      expect(set.length).toBeGreaterThan(0);
      for (const path of set) expect(paths).toContain(path);
    }
  });
});
