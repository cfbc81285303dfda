/** `--state`, and the checks of this machine. Servers of every kind are in test/real/state/check.real.ts. */
import { expect, test } from "vitest";
import { checkPort } from "../../../src/commands/check/port.ts";
import type { Config } from "../../../src/config/config.ts";
import { stateFolder } from "../../state/state-rig.ts";
import { takeDownAfterEach } from "../../support/take-down.ts";
import { check, judged, platform } from "./support.ts";

takeDownAfterEach();

const NOTHING = "fail state.url: nothing listens there (connect ECONNREFUSED 127.0.0.1:9)";

test("--state needs no platform, no token and no store that works", async () => {
  const dir = stateFolder();
  const argv = ["--state", "--state-url", "redis://127.0.0.1:9", "--state-dir", dir];
  const { code, verdict, findings } = await judged(argv, { files: "disk" });
  expect(findings.map(({ probe, level, what }) => `${probe}: ${level} ${what}`)).toEqual([
    `state: note ${dir}: nothing was saved there yet`,
    `store: ${NOTHING}`,
  ]);
  expect([code, verdict]).toEqual([1, "fail"]);
  const { out } = await check(argv, { files: "disk" });
  expect(out).toMatch(`carryover check of ${dir} and redis://127.0.0.1:9\n`);
  const only = await judged(["--state", "--state-dir", dir], { files: "disk" });
  expect([only.code, only.verdict]).toEqual([0, "ok"]);
});

test.each([
  [["--state"], "--state: neither state.dir nor state.url is set"],
  [["--state", "--write-under", "a"], "--write-under: with --state no platform is asked"],
  [["--state", "--rules-only"], "--state: with --rules-only only rules are checked"],
])("%j is refused", async (argv, fault) => {
  const { code, out, err } = await check(argv);
  expect([code, out]).toEqual([64, ""]);
  expect(err).toContain(fault);
});

test("a check of the platform looks at the store and at the shared port as well", async () => {
  const { judge } = await platform();
  const { told, verdict } = await judge(["--state-url", "redis://127.0.0.1:9", "--listen-reuse-port", "true"]);
  expect([told("store"), verdict]).toEqual([[NOTHING], "fail"]);
  expect(told("port")).toHaveLength(1);
  expect((await judge()).told("port")).toEqual([]);
});

test("a port can be shared with a newer Node only, as serve says", async () => {
  const listen = { reusePort: true } as Config["listen"];
  const [found] = await checkPort(listen, "22.11.0");
  expect(found).toMatchObject({
    level: "fail",
    what: expect.stringMatching(/^listen\.reusePort: Node 22\.11\.0 cannot share a port/),
    remedy: expect.stringMatching(/^run carryover with Node 24, or leave it out/),
  });
});
