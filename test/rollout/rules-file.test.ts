import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createLastRules } from "../../src/rollout/rules-file.ts";
import { byHand, parseText } from "./rules-file-hands.ts";

/** A file that is only a text; an error is what reading it gives. */
function shelf(text: string | Error) {
  const held = { text, reads: 0, now: 0, most: 0 };
  const read = async (): Promise<Uint8Array> => {
    held.reads += 1;
    held.now += 1;
    held.most = Math.max(held.most, held.now);
    await setImmediate();
    held.now -= 1;
    if (held.text instanceof Error) throw held.text;
    return new TextEncoder().encode(held.text);
  };
  return { held, read };
}

async function started(text: string, options: Parameters<typeof byHand>[2] = {}) {
  const { held, read } = shelf(text);
  const hands = byHand("rules.yaml", read, options);
  await hands.file.start();
  return { held, ...hands };
}

describe("the first rules", () => {
  it("are in force when start resolves, and the next look is planned", async () => {
    const { file, applied, due } = await started("odd one");
    expect(applied).toEqual(["odd one | odd one is odd"]);
    expect(due()).toBe(2_000);
    expect(file.state()).toEqual({
      path: "rules.yaml",
      digest: "odd one",
      loadedAt: 1_000,
      warnings: ["odd one is odd"],
      failing: undefined,
      reloads: 0,
    });
  });

  it.each([
    ["wrong", "bad", "rules.yaml:1:1"],
    ["missing", new Error("ENOENT"), "rules.yaml: it cannot be read (ENOENT); put a rules file there"],
  ])("that are %s make start reject, and nothing is looked at again", async (_name, text, told) => {
    const { held, read } = shelf(text);
    const hands = byHand("rules.yaml", read);
    await expect(hands.file.start()).rejects.toThrow(told);
    expect([held.reads, hands.timers(), hands.applied, hands.failed]).toEqual([1, 0, [], []]);
  });

  it("of an earlier process are in force while the file is wrong, until it is right", async () => {
    const last = createLastRules();
    last.take(new TextEncoder().encode("good"));
    const { held, file, applied, failed, recovered, settle } = await started("bad", { last });
    expect([applied, failed]).toEqual([["good | spare"], ["rules.yaml:1:1: bad is wrong"]]);
    expect(file.state()).toMatchObject({ digest: "good", reloads: 0, failing: { at: 1_000 } });
    held.text = "good";
    await settle();
    expect([file.state().failing, recovered(), file.state().reloads]).toEqual([undefined, 1, 0]);
    held.text = "worse";
    await settle();
    expect([applied.at(-1), new TextDecoder().decode(last.bytes())]).toEqual(["worse", "worse"]);
  });

  it.each([
    ["is missing", new Error("ENOENT"), "good", "cannot be read (ENOENT)"],
    ["and those of the earlier process are wrong", "bad now", "bad before", "bad now is wrong"],
    ["and the earlier process had none", "bad", "", "bad is wrong"],
  ])("make start reject when the file %s", async (_name, text, before, told) => {
    const { read } = shelf(text);
    const last = createLastRules();
    if (before !== "") last.take(new TextEncoder().encode(before));
    const { file, applied } = byHand("rules.yaml", read, { last });
    await expect(file.start()).rejects.toThrow(told);
    expect(applied).toEqual([]);
  });

  it("are told from later ones to whoever reads them", async () => {
    const firsts: boolean[] = [];
    const { held, settle } = await started("a", {
      parse: (bytes, first) => {
        firsts.push(first);
        return parseText(bytes);
      },
    });
    held.text = "b";
    await settle();
    expect(firsts).toEqual([true, false]);
  });
});

