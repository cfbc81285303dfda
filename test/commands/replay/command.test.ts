import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ReplayReport } from "../../../src/replay/report.ts";
import { fileOf, type ReplayRig, recording, replayRig, v1Reads } from "../../replay/rig.ts";
import { takeDownAfterEach } from "../../support/take-down.ts";

takeDownAfterEach();

const groupsOf = ({ sandbox }: ReplayRig): string => `/iam/v1/groups?id=${sandbox.wellKnown.someGroup}`;
const many = (target: string, count: number): readonly string[] => Array.from({ length: count }, () => target);
const reportOf = (out: string): ReplayReport => JSON.parse(out);

describe("carryover replay", () => {
  it("ends with 0 when nothing differs, and says what it did not replay and why", async () => {
    const rig = await replayRig();
    const known = recording([
      ...v1Reads(rig.sandbox).slice(0, 3),
      "/iam/v2beta1/groups",
      { method: "PUT", target: groupsOf(rig) },
      "/iam/v1/policies",
      `/registry/v1/tags/${rig.sandbox.wellKnown.tag}/history`,
      "/iam/v1/groups?name=%E2%80%A6",
    ]);
    const file = fileOf(`${known}{"time":"2026-11-29T00:00:00.000Z","left":7,"why":"rate"}\nnothing\n`);
    const { out, code } = await rig.command([file]);
    expect(out.replaceAll(file, "FILE").split("\n").slice(2)).toEqual([
      "Not replayed",
      "  2  only native v1 has this operation (FILE:6)",
      "  1  not a v1 path (FILE:4)",
      "  1  not a read (--writes-to) (FILE:5)",
      "  1  a value was redacted when it was recorded (record.values) (FILE:8)",
      "",
      "Not readable",
      "  1  no known format: expected a carryover recording or log, JSON or combined access log, or HAR (FILE:10:1)",
      "",
      "Notes",
      "  3 of 8 recorded requests are for the replay (37.5 %)",
      "  the recording lacks 7 requests: record.perSecond, or a disk that was full",
      "",
      "EQUAL: none of 3 compared requests differs",
      "",
    ]);
    expect(code).toBe(0);
    const writes = rig.sandbox.requests.filter(({ method }) => method !== "GET");
    expect(writes).toEqual([]);
  });

  it("ends with 1 when something differs, and shows where, how often, both values, and the setting behind it", async () => {
    const rig = await replayRig({ recordTimes: "published" });
    const file = fileOf(recording([...many(groupsOf(rig), 2), { target: groupsOf(rig), client: "bot" }]));
    const { out, code } = await rig.command([file]);
    const { someGroup } = rig.sandbox.wellKnown;
    expect(out.replaceAll(file, "FILE")).toContain(
      [
        "Differences, the worst first",
        "  1  group list, extra items[].createdAt: 3 requests of ci, bot",
        `     native nothing, translated string(24) in ${someGroup}`,
        `     GET /iam/v1/groups?id=${someGroup} (FILE:1)`,
        "     set v1.recordTimes: published",
        "     TRAP-41: times are renamed in most messages, each in its own way",
        "  2  group list, extra items[].updatedAt: 3 requests of ci, bot",
      ].join("\n"),
    );
    expect(out).toContain("DIFFERENT: 3 of 3 compared requests differ, in 2 ways");
    expect(code).toBe(1);
    const fixed = await rig.command([file, "--v1-record-times", "published"]);
    expect([fixed.code, fixed.out.includes("EQUAL")]).toEqual([0, true]);
  });

  it("prints Markdown, JUnit and JSON", async () => {
    const rig = await replayRig({ recordTimes: "published" });
    const file = fileOf(recording([groupsOf(rig), "/iam/v1/roles?name=viewer"]));
    const junit = (await rig.command([file, "--junit"])).out;
    expect(junit).toContain('<testsuites name="carryover replay" tests="3" failures="2" errors="0">');
    expect(junit).toContain(
      '<testcase classname="group" name="list: 1 compared request"><failure type="difference" message="2 differences">',
    );
    const markdown = (await rig.command([file, "--markdown"])).out;
    expect(markdown).toContain("# DIFFERENT: 2 of 2 compared requests differ, in 4 ways");
    expect(markdown.replaceAll("\\", "")).toContain("| group list, extra items[].createdAt | 1 request of ci |");
    const { verdict, operations } = reportOf((await rig.command([file, "--json"])).out);
    expect([verdict, operations.length]).toEqual(["different", 2]);
    const two = await rig.command([file, "--json", "--junit"]);
    expect([two.code, two.err]).toEqual([64, expect.stringContaining("these are two formats")]);
  });

  it.each([[], ["--markdown"], ["--junit"], ["--html"], ["--json"]])(
    "prints no control characters of a hostile recording (%s)",
    async (...format) => {
      const rig = await replayRig({ recordTimes: "published" });
      const client = "\u001b]0;title\u0007<b>|\u202e& \u0000";
      const { out, code } = await rig.command([fileOf(recording([{ target: groupsOf(rig), client }])), ...format]);
      expect(code).toBe(1);
      expect(out).toContain("title");
      expect(out).not.toMatch(/[^\P{C}\n]/u);
      if (format[0] === "--junit") expect(out).toContain("&lt;b&gt;|");
    },
  );

  it("compares what carryover itself refuses with what native v1 says of it", async () => {
    const rig = await replayRig({
      faults: (next) => async (request, options) => {
        if (!request.target.includes("//")) return next(request, options);
        return { status: 200, headers: [["content-type", "application/json"]], body: Buffer.from("{}") };
      },
    });
    const { out } = await rig.command([fileOf(recording(["/iam/v1/groups//x"])), "--json"]);
    expect(reportOf(out).differences.map(({ path, example }) => [path, example?.native, example?.translated])).toEqual([
      ["status", "200", "400 INVALID_PATH"],
    ]);
  });

  it("refuses a recording with a credential before anything is sent, and does not print it", async () => {
    const rig = await replayRig();
    const good = recording(many(groupsOf(rig), 3));
    const file = fileOf(
      `${good}{"method":"GET","path":"/iam/v1/roles","authorization":"Bearer s3cr3t-s3cr3t-s3cr3t"}\n`,
    );
    const { out, err, code } = await rig.command([file]);
    expect([code, out]).toEqual([64, ""]);
    expect(err).toContain(`${file}:4:40: there is a credential in authorization`);
    expect(err).not.toContain("s3cr3t");
    expect(rig.sandbox.requests).toEqual([]);
  });

  it.each([
    ["a file that is not there", ["/nowhere/requests.jsonl"], /\/nowhere\/requests\.jsonl: it cannot be read \(ENOENT/],
    ["a rate that is none", ["x", "--rate", "fast"], /expected a number from 0\.01 to 1000/],
    ["half a request at a time", ["x", "--concurrency", "0.5"], /expected a whole number from 1 to 64/],
  ])("refuses %s", async (_, argv, told) => {
    const rig = await replayRig();
    const { code, err } = await rig.command(argv);
    expect([code, err]).toEqual([64, expect.stringMatching(told)]);
  });

  it("says that it knows nothing when no request of the recording could be replayed", async () => {
    const rig = await replayRig();
    const { out, code } = await rig.command([fileOf(recording(["/iam/v2beta1/groups"]))]);
    expect([code, out]).toEqual([2, expect.stringContaining("NOT KNOWN: nothing was compared")]);
  });

  it("replays the same sample each time", async () => {
    const rig = await replayRig();
    const file = fileOf(recording(many(groupsOf(rig), 40)));
    const replayed = async (): Promise<number> => {
      const before = rig.sandbox.requests.length;
      const { recorded } = reportOf((await rig.command([file, "--json", "--sample", "0.25"])).out);
      expect(rig.sandbox.requests.length).toBeGreaterThan(before);
      return recorded.selected;
    };
    const first = await replayed();
    expect([first > 2 && first < 20, await replayed()]).toEqual([true, first]);
  });

  it("replays only requests of a client with --client, and each client with its own token", async () => {
    const rig = await replayRig();
    const token = fileOf(rig.sandbox.token("viewer"), "token");
    const file = fileOf(
      recording([
        groupsOf(rig),
        { target: groupsOf(rig), client: "bot-1" },
        { target: groupsOf(rig), client: "bot-2" },
      ]),
    );
    const env = {};
    const one = reportOf((await rig.command([file, "--json", "--token-file", `bot-1=${token}`], { env })).out);
    expect([one.compared, one.notReplayed]).toEqual([
      1,
      [{ why: "there is no token for this client (--token-file)", first: `${file}:1`, count: 2 }],
    ]);
    const some = reportOf((await rig.command([file, "--json", "--client", "bot-*"])).out);
    expect(some.clients.map(({ client }) => client).sort()).toEqual(["bot-1", "bot-2"]);
  });
});

describe("a replay that stops", () => {
  it("by a signal loses nothing: with --resume every request is compared once", async () => {
    const rig = await replayRig({ latencyMs: 5 });
    const file = fileOf(recording(many(groupsOf(rig), 60)));
    const resume = fileOf("", "unused").replace("unused", "progress");
    let stop = async (): Promise<void> => {};
    const argv = [file, "--resume", resume, "--concurrency", "3"];
    const running = rig.command([...argv, "--json"], { onStop: (given) => (stop = given) });
    while (rig.sandbox.requests.length < 60) await new Promise((later) => setTimeout(later, 5));
    await expect(stop()).rejects.toThrow("the replay was stopped");
    const first = await running;
    const early = reportOf(first.out);
    expect([first.code, early.verdict, early.stopped]).toEqual([2, "unknown", "by a signal"]);
    expect(early.compared).toBeGreaterThan(5);
    expect(early.compared).toBeLessThan(60);
    const rest = await rig.command([...argv, "--json"]);
    expect([rest.code, reportOf(rest.out).compared]).toEqual([0, 60]);
    const asked = rig.sandbox.requests.filter(({ target }) => target.startsWith("/iam/v1/"));
    expect(asked).toHaveLength(2 * 60);
    // What is done is shown again in another format, without any call.
    expect((await rig.command([...argv, "--markdown"])).out).toContain("EQUAL: none of 60 compared requests differs");
    expect(rig.sandbox.requests.filter(({ target }) => target.startsWith("/iam/v1/"))).toHaveLength(2 * 60);
  });

  it.each([
    ["the progress of another replay", "", ["--sample", "0.5"], /is the progress of another replay/],
    ["a file that is no progress", "{}", [], /it is not the progress of a replay/],
    ["half a progress", '{"version":1,"key":"', [], /it is not the progress of a replay/],
  ])("does not go on with %s", async (_, content, more, told) => {
    const rig = await replayRig();
    const file = fileOf(recording([groupsOf(rig)]));
    const resume = fileOf(content, "progress");
    if (content === "") {
      const first = resume.replace("progress", "first");
      await rig.command([file, "--resume", first]);
      writeFileSync(resume, readFileSync(first));
    }
    const { code, err } = await rig.command([file, "--resume", resume, ...more]);
    expect([code, err]).toEqual([64, expect.stringMatching(told)]);
  });

  it("lets no other replay use its progress meanwhile, but takes over from one that was killed", async () => {
    const rig = await replayRig({ latencyMs: 20 });
    const file = fileOf(recording(many(groupsOf(rig), 5)));
    const resume = fileOf("", "x").replace(/x$/, "progress");
    const argv = [file, "--resume", resume];
    const both = await Promise.all([rig.command(argv), rig.command(argv)]);
    expect(both.map(({ code }) => code).sort()).toEqual([0, 64]);
    expect(both.map(({ err }) => err).join("")).toMatch(/process \d+ on .* is using it/);
    const { hostname } = await import("node:os");
    writeFileSync(`${resume}.lock`, JSON.stringify({ pid: 2 ** 22 + 1, host: hostname() }));
    expect((await rig.command(argv)).code).toBe(0);
  });

  it("because its token has expired says so, and goes on with a new one", async () => {
    let calls = 0;
    const rig = await replayRig({
      faults: (next) => async (request, options) => {
        calls += 1;
        const sent = request.headers.find(([name]) => name === "authorization")?.[1];
        if (calls < 40 || sent !== `Bearer ${rig.sandbox.token("admin")}`) return next(request, options);
        const body = Buffer.from('{"code":16,"message":"token expired","details":[]}');
        return { status: 401, headers: [["content-type", "application/json"]], body };
      },
    });
    const file = fileOf(recording(many(groupsOf(rig), 30)));
    const token = fileOf(rig.sandbox.token("admin"), "token");
    const argv = [file, "--json", "--token-file", token, "--resume", `${token}.progress`];
    const first = await rig.command(argv);
    const report = reportOf(first.out);
    expect([first.code, report.differences]).toEqual([2, []]);
    expect(report.stopped?.replace(/, it says itself .*?;/, ";")).toBe(
      `the token of ${token} has expired: native v1 accepted it before, and refuses it now (401); put a new one there, and run the same command again`,
    );
    expect(report.compared).toBeGreaterThan(5);
    writeFileSync(token, rig.sandbox.token("staff"));
    const second = await rig.command(argv);
    expect([second.code, reportOf(second.out).compared]).toEqual([0, 30]);
  });

  it("does not stop where a new token is in the file when the old one expires", async () => {
    let calls = 0;
    let token = "";
    const rig = await replayRig({
      faults: (next) => async (request, options) => {
        calls += 1;
        if (calls === 40) writeFileSync(token, rig.sandbox.token("staff"));
        const sent = request.headers.find(([name]) => name === "authorization")?.[1];
        if (calls < 40 || sent !== `Bearer ${rig.sandbox.token("admin")}`) return next(request, options);
        const body = Buffer.from('{"code":16,"message":"token expired","details":[]}');
        return { status: 401, headers: [["content-type", "application/json"]], body };
      },
    });
    const file = fileOf(recording(many(groupsOf(rig), 30)));
    token = fileOf(rig.sandbox.token("admin"), "token");
    const { code, out } = await rig.command([file, "--json", "--token-file", token]);
    expect([code, reportOf(out).compared]).toEqual([0, 30]);
  });

  it("because native v1 refuses the token from the start says so", async () => {
    const rig = await replayRig();
    const file = fileOf(recording([groupsOf(rig)]));
    const token = fileOf("no-such-token", "token");
    const { code, out } = await rig.command([file, "--token-file", token]);
    expect([code, out]).toEqual([2, expect.stringContaining(`stopped: native v1 refuses the token of ${token} (401)`)]);
    const none = await rig.command([file], { env: {} });
    expect(none.out).toContain("native v1 wants a credential (401): give a token with --token-file");
  });

  it("because the platform is down counts nothing of that", async () => {
    let calls = 0;
    const rig = await replayRig({
      faults: (next) => async (request, options) => {
        calls += 1;
        if (calls < 30) return next(request, options);
        return { status: 503, headers: [["content-type", "application/json"]], body: Buffer.from("{}") };
      },
    });
    const file = fileOf(recording(many(groupsOf(rig), 100)));
    const { code, out } = await rig.command([file, "--json", "--concurrency", "20"]);
    const { stopped, differences, notCompared } = reportOf(out);
    expect([code, differences, notCompared]).toEqual([2, [], []]);
    expect(stopped).toMatch(/has not served the last 20 requests/);
  }, 60_000);
});

describe("a platform that limits the rate", () => {
  it("gets fewer requests, and all of them are compared", async () => {
    const rig = await replayRig({ rateLimit: 30 });
    const file = fileOf(recording(many(groupsOf(rig), 40)));
    const { code, out } = await rig.command([file, "--json"]);
    const { compared, differences, notCompared, slowed } = reportOf(out);
    expect({ code, compared, differences, notCompared }).toEqual({
      code: 0,
      compared: 40,
      differences: [],
      notCompared: [],
    });
    expect(slowed).toBeGreaterThan(0);
  }, 60_000);
});

describe("shadow.matchersFile", () => {
  it("takes members out of the comparison", async () => {
    const rig = await replayRig({ recordTimes: "published" });
    const file = fileOf(recording([groupsOf(rig)]));
    const matchers = fileOf("group.createdAt: ignore\ngroup.updatedAt: ignore\n", "matchers.yaml");
    expect((await rig.command([file])).code).toBe(1);
    expect((await rig.command([file, "--shadow-matchers-file", matchers])).code).toBe(0);
  });
});
