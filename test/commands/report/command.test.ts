import { describe, expect, test } from "vitest";
import type { MigrationReport } from "../../../src/fleet/report-lines.ts";
import type { Progress } from "../../../src/telemetry/progress.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { admin, busy, client, DAY, NOW, nowhere, progress, report, row, totals } from "./support.ts";

takeDownAfterEach();

const TOKEN = "0123456789-admin-token";
/** Real admin ports, one for each. */
const admins = (all: readonly Progress[], token?: string) => Promise.all(all.map((told) => admin(told, token)));

const quiet = progress({ ledger: { since: NOW - 30 * DAY } });

describe("carryover report", () => {
  test("asks the local admin port when no address is given, each address once", async () => {
    const asked: string[] = [];
    const fetch = async (input: unknown) => {
      asked.push(String(input));
      return new Response(JSON.stringify(quiet));
    };
    await report([], { fetch });
    await report(["a:1", "http://a:1/"], { fetch });
    const day = "?from=-86400000";
    expect(asked).toEqual([`http://127.0.0.1:8081/progress${day}&fleet=true`, `http://a:1/progress${day}&fleet=true`]);
  });

  test("shows what it has when an instance is not heard, says so in every form, and ends with 2", async () => {
    const [first = ""] = await admins(busy().slice(0, 1));
    const gone = await nowhere();
    for (const form of [[], ["--markdown"], ["--csv"], ["--json"]]) {
      const { code, out, err } = await report([first, gone, ...form]);
      expect(code).toBe(2);
      expect(err).toBe(`${gone} cannot be reached (ECONNREFUSED)\n`);
      expect(out).toContain("terraform");
      expect(out).toMatch(/incomplete|"complete": false/i);
    }
    expect((await report([gone])).code).toBe(2);
  });

  test("shows the token that it was given to the instances, and to nobody else", async () => {
    const [address = ""] = await admins([quiet], TOKEN);
    const runs = await Promise.all([
      report([address, "--token-file", "token"], { files: { token: `${TOKEN}\n` } }),
      report([address, "--token-file", "-"], { stdin: TOKEN }),
      report([address], { env: { CARRYOVER_ADMIN_TOKEN: TOKEN } }),
    ]);
    for (const { code, out, err } of runs) {
      expect([code, err]).toEqual([0, ""]);
      expect(out).not.toContain(TOKEN);
    }
    const without = await report([address]);
    expect([without.code, without.err]).toEqual([
      2,
      `${address} answered 401: pass --token-file FILE (- is standard input) or set CARRYOVER_ADMIN_TOKEN\n`,
    ]);
  });

  test("never prints the token, not even when an instance does", async () => {
    const told = progress({ ledger: { clients: [client(`x ${TOKEN} y`)] } });
    const repeating = async () => new Response(JSON.stringify(told));
    for (const form of [[], ["--markdown"], ["--csv"], ["--json"]]) {
      const { code, out } = await report(["a:1", ...form], { fetch: repeating, env: { CARRYOVER_ADMIN_TOKEN: TOKEN } });
      expect(code).toBe(0);
      expect(out).not.toContain(TOKEN);
    }
    const near = await report(["a:1", "--client", "x 0123456789-admin-tokem y"], {
      fetch: repeating,
      env: { CARRYOVER_ADMIN_TOKEN: TOKEN },
    });
    expect([near.code, near.err]).toEqual([2, expect.stringContaining("did you mean x [token] y?")]);
    const body = { message: `no ${TOKEN}`, details: [{ domain: "carryover" }] };
    const refusing = async () => new Response(JSON.stringify(body), { status: 403 });
    const refused = await report(["a:1"], { fetch: refusing, env: { CARRYOVER_ADMIN_TOKEN: TOKEN } });
    expect([refused.code, refused.err]).toEqual([2, "http://a:1 answered 403: no [token]\n"]);
  });

  test("prints nothing that a terminal obeys, JSON included, and the names are what they were", async () => {
    const name = "a\u009b2Jb\u202ec\u2028d\u{e0041}e";
    const told = progress({ totals: totals([row({ resource: name })]) });
    const hostile = async () => new Response(JSON.stringify(told));
    for (const form of [[], ["--markdown"], ["--csv"], ["--json"]]) {
      const { out } = await report(["a:1", ...form], { fetch: hostile });
      expect(out).not.toMatch(/[\u0080-\u009f\u2028-\u202e\u{e0000}-\u{e007f}]/u);
      if (form[0] === "--json") expect(JSON.stringify(JSON.parse(out))).toContain(name);
    }
  });

  test("hears nothing from an instance that names a client as no ledger does", async () => {
    const told = progress({ ledger: { clients: [client("a\u202eb")] } });
    const { code, err } = await report(["a:1"], { fetch: async () => new Response(JSON.stringify(told)) });
    expect(code).toBe(2);
    expect(err).toContain("answered what cannot be read: ledger.clients[0].name: expected a printable text");
  });

  test("prints one JSON document in its stable shape", async () => {
    const [address = ""] = await admins(busy().slice(0, 1));
    const { out } = await report([address, "--json", "--since", "7d"]);
    const made: MigrationReport = JSON.parse(out);
    expect(Object.keys(made)).toEqual([
      "version",
      "at",
      "complete",
      "standing",
      "scope",
      "instances",
      "lost",
      "window",
      "requests",
      "resources",
      "allTime",
      "ledger",
      "clients",
      "comparedSince",
      "bounds",
      "rules",
      "brownouts",
      "breaks",
      "v1Left",
      "why",
    ]);
    expect(made).toMatchObject({ version: 1, complete: true, v1Left: "yes" });
  });

  test("--fail-if-v1 ends with 1 while a client calls v1, with 0 when none does, with 2 when nobody can tell", async () => {
    const [used = "", unused = ""] = await admins([
      busy()[0],
      { ...quiet, instance: "quiet", ledger: { ...quiet.ledger, instances: ["quiet"] } },
    ]);
    const found = await report([used, unused, "--fail-if-v1", "--since", "7d"]);
    expect([found.code, found.err]).toEqual([1, ""]);
    expect(found.out).toMatch(/^v1 is still in use: 2 clients called v1 since 2026-11-14 21:30Z$/m);
    expect(await report([used])).toMatchObject({ code: 0 });
    expect(await report([unused, "--fail-if-v1", "--since", "7d"])).toMatchObject({ code: 0, err: "" });
    const open = await report([unused, "--fail-if-v1", "--since", "8w"]);
    expect([open.code, open.err]).toEqual([2, ""]);
    expect(open.out).toMatch(/^NOT KNOWN whether v1 is in use: an instance has not been watching for so long$/m);
  });

  test("the reason for the exit code is said once: on standard error where only a program reads the report", async () => {
    const [used = "", unused = ""] = await admins([busy()[0], { ...quiet, instance: "quiet" }]);
    const reason = "v1 is still in use: 2 clients called v1 since 2026-11-20 21:30Z\n";
    for (const [form, err] of [
      [[], ""],
      [["--markdown"], ""],
      [["--csv"], reason],
      [["--json"], reason],
    ] as const) {
      const { code, out, err: said } = await report([used, "--fail-if-v1", ...form]);
      expect([code, said]).toEqual([1, err]);
      expect(out.includes("v1 is still in use") === (err === "")).toBe(true);
      expect((await report([used, ...form])).err).toBe("");
      expect((await report([unused, "--fail-if-v1", ...form])).err).toBe("");
    }
  });

  test("a command line that is wrong ends with 64 before anything is asked", async () => {
    const fetch = () => Promise.reject(new Error("asked"));
    const lines = [
      ["ftp://a"],
      ["a:1", "--since", "soon"],
      ["a:1", "--window", "1h", "--to", "2h"],
      ["a:1", "--from", "1h", "--to", "2h"],
      ["a:1", "--timeout", "0"],
      ["a:1", "--json", "--csv"],
      ["a:1", "--token-file", "missing"],
      ["a:1", "--colour"],
    ];
    const runs = await Promise.all(lines.map((argv) => report(argv, { fetch })));
    expect(runs.map(({ code, out }) => [code, out])).toEqual(lines.map(() => [64, ""]));
    expect(runs[0]?.err).toContain("is neither http nor https");
    expect(runs[2]?.err).toContain("--window --to: these are two windows");
    expect(runs[3]?.err).toContain("--from: the window ends before it begins");
    expect(runs[5]?.err).toContain("choose one");
  });
});
