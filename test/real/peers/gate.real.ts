import { describe, expect, it } from "vitest";
import { requests as corpus } from "../../corpus/requests.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { chainOf, FRONTS } from "./fronts.ts";
import { hostileH2 } from "./h2.ts";
import { hostile, mutants } from "./hostile.ts";
import { faultsOf } from "./oracle.ts";
import { send, tally } from "./send.ts";

takeDownAfterEach();

const SEED = Number(process.env["PEERS_SEED"] ?? 20_261_122);
const MUTANTS = scale(300, 5_000);

describe.each(FRONTS)("behind $program.title", (front) => {
  it("T-SMG-33: a request that the two could read differently is refused by one of them", {
    timeout: scale(600_000, 3_600_000),
  }, async () => {
    const chain = await chainOf(front);
    // The rig finds a request again by its id.
    const whole = [...corpus, ...hostile()].filter(({ bytes }) => !/x-request-id/i.test(bytes));
    console.log(`${front.program.title}: mutants of seed ${SEED}`);
    const cases = [...whole, ...mutants(whole, MUTANTS, SEED), ...hostileH2()];
    const outcomes = await send(chain, cases);
    const faults = [...new Set(faultsOf(chain, outcomes))];
    expect(faults.slice(0, 40)).toEqual([]);

    const counts = tally(outcomes);
    console.log(`${front.program.title}: ${JSON.stringify(counts)}`);
    const of = `behind ${front.program.title}`;
    figure("T-SMG-33", `hostile requests sent ${of}`, cases.length, "requests");
    figure("T-SMG-33", `hostile requests that the front refused, ${of}`, counts.refusedThere, "requests");
    figure("T-SMG-33", `hostile requests that carryover refused, ${of}`, counts.refusedHere, "requests");
    figure("T-SMG-33", `hostile requests that both read in one way and passed on, ${of}`, counts.passed, "requests");
    figure("T-SMG-33", `requests that the two read differently, ${of}`, faults.length, "requests");
    // Else nothing was tried: many of each must have happened, and few waited for bytes that never came.
    const { refusedThere, refusedHere, passed, unfinished } = counts;
    expect(Math.min(refusedThere, refusedHere, passed)).toBeGreaterThan(50);
    expect(unfinished).toBeLessThan(cases.length / 20);
  });
});
