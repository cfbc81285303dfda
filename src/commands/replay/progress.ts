/** How far a replay is, while it runs: one line that is written again on a terminal, or now and then a line of its own. */
import { duration } from "../../rules/words.ts";

export interface ReplayProgress {
  readonly done: number;
  readonly all: number;
  /** Done in this run, after `ms`. */
  readonly here: number;
  readonly ms: number;
  readonly differing: number;
  /** Milliseconds that the platform asked to wait; 0: none. */
  readonly pause: number;
}

const WIDTH = 24;

/** `[######------] 120 of 480, 25 %, 3 differ, 1 min left`. */
export function progressLine(progress: ReplayProgress, bar: boolean): string {
  const { done, all, differing, pause } = progress;
  const share = all === 0 ? 1 : done / all;
  const filled = Math.round(share * WIDTH);
  const left = timeLeft(progress);
  return [
    ...(bar ? [`[${"#".repeat(filled)}${"-".repeat(WIDTH - filled)}]`] : []),
    [
      `${done} of ${all} requests, ${Math.floor(share * 100)} %`,
      `${differing} differ`,
      ...(pause > 0 ? [`waiting ${duration(roundedUp(pause))} for the platform`] : []),
      ...(left === undefined || done === all ? [] : [`${duration(left)} left`]),
    ].join(", "),
  ].join(" ");
}

/** By the pace so far; undefined before there is one. */
function timeLeft({ done, all, here, ms, pause }: ReplayProgress): number | undefined {
  return here === 0 ? undefined : roundedUp((ms / here) * (all - done) + pause);
}

function roundedUp(ms: number): number {
  return Math.ceil(ms / 1_000) * 1_000;
}
