/** What instances tell in tests of status, gate and force. */
import { type CommandOptions, type CommandResult, runCommand } from "../../../scripts/command.ts";
import type { RuleEvidence, RuleStatus } from "../../../src/rules/status.ts";
import type { Progress } from "../../../src/telemetry/progress.ts";
import { NOW, rule as reported } from "../report/support.ts";

export { HOUR, NOW, progress } from "../report/support.ts";

export const NOTHING_YET: RuleEvidence = {
  whom: "reads",
  percent: undefined,
  requests: 0,
  failures: 0,
  comparisons: 0,
  differences: 0,
  bound: 1,
  risk: 0.04,
  clients: 3,
  clientsNeeded: 3,
  differencesBelow: undefined,
  failuresBelow: undefined,
  heldBack: [],
  stepBacks: 0,
};

/** A rule of this mode that does what the file says, with this evidence. */
export function rule(
  name: string,
  mode: RuleStatus["mode"],
  evidence: Partial<RuleEvidence> = {},
  facts: Partial<RuleStatus> = {},
): RuleStatus {
  return reported(name, { mode, doing: mode, evidence: { ...NOTHING_YET, ...evidence }, ...facts });
}

/** v2 fails clients of a rule. */
export const TROUBLE = {
  action: "stepBack",
  trouble: {
    ...{ since: NOW - 60_000, requests: 40, failures: 12, clients: 3, kinds: { limited: 12 } },
    ...{ certain: true, alarm: false, says: ["v2 failed 12 of 40 requests for group list"] },
  },
} as const satisfies RuleStatus["guard"];

/** Answers for `http://a:1`, `http://b:1`, …; an address without one is closed. */
export function instances(...told: readonly (Progress | undefined)[]): typeof fetch {
  return async (input) => {
    const at = new URL(String(input)).hostname.charCodeAt(0) - "a".charCodeAt(0);
    const answer = told[at];
    if (answer !== undefined) return new Response(JSON.stringify(answer));
    throw new TypeError("fetch failed", { cause: Object.assign(new Error("closed"), { code: "ECONNREFUSED" }) });
  };
}

export const run = (argv: readonly string[], options?: CommandOptions): Promise<CommandResult> =>
  runCommand(argv, options);
