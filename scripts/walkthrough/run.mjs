/**
 * Runs each step of docs/runbook.md on a sandbox by its own commands, forward and back (`npm run real -- walkthrough`). Exits with 0, or
 * with 1 at the first step that does not do what it promises.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { optionsOf } from "../options.mjs";
import { readRunbook } from "./runbook.mjs";
import { Broken, createStage, PLATFORM } from "./stage.mjs";
import { print, runActions, runStep } from "./steps.mjs";

const { steps, before } = readRunbook(readFileSync(new URL("../../docs/runbook.md", import.meta.url), "utf8"));
// `--dist FOLDER`: another built carryover; `--until ID`: the last step to take; `--replicas N`: so many, which share a store.
const values = optionsOf(
  {
    dist: { type: "string", default: join(import.meta.dirname, "../../dist") },
    until: { type: "string" },
    replicas: { type: "string", default: "1" },
  },
  "npm run real -- walkthrough [--until STEP] [--replicas N] [--dist FOLDER]",
  ({ until, replicas }) => {
    if (!/^[1-9]$/.test(replicas)) return `--replicas takes a number from 1 to 9, not ${replicas}`;
    if (until === undefined || steps.some(({ id }) => id === until)) return undefined;
    return `the runbook has no step ${until}; it has ${steps.map(({ id }) => id).join(", ")}`;
  },
);
const dist = pathToFileURL(`${resolve(values.dist)}/`);

async function walk() {
  const began = Date.now();
  const world = await createStage(dist, Number(values.replicas));
  print("The runbook (docs/runbook.md) on a sandbox: every step by its own commands, there and back.\n");
  print(
    `   platform   ${world.urls.platform}   native v1 and v2 over the same records; the runbook calls it ${PLATFORM}`,
  );
  print(`   carryover  ${world.urls.carryover}   ${world.clients.subjects.length} clients call it`);
  print(`   admin      ${world.urls.admin}\n`);
  let current;
  let taken = 0;
  try {
    const { code } = await world.shell.run("command -v curl && command -v sed && command -v grep");
    if (code !== 0) throw new Broken("the runbook's commands need curl, sed and grep");
    await runActions(world, before);
    for (const [index, step] of steps.entries()) {
      current = step;
      const from = Date.now();
      print(`== ${step.title} (${index + 1} of ${steps.length})`);
      await runStep(world, step);
      print(`   done in ${((Date.now() - from) / 1000).toFixed(1)} s\n`);
      taken++;
      if (step.id === values.until) break;
    }
    const { calls, rounds } = world.clients.state;
    const seconds = Math.round((Date.now() - began) / 1000);
    const which = taken === steps.length ? `All ${taken}` : `The first ${taken} of ${steps.length}`;
    print(`${which} steps are as promised: ${calls} calls in ${rounds} rounds, none failed, ${seconds} s.`);
    return 0;
  } catch (error) {
    print(
      `\nNOT AS PROMISED: step ${current?.id} (${current?.title}): ${error instanceof Broken ? error.message : error.stack}`,
    );
    return 1;
  } finally {
    await world.close();
  }
}

process.exitCode = await walk();
