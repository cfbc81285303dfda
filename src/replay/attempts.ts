/** Compares one recorded request until what it shows is certain. */
import type { Signal } from "../model/signal.ts";
import type { DifferenceGroup } from "../shadow/differences.ts";
import { ComparisonError } from "../shadow/outcome.ts";
import { type PairedComparison, persisting } from "../shadow/paired.ts";

/** `failed`: there was nothing to compare, `why` the last time. `translated`: what the translation said each time, where native v1 responded. */
export type ReplayVerdict =
  | {
      readonly kind: "compared";
      readonly status: number;
      /** In every attempt. */
      readonly differences: readonly DifferenceGroup[];
      /** In every attempt, native's second response differed from its first, and the translated one did not. */
      readonly unstable: readonly DifferenceGroup[];
      /** Where native's own responses differ, in the first attempt. */
      readonly noise: readonly string[];
      /** Something differed, and not again. */
      readonly passing: boolean;
    }
  | {
      readonly kind: "failed";
      readonly why: ComparisonError["failure"];
      readonly translated: string | undefined;
    };

export interface AttemptOptions {
  attempt(signal: Signal): Promise<PairedComparison>;
  sleep(ms: number, signal: Signal): Promise<void>;
  readonly signal: Signal;
}

/** A difference has to be there so often. Data may change while it is compared, but not each time in the same record. */
const CONFIRMATIONS = 3;
/** Between two of them. */
const CONFIRM_MS = 200;
/** How often a request is made again that one version did not serve. */
const TRIES = 5;
const RETRY_MS = 300;
/** Trying again changes nothing. */
const FINAL: ReadonlySet<string> = new Set(["too-large", "unreadable", "not-comparable", "refused", "internal"]);

export async function compareUntilCertain(options: AttemptOptions): Promise<ReplayVerdict> {
  const first = await tried(options);
  if ("why" in first) return first;
  let { differences, unstable } = first;
  for (let seen = 1; seen < CONFIRMATIONS && differences.length + unstable.length > 0; seen++) {
    await options.sleep(CONFIRM_MS * seen, options.signal);
    const again = await tried(options);
    if ("why" in again) return again;
    differences = persisting(differences, again.differences);
    unstable = persisting(unstable, again.unstable);
  }
  const passing = first.differences.length > 0 && differences.length === 0;
  return { kind: "compared", status: first.status, differences, unstable, noise: first.noise, passing };
}

async function tried({
  attempt,
  sleep,
  signal,
}: AttemptOptions): Promise<PairedComparison | (ReplayVerdict & { readonly kind: "failed" })> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ComparisonError)) throw error;
      if (tries >= TRIES || FINAL.has(error.failure)) {
        return { kind: "failed", why: error.failure, translated: error.translated };
      }
      await sleep(RETRY_MS * 2 ** (tries - 1), signal);
    }
  }
}
