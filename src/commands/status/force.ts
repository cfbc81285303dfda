/** What `carryover force` prints, and its exit code. */
import type { ForceCommand } from "../../model/rules.ts";
import type { AnsweredForce } from "../report/ask.ts";

export type ForceResult =
  | { readonly address: string; readonly state: AnsweredForce }
  | { readonly address: string; readonly fault: string };

/** The output of `--json`. */
export interface ForceReport {
  readonly version: 1;
  readonly mode: ForceCommand;
  readonly results: readonly ForceResult[];
}

export function forceText({ mode, results }: ForceReport): string {
  const failed = results.filter((one) => "fault" in one).length;
  const lines = results.map((one) => `${one.address} ${"fault" in one ? one.fault : stateText(one.state)}`);
  return failed === 0
    ? lines.join("\n")
    : [`NOT DONE on ${failed} of ${results.length}: carryover force ${mode}`, ...lines].join("\n");
}

function stateText({ effective, command, survives }: AnsweredForce): string {
  if (command === "native") {
    const until = survives === true ? "" : ", until it restarts: it has no state.dir that can be written";
    return `is forced to native v1 from the next request on${until}`;
  }
  if (effective === "none") return "is no longer forced: its rules decide";
  return `is still forced to ${effective}, by the rules file: lift it there, too`;
}

/** 0; 2: an instance did not do it. */
export function forceExitCode(results: readonly ForceResult[]): number {
  return results.some((one) => "fault" in one) ? 2 : 0;
}
