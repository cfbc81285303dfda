import { expect, test } from "vitest";
import { differences } from "../../../../scripts/docs/differences.ts";
import { isSame, recordedOutcomes } from "./recorded.ts";
import { groups, REASONS } from "./table.ts";

const names = groups.flatMap(({ probes }) => probes.map(({ what }) => what));
const recorded = recordedOutcomes();

test("there are more than 120 probes, each recorded once", () => {
  expect(names.length).toBeGreaterThan(120);
  expect([...recorded.keys()]).toEqual(names);
  expect(new Set(names).size).toBe(names.length);
});

test("a row of docs/v1-behaviour.md explains each outcome that differs from native v1, and no other", () => {
  const different = names.filter((what) => !isSame(recorded.get(what) ?? { native: "", translated: "", passed: "" }));
  expect([...REASONS.values()].flat().toSorted()).toEqual(different.toSorted());
  const rows = new Set(differences.flatMap((group) => group.rows.map(({ id }) => id)));
  expect([...REASONS.keys()].filter((id) => !rows.has(id))).toEqual([]);
});
