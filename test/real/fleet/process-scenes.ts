/** Ends of processes under load: which requests fail, and what the next process of the same place knows. */
import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import type { Sent } from "./load.ts";
import { BETWEEN, failuresOf, type Rig } from "./rig.ts";

/** Between kill -9 and the start of the next process. */
const GONE_MS = 700;
const BEFORE_MS = 1_000;
/** HAProxy notices within this time that a process is gone. */
const NOTICED_MS = 1_000;
/** A process reports once per second. */
const UNREPORTED_MS = 1_200;

/** A process that was killed. */
export interface Killed {
  readonly at: number;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** Kills the process number `at` and starts it again. `forced`: by `carryover force` before. Returns a line that names the requests that failed for it. */
export async function killAndRestart(
  rig: Rig,
  at: number,
  forced: "native" | "none",
): Promise<{ readonly killed: Killed; readonly text: string }> {
  const { load, front, process } = rig;
  const phase = `kill -9 of process ${at}`;
  const one = process(at);
  load.begin(phase);
  // The requests in flight at the kill are of this part of the test, too.
  await setTimeout(BEFORE_MS);
  const killed = { at, time: Date.now() };
  await one.stop("SIGKILL");
  await setTimeout(GONE_MS);
  await one.start();
  // The start waited for the store.
  const { back, force } = await one.following();
  expect(rig.back.filter((name) => !back.has(name))).toEqual([]);
  expect(force).toBe(forced);
  expect(await load.ask(one.url, "somebody")).toBe(forced === "native" ? "native" : "translate");
  load.begin(BETWEEN);
  await setTimeout(NOTICED_MS);
  const failures = failuresOf(rig, phase);
  const log = front.logged();
  for (const failure of failures) {
    // HAProxy does not log a request that it met a broken connection with: it closes the client's, so that the client sends the request again.
    expect([at, undefined], nameOf(failure)).toContain(log.get(failure.mark)?.to);
    expect(failure.at, nameOf(failure)).toBeLessThan(killed.time + NOTICED_MS);
  }
  return { killed, text: `${phase}: ${failures.length} requests failed ${failures.map(nameOf).join(", ")}` };
}

function nameOf({ mark, kind, client, fault }: Sent): string {
  return `[number ${mark}, ${kind} of ${client}: ${fault}]`;
}

/** Translated requests of the rule for all clients, and how many of them a killed process may not have reported: it reports once per second. */
export function translated({ load, front }: Rig, kills: readonly Killed[]) {
  const all = load.sent.filter(({ client, mode }) => mode === "translate" && /^steady|^somebody/.test(client));
  const log = front.logged();
  const last = all.filter(({ mark, at, ms }) =>
    kills.some((killed) => {
      const before = killed.time - (at + ms);
      return log.get(mark)?.to === killed.at && before < UNREPORTED_MS && before > -NOTICED_MS;
    }),
  );
  return { all: all.length, unreported: last.length };
}
