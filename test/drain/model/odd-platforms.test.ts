import { describe, expect, it } from "vitest";
import { kept } from "./kept.ts";
import type { Fault, Style } from "./platform.ts";
import type { Scenario, Trace } from "./scenario.ts";
import { MEMORIES, SEGMENTS, scenario, styles, WINDOWS } from "./scenarios.ts";

/** `style` with each kind of tokens, by windows and by segments, with up to two writes. */
function everyWay(style: Partial<Style>, starts: readonly string[]): readonly Scenario[] {
  return styles().flatMap(({ tokens, declared }) =>
    [0, 1, 2].flatMap((writes) =>
      [WINDOWS, SEGMENTS].flatMap((measures) =>
        starts.map((start, i) =>
          scenario(start, { tokens, ...style }, measures, { declared, writes, remembered: MEMORIES[i] ?? {} }),
        ),
      ),
    ),
  );
}

describe("always", () => {
  const odd: readonly (readonly [string, Partial<Style>])[] = [
    ["skip is ignored", { skip: "ignored" }],
    ["skip is ignored and echoed all the same", { skip: "claimed" }],
    ["the echo of skip is wrong", { skip: "echo" }],
    ["skip is not echoed", { skip: "unechoed" }],
    ["pages behind a token repeat the skip of their chain", { behind: "chain" }],
    ["pages behind a token state their position", { behind: "position" }],
    ["there is no count", { total: "absent" }],
    ["the count is for ever the one of page one", { total: "stale" }],
    ["the count is too low", { total: "low" }],
    ["the count is too high", { total: "high" }],
    ["the count is 0", { total: "zero" }],
    ["the count is another one each time", { total: "wild" }],
    ["pages are cut to one record", { cap: 1 }],
    ["a full last page has a token, the empty page behind it none", { trailing: "full" }],
    ["every last page has a token, the empty page behind it none", { trailing: "always" }],
    ["skip is ignored and there is no count", { skip: "ignored", total: "absent" }],
    ["the count is too low and pages end late", { total: "low", trailing: "full" }],
    ["the count is too high and pages end late", { total: "high", trailing: "full" }],
  ];

  it.each(odd)("%s", async (_, style) => {
    const tally = await kept(everyWay(style, ["bdfhjlnp", "bdfhjln", "bdfhjlnp"]), 9, (trace) => [
      ...exactWhenQuiet(trace),
      ...whenKeyset(trace),
    ]);
    expect(tally.runs).toBeGreaterThan(200);
  });

  function exactWhenQuiet({ written, out, scenario: of }: Trace): readonly string[] {
    return !written && out.join("") !== of.start ? [`not exact: ${out}`] : [];
  }

  /** Where tokens are known to be places in the order, no write makes a list impossible. */
  function whenKeyset({ scenario: of, error }: Trace): readonly string[] {
    return of.declared === "keyset" && error !== undefined ? [`gives up: ${String(error)}`] : [];
  }
});

describe("once or twice", () => {
  const faults: readonly (readonly [string, readonly Fault[]])[] = [
    ["a token leads back to page one", ["restart"]],
    ["pages are empty or short in the middle", ["empty", "short"]],
    ["a token leads to itself", ["same"]],
    ["pages are refused or never come", ["503", "gone"]],
    ["pages are torn", ["torn"]],
    ["pages behind a token are empty and count nothing", ["sunk"]],
    ["any of that", ["restart", "empty", "short", "same", "sunk", "503", "gone", "torn"]],
  ];

  it.each(faults)("%s", async (_, some) => {
    const scenarios = [1, 2].flatMap((faultBudget) =>
      everyWay({ faults: some, faultBudget }, ["bdfhjlnp", "bdfhjlnp", "bdfhjlnp"]),
    );
    await kept(scenarios, 6);
  });
});

describe("whenever it can", () => {
  it.each(["restart", "empty", "same", "sunk", "torn"] as const)("%s: every drain ends", async (fault) => {
    await kept(everyWay({ faults: [fault], faultBudget: 99 }, ["bdfhjlnp", "bdfhjlnp"]), 10);
  });
});
