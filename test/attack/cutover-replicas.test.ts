/** Does a report see what every replica saw? */
import { join } from "node:path";
import { expect, it } from "vitest";
import { ask } from "../../src/report/ask.ts";
import { createReport } from "../../src/report.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, cutover, folder } from "../cutover-e2e/rig.ts";

takeDownAfterEach();

it("a report of two replicas that began with one file does not say that nobody calls v1", async () => {
  const first = await cutover({ flags: { clientsFile: join(await folder(), "ledger.json") } });
  await first.ask("GET", "/iam/v2beta1/groups", as("seed"));
  await first.close();
  const [a, b] = [await first.replica(), await first.replica()];
  await a.ask("GET", "/iam/v1/groups", as("last-v1"));
  await b.ask("GET", "/iam/v2beta1/groups", as("other"));
  const options = { token: undefined, timeoutMs: 4_000, fetch };
  for (const replicas of [
    [a, b],
    [b, a],
  ]) {
    const asked = await Promise.all(replicas.map(({ adminUrl }) => ask(adminUrl, options)));
    expect(createReport(asked, undefined).v1Left).not.toBe("no");
  }
});
