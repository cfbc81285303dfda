/** Is a request let in? (Decided as soon as its head has come, and before anything is made for it.) */
import type { Calls } from "./calls.ts";
import type { Lists } from "./lists.ts";

/** Why not, as metrics say it. */
export type Shed = "shed-in-flight" | "shed-wait";

export interface AdmissionOptions {
  /** Requests in the process, those that wait included (`limits.inFlight`): the bound of their memory. */
  readonly inFlight: number;
  /** What a request has in all (`limits.requestSeconds`). */
  readonly requestSeconds: number;
  /** The queues of the upstreams that requests may be for. */
  readonly calls: readonly Calls[];
  readonly lists: Pick<Lists, "held">;
}

/** `here`: requests in the process; `credentialOf` is asked for only where it matters. Undefined: let it in. */
export type Admit = (here: number, credentialOf: () => string) => Shed | undefined;

/** Until so much of the memory is in use nobody is looked at. */
const PRESSURE = 0.5;
/** What credentials may use that the platform has not accepted: the rest is left to the others. */
const STRANGERS = 0.75;
/** One credential may hold so many times what is free (dynamic thresholds, Choudhury and Hahne): alone 8/9 of all. */
const SHARE = 8;

export function createAdmission({ inFlight, requestSeconds, calls, lists }: AdmissionOptions): Admit {
  const leftMs = requestSeconds * 1_000;
  const refuse = (why: Shed): Shed => {
    for (const queue of calls) queue.turnedAway(why === "shed-in-flight");
    return why;
  };
  return (here, credentialOf) => {
    if (here >= inFlight) return refuse("shed-in-flight");
    if (here < inFlight * PRESSURE && !calls.some((queue) => queue.isLong())) return undefined;
    const credential = credentialOf();
    if (here >= inFlight * PRESSURE) {
      const accepted = calls.some((queue) => queue.accepted(credential));
      const held = calls.reduce((sum, queue) => sum + queue.held(credential), lists.held(credential));
      const isFull = here >= inFlight * STRANGERS && !accepted;
      if (isFull || held > (inFlight - here) * SHARE) return refuse("shed-in-flight");
    }
    return calls.every((queue) => queue.wouldWait(credential, leftMs)) ? refuse("shed-wait") : undefined;
  };
}
