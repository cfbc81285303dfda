/** The fleet under load. The test can step back one rule after another. */
import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import { later } from "../../support/take-down.ts";
import { type Load, quantile, type Sent, startLoad } from "./load.ts";
import { type Fleet, type Process, startFleet } from "./processes.ts";

export const COUNT = 5;
/** Rules for one client each, in every round of scenes. */
const VICTIMS = 24;
/** Comparisons that one replica needs. */
const NEEDED = 4;

export interface Rig extends Fleet {
  readonly load: Load;
  /** The process number `at`, counted around. */
  process(at: number): Process;
  /** Steps the rule of a new client back by requests to one process, and returns its name. That client alone is affected. */
  stepBackAt(process: Process): Promise<string>;
  /** All rules that stepped back in this round. */
  readonly back: string[];
  /** Resolves to the milliseconds until `holds` on all `processes`. */
  msUntil(holds: (process: Process) => Promise<boolean>, most: number, processes?: readonly Process[]): Promise<number>;
  /** Other rules, none of which stepped back. */
  nextRound(): Promise<void>;
}

export async function startRig(more = ""): Promise<Rig> {
  let round = 0;
  let victims = 0;
  const back: string[] = [];
  const fleet = await startFleet(COUNT, rulesOf(round, more));
  const load = startLoad(fleet.front.url, fleet.sandbox);
  later(() => load.stop());
  return {
    ...fleet,
    load,
    back,
    process: (at) => fleet.processes[at % COUNT] as Process,
    stepBackAt: async (process) => {
      const name = `victim-${round}-${victims++}`;
      if (victims > VICTIMS) throw new Error(`there are ${VICTIMS} victims only`);
      fleet.sick.wrong.add(name);
      for (let asked = 0; !(await process.following()).back.has(name); asked++) {
        if (asked > 10 * NEEDED) throw new Error(`${name} does not step back at process ${process.at}`);
        await load.ask(process.url, name);
      }
      fleet.sick.wrong.delete(name);
      back.push(name);
      return name;
    },
    msUntil: async (holds, most, processes = fleet.processes) => {
      const begun = performance.now();
      for (;;) {
        const all = await Promise.all(processes.map((one) => holds(one)));
        const ms = performance.now() - begun;
        if (!all.includes(false)) return ms;
        if (ms > most) throw new Error(`after ${most} ms it does not hold everywhere: ${all}`);
        await setTimeout(100);
      }
    },
    nextRound: async () => {
      round += 1;
      victims = 0;
      back.length = 0;
      await fleet.setRules(rulesOf(round, more));
    },
  };
}

/** `more`: rules of a test, before the one for all other clients. */
function rulesOf(round: number, more: string): string {
  const stepBack = `{ differences: 0.01, minComparisons: ${NEEDED}, minClients: 1 }`;
  const shadow = "{ sample: 1, control: 0 }";
  const lines = Array.from({ length: VICTIMS }, (_, i) => {
    const name = `victim-${round}-${i}`;
    return `  - { name: ${name}, match: { client: ${name} }, mode: translate, shadow: ${shadow}, stepBack: ${stepBack} }`;
  });
  return `version: carryover/v1
rules:
${lines.join("\n")}
${more}  - { name: everyone, match: {}, mode: translate }
`;
}

/** Requests of `phase` that failed. */
export function failuresOf({ load }: Rig, phase: string): readonly Sent[] {
  return load.sent.filter((one) => one.phase === phase && one.fault !== undefined);
}

/** Parts of the test without a fault: the times of all others are compared with these. */
export const QUIET = "no fault";
/** Requests between two parts of the test. */
export const BETWEEN = "between";
/** A request that waited for the store would take a second or more. A busy machine takes as long as this without any fault. */
const NOISE_MS = 150;

/** Request times of these parts of the test. Fails when they were three times as long as without a fault. */
export function timesOf({ load }: Rig, phases: readonly string[]): string {
  const of = (name: string): readonly Sent[] => load.sent.filter(({ phase }) => phase === name);
  const quiet = quantile(of(QUIET), 0.99);
  const slow: string[] = [];
  const lines = phases.map((phase) => {
    const sent = of(phase);
    const [half, most] = [quantile(sent, 0.5), quantile(sent, 0.99)];
    if (most > 3 * Math.max(quiet, NOISE_MS)) slow.push(phase);
    const ratio = (most / quiet).toFixed(2).padStart(5);
    return `${ratio}  p99 ${most.toFixed(0).padStart(4)} ms  median ${half.toFixed(0).padStart(3)} ms  ${String(sent.length).padStart(5)} requests  ${phase}`;
  });
  const text = lines.join("\n");
  expect(slow, text).toEqual([]);
  return text;
}
