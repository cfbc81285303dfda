/** How are answers compared without anybody noticing? (Design section 7: shadow.) */
import type { Answer } from "../model/message.ts";
import type { Watch } from "../model/plan.ts";
import { createDesk, type Desk } from "./desk.ts";
import { isComparable, isWrite } from "./eligible.ts";
import { followed } from "./follow.ts";
import type { ShadowAsk, ShadowOptions } from "./options.ts";
import { compareFollowed, compareShadowed } from "./reads.ts";
import { createWatch } from "./seen.ts";
import { compareWritten } from "./writes.ts";

export type { ShadowAsk } from "./options.ts";

export interface Shadow extends Pick<Desk, "state" | "bounds"> {
  /** For a request that native serves; undefined when it is not compared. */
  watch(asked: ShadowAsk): Watch | undefined;
  /** For a read that carryover answers with `answer`: what the client is to be given, equal byte by byte. */
  follow(asked: ShadowAsk, answer: Answer): Answer;
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
  const desk = createDesk(options);
  const isTaken = (asked: ShadowAsk): boolean =>
    !desk.closed() && asked.settings.sample > 0 && isComparable(asked) && random() < asked.settings.sample;
  return {
    watch(asked) {
      if (!isTaken(asked)) return undefined;
      const ticket = desk.open(asked, "shadow");
      if (ticket === undefined) return undefined;
      return createWatch({
        held: ticket.held,
        answerBytes: limits.answerBytes,
        over(seen) {
          if (typeof seen === "string") desk.lose(ticket, seen);
          else if (desk.takes(ticket, seen.answer.status)) {
            desk.enter(ticket, (answers, signal) => {
              const work = { asked, options, answers, signal };
              return isWrite(asked) ? compareWritten(work, seen) : compareShadowed(work, seen);
            });
          }
        },
      });
    },
    follow(asked, answer) {
      if (isWrite(asked) || !isTaken(asked)) return answer;
      return followed(answer, limits.answerBytes, () => {
        const ticket = desk.open(asked, "translate", answer.status);
        if (ticket === undefined || !desk.takes(ticket, answer.status)) return undefined;
        return {
          held: ticket.held,
          over(seen) {
            if (typeof seen === "string") desk.lose(ticket, seen);
            else desk.enter(ticket, (answers, signal) => compareFollowed({ asked, options, answers, signal }, seen));
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
