/** Does the documentation show what a report really prints? */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import type { SendLayer } from "../../src/model/message.ts";
import type { Progress } from "../../src/model/progress.ts";
import { later, type Rig, rigForTest, takeDownAfterEach } from "../app/rig.ts";
import { report } from "./support.ts";

takeDownAfterEach();

const PAGE = new URL("../../docs/report.md", import.meta.url);
/** Addresses in the documentation; those of the test have free ports, and at the second nobody listens. */
const SHOWN = ["http://10.0.0.1:8081", "http://10.0.0.2:8081"] as const;

const RULES = `version: carryover/v1
rules:
  - name: terraform
    match: { client: terraform }
    mode: translate
  - name: everything-else
    match: {}
    mode: shadow
    shadow: { sample: 1 }
`;

function rulesFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "carryover-report-"));
  later(async () => rmSync(folder, { recursive: true }));
  const file = join(folder, "rules.yaml");
  writeFileSync(file, RULES);
  return file;
}

/** Native v1 has what the sandbox lacks, as v2 does. */
const serveHistory: SendLayer = (next) => async (request, options) => {
  if (!request.target.endsWith("/history")) return next(request, options);
  return { status: 200, headers: [["content-type", "application/json"]], body: Buffer.from('{"items":[]}') };
};

/** A list longer than a page, a PUT that leaves fields out, what v2 lacks, and one client that has moved. */
async function traffic(rig: Rig): Promise<void> {
  const as = (agent: string, body?: object) => ({
    headers: { "user-agent": `${agent}/1.0` },
    ...(body === undefined ? {} : { body }),
  });
  const { someGroup } = rig.sandbox.wellKnown;
  await rig.ask("GET", "/iam/v1/groups", as("terraform"));
  await rig.ask("PUT", `/iam/v1/groups/${someGroup}`, as("terraform", { name: "renamed" }));
  for (let i = 0; i < 12; i++) await rig.ask("GET", "/iam/v1/roles", as("ci-bot"));
  await rig.ask("GET", `/registry/v1/tags/${someGroup}/history`, as("ci-bot"));
  for (let i = 0; i < 30; i++) await rig.ask("GET", "/iam/v2beta1/groups?page_size=2", as("web"));
}

/** Comparisons are made in the background. */
async function compared(rig: Rig, count: number): Promise<void> {
  await vi.waitFor(
    async () => {
      const { bounds } = (await (await fetch(`${rig.adminUrl}/progress`)).json()) as Progress;
      expect(bounds.find(({ client }) => client === undefined)?.comparisons).toBe(count);
    },
    { timeout: 15_000 },
  );
}

/** When something happened is no news. */
function upToNumbers(text: string): string {
  return text.replaceAll(/\d+/g, "0");
}

it("docs/report.md shows a real run (`npx vitest run test/report/docs.test.ts -u` writes it anew)", async () => {
  const rig = await rigForTest({
    sandbox: { size: 400, faults: serveHistory },
    flags: { cutoverRulesFile: rulesFile(), clientsIdentify: "user-agent" },
  });
  const gone = await rigForTest();
  await gone.close();
  await traffic(rig);
  await compared(rig, 12);
  const real: typeof fetch = (address, init) =>
    fetch(String(address).replace(SHOWN[0], rig.adminUrl).replace(SHOWN[1], gone.adminUrl), init);
  const { code, out, err } = await report([...SHOWN, "--since", "7d"], { fetch: real });
  expect([code, err]).toEqual([2, `${SHOWN[1]} cannot be reached (ECONNREFUSED)\n`]);
  const now = `\n\`\`\`\n${out.trimEnd()}\n\`\`\`\n\n`;
  const page = readFileSync(PAGE, "utf8");
  const pattern = /(<!-- run -->\n)([\s\S]*?)(<!-- end -->)/;
  const [, , before = ""] = pattern.exec(page) ?? [];
  expect(before).not.toBe("");
  const same = upToNumbers(before) === upToNumbers(now);
  const next = same ? page : page.replace(pattern, (_all, open, _old, end) => `${open}${now}${end}`);
  await expect(next).toMatchFileSnapshot(PAGE.pathname);
});
