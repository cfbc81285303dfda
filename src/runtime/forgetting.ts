/** Forgets clients: on request, and those that have not called for `clients.forgetAfter`. */
import type { ForgottenClient } from "../ledger/forgotten.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { RETENTION_CHECK_MS, type Retention } from "../ledger/retention.ts";
import type { Timer } from "../model/clock.ts";
import { nearest } from "../model/text.ts";
import type { Shadow } from "../shadow/shadow.ts";
import type { Log } from "../telemetry/log.ts";

interface ForgettingParts {
  readonly ledger: Ledger;
  readonly shadow: Pick<Shadow, "forget"> | undefined;
  readonly retention: Retention;
  readonly later: Timer;
  readonly log: Pick<Log, "info">;
  /** Resolves with whether the counts are on disk, or nothing is kept there. */
  readonly save: () => Promise<boolean>;
  /** Drops what metrics count for a client. */
  readonly forgotten: (client: string) => void;
}

export function createForgetting({ ledger, shadow, retention, later, log, save, forgotten }: ForgettingParts) {
  let cancel = (): void => {};
  const drop = (client: string): Omit<ForgottenClient, "known" | "survives"> => {
    const [entry] = ledger.forget([client]);
    const { comparisons, samples } = shadow?.forget(client) ?? { comparisons: 0, samples: 0 };
    if (entry !== undefined) forgotten(client);
    if (entry === undefined) return { client, comparisons, samples };
    const { requests, operations, firstSeen, lastSeen, owner } = entry;
    return {
      client,
      entry: { ...requests, operations: operations.length, firstSeen, lastSeen, owner },
      comparisons,
      samples,
    };
  };
  const check = (): void => {
    // Names are no part of the line: what is forgotten does not go on in the log.
    const dropped = retention.due(ledger.seen()).map(drop);
    if (dropped.length > 0)
      log.info("clients that have not called for clients.forgetAfter are forgotten", { clients: dropped.length });
    cancel = later(RETENTION_CHECK_MS, check);
  };
  return {
    /** `POST /forget`: what was dropped, once that is saved. */
    forget: async (client: string): Promise<ForgottenClient> => {
      const dropped = drop(client);
      const known = dropped.entry !== undefined || dropped.comparisons > 0 || dropped.samples > 0;
      if (known) return { ...dropped, known, survives: await save() };
      const names = Array.from(ledger.seen(), ({ name }) => name);
      return { ...dropped, known, near: nearest(client, names), survives: true };
    },
    /** Looks now, and then every hour. */
    start: check,
    close: (): void => cancel(),
  };
}
