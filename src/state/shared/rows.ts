/** The rows of one owner in the shared store: what it wants to be there, and what still has to be sent. */
import type { Contribution, Row } from "./protocol.ts";

/** Characters of text that one tick sends; a single row may be longer. */
const MOST_TEXT = 65_536;
/** The store forgets owners that it has not heard for weeks, so one row is sent again even if nothing changes. */
const SENT_AGAIN_MS = 3_600_000;

export type Rows = ReturnType<typeof createRows>;

/** `startedAt`: milliseconds since 1970; revisions begin there, so that a later process with the same owner has larger ones. */
export function createRows(owner: string, startedAt: number) {
  /** Undefined: it was removed. That is sent again, too. */
  const texts = new Map<string, string | undefined>();
  const waiting = new Set<string>();
  let revision = startedAt;
  /** The revision that the store is known to have had. Undefined before the first response. */
  let stored: number | undefined;
  let sentAt = startedAt;
  const sendAll = (): void => {
    for (const name of texts.keys()) waiting.add(name);
  };
  return {
    owner,
    /** Takes no time. Undefined removes the row. */
    put: (name: string, text: string | undefined): void => {
      if (texts.get(name) === text) return;
      texts.set(name, text);
      waiting.add(name);
    },
    /** True if the store does not have everything. */
    isWaiting: (): boolean => waiting.size > 0,
    /** Rows for the next tick; the first are those that waited longest. `isBare`: no rows. `at`: milliseconds since 1970. */
    next: (at: number, isBare: boolean): Contribution => {
      const [first] = texts.keys();
      if (waiting.size === 0 && first !== undefined && at - sentAt > SENT_AGAIN_MS) waiting.add(first);
      const rows: Row[] = [];
      let length = 0;
      for (const name of isBare ? [] : waiting) {
        const text = texts.get(name);
        length += name.length + (text?.length ?? 0);
        if (rows.length > 0 && length > MOST_TEXT) break;
        rows.push({ name, text });
      }
      if (rows.length > 0) {
        revision += 1;
        sentAt = at;
      }
      return { owner, revision, rows };
    },
    /** The store took the rows; `had`: its revision before them. Returns false if it had lost some, which are sent again. */
    taken: (sent: Contribution, had: number): boolean => {
      if (had > revision) {
        // An earlier process with the same owner had a clock that was ahead: its revisions were larger, and nothing was taken.
        revision = had;
        sendAll();
        return true;
      }
      // A tick whose response was lost may have arrived.
      const isComplete = stored === undefined || had >= stored;
      if (sent.rows.length > 0) stored = sent.revision;
      else if (!isComplete) stored = had;
      for (const { name, text } of sent.rows) if (texts.get(name) === text) waiting.delete(name);
      if (!isComplete) sendAll();
      return isComplete;
    },
    /** The store is another one. */
    lost: (): void => {
      stored = undefined;
      sendAll();
    },
  };
}
