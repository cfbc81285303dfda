/** For each kind of damage to the saved state: the state of each rule, and of `carryover force`. */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Rule } from "../../src/rules/rule.ts";
import { finished, rule, STEP_BACK } from "../rollout/control-rig.ts";
import { takeDownAfterEach } from "../support/take-down.ts";
import { stateFolder, stateProcess } from "./state-rig.ts";

takeDownAfterEach();

const BROKEN = { status: 502, reason: "UPSTREAM_INVALID" } as const;
const about = (name: string, resource: string, over: Partial<Rule> = {}): Rule =>
  rule({
    name,
    evidenceKey: `about ${resource}`,
    match: { resources: new Set([resource]) },
    stepBack: STEP_BACK,
    ...over,
  });
/** One that stepped back, one that did not, one that only compares. */
const RULES = [
  about("back", "group"),
  about("forward", "role"),
  about("look", "repo", { mode: "shadow", stepBack: undefined }),
];
const made = { folder: "", forced: "", started: "" };

/** A directory that a process left behind; it is good. */
async function leave(force: boolean): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "carryover-state-"));
  const one = stateProcess(folder, { rules: RULES });
  await one.start();
  for (let n = 0; n < 200; n++) one.control.observe(finished(`c${n % 5}`, { ...BROKEN, rule: "back" }));
  for (let n = 0; n < 30; n++) one.ledger.observe(finished("ci", { rule: "forward" }));
  if (force) one.control.forceByHand("native", one.at);
  await one.saved.close();
  return folder;
}

beforeAll(async () => {
  made.folder = await leave(false);
  made.forced = await leave(true);
});
afterAll(() => {
  for (const folder of [made.folder, made.forced]) rmSync(folder, { recursive: true, force: true });
});

/** The state of each rule after a start in a copy of `from` that `damage` changed. */
async function restartIn(
  from: string,
  damage: (folder: string) => void,
  choices: Parameters<typeof stateProcess>[1] = {},
) {
  const folder = stateFolder();
  cpSync(from, folder, { recursive: true });
  damage(folder);
  const two = stateProcess(folder, { rules: RULES, ...choices });
  await two.start();
  const state = (name: string): string | undefined => two.control.states().find((one) => one.name === name)?.phase;
  const [back, forward, look] = RULES.map(({ name }) => state(name));
  return { folder, two, back, forward, look, forced: two.control.force().effective };
}

const inside = (name: string) => (folder: string) => join(folder, name);
const rollout = inside("rollout.json");
const edit =
  (change: (text: string) => string, name = "rollout.json") =>
  (folder: string) => {
    const path = inside(name)(folder);
    const before = readFileSync(path, "utf8");
    const now = change(before);
    expect(now).not.toBe(before);
    writeFileSync(path, now);
  };
// biome-ignore lint/suspicious/noExplicitAny: a saved state of any shape.
type Change = (saved: any) => void;
const member = (change: Change) =>
  edit((text) => {
    const saved: unknown = JSON.parse(text);
    change(saved);
    return JSON.stringify(saved);
  });
/** Puts `value` at `path`, `a.b.0`; undefined takes the member away. */
const put =
  (path: string, value: unknown): Change =>
  (saved) => {
    const names = path.split(".");
    const last = names.pop() ?? "";
    names.reduce((inner, name) => inner[name], saved)[last] = value;
  };
const set = (path: string, value: unknown) => member(put(path, value));
const entry = (name: string, change: Change, keepCheck = true) =>
  member(({ rules }) => {
    const found = rules.find((one: { name: string }) => one.name === name);
    change(found);
    if (!keepCheck) delete found.check;
  });
/** As an earlier version would have written it: nothing tells that it was changed. */
const unchecked = (name: string, change: Parameters<typeof entry>[1]) => entry(name, change, false);
const replaced = (make: (path: string) => void) => (folder: string) => {
  rmSync(rollout(folder));
  make(rollout(folder));
};
const cut = (share: number) => (folder: string) => {
  const { length } = readFileSync(rollout(folder));
  truncateSync(rollout(folder), Math.floor(length * share));
};

const SAME = { back: "back", forward: "forward", look: "forward", forced: "none" };
const ONE = { ...SAME, back: "unknown" };
/** The damage may be in the name: then any rule without a good entry may be the one. */
const OTHER = { ...SAME, forward: "unknown" };
const ALL = { back: "unknown", forward: "unknown", look: "forward", forced: "native" };
const RULES_LOST = { ...ALL, forced: "none" };
const FORCE_LOST = { ...SAME, forced: "native" };

