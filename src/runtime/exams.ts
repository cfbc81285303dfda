/** Exams of clients by what this process knows, and what other replicas told the store, for brownouts and rehearsals. */
import { setImmediate } from "node:timers/promises";
import type { IsUntranslated } from "../catalogue/catalogue.ts";
import { type FailureSources, failureOf } from "../fleet/exam.ts";
import { EXAM_TERMS, examOperations } from "../fleet/exam-operations.ts";
import type { ClientEntry } from "../ledger/entry.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { mergeEntries } from "../ledger/snapshot.ts";
import type { Rollout } from "../rollout/rollout.ts";
import { type Rules, rehearsalOf } from "../rules/rule.ts";
import type { Log } from "../telemetry/log.ts";
import type { ComparisonCounts } from "../telemetry/progress.ts";
import type { Fleet } from "./fleet.ts";

interface ExamsParts {
  readonly ledger: Pick<Ledger, "failingByTranslation" | "entriesOf">;
  readonly comparisons: () => readonly ComparisonCounts[];
  readonly rollout: Pick<Rollout, "ownStates" | "brownouts">;
  readonly readPeers: Fleet["readPeers"];
  readonly isUntranslated: IsUntranslated;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
}

/** An exam takes longer than a request may wait for it, and changes slowly. */
const KEPT_MS = 10_000;
const MOST_KEPT = 10_000;
/** What other replicas know is read so long before a window begins. */
const LEAD_MS = 60_000;

/** What another replica knows of a client. */
interface Share {
  readonly entries: ClientEntry[];
  readonly comparisons: ComparisonCounts[];
}

export function createExams({ ledger, comparisons, rollout, readPeers, isUntranslated, wall, now }: ExamsParts) {
  const known = new Map<string, { readonly failure: string | undefined; readonly at: number }>();
  let others: ReadonlyMap<string, Share> = new Map();
  /** Of this process. All replicas step back together. */
  let rules: FailureSources["rules"] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  const sourcesOf = (name: string) => {
    const share = others.get(name);
    const [first, ...rest] = [...ledger.entriesOf([name]), ...(share?.entries ?? [])];
    if (first === undefined) return undefined;
    return {
      client: rest.reduce(mergeEntries, first),
      comparisons: [...comparisons().filter(({ client }) => client === name), ...(share?.comparisons ?? [])],
      rules,
      isUntranslated,
      at: wall(),
    };
  };
  const readOthers = async (): Promise<void> => {
    const found = await readPeers();
    const shares = new Map<string, Share>();
    const shareOf = (name: string): Share => {
      const share = shares.get(name) ?? { entries: [], comparisons: [] };
      shares.set(name, share);
      return share;
    };
    for (const { document } of found?.peers ?? []) {
      for (const entry of document.clients) shareOf(entry.name).entries.push(entry);
      for (const row of document.bounds) if (row.client !== undefined) shareOf(row.client).comparisons.push(row);
      // Requests pass between two of them.
      await setImmediate();
    }
    others = shares;
    known.clear();
  };
  const isNear = (): boolean =>
    [...rollout.brownouts().values()].some(
      ({ phase, next: [window] }) =>
        phase.kind !== "waiting" || (window !== undefined && window.start - wall() < LEAD_MS),
    );
  const failureNow = (name: string): string | undefined => {
    const sources = sourcesOf(name);
    return sources && failureOf(sources);
  };
  return {
    /** To be called each second. Rejects never. */
    follow: async (): Promise<void> => {
      if (!isNear()) {
        others = new Map();
        return;
      }
      if (now() - readAt < KEPT_MS) return;
      readAt = now();
      rules = rollout.ownStates();
      // Without the store no brownout runs.
      await readOthers().catch(() => {});
    },
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
