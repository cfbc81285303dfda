/** What becomes of each sampled request, from its first byte to its report? */
import type { Signal } from "../model/signal.ts";
import { type Answers, createAnswers, isTrouble } from "./answers.ts";
import { comparisonOf, type Ending, endOf, unbegun } from "./ending.ts";
import type { Failure } from "./failure.ts";
import { createJobs } from "./jobs.ts";
import { createMemory, type Held } from "./memory.ts";
import type { ShadowAsk, ShadowOptions } from "./options.ts";
import { createRest } from "./rest.ts";
import { createSamples } from "./samples.ts";
import type { Lost } from "./seen.ts";
import { createTally, type TallyRow } from "./tally.ts";
import type { Verdict } from "./verdict.ts";

/** What comparisons take up, and what was let go. */
export interface ShadowState {
  readonly running: number;
  readonly waiting: number;
  readonly heldBytes: number;
  readonly sampleChars: number;
  /** Comparisons of clients without a row of their own in `bounds`. */
  readonly unlisted: number;
  /** Sampled requests that are not reported, by reason: no place when they began or when their answer was over, or a platform that asked for rest (`busy`), or an answer that says nothing. */
  readonly passed: Readonly<Record<"aborted" | "busy" | "unauthenticated" | "status", number>>;
}

/** One sampled request. */
export interface Ticket {
  readonly asked: ShadowAsk;
  /** Whose share it takes. */
  readonly owner: string;
  readonly held: Held;
  readonly served: "shadow" | "translate";
}

/** Every ticket must come to exactly one of `lose`, a `takes` that says no, and `enter`: each gives back what it holds. */
export interface Desk {
  /**
   * Undefined, and counted in `passed`, when there is no place: then nothing need be copied. `status`: of the answer, where it
   * is known already.
   */
  open(asked: ShadowAsk, served: Ticket["served"], status?: number): Ticket | undefined;
  /** Nothing of its answer can be compared. */
  lose(ticket: Ticket, why: Lost): void;
  /** Whether an answer of `status` is compared. */
  takes(ticket: Ticket, status: number): boolean;
  /** Compares when there is a place, in a later turn; else counts it in `passed`. */
  enter(ticket: Ticket, compare: (answers: Answers, signal: Signal) => Promise<Verdict>): void;
  state(): ShadowState;
  samples(query: URLSearchParams): unknown;
  bounds(): readonly TallyRow[];
  closed(): boolean;
  close(): Promise<void>;
}

export function createDesk<Shape>(options: ShadowOptions<Shape>): Desk {
  const { limits, later, turn, now, ownerOf } = options;
  const memory = createMemory(limits.memoryBytes);
  const jobs = createJobs<Verdict>({ concurrent: limits.concurrent, ms: limits.seconds * 1_000, later });
  const { tell, ...books } = createBooks(options);
  const passed = { aborted: 0, busy: 0, unauthenticated: 0, status: 0 };
  const rest = createRest(options);
  let closed = false;

  const finish = (ticket: Ticket, end: Ending): void => {
    ticket.held.release();
    if (!closed) tell(ticket, end);
  };
  const pass = (ticket: Ticket, why: keyof typeof passed): void => {
    ticket.held.release();
    passed[why] += 1;
  };
  return {
    open(asked, served, status) {
      // Whoever invents tokens has as many as he likes.
      const owner = status === UNAUTHENTICATED ? STRANGERS : ownerOf(asked);
      if (jobs.hasRoom(owner) && !rest.isDue(owner)) return { asked, served, owner, held: memory.open(owner) };
      passed.busy += 1;
      return undefined;
    },
    lose(ticket, why) {
      if (why === "aborted") pass(ticket, why);
      else finish(ticket, unbegun(why));
    },
    takes(ticket, status) {
      // Of a 401 of v2's native still has to say whether it is a stranger.
      if (status === UNAUTHENTICATED && ticket.served === "shadow") pass(ticket, "unauthenticated");
      else if (isTrouble(status)) finish(ticket, unbegun(TROUBLE_OF[ticket.served]));
      else if (isContent(status)) return true;
      else pass(ticket, "status");
      return false;
    },
    enter(ticket, compare) {
      // Others were faster. No place is kept while an answer is on its way: whoever is slow would keep it from all others.
      if (!jobs.hasRoom(ticket.owner)) return pass(ticket, "busy");
      const startedAt = now();
      const calls = { v1: 0, v2: 0 };
      jobs.add({
        owner: ticket.owner,
        async run(signal) {
          // The client's answer is on its way in this turn.
          await turn();
          signal.throwIfAborted();
          return compare(
            createAnswers({ ...ticket, options, signal, calls, saw: (answer) => rest.saw(ticket.owner, answer) }),
            signal,
          );
        },
        done: (outcome) => finish(ticket, { ...endOf(outcome), ms: now() - startedAt, calls: { ...calls } }),
      });
    },
    ...books,
    state: () => ({
      running: jobs.running(),
      waiting: jobs.waiting(),
      heldBytes: memory.inUse(),
      ...books.state(),
      passed: { ...passed },
    }),
    closed: () => closed,
    close() {
      closed = true;
      return jobs.close();
    },
  };
}

const UNAUTHENTICATED = 401;
/** Whose share the requests take that v2 answered with 401, all of them together. */
const STRANGERS = "strangers";

const TROUBLE_OF: Readonly<Record<Ticket["served"], Failure>> = { shadow: "native", translate: "platform" };

/** A success or a refusal with a body of its own. */
function isContent(status: number): boolean {
  return (status >= 200 && status < 300 && status !== 206) || (status >= 400 && status < 600);
}

/** Everything that outlives a comparison. */
function createBooks({ samples: sampling, report, wall }: Pick<ShadowOptions<never>, "samples" | "report" | "wall">) {
  const tally = createTally();
  const samples = createSamples(sampling);
  return {
    tell({ asked, served }: Ticket, end: Ending): void {
      try {
        const comparison = comparisonOf(asked, served, end, wall());
        tally.add(comparison, end.verdict?.noisy);
        samples.add(comparison, asked);
        report(comparison, asked.head);
      } catch {
        // Nothing that goes wrong here may reach what calls: the stream of a client's answer, a timer.
      }
    },
    samples: samples.view,
    bounds: tally.rows,
    state: () => ({ sampleChars: samples.size(), unlisted: tally.unlisted() }),
  };
}
