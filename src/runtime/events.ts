/** One log line for each event, with the event's id. */
import type { EventHistory } from "../history/events.ts";
import type { EventKind } from "../model/event.ts";
import type { Rollout } from "../rollout/rollout.ts";
import type { RolloutEvent } from "../rollout/rule-state.ts";
import { counted } from "../rules/words.ts";
import type { Log } from "../telemetry/log.ts";
import { VERSION } from "../version.ts";

/** Changes of rules that operators want an alert for are warnings. */
const LOUD: ReadonlySet<EventKind> = new Set([
  "stepped-back",
  "alarm",
  "failing",
  "unknown",
  "forced",
  "expired",
  "brownout-began",
  "brownout-stopped",
  "brownout-not-started",
]);

/** `id`: as the history calls it. */
export function logRolloutEvent(
  log: Log,
  { kind, rule, from, to, reason, by, requests }: RolloutEvent,
  id: string,
): void {
  const facts = {
    ...(rule === undefined ? {} : { rule }),
    ...{ from, to, reason },
    ...(by === undefined ? {} : { by }),
    ...(requests === undefined ? {} : { requests: requests.join(", ") }),
    event: id,
  };
  if (LOUD.has(kind)) log.warn(`cutover: ${kind}`, undefined, facts);
  else log.info(`cutover: ${kind}`, facts);
}

interface LifeParts {
  readonly history: Pick<EventHistory, "record">;
  readonly log: Log;
  readonly rollout: Pick<Rollout, "rules" | "force">;
  /** Option `cutover.mode`. */
  readonly mode: string;
  /** What the saved state says of the process before: the version that it was, where that was another one, and how it ended. */
  readonly before: () => { readonly version?: string | undefined; readonly ended?: string | undefined };
}

/** Records when the process starts to serve, and when it stops. */
export function createLifeEvents({ history, log, rollout, mode, before }: LifeParts) {
  let isRunning = false;
  let hasFailed = false;
  return {
    started: (): void => {
      isRunning = true;
      const { version, ended } = before();
      if (version !== undefined) {
        const reason = `carryover ${VERSION} runs now; ${version} ran before it`;
        const event = history.record({ kind: "upgraded", from: version, to: VERSION, reason });
        log.info("carryover was upgraded", { from: version, to: VERSION, event });
      }
      const { effective } = rollout.force();
      const reason = [
        `version ${VERSION}, rules ${rollout.rules()?.digest ?? "none"}, cutover.mode ${mode}`,
        ...(effective === "none" ? [] : [`forced to ${effective}`]),
        ...(ended === undefined ? [] : [ended]),
      ].join("; ");
      const event = history.record({ kind: "started", reason });
      if (ended === undefined) log.info("carryover started", { reason, event });
      else log.warn("carryover started", undefined, { reason, event });
    },
    /** An uncaught error ends the process. */
    failed: (): void => {
      hasFailed = true;
    },
    /** `cut`: requests that were cut off. Nothing is recorded of a process that never served. */
    stopped: (cut: number): void => {
      if (!isRunning) return;
      isRunning = false;
      const end =
        cut > 0 ? `${counted(cut, "request")} cut off: the shutdown's grace period was over` : "no request was cut off";
      const reason = hasFailed ? `after an uncaught error; ${end}` : end;
      const event = history.record({ kind: "stopped", reason });
      if (cut > 0) log.warn("requests were cut off: the shutdown's grace period was over", undefined, { cut, event });
      else log.info("carryover stopped", { reason, event });
    },
  };
}