describe("a saved state", () => {
  test.each<[string, (folder: string) => void, typeof SAME]>([
    ["that is whole", () => {}, SAME],
    [
      "in an empty directory",
      (folder) => readdirSync(folder).forEach((name) => void rmSync(join(folder, name))),
      { ...SAME, back: "forward" },
    ],
    ["that is cut at its first byte", cut(0), ALL],
    ["that is cut at a tenth", cut(0.1), ALL],
    ["that is cut in the middle", cut(0.5), ALL],
    ["that lacks its last byte", edit((text) => text.slice(0, -1)), ALL],
    ["of zero bytes alone", edit((text) => "\0".repeat(text.length)), ALL],
    ["that is no UTF-8 JSON", edit(() => "\uFFFD{"), ALL],
    ["that is null", edit(() => "null"), ALL],
    ["that is a list", edit(() => "[]"), ALL],
    ["that is an empty object", edit(() => "{}"), ALL],
    ["of a newer version", set("version", 2), ALL],
    ["of a version in words", set("version", "1"), ALL],
    ["that is missing", (folder) => rmSync(rollout(folder)), ALL],
    [
      "that is missing, without a marker",
      (folder) => {
        rmSync(rollout(folder));
        rmSync(join(folder, "used.txt"));
      },
      ALL,
    ],
    [
      "that is missing, without counts",
      (folder) => {
        rmSync(rollout(folder));
        rmSync(join(folder, "counts.json"));
      },
      ALL,
    ],
    ["that is a dangling link", replaced((path) => symlinkSync("nowhere", path)), ALL],
    ["that is a link to itself", replaced((path) => symlinkSync(path, path)), ALL],
    ["that is a directory", replaced((path) => mkdirSync(path)), ALL],
    [
      "that is a full directory",
      replaced((path) => {
        mkdirSync(path);
        writeFileSync(join(path, "f"), "");
      }),
      ALL,
    ],
    ["without a permission to read", (folder) => chmodSync(rollout(folder), 0), process.getuid?.() === 0 ? SAME : ALL],
    ["without rules", set("rules", undefined), RULES_LOST],
    ["whose rules are no list", set("rules", {}), RULES_LOST],
    ["with another name of its rules", edit((text) => text.replace('"rules":[', '"rulez":[')), RULES_LOST],
    ["without force", set("force", undefined), FORCE_LOST],
    ["with a force that is misspelt", edit((text) => text.replace('"command":"none"', '"command":"nome"')), FORCE_LOST],
    ["with a force of another type", set("force", "none"), FORCE_LOST],
    ["with a key of another length", set("key", "0"), SAME],
    ["of another basis", set("basis", 7), SAME],
    ["whose transitions, of an earlier version, are no list", set("transitions", null), SAME],
    ["with a transition at an impossible time", set("transitions", [{ kind: "rules", at: 1e300 }]), SAME],
    ["with an unknown member", set("guard", { on: true }), SAME],
    ["whose rule has an unknown member", unchecked("back", put("guard", 1)), SAME],
    ["whose rule has an unknown phase", unchecked("back", put("stepBack.phase.kind", "paused")), ONE],
    ["whose rule has an unknown cause", unchecked("back", put("stepBack.phase.cause.what", "guard")), ONE],
    ["whose rule lacks a member", unchecked("back", put("promotion", undefined)), ONE],
    ["whose rule is of another type", set("rules.0", "back"), ONE],
    ["whose rule is empty", set("rules.0", {}), ONE],
    [
      "whose rule is there twice",
      member((saved) => {
        saved.rules.push({ ...saved.rules[0], stepBack: undefined, check: undefined });
      }),
      ONE,
    ],
    [
      "whose rule has one changed digit of a count",
      entry("back", (one) => {
        one.stepBack.stepBacks += 1;
      }),
      ONE,
    ],
    ["whose rule has one changed letter of its name", entry("back", put("name", "bock")), ONE],
    ["whose rule has one changed letter of what it is about", entry("back", put("evidenceKey", "about froup")), ONE],
    ["whose rule has one changed letter of its mode", entry("back", put("mode", "tranzlate")), ONE],
    [
      "whose rule has one changed digit of its check",
      entry("back", (one) => {
        one.check = `${one.check.startsWith("0") ? 1 : 0}${one.check.slice(1)}`;
      }),
      ONE,
    ],
    ["one of whose other rules has a changed digit", entry("forward", put("requests", 7)), OTHER],
    ["whose rule began to be quiet in the future", unchecked("back", put("stepBack.phase.quietSince", 1e12)), ONE],
    ["whose rule began to be quiet before time began", unchecked("back", put("stepBack.phase.quietSince", -1e12)), ONE],
    ["whose rule has no number for a time", unchecked("back", put("stepBack.now", Number.NaN)), ONE],
    ["whose rule has an infinite time", edit((text) => text.replace(/"now":[\d.]+/, '"now":1e999')), ONE],
    ["whose rule changed at an impossible time", unchecked("back", put("since", 1e300)), ONE],
    [
      "whose rule changed in the future",
      unchecked("back", (one) => {
        one.since += 1e10;
      }),
      SAME,
    ],
    ["whose rule would return at once", unchecked("back", put("stepBack.factor", 0)), ONE],
    ["whose rule would never return", unchecked("back", put("stepBack.factor", 1e300)), ONE],
    ["whose rule failed more often than it was asked", unchecked("back", put("stepBack.phase.cause.bad", 1e6)), ONE],
    ["whose rule has a negative count", unchecked("back", put("requests", -1)), ONE],
    ["whose rule has a count beyond all numbers", unchecked("back", put("requests", 2 ** 60)), ONE],
    [
      "as an earlier version wrote it",
      member((saved) => {
        for (const one of saved.rules) {
          delete one.check;
          delete one.kept;
        }
      }),
      SAME,
    ],
  ])("%s", async (_, damage, expected) => {
    const { back, forward, look, forced, two } = await restartIn(made.folder, damage);
    expect({ back, forward, look, forced }).toEqual(expected);
    // Native v1 serves a rule that is unknown, whatever else is known.
    if (back === "unknown" && forced === "none") {
      expect(two.choose()).toMatchObject({ mode: "shadow", why: "unknown", rule: { name: "back" } });
    }
    if (expected !== SAME && back !== "forward") expect(two.lines.join()).toMatch(/cannot be (used|read)|is missing/);
  });

  test.each<[string, (folder: string) => void]>([
    ["that is cut", cut(0.5)],
    ["that is missing", (folder) => rmSync(rollout(folder))],
    ["with one changed letter", edit((text) => text.replace('"command":"native"', '"command":"nativf"'))],
    ["that is whole", () => {}],
  ])("%s does not forget that native was forced", async (_, damage) => {
    const { forced, two } = await restartIn(made.forced, damage);
    expect(forced).toBe("native");
    two.control.forceByHand("none", two.at);
    expect(two.control.force()).toMatchObject({ effective: "none", command: "none" });
    expect(two.control.force().lost).toBeUndefined();
  });
});

