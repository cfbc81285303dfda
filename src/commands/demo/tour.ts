/** `carryover demo --tour`: makes the demo's calls, goes through a cutover, and shows what happens. */
import { createLog } from "../../telemetry/log.ts";
import type { CommandIo } from "../command.ts";
import { demoCalls, makeCall } from "./calls.ts";
import { showCutover } from "./cutover.ts";
import { introduction, OUTLOOK } from "./demo.ts";
import { FREE_PORTS, startDemo } from "./stage.ts";

/** Gives the exit code: 1 when something did not happen as the tour tells it. */
export async function runTour(io: CommandIo): Promise<number> {
  const isTold = (await showCalls(io)) && (await showCutover(io));
  io.print(OUTLOOK);
  io.print(READ_NEXT);
  return isTold ? 0 : 1;
}

/** Makes the calls, and prints for each the v1 request, the v2 calls and the response. */
async function showCalls(io: Pick<CommandIo, "print" | "fetch">): Promise<boolean> {
  const demo = await startDemo(FREE_PORTS, createLog({ level: "warn" }));
  try {
    io.print(introduction(demo));
    let isTold = true;
    for (const call of demoCalls(demo)) {
      const { text, ok } = await makeCall(call, demo, io);
      io.print(text);
      isTold &&= ok;
    }
    return isTold;
  } finally {
    await demo.close(1_000);
  }
}

const READ_NEXT = `
Read next:
  docs/concepts.md   the ideas, in ten minutes
  docs/runbook.md    from the first installation to the end of v1, step by step
  docs/cutover.md    rules, comparisons, rollback
  docs/status.md     carryover status, gate and force`;
