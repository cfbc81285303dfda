import { describe, expect, it } from "vitest";
import { platform } from "../../commands/check/support.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";

takeDownAfterEach();

/** Half of 100 in the long run. */
const ROUNDS = scale(3, 50);

describe("T-DRN-31: what page tokens remember is found out", () => {
  it.each(["keyset", "offset"] as const)("%s tokens, each time", async (tokens) => {
    let right = 0;
    for (let round = 1; round <= ROUNDS; round++) {
      const made = await platform({ tokens, seed: `${round}` });
      const report = await made.judge(["--write-under", made.sandbox.wellKnown.someGroup], "admin");
      expect(report.told("tokens")).toHaveLength(1);
      if (report.of("tokens")[0]?.set?.value === tokens) right += 1;
    }
    figure("T-DRN-31", "platforms tried", ROUNDS, "platforms");
    figure("T-DRN-31", "platforms whose tokens were told rightly", right, "platforms");
    expect(right).toBe(ROUNDS);
  });
});