describe("a change", () => {
  it("is taken when it was seen twice in a row, and not before", async () => {
    const { held, look, applied, due, file } = await started("a");
    held.text = "b";
    await look();
    expect([applied, due()]).toEqual([["a"], 1_000]);
    await look();
    expect([applied, due()]).toEqual([["a", "b"], 2_000]);
    expect(file.state()).toMatchObject({ digest: "b", reloads: 1, loadedAt: 4_000 });
  });

  it("is not taken while each look sees another one", async () => {
    const { held, look, applied, parsed } = await started("a");
    for (const text of ["b", "bc", "bcd", "b", "bc"]) {
      held.text = text;
      await look();
    }
    expect([applied, parsed]).toEqual([["a"], ["a"]]);
    await look();
    expect(applied).toEqual(["a", "bc"]);
  });

  it("that is taken back between two looks was none", async () => {
    const { held, look, applied, file } = await started("a");
    held.text = "b";
    await look();
    held.text = "a";
    await look();
    held.text = "b";
    await look();
    expect([applied, file.state().reloads]).toEqual([["a"], 0]);
  });

  it("is looked for no more often than asked for, and its second look is not later than the next one", async () => {
    const { held, look, due } = await started("a", { everyMs: 50 });
    held.text = "b";
    await look();
    expect(due()).toBe(50);
  });

  it("of the same content is none: nothing is parsed again", async () => {
    const { look, parsed } = await started("a");
    for (let at = 0; at < 5; at++) await look();
    expect(parsed).toEqual(["a"]);
  });
});

describe("what cannot be used", () => {
  it("leaves the last good rules in force, is told once, and says where it is wrong", async () => {
    const { held, settle, look, applied, failed, parsed, file } = await started("a");
    held.text = "bad b";
    await settle();
    for (let at = 0; at < 5; at++) await look();
    expect([applied, failed, parsed]).toEqual([["a"], ["rules.yaml:1:1: bad b is wrong"], ["a", "bad b"]]);
    expect(file.state()).toMatchObject({
      digest: "a",
      loadedAt: 1_000,
      reloads: 0,
      failing: {
        at: 4_000,
        message: "rules.yaml:1:1: bad b is wrong",
        faults: [{ where: "rules.yaml:1:1", what: "bad b is wrong", remedy: "write it right" }],
      },
    });
  });

  it("is told anew when it is wrong in another way", async () => {
    const { held, settle, failed } = await started("a");
    for (const text of ["bad b", "bad c"]) {
      held.text = text;
      await settle();
    }
    expect(failed).toEqual(["rules.yaml:1:1: bad b is wrong", "rules.yaml:1:1: bad c is wrong"]);
  });

  it("is forgotten when the file is right, or what is in force again", async () => {
    const { held, settle, applied, file, recovered } = await started("a");
    held.text = "bad";
    await settle();
    held.text = "b";
    await settle();
    expect([file.state().failing, applied, recovered()]).toEqual([undefined, ["a", "b"], 0]);
    held.text = "bad";
    await settle();
    held.text = "b";
    await settle();
    expect([file.state().failing, applied, recovered(), file.state().reloads]).toEqual([undefined, ["a", "b"], 1, 1]);
  });

  it("may be gone: that too counts when it was seen twice, and is over when the file is back", async () => {
    const { held, look, settle, failed, file, parsed } = await started("a");
    held.text = new Error("ENOENT");
    await look();
    expect([failed, file.state().failing]).toEqual([[], undefined]);
    await look();
    await look();
    expect(failed).toHaveLength(1);
    expect(file.state().failing?.faults).toEqual([
      {
        where: "rules.yaml",
        what: "it cannot be read (ENOENT)",
        remedy: "put a rules file there that this process may read",
      },
    ]);
    held.text = "a";
    await settle();
    expect([file.state().failing, parsed]).toEqual([undefined, ["a"]]);
  });

  it("may be something that nobody expected: what is thrown is told, and looking goes on", async () => {
    const { held, settle, failed, applied } = await started("a", {
      apply: ({ digest }) => {
        if (digest === "b") throw new TypeError("a fault of carryover's own");
      },
    });
    held.text = "b";
    await settle();
    held.text = "c";
    await settle();
    expect([failed, applied]).toEqual([["a fault of carryover's own"], ["a", "c"]]);
  });
});

