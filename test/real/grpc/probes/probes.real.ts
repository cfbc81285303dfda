import { writeFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { takeDownAfterAll } from "../../../support/take-down.ts";
import { describeOutcome } from "./outcome.ts";
import { type Outcomes, RECORDED, recordedOutcomes } from "./recorded.ts";
import { startTargets, type Targets } from "./stage.ts";
import { groups, type Probe, reasonOf } from "./table.ts";

takeDownAfterAll();

let targets: Targets;
/** Node 20 drops fields with spaces at the ends of their values. */
const IS_OLD = process.version.startsWith("v20.");
const all = groups.flatMap(({ probes }) => probes).filter(({ what }) => IS_OLD || reasonOf(what) !== "DIFF-136");

beforeAll(async () => {
  targets = await startTargets();
});

async function outcomesOf(probe: Probe): Promise<Outcomes> {
  const { native, translated, passed } = targets;
  const [one, two, three] = await Promise.all([native.try(probe), translated.try(probe), passed.try(probe)]);
  const words = (outcome: typeof one) => describeOutcome(outcome, one, probe.either);
  return { native: words(one), translated: words(two), passed: words(three) };
}

if (process.env["PROBES_RECORD"] === "1") {
  test("records what comes of each probe", async () => {
    const lines: string[] = [];
    for (const probe of all) lines.push(`${JSON.stringify(probe.what)}: ${JSON.stringify(await outcomesOf(probe))}`);
    writeFileSync(RECORDED, `{\n${lines.join(",\n")}\n}\n`);
  });
}

describe("carryover does with a request what native v1, a server of grpc-go, does, or what the docs say", () => {
  for (const { title, probes } of groups) {
    test(title, async () => {
      const recorded = recordedOutcomes();
      const came: [string, Outcomes][] = [];
      const known = probes.filter((probe) => all.includes(probe));
      for (const probe of known) came.push([probe.what, await outcomesOf(probe)]);
      expect(came).toEqual(known.map(({ what }) => [what, recorded.get(what)]));
    });
  }
});
