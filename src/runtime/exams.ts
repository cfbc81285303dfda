/** Exams of clients by what this process knows, for brownouts and rehearsals. */
import type { IsUntranslated } from "../catalogue/catalogue.ts";
import { EXAM_TERMS, examOperations, failureOf } from "../fleet/exam-operations.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Rules, rehearsalOf } from "../rules/rule.ts";
import type { Log } from "../telemetry/log.ts";
import type { ComparisonCounts } from "../telemetry/progress.ts";

interface ExamsParts {
  readonly ledger: Pick<Ledger, "failingByTranslation" | "entriesOf">;
  readonly comparisons: () => readonly ComparisonCounts[];
  readonly isUntranslated: IsUntranslated;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
}

/** An exam takes longer than a request may wait for it, and changes slowly. */
const KEPT_MS = 10_000;
const MOST_KEPT = 10_000;

export function createExams({ ledger, comparisons, isUntranslated, wall, now }: ExamsParts) {
  const known = new Map<string, { readonly failure: string | undefined; readonly at: number }>();
  const sourcesOf = (name: string) => {
    const [client] = ledger.entriesOf([name]);
    return client && { client, comparisons: comparisons(), isUntranslated, at: wall() };
  };
  const failureNow = (name: string): string | undefined => {
    const sources = sourcesOf(name);
    return sources && failureOf(sources);
  };
  return {
    /** Why v1 cannot be taken from the client yet. Undefined: it has not failed its exam, or too little is known. */
    failed: (client: string): string | undefined => {
      const failing = ledger.failingByTranslation(client);
      if (failing !== undefined) return failing;
      const before = known.get(client);
      const at = now();
      if (before !== undefined && at - before.at < KEPT_MS) return before.failure;
      if (known.size >= MOST_KEPT) known.clear();
      const failure = failureNow(client);
      known.set(client, { failure, at });
      return failure;
    },
    /** Logs how many calls each rehearsal of `rules` is going to refuse, if its client calls as before. */
    announce: (rules: Rules | undefined, log: Pick<Log, "warn">): void => {
      for (const rule of rules?.rules ?? []) {
        const rehearsal = rehearsalOf(rule);
        if (rehearsal === undefined || rehearsal.until <= wall()) continue;
        const sources = sourcesOf(rehearsal.client);
        const operations = sources === undefined ? [] : examOperations(sources, EXAM_TERMS);
        const sum = (of: typeof operations) => of.reduce((all, { requests }) => all + requests, 0);
        const refused = sum(operations.filter(({ isRefused }) => isRefused));
        log.warn("a rehearsal switches native v1 off for a client", undefined, {
          rule: rule.name,
          client: rehearsal.client,
          until: new Date(rehearsal.until).toISOString(),
          expected: `refuses as many as ${refused} of its last ${sum(operations)} requests`,
        });
      }
    },
  };
}
