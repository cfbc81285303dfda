/** A rehearsal over HTTP: native v1 is off for one client, until it ends or too much is refused (docs/exam.md). */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCommand } from "../../../scripts/command.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, cutover, folder, LACKING, serveLacking } from "./rig.ts";

takeDownAfterEach();

const TOKEN = "0123456789-admin-token";
const END = Date.UTC(2027, 2, 23, 9);
const HOUR = 3_600_000;
const RULES = `version: carryover/v1
rules:
  - name: off
    match: { client: ci }
    mode: translate
    fallback: refuse
    expires: 2027-03-23T09:00:00Z
    stepBack: { failures: 0.3, minRequests: 5 }
`;
const LIST = "/iam/v1/groups?page_size=1";
/** What v1 returns is guessed, so that native v1 serves it unless a rule names it. */
const GUESSED = "/registry/v1/repotagssummary/";
/** No resource of the catalogue has it. */
const UNKNOWN = "/other/v1/things";

async function rig() {
  const tokenFile = join(await folder(), "token");
  await writeFile(tokenFile, TOKEN);
  const clock = { at: END - HOUR };
  const made = await cutover({
    rules: RULES,
    wall: () => clock.at,
    sandbox: { faults: serveLacking },
    flags: { adminTokenFile: tokenFile, cutoverMode: "native" },
  });
  const status = async (client: string, target = LIST) => (await made.ask("GET", target, as(client))).status;
  const exam = async (...argv: readonly string[]) => {
    const { code, out } = await runCommand(["exam", "ci", made.adminUrl, "--min-age", "0", "--json", ...argv], {
      env: { CARRYOVER_ADMIN_TOKEN: TOKEN },
    });
    return { code, ...JSON.parse(out) };
  };
  return { ...made, clock, status, exam };
}

it("refuses only what its client calls and only native v1 has, until it ends", async () => {
  const { ask, clock, status } = await rig();
  expect(await status("ci")).toBe(200);
  const refused = await ask("GET", LACKING, as("ci"));
  expect([refused.status, refused.json]).toEqual([
    501,
    expect.objectContaining({
      message: expect.stringContaining("rule off switches native v1 off for this client (fallback: refuse)"),
      details: [
        expect.objectContaining({
          reason: "NOT_TRANSLATABLE",
          metadata: expect.objectContaining({ option: "cutover.rulesFile" }),
        }),
      ],
    }),
  ]);
  expect(await status("ci", UNKNOWN)).toBe(501);
  expect((await ask("OPTIONS", LACKING, as("ci"))).status).not.toBe(501);
  expect([await status("web", LACKING), await status("web", UNKNOWN)]).not.toContain(501);
  const [repo] = (await ask("GET", "/registry/v1/repos", as("web"))).json.items;
  const modeOf = async (client: string) =>
    (await ask("GET", `${GUESSED}${repo.id}`, as(client))).headers.find(([name]) => name === "carryover-mode")?.[1];
  expect([await modeOf("ci"), await modeOf("web")]).toEqual(["translate", "native"]);
  clock.at = END;
  expect(await status("ci", LACKING)).toBe(200);
});

it("stops above the share that the operator sets, and the exam fails, also when it has expired", async () => {
  const { clock, status, exam } = await rig();
  for (let request = 0; request < 3; request++) await status("ci");
  expect([await status("ci", LACKING), await status("ci", LACKING)]).toEqual([501, 501]);
  expect(await status("ci", LACKING)).toBe(200);
  clock.at = END + HOUR;
  const { code, verdict, rehearsal, changes } = await exam();
  expect([code, verdict]).toEqual([1, "fail"]);
  expect(rehearsal).toMatchObject({ rule: "off", state: "stopped", requests: 5, failures: 2 });
  expect(changes.beforeV1).toEqual([expect.stringMatching(/^do without /)]);
});

it("a client passes after a rehearsal without refusals, until it calls something new", async () => {
  const { clock, status, exam } = await rig();
  for (let request = 0; request < 3; request++) await status("ci");
  expect((await exam("--require-rehearsal")).open).toEqual(["rehearsal off is not over"]);
  clock.at = END;
  expect(await exam("--require-rehearsal")).toMatchObject({ code: 0, verdict: "pass", looks: 3, requests: 3 });
  await status("ci", "/iam/v1/roles");
  expect(await exam()).toMatchObject({ code: 2, open: ["role list: nobody has looked at it"] });
});
