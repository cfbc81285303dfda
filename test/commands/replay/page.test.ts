import { describe, expect, it } from "vitest";
import { replayPage } from "../../../src/commands/replay/page.ts";
import type { ReplayReport } from "../../../src/replay/report.ts";
import type { ReplayCause } from "../../../src/replay/tally.ts";
import { fileOf, recording, replayRig } from "../../replay/rig.ts";
import { HOSTILE_TEXTS } from "../../support/hostile/markup.ts";
import { skeleton, UNPRINTABLE } from "../../support/hostile/skeleton.ts";
import { takeDownAfterEach } from "../../support/take-down.ts";

takeDownAfterEach();

/** A report with one text in every place where a text can come from outside. */
function reportOf(text: string, rows = 1): ReplayReport {
  const cause: ReplayCause = {
    resource: text,
    operation: text,
    class: "missing",
    path: text,
    requests: 2,
    records: 3,
    unstable: 0,
    clients: [text],
    set: text,
    example: { at: text, method: text, target: text, client: text, id: text, native: text, translated: text },
  };
  const reason = { why: text, first: text, count: 4 };
  return {
    version: text,
    v1: text,
    v2: text,
    files: [text],
    verdict: "different",
    stopped: text,
    recorded: { requests: 9, selected: 8, left: 1, formats: [text] },
    compared: 5,
    differing: 2,
    noisy: 1,
    passing: 1,
    refused: 4,
    slowed: 1,
    differences: Array.from({ length: rows }, () => cause),
    undecided: [{ ...cause, trap: text }],
    noise: [{ resource: text, operation: text, path: text, requests: 1 }],
    operations: [{ resource: text, operation: text, compared: 5, differing: 2 }],
    clients: [{ client: text, compared: 5, differing: 2 }],
    notCompared: [reason],
    notReplayed: [reason],
    notRead: [reason],
  };
}

describe("the page of a replay", () => {
  it("has the same elements with a hostile text in every place, no address, and nothing unprintable", () => {
    const plain = skeleton(replayPage(reportOf("plain")));
    expect(plain.addresses).toEqual([]);
    for (const text of HOSTILE_TEXTS) {
      const whole = replayPage(reportOf(text));
      expect([text, skeleton(whole)]).toEqual([text, plain]);
      expect([text, UNPRINTABLE.exec(whole)]).toEqual([text, null]);
    }
  });

  it("shows at most a hundred rows of a table, and how many there are besides", () => {
    const whole = replayPage(reportOf("plain", 130));
    expect(whole.split("<td>plain plain, missing plain</td>")).toHaveLength(1 + 100 + 1);
    expect(whole).toContain("And 30 more.");
  });

  it("is what --html prints, with the verdict as its title", async () => {
    const rig = await replayRig({ recordTimes: "published" });
    const file = fileOf(recording(["/iam/v1/roles?name=viewer"]));
    const { out, code } = await rig.command([file, "--html"]);
    expect(code).toBe(1);
    expect(out).toMatch(/^<!doctype html>/);
    expect(out).toContain("<title>DIFFERENT: 1 of 1 compared request differs, in 2 ways · carryover replay</title>");
    expect(out).toContain("<td>role list, extra items[].createdAt</td><td>1 request of ci</td>");
    expect(out).not.toMatch(/<(?:script|link|img)|https?:\/\/[^<]*"/);
  });
});
