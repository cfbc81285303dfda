import { expect, test } from "vitest";
import type { DifferenceClass } from "../../src/model/comparison.ts";
import { createSignalController } from "../../src/model/signal.ts";
import { compareUntilCertain } from "../../src/replay/attempts.ts";
import type { DifferenceGroup } from "../../src/shadow/differences.ts";
import { ComparisonError } from "../../src/shadow/outcome.ts";
import type { PairedComparison } from "../../src/shadow/paired.ts";

const { signal } = createSignalController();

function group(path: string, ids: readonly (string | undefined)[], of: DifferenceClass = "value"): DifferenceGroup {
  return { class: of, path, ids: new Map(ids.map((id) => [id, 1])), beyond: 0, examples: new Map() };
}

/** What the attempts show, one after another; the last one for good. */
async function verdictOf(attempts: readonly (Partial<PairedComparison> | ComparisonError)[]) {
  let made = 0;
  const verdict = await compareUntilCertain({
    attempt: async () => {
      const next = attempts[Math.min(made++, attempts.length - 1)];
      if (next instanceof ComparisonError) throw next;
      return { status: 200, differences: [], unstable: [], noise: [], ...next };
    },
    sleep: async () => {},
    signal,
  });
  const differences =
    verdict.kind === "compared" ? verdict.differences.map(({ path, ids }) => `${path} ${[...ids.keys()]}`) : [];
  return { verdict, made, differences };
}

test("equal responses take one attempt", async () => {
  const { verdict, made } = await verdictOf([{}]);
  expect([verdict.kind, made]).toEqual(["compared", 1]);
});

test("a difference counts that is in all of three attempts, in the records in which it is each time", async () => {
  const { differences, made, verdict } = await verdictOf([
    { differences: [group("items[].name", ["a", "b"]), group("items[]", ["c"], "extra")] },
    { differences: [group("items[].name", ["b", "d"]), group("items[]", ["e"], "extra")] },
    { differences: [group("items[].name", ["a", "b"])] },
  ]);
  expect([differences, made]).toEqual([["items[].name b"], 3]);
  expect(verdict).toMatchObject({ passing: false });
});

test("one that does not come again is passing", async () => {
  const { verdict, differences } = await verdictOf([{ differences: [group("status", [undefined], "status")] }, {}]);
  expect([differences, verdict]).toEqual([[], expect.objectContaining({ passing: true })]);
});

test("a version that does not serve it is asked five times", async () => {
  const trouble = new ComparisonError("native");
  expect(await verdictOf([trouble, trouble, {}])).toMatchObject({ made: 3, verdict: { kind: "compared" } });
  const failed = await verdictOf([new ComparisonError("platform", "503")]);
  expect(failed).toMatchObject({ made: 5, verdict: { kind: "failed", why: "platform", translated: "503" } });
  expect(await verdictOf([new ComparisonError("too-large")])).toMatchObject({ made: 1, verdict: { kind: "failed" } });
});
