import { describe, expect, it } from "vitest";
import { createCredentialQuota } from "../../../src/upstream/adaptive-limits.ts";

function subject() {
  const clock = { now: 0 };
  const quota = createCredentialQuota({ max: 32, maxWaitMs: 5_000, now: () => clock.now });
  /** `credential` makes `calls` calls in sequence; the last `refused` of them are refused. */
  const call = (credential: string, calls: number, refused: number, askedMs = 1_000) => {
    let everybody = false;
    for (let i = 0; i < calls; i++) {
      const begun = quota.begin(credential);
      if (i >= calls - refused) everybody = quota.refused(credential, begun, askedMs);
      else quota.succeed(credential, begun);
      quota.ended(credential);
    }
    return everybody;
  };
  return { clock, quota, call };
}

describe("a credential that is told to wait", () => {
  it("pauses so long, and no other does", () => {
    const { clock, quota, call } = subject();
    expect(call("a", 1, 1, 3_000)).toBe(false);
    expect([quota.mayRead("a", 0), quota.mayRead("b", 0)]).toEqual([false, true]);
    expect([quota.pausedMs(), quota.gatedMs(), quota.nextMs()]).toEqual([3_000, 0, 3_000]);
    clock.now = 2_999;
    expect(quota.mayRead("a", 0)).toBe(false);
    clock.now = 3_000;
    expect([quota.mayRead("a", 0), quota.pausedMs(), quota.nextMs()]).toEqual([true, 0, undefined]);
  });

  it("for longer than anybody waits hears of it at once, instead", () => {
    const { quota, call } = subject();
    call("a", 1, 1, 600_000);
    expect([quota.mayRead("a", 0), quota.nextMs()]).toEqual([true, undefined]);
  });

  it("reads half as many pages at a time as it did, however many it might have read", () => {
    const { quota } = subject();
    const begun = Array.from({ length: 4 }, () => quota.begin("a"));
    for (const call of begun) quota.refused("a", call, 0);
    expect([quota.mayRead("a", 1), quota.mayRead("a", 2)]).toEqual([true, false]);
    for (const _ of begun) quota.ended("a");
    quota.refused("a", quota.begin("a"), 0);
    expect([quota.mayRead("a", 0), quota.mayRead("a", 1)]).toEqual([true, false]);
  });

  it("tries one page more ever more rarely while that is refused", () => {
    const { quota } = subject();
    const rounds: number[] = [];
    quota.refused("a", quota.begin("a"), 0);
    quota.ended("a");
    for (let round = 0; round < 4; round++) {
      let pages = 0;
      for (; !quota.mayRead("a", 1); pages++) {
        quota.succeed("a", quota.begin("a"));
        quota.ended("a");
      }
      rounds.push(pages);
      const [one, two] = [quota.begin("a"), quota.begin("a")];
      quota.refused("a", two, 0);
      quota.ended("a");
      quota.succeed("a", one);
      quota.ended("a");
    }
    expect(rounds).toEqual([2, 4, 8, 16]);
  });

  it("reads fewer pages at a time, and others as many as before", () => {
    const { clock, quota } = subject();
    const begun = Array.from({ length: 8 }, () => quota.begin("a"));
    for (const call of begun) quota.refused("a", call, 0);
    expect([quota.mayRead("a", 3), quota.mayRead("a", 4)]).toEqual([true, false]);
    for (const _ of begun) quota.ended("a");
    expect(quota.mayRead("b", 31)).toBe(true);
    clock.now = 60_000;
    for (let i = 0; i < 200; i++) quota.succeed("a", quota.begin("a"));
    expect(quota.mayRead("a", 31)).toBe(true);
  });
});

describe("all pause", () => {
  it("when most calls of most of several credentials were refused lately, no longer than was said", () => {
    const { clock, quota, call } = subject();
    for (const credential of ["a", "b"]) expect(call(credential, 10, 9, 2_000)).toBe(false);
    expect(call("c", 10, 0)).toBe(false);
    expect(call("d", 10, 9, 2_000)).toBe(true);
    expect([quota.gatedMs(), quota.mayRead("c", 0), quota.mayRead("new", 0)]).toEqual([2_000, false, false]);
    clock.now = 2_000;
    expect([quota.gatedMs(), quota.mayRead("c", 0)]).toEqual([0, true]);
  });

  it.each<[string, readonly (readonly [string, number, number])[]]>([
    [
      "two of three were refused",
      [
        ["c", 10, 0],
        ["a", 10, 10],
        ["b", 10, 10],
      ],
    ],
    [
      "two of four were refused, most calls with them",
      [
        ["c", 1, 0],
        ["d", 1, 0],
        ["a", 50, 50],
        ["b", 50, 50],
      ],
    ],
    [
      "most credentials were refused, but few calls",
      [
        ["d", 90, 0],
        ["a", 5, 5],
        ["b", 5, 5],
        ["c", 5, 5],
      ],
    ],
  ])("not when %s", (_, calls) => {
    const { quota, call } = subject();
    for (const [credential, made, refused] of calls) expect(call(credential, made, refused)).toBe(false);
    expect(quota.gatedMs()).toBe(0);
  });

  it("not for what was refused long ago", () => {
    const { clock, call } = subject();
    for (const credential of ["a", "b", "c"]) call(credential, 4, 4);
    clock.now = 60_000;
    for (const credential of ["e", "f", "g"]) call(credential, 4, 0);
    expect(call("d", 4, 4)).toBe(false);
  });
});