describe("an unknown rule", () => {
  const lose = (folder: string) => rmSync(rollout(folder));

  test("stays unknown over a restart, and for an earlier version it is one that stepped back", async () => {
    const { folder, two } = await restartIn(made.folder, lose);
    await two.saved.close();
    const { rules, force } = JSON.parse(readFileSync(rollout(folder), "utf8"));
    expect(
      rules.map(({ name, stepBack }: Rule & { stepBack?: { phase: unknown } }) => [name, stepBack?.phase]),
    ).toEqual([
      [
        "back",
        { kind: "back", since: 0, quietSince: 0, clean: 0, cause: { what: "failures", bad: 1, all: 1, clients: 0 } },
      ],
      [
        "forward",
        { kind: "back", since: 0, quietSince: 0, clean: 0, cause: { what: "failures", bad: 1, all: 1, clients: 0 } },
      ],
      ["look", undefined],
    ]);
    expect(force).toMatchObject({ command: "native" });
    const next = await restartIn(folder, () => {});
    expect([next.back, next.forward, next.forced]).toEqual(["unknown", "unknown", "native"]);
    // An earlier version drops what it does not know, and writes no checks.
    const earlier = (name: string) =>
      unchecked(name, (one) => {
        delete one.unknown;
      });
    const last = await restartIn(folder, (place) => {
      for (const name of ["back", "forward"]) earlier(name)(place);
    });
    expect([last.back, last.forward]).toEqual(["unknown", "unknown"]);
  });

  test("goes on once it is confirmed, also after the next restart", async () => {
    const { folder, two } = await restartIn(
      made.folder,
      entry("back", (one) => {
        one.requests = 7;
      }),
    );
    expect([two.control.confirm("forward", two.at), two.control.confirm("none", two.at)]).toEqual([false, undefined]);
    expect(two.control.confirm("back", two.at)).toBe(true);
    expect(two.choose()).toMatchObject({ mode: "translate", why: "rule" });
    expect(two.told.map(({ kind, rule }) => [kind, rule])).toEqual([
      ["unknown", "back"],
      ["confirmed", "back"],
    ]);
    await two.saved.close();
    // Earlier versions refuse a file without this list.
    expect(JSON.parse(readFileSync(rollout(folder), "utf8")).transitions).toEqual([]);
    expect((await restartIn(folder, () => {})).back).toBe("forward");
  });

  test.each<[string, Partial<Rule>, string]>([
    ["another match", { evidenceKey: "other" }, "unknown"],
    ["another mode", { mode: "native" }, "forward"],
    ["another name", { name: "other" }, "forward"],
  ])("after a reload with %s: %j, it is %s", async (_, over, state) => {
    const { two } = await restartIn(made.folder, lose);
    two.control.replace({
      force: "none",
      fallback: undefined,
      digest: "b",
      rules: [about("back", "group", over)],
    });
    expect(two.control.states()[0]?.phase).toBe(state);
  });

  test("translates without a native v1, and says so until it is confirmed", async () => {
    const { two, back, forced } = await restartIn(made.folder, lose, { native: false });
    expect([back, forced, two.choose().mode]).toEqual(["unknown", "none", "translate"]);
    expect(JSON.stringify(two.control.view())).toContain("without a native v1");
    expect(two.control.confirm("back", two.at)).toBe(true);
  });

  test("is not promoted by comparisons", async () => {
    const look = about("look", "repo", {
      mode: "shadow",
      shadow: { sample: 1, control: 0 },
      promoteWhen: { differencesBelow: 0.01, minClients: 3, automatic: true },
    });
    const { two, look: state } = await restartIn(made.folder, lose, { rules: [RULES[0]!, RULES[1]!, look] });
    expect(state).toBe("unknown");
    two.compare(400, { served: "shadow", resource: "repo", rule: "look", ruleId: look.evidenceKey });
    expect(two.control.states()[2]).toMatchObject({
      promoted: false,
      couldMove: false,
      evidence: { comparisons: 400 },
    });
  });
});

