/**
 * Keeps the document of this process in the shared store: once per second its head and the totals if they changed, and as much of the rest as the
 * budget allows. A small document is there whole within a second or two, a large one in turns. Never called by a request.
 */
import { DOCUMENT, rowName } from "../fleet/document.ts";
import type { Timer } from "../model/clock.ts";
import { checkOf } from "../state/section.ts";
import type { Contributions } from "../state/shared/contributions.ts";
import { packedRows } from "../state/shared/packing.ts";
import { type Candidate, createDocumentRows, type RowSources } from "./document-rows.ts";

const PUBLISH_MS = 1_000;
/** The head is sent so often even without news: others take the time of the last rows for the end of a process that is gone. */
const HEAD_MS = 300_000;
/** Of one second, besides the head and the totals. */
const BUDGET = { bytes: 32 * 1024, ms: 3 };
const ROWS = { clientsInRow: 64, mostSamples: 20 };

export interface DocumentSources extends RowSources {
  /** What a restart takes from the document besides the counts. */
  readonly saved: () => unknown;
  readonly contributions: Pick<Contributions, "put">;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  readonly later: Timer;
  /** False while another process has `state.dir`, and with it the document. */
  readonly mayPublish: () => boolean;
}

export type DocumentPublisher = ReturnType<typeof createDocumentPublisher>;

export function createDocumentPublisher(sources: DocumentSources) {
  const { contributions, now, later } = sources;
  /** Of what was put, by name of the row: a check of its JSON, and how many parts it has. */
  const put = new Map<string, { readonly check: string; readonly parts: number }>();
  const rows = createDocumentRows(sources, ROWS);
  let round: Iterator<Candidate> | undefined;
  let seen = new Set<string>();
  let cancel = (): void => {};
  const remove = (name: string, from: number, parts: number): void => {
    for (let at = from; at < parts; at++) contributions.put(at === 0 ? name : `${name}+${at}`, undefined);
  };
  /** Returns the bytes that are sent. */
  const offer = (name: string, value: unknown, compared: unknown = value): number => {
    const before = put.get(name);
    const check = checkOf(JSON.stringify(compared));
    if (before?.check === check) return 0;
    const rows = packedRows(name, JSON.stringify(value));
    // The row of before stays: too much is better known late than not at all.
    if (rows === undefined) return 0;
    put.set(name, { check, parts: rows.length });
    for (const [part, text] of rows) contributions.put(part, text);
    remove(name, rows.length, before?.parts ?? 0);
    return rows.reduce((sum, [, text]) => sum + text.length, 0);
  };
  const offerHead = (): void => {
    for (const [name, chunk] of rows.totals()) offer(name, chunk);
    const { at, ledger, ...rest } = rows.head();
    const { at: _, ...counts } = ledger;
    // The time alone is no news, for a while.
    const compared = { ...rest, ledger: counts, minutes: Math.floor(now() / HEAD_MS) };
    offer(rowName("head"), { ...rest, at, ledger }, compared);
  };
  function* candidates(): Generator<Candidate> {
    yield [rowName("saved"), sources.saved()];
    yield* rows.rest();
  }
  /** Goes on with the round for as long as the budget allows. */
  const publish = (): void => {
    if (!sources.mayPublish()) return;
    const begun = now();
    offerHead();
    let bytes = 0;
    round ??= candidates();
    while (bytes < BUDGET.bytes && now() - begun < BUDGET.ms) {
      const next = round.next();
      if (next.done === true) {
        endRound();
        return;
      }
      const { value } = next;
      if ("isSame" in value) seen.add(value.isSame);
      else {
        seen.add(value[0]);
        bytes += offer(...value);
      }
    }
  };
  /** Rows that are not in the document any more. */
  const endRound = (): void => {
    round = undefined;
    for (const [name, { parts }] of put) {
      if (seen.has(name) || name === rowName("head") || name.startsWith(rowName("totals"))) continue;
      remove(name, 0, parts);
      put.delete(name);
    }
    seen = new Set();
  };
  const run = (): void => {
    publish();
    cancel = later(PUBLISH_MS, run);
  };
  return {
    /** `names`: rows of this contributor that the store has of an earlier process. */
    start: (names: Iterable<string> = []): void => {
      for (const name of names) {
        if (!name.startsWith(DOCUMENT)) continue;
        const [base = name, part = "0"] = name.split("+");
        put.set(base, { check: "", parts: Math.max(put.get(base)?.parts ?? 0, Number(part) + 1) });
      }
      run();
    },
    /** One turn; for tests. */
    publish,
    /** Hands over the row of a client at once: it was forgotten. */
    forgotten: (client: string): void => {
      const [name, entries] = rows.ofClient(client);
      if (entries.length > 0) offer(name, entries);
      else {
        remove(name, 0, put.get(name)?.parts ?? 0);
        put.delete(name);
      }
      // The rest that may name it is sent with the next turns.
      round = undefined;
      seen = new Set();
    },
    /** What changed in the last second is handed over; sending it is left to the store's connection. */
    close: (): void => {
      cancel();
      if (!sources.mayPublish()) return;
      const end = now() + CLOSING_MS;
      round = undefined;
      seen = new Set();
      do publish();
      while (round !== undefined && now() < end);
    },
  };
}

/** A process that stops hands over as much as it can in this time. */
const CLOSING_MS = 200;
