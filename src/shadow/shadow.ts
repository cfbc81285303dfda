/** How are answers compared without anybody noticing? (Design section 7: shadow.) */
import type { ClientResponse } from "../model/http.ts";
import type { PassThroughObserver } from "../model/request.ts";
import { captureResponse, createExchangeCapture } from "./capture.ts";
import { type ComparisonQueue, createComparisonQueue } from "./queue.ts";
import { compareFollowed, compareShadowed } from "./reads.ts";
import { type ComparisonRequest, isComparable, isWrite, type ShadowOptions } from "./request.ts";
import { compareWritten } from "./writes.ts";

export type { ComparisonRequest } from "./request.ts";

export interface Shadow extends Pick<ComparisonQueue, "state" | "bounds"> {
  /** For a request that native serves; undefined when it is not compared. */
  watch(asked: ComparisonRequest): PassThroughObserver | undefined;
  /** For a read that carryover answers with `answer`: what the client is to be given, equal byte by byte. */
  follow(asked: ComparisonRequest, answer: ClientResponse): ClientResponse;
  /** The view `/samples`. */
  samples(query: URLSearchParams): unknown;
  /** Ends what is under way, reports nothing more. */
  close(): Promise<void>;
}

/**
 * Nothing is compared before the client's answer has gone by whole; nothing that goes wrong here reaches the client. Each
 * sampled request ends as one report, or is counted in `state().passed`: where no place is left when it begins, nothing of it
 * is copied.
 */
export function createShadow<Shape>(options: ShadowOptions<Shape>): Shadow {
  const { limits, random } = options;
  const desk = createComparisonQueue(options);
  const isTaken = (asked: ComparisonRequest): boolean =>
    !desk.closed() && asked.settings.sample > 0 && isComparable(asked) && random() < asked.settings.sample;
  return {
    watch(asked) {
      if (!isTaken(asked)) return undefined;
      const ticket = desk.open(asked, "shadow");
      if (ticket === undefined) return undefined;
      return createExchangeCapture({
        held: ticket.held,
        answerBytes: limits.answerBytes,
        over(seen) {
          if (typeof seen === "string") desk.discard(ticket, seen);
          else if (desk.accepts(ticket, seen.answer.status)) {
            desk.submit(ticket, (answers, signal) => {
              const work = { asked, options, answers, signal };
              return isWrite(asked) ? compareWritten(work, seen) : compareShadowed(work, seen);
            });
          }
        },
      });
    },
    follow(asked, answer) {
      if (isWrite(asked) || !isTaken(asked)) return answer;
      return captureResponse(answer, limits.answerBytes, () => {
        const ticket = desk.open(asked, "translate", answer.status);
        if (ticket === undefined || !desk.accepts(ticket, answer.status)) return undefined;
        return {
          held: ticket.held,
          over(seen) {
            if (typeof seen === "string") desk.discard(ticket, seen);
            else desk.submit(ticket, (answers, signal) => compareFollowed({ asked, options, answers, signal }, seen));
          },
        };
      });
    },
    state: desk.state,
    samples: desk.samples,
    bounds: desk.bounds,
    close: desk.close,
  };
}
