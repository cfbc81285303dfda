import { expect, it } from "vitest";
import { beneathRecorded } from "../../bench/report.mjs";

const major = process.version.slice(1).split(".")[0] ?? "";
const recorded = { [major]: { rows: { get: { gate: 2 }, start: {} } } };
const goal = (key: string, gate?: number) => ({
  key,
  what: key,
  against: "a peer",
  ...(gate === undefined ? {} : { gate }),
});

it("tells a ratio that fell by more than a third, and one that was never recorded", () => {
  expect(beneathRecorded([goal("get", 1.31), goal("start")], recorded)).toEqual([]);
  expect(beneathRecorded([goal("get", 1.29), goal("list", 3)], recorded)).toEqual([
    { key: "get", why: expect.stringMatching(/fell to 1\.29, which was 2\.00$/) },
    { key: "list", why: expect.stringContaining("nothing is recorded") },
  ]);
});
