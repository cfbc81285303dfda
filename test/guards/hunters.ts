/** Tries many guards quickly: each process loads carryover once, and afterwards only what changes. */
import { type ChildProcess, fork } from "node:child_process";
import { resolve } from "node:path";
import type { Guard } from "./guard.ts";

/** What became of the tests without a guard. */
export interface Outcome {
  /** The file and the test that failed; undefined: none did. */
  readonly by?: string;
  /** Why nothing could be tried. */
  readonly error?: string;
  readonly ms: number;
}

/** What is tried: a guard taken out, or, without a file, tests as they are. */
export type Hunted = Pick<Guard, "tests"> & Partial<Guard>;

export interface Hunters {
  /** Tries it as soon as a process has time. */
  try(hunted: Hunted): Promise<Outcome>;
  end(): void;
}

/** `count` processes. */
export async function startHunters(count: number): Promise<Hunters> {
  const queue: { readonly hunted: Hunted; readonly done: (outcome: Outcome) => void }[] = [];
  const idle: ChildProcess[] = [];
  const busy = new Map<ChildProcess, (outcome: Outcome) => void>();
  const next = (): void => {
    while (idle.length > 0 && queue.length > 0) {
      const [child, job] = [idle.shift() as ChildProcess, queue.shift() as (typeof queue)[number]];
      busy.set(child, job.done);
      child.send(job.hunted);
    }
  };
  const children = Array.from({ length: count }, () => {
    // Without vitest's own variables, which would make a process believe that it is one of its workers.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:VITEST|TEST$)/.test(name)));
    const child = fork(resolve(import.meta.dirname, "hunt.mjs"), { execArgv: [], env });
    child.on("message", (outcome: Outcome) => {
      busy.get(child)?.(outcome);
      busy.delete(child);
      idle.push(child);
      next();
    });
    child.on("exit", (code) => busy.get(child)?.({ error: `the process that tried it ended with ${code}`, ms: 0 }));
    return child;
  });
  return {
    try: (hunted) =>
      new Promise((done) => {
        queue.push({ hunted, done });
        next();
      }),
    end: () => {
      for (const child of children) child.disconnect();
    },
  };
}
