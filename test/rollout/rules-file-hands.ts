/** A rules file whose looks happen when a test says so, and everything that comes of them. */

import type { FileFault } from "../../src/config/watched-file.ts";
import { createRulesFile, type RulesFile, type RulesFileOptions } from "../../src/rollout/rules-file.ts";
import type { Rules } from "../../src/rules/rule.ts";

export interface Hands {
  readonly file: RulesFile;
  /** What came into force, as texts. */
  readonly applied: string[];
  readonly failed: string[];
  readonly recovered: () => number;
  /** What was to be parsed, right or wrong. */
  readonly parsed: string[];
  /** Milliseconds until the next look; undefined when there is none planned. */
  due(): number | undefined;
  /** Runs the next timer, and waits until the look that it begins is over. Moves the clock. */
  look(): Promise<void>;
  /** `look` until the file is settled again. */
  settle(): Promise<void>;
  /** Runs the timer that gives a read up. */
  giveUp(): void;
  timers(): number;
  pass(ms: number): void;
}

/** As `reading.ts` has it. */
const READ_MS = 10_000;

/** Rules whose digest is their text. Throws, with a fault, for one that begins with `bad`. */
export function parseText(bytes: Uint8Array): { rules: Rules; warnings: readonly string[] } {
  const text = new TextDecoder().decode(bytes);
  if (text.startsWith("bad")) {
    const fault: FileFault = { where: "rules.yaml:1:1", what: `${text} is wrong`, remedy: "write it right" };
    throw Object.assign(new Error(`${fault.where}: ${fault.what}`), { faults: [fault] });
  }
  const warnings = text.startsWith("odd") ? [`${text} is odd`] : [];
  return { rules: { force: "none", fallback: undefined, rules: [], digest: text }, warnings };
}

export function byHand(
  path: string,
  read: RulesFileOptions["read"],
  options: Partial<Pick<RulesFileOptions, "parse" | "apply" | "everyMs" | "last">> = {},
): Hands {
  let time = 1_000;
  const timers = new Map<number, { readonly ms: number; readonly run: () => void }>();
  const planned = new Set<() => void>();
  let number = 0;
  let recovered = 0;
  const applied: string[] = [];
  const failed: string[] = [];
  const parsed: string[] = [];
  const { everyMs = 2_000, parse = parseText, apply, last } = options;
  const file = createRulesFile({
    path,
    read,
    everyMs,
    parse: (bytes, first) => {
      parsed.push(new TextDecoder().decode(bytes));
      return parse(bytes, first);
    },
    later: (ms, run) => {
      const id = number++;
      timers.set(id, { ms, run });
      if (ms !== READ_MS) for (const seen of [...planned]) seen();
      return () => timers.delete(id);
    },
    wall: () => time,
    last,
    apply: (rules, warnings, isSpare) => {
      apply?.(rules, warnings, isSpare);
      applied.push([rules.digest, ...(isSpare ? ["spare"] : []), ...warnings].join(" | "));
    },
    failed: (error) => void failed.push(error.message),
    recovered: () => {
      recovered += 1;
    },
  });
  const next = () => [...timers].find(([, { ms }]) => ms !== READ_MS);
  const look = async (): Promise<void> => {
    const [id, timer] = next() ?? [];
    if (id === undefined || timer === undefined) throw new Error("no look is planned");
    timers.delete(id);
    time += timer.ms;
    const over = new Promise<void>((resolve) => {
      const seen = () => {
        planned.delete(seen);
        resolve();
      };
      planned.add(seen);
    });
    timer.run();
    await over;
  };
  return {
    file,
    applied,
    failed,
    parsed,
    recovered: () => recovered,
    due: () => next()?.[1].ms,
    look,
    settle: async () => {
      do await look();
      while (next()?.[1].ms !== everyMs);
    },
    giveUp: () => {
      const [id, timer] = [...timers].find(([, { ms }]) => ms === READ_MS) ?? [];
      if (id === undefined || timer === undefined) throw new Error("no read is under way");
      timers.delete(id);
      timer.run();
    },
    timers: () => timers.size,
    pass: (ms) => {
      time += ms;
    },
  };
}