test("what carryover force said waits for a native v1, also when it is lost", async () => {
  for (const [damage, isLost] of [
    [() => {}, undefined],
    [(folder: string) => rmSync(rollout(folder)), true],
  ] as const) {
    const without = await restartIn(made.forced, damage, { native: false });
    expect([without.forced, without.two.control.force().command]).toEqual(["none", "native"]);
    expect(without.two.lines.join()).toContain("no effect until upstream.v1.url is set again");
    await without.two.saved.close();
    const { forced, two } = await restartIn(without.folder, () => {});
    expect([forced, two.control.force().lost]).toEqual(["native", isLost]);
    const lifted = await restartIn(without.folder, () => {}, { native: false });
    lifted.two.control.forceByHand("none", 0);
    expect(lifted.two.control.force()).toMatchObject({ effective: "none", command: "none" });
  }
});

test("a new, renamed or moved rule starts as configured, or as it was", async () => {
  const rules = [about("new", "tag"), RULES[1]!, RULES[0]!, about("renamed", "repo")];
  const { two } = await restartIn(made.folder, () => {}, { rules });
  expect(two.control.states().map(({ name, phase }) => [name, phase])).toEqual([
    ["new", "forward"],
    ["forward", "forward"],
    ["back", "back"],
    ["renamed", "forward"],
  ]);
});

test("what only a newer version knows is written back for it", async () => {
  const { folder, two } = await restartIn(made.folder, (place) => {
    member((saved) => {
      saved.guard = { on: true };
    })(place);
    unchecked("forward", (one) => {
      one.guard = "g";
    })(place);
    unchecked("back", (one) => {
      one.stepBack.phase.kind = "paused";
    })(place);
  });
  await two.saved.close();
  const saved = JSON.parse(readFileSync(rollout(folder), "utf8"));
  expect(saved).toMatchObject({
    guard: { on: true },
    rules: [
      { name: "back", unknown: { entry: { stepBack: { phase: { kind: "paused" } } } } },
      { name: "forward", guard: "g" },
      {},
    ],
  });
});

test("a readable entry of an unknown rule is used again", async () => {
  const { back } = await restartIn(made.folder, (place) => {
    member(({ rules }) => {
      const [found] = rules;
      rules[0] = { ...found, stepBack: undefined, unknown: { entry: { ...found } }, check: undefined };
    })(place);
  });
  expect(back).toBe("back");
});

describe("counts", () => {
  const counts = (change: (text: string) => string) => edit(change, "counts.json");

  test.each<[string, (folder: string) => void]>([
    ["that are cut", counts((text) => text.slice(0, 40))],
    ["with one changed digit", counts((text) => text.replace('"v1":30', '"v1":31'))],
    ["that are missing", (folder) => rmSync(join(folder, "counts.json"))],
  ])("%s are said to be lost, and begin now", async (_, damage) => {
    const { two, folder } = await restartIn(made.folder, damage);
    expect(two.saved.countsLostAt()).toBe(two.at);
    expect(two.ledger.snapshot()).toMatchObject({ clients: [], since: two.at });
    await two.saved.close();
    expect((await restartIn(folder, () => {})).two.saved.countsLostAt()).toBe(two.at);
  });

  test("that are whole, or of an earlier version, are read", async () => {
    for (const damage of [() => {}, counts((text) => text.replace(/,"check":"[0-9a-f]+"\}$/, "}"))]) {
      const { two } = await restartIn(made.folder, damage);
      expect([two.saved.countsLostAt(), two.ledger.snapshot().clients[0]?.requests.v1]).toEqual([undefined, 30]);
    }
  });
});