describe("a look that was asked for", () => {
  it("is made at once, and its second one soon after", async () => {
    const { held, look, due, applied, file } = await started("a");
    held.text = "b";
    const asked = file.check();
    while (due() !== 100) await setImmediate();
    expect(applied).toEqual(["a"]);
    await look();
    await asked;
    expect([applied, due()]).toEqual([["a", "b"], 2_000]);
  });

  it("of a file that did not change is over after one read", async () => {
    const { held, due, file, timers } = await started("a");
    await file.check();
    expect([held.reads, due(), timers()]).toEqual([2, 2_000, 1]);
    await file.check();
    expect([held.reads, due(), timers()]).toEqual([3, 2_000, 1]);
  });

  it("goes on until the file rests, but not for ever", async () => {
    const { held, due, look, file, applied } = await started("a");
    held.text = "b0";
    const asked = file.check();
    let over = false;
    const ended = asked.then(() => {
      over = true;
    });
    for (let at = 1; !over; at++) {
      while (due() !== 100 && !over) await setImmediate();
      held.text = `b${at}`;
      if (!over) await look();
    }
    await ended;
    expect(applied).toEqual(["a"]);
    expect(held.reads).toBe(21);
    expect(due()).toBe(2_000);
  });

  it("never overlaps with another one, however many ask", async () => {
    const { held, look, file, due } = await started("a");
    const polled = look();
    const asked = [file.check(), file.check(), file.check()];
    await polled;
    const more = [file.check(), file.check()];
    await Promise.all([...asked, ...more]);
    await file.check();
    expect(held.most).toBe(1);
    // The first, the planned one, and the questions: those that came before a look began share it.
    expect(held.reads).toBeLessThanOrEqual(5);
    expect(due()).toBe(2_000);
  });
});

describe("a read that hangs", () => {
  /** Reads that end when the test says so. */
  async function hanging() {
    const open: ((text: string) => void)[] = [];
    const hands = byHand("rules.yaml", () => {
      if (open.length === 0) {
        open.push(() => {});
        return Promise.resolve(new TextEncoder().encode("a"));
      }
      return new Promise((resolve) => {
        open.push((text) => resolve(new TextEncoder().encode(text)));
      });
    });
    await hands.file.start();
    return { open, ...hands };
  }

  it("is given up, and the next look reads anew; what comes of the old one is not taken", async () => {
    const { open, look, giveUp, applied, file, failed } = await hanging();
    const first = look();
    giveUp();
    await first;
    const second = look();
    open[2]?.("b");
    await second;
    open[1]?.("older");
    const third = look();
    open[3]?.("b");
    await third;
    expect([applied, failed, file.state().failing]).toEqual([["a", "b"], [], undefined]);
  });

  it("twice in a row is told; with two that still hang none is added, until one of them ends", async () => {
    const { open, look, giveUp, failed, applied } = await hanging();
    for (const _ of [1, 2]) {
      const one = look();
      giveUp();
      await one;
    }
    expect(failed).toEqual([
      "rules.yaml: it cannot be read (reading it takes longer than 10 s); put a rules file there that this process may read",
    ]);
    for (const _ of [1, 2, 3]) await look();
    expect([open.length, failed.length]).toEqual([3, 1]);
    open[1]?.("too late");
    await setImmediate();
    for (const text of ["b", "b"]) {
      const one = look();
      open.at(-1)?.(text);
      await one;
    }
    expect([open.length, applied]).toEqual([5, ["a", "b"]]);
  });

  it("does not outlive close, which lets nobody wait", async () => {
    const { open, file, applied, timers } = await hanging();
    const asked = file.check();
    while (open.length < 2) await setImmediate();
    file.close();
    await asked;
    open[1]?.("b");
    await setImmediate();
    expect([applied, timers()]).toEqual([["a"], 0]);
  });
});

describe("close", () => {
  it("plans nothing more, and takes nothing that is being read", async () => {
    const { held, look, file, applied, timers } = await started("a");
    held.text = "b";
    await look();
    const asked = file.check();
    file.close();
    await asked;
    await file.check();
    expect([applied, timers()]).toEqual([["a"], 0]);
  });

  it("ends a check that waits for its second look", async () => {
    const { held, due, file, applied, timers } = await started("a");
    held.text = "b";
    const asked = file.check();
    while (due() !== 100) await setImmediate();
    file.close();
    await asked;
    expect([applied, timers(), held.reads]).toEqual([["a"], 0, 2]);
  });

  it("before the first look is over keeps that from being taken", async () => {
    const { read } = shelf("a");
    const { file, applied, timers } = byHand("rules.yaml", read);
    const begun = file.start();
    file.close();
    await begun;
    expect([applied, timers()]).toEqual([[], 0]);
  });
});
