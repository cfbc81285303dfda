/** A whole migration in simulated time, by an operator who only follows what carryover says is next. */
import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { takeDownAfterAll } from "../app/rig.ts";
import { createOperator, longestStandstill, type Step } from "./operator.ts";
import { DAY, HOUR, HABITS, START, simulatedWeeks } from "./simulated-weeks.ts";

takeDownAfterAll();

const at = (day: number, hour: number, minute = 0) => START + day * DAY + hour * HOUR + minute * 60_000;
const shown = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace("T", " ");

const WRONG_ROW = [at(1, 8), at(2, 8)] as const;
const OUTAGE = [at(3, 2, 10), at(3, 2, 30)] as const;
const BROKEN_FILE = at(4, 10);
const RESTART = at(5, 12);
const FORCED = at(6, 15);
const LONGEST = 45;

describe("a migration by what carryover says is next", () => {
  it("ends with its removal", async () => {
    const weeks = await simulatedWeeks("version: carryover/v1\nrules: []\n", { outage: OUTAGE, wrongRow: WRONG_ROW });
    const operator = createOperator(weeks, {
      isRepaired: () => weeks.time.now() >= WRONG_ROW[1],
      mayLift: () => weeks.time.now() >= FORCED + 2 * HOUR,
    });
    const diary: string[] = [];
    const ask = async (...words: string[]) => {
      const { code, out, err } = await weeks.run(...words);
      diary.push(`${shown(weeks.time.now())} $ carryover ${words.join(" ")}   [${code}]\n${out}${err}`);
      return { code, out };
    };
    let last: Step | undefined;
    try {
    for (let isDone = false; !isDone; ) {
      const now = weeks.time.now();
      if (now > at(LONGEST, 0)) throw new Error(`not over after ${LONGEST} days`);
      if (now === BROKEN_FILE) {
        await writeFile(weeks.rulesPath, "version: carryover/v1\nrules:\n  - name: groups\n    mode: translat\n");
        await weeks.reload();
      }
      if (now === RESTART) await weeks.restart();
      if (now === FORCED) await ask("force", "native", "--reason", "v2 loses writes", "--by", "anna");
      await weeks.hour(now === at(3, 2));
      isDone = await operator.look();
      const step = operator.steps.at(-1);
      if (step !== undefined && (step.says.replaceAll(/\d/g, "") !== last?.says.replaceAll(/\d/g, "") || step.did !== last.did))
        diary.push(`${shown(step.at)} ${step.says}\n                   -> ${step.did}`);
      last = step;
    }
    } finally {
      console.log(diary.join("\n"));
      console.log(weeks.sent(), [...weeks.days].map(([day, modes]) => `${day}: ${JSON.stringify([...modes])}`).join("\n"));
    }
    expect(longestStandstill(operator.steps).days).toBeLessThanOrEqual(3);
    expect(HABITS.length).toBe(10);
  }, 300_000);
});
