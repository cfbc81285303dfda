/** Sends thousands of mutated requests over many connections at a time, and keeps those that fail. */
import { createRandom, type Random } from "../../sandbox/src/seed/prng.ts";
import { mutate } from "../support/hostile/mutate.ts";
import { createLane, type Lane, type Verdict } from "./lane.ts";
import type { FuzzTarget } from "./target.ts";

export interface Failure {
  /** One of these did it: what an upstream gets may come from a connection beside the one that noticed. */
  readonly suspects: readonly string[];
  readonly why: string;
  readonly hung: boolean;
}

export interface Outcome {
  readonly tried: number;
  readonly failures: readonly Failure[];
  /** Answers by status; 0: the connection was closed without one. */
  readonly statuses: ReadonlyMap<number, number>;
}

export interface FuzzOptions {
  readonly seed: string;
  readonly inputs: number;
  readonly lanes: number;
  readonly patienceMs: number;
  /** Requests to begin with, as latin1. */
  readonly corpus: readonly [string, ...string[]];
}

/** At most so many failures are looked into: one mistake has many inputs. */
const MOST_FAILURES = 5;

/** Tries `inputs` mutations over `lanes` connections. The inputs of one seed are the same each time, and so is their order on each connection. */
export async function fuzz(target: FuzzTarget, options: FuzzOptions): Promise<Outcome> {
  const { seed, inputs, lanes, patienceMs, corpus } = options;
  const failures: Failure[] = [];
  const statuses = new Map<number, number>();
  /** By connection: the last two inputs. */
  const recent = Array.from({ length: lanes }, (): string[] => []);
  let tried = 0;
  const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const run = async (index: number): Promise<void> => {
    const random = createRandom(`${seed} ${index}`);
    const lane = createLane({ port: target.port, patienceMs, name: `lane${index}` });
    for (let left = Math.ceil((inputs - index) / lanes); left > 0 && failures.length < MOST_FAILURES; left--) {
      const input = nextInput(corpus, random);
      recent[index] = [input, recent[index]?.[0] ?? ""];
      const { fault, hung, ...verdict } = await attempt(target, lane, input);
      tried++;
      if (fault !== undefined) failures.push({ suspects: [input, ...recent.flat()], why: fault, hung });
      for (const { status } of verdict.answers) count(status);
      if (verdict.answers.length === 0) count(0);
    }
    lane.end();
  };
  await Promise.all(Array.from({ length: lanes }, (_, index) => run(index)));
  return { tried, failures, statuses };
}

function nextInput(corpus: readonly [string, ...string[]], random: Random): string {
  return mutate({ text: random.pick(corpus), other: random.pick(corpus), random });
}

/** One input, and what reached the upstreams by then. */
async function attempt(target: FuzzTarget, lane: Lane, input: string): Promise<Verdict> {
  const verdict = await lane.try(input);
  const [fault] = target.takeFaults();
  return fault === undefined ? verdict : { ...verdict, fault: `an upstream got ${fault}` };
}

/** What is wrong with `input` by itself on a fresh connection; undefined: nothing. */
export async function faultOf(target: FuzzTarget, input: string, patienceMs: number): Promise<string | undefined> {
  const lane = createLane({ port: target.port, patienceMs, name: "alone" });
  target.takeFaults();
  const { fault } = await attempt(target, lane, input);
  lane.end();
  return fault;
}

/** The shortest text found for which `fails` still holds: pieces are left out, large ones first. At most `tries` trials. */
export async function shrink(text: string, fails: (text: string) => Promise<boolean>, tries: number): Promise<string> {
  let shortest = text;
  let left = tries;
  for (let size = Math.ceil(text.length / 2); size >= 1 && left > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < shortest.length && left > 0; ) {
      const candidate = shortest.slice(0, at) + shortest.slice(at + size);
      left--;
      if (await fails(candidate)) shortest = candidate;
      else at += size;
    }
  }
  return shortest;
}
