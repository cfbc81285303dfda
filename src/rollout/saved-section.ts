/** Keeps one part of the process's memory in a section of the state store, and reads it at the start. */
import type { Timer } from "../model/clock.ts";
import type { StateStore } from "./state-store.ts";

export interface SectionOptions {
  readonly store: StateStore;
  readonly name: string;
  /** Milliseconds between two checks for changes to save. */
  readonly everyMs: number;
  /** Checks without a change until it is saved all the same; undefined: never. */
  readonly idleChecks?: number;
  readonly later: Timer;
  /** Grows with every change. */
  revision(): number;
  /** What to save: JSON in pieces, between which other work goes on. */
  snapshot(): Iterable<string>;
  /** Takes what was saved. Throws for anything that is no such snapshot. */
  restore(saved: unknown): void;
  /** Logs one line for the operator. */
  warn(message: string, cause: unknown): void;
}

export interface SavedSection {
  /**
   * Reads the section, and starts to save. A damaged section is kept under another name, with a warning. Rejects when it cannot be
   * read: its unknown content must not be lost.
   */
  start(): Promise<void>;
  /** Saves what has changed. Resolves when it is on disk, or could not be written. */
  save(): Promise<void>;
  /** True if the last attempt to write failed: a restart would lose data. */
  failing(): boolean;
  /** Saves a last time, and stops. Never rejects. */
  close(): Promise<void>;
}

/** If two processes share a store, the last writer wins, and each logs it once: each needs a store of its own. */
export function createSavedSection(options: SectionOptions): SavedSection {
  const { store, name, everyMs, idleChecks, later, revision, snapshot, restore, warn } = options;
  const place = store.placeOf(name);
  /** Of what this process read or wrote last; undefined: there is nothing. */
  let mark: string | undefined;
  let saved = revision();
  let checks = 0;
  let running = false;
  let failing = false;
  let isShared = false;
  let cancel = (): void => {};
  let writing: Promise<void> = Promise.resolve();
  /** The save that has not begun yet. */
  let pending: Promise<void> | undefined;

  const write = async (always: boolean): Promise<void> => {
    const now = revision();
    if (now === saved && !always) return;
    checks = 0;
    try {
      const found = await store.mark(name);
      // A section that somebody removed is written again.
      const isForeign = found !== undefined && found !== mark;
      // Without news, what another process counted is worth more.
      if (isForeign && now === saved) return;
      if (isForeign && !isShared) {
        isShared = true;
        warn(
          `state.dir: another process writes ${place}; the last one wins. Give each replica a directory of its own`,
          undefined,
        );
      }
      mark = await store.write(name, snapshot());
      saved = now;
      failing = false;
    } catch (error) {
      if (!failing) warn(`state.dir: ${place} cannot be written; a restart would lose what is new`, error);
      failing = true;
    }
  };
  /** Writes never overlap, and callers that ask while one waits for its turn share it. */
  const enqueue = (always: boolean): Promise<void> => {
    pending ??= writing.then(() => {
      pending = undefined;
      return write(always);
    });
    writing = pending;
    return pending;
  };
  const check = (): void => {
    cancel = later(everyMs, () => {
      checks += 1;
      void enqueue(idleChecks !== undefined && checks >= idleChecks).then(() => {
        if (running) check();
      });
    });
  };
  return {
    start: async () => {
      mark = await store.mark(name);
      const text = await store.read(name);
      if (text !== undefined) {
        try {
          restore(JSON.parse(text));
        } catch (error) {
          const aside = await store.setAside(name);
          mark = undefined;
          warn(`state.dir: ${place} cannot be used; it is ${aside} now, and what it held is forgotten`, error);
        }
      }
      running = true;
      check();
    },
    save: () => (running ? enqueue(false) : Promise.resolve()),
    failing: () => failing,
    close: async () => {
      if (!running) return;
      running = false;
      cancel();
      await writing;
      await write(true);
    },
  };
}

/** Items in one piece: some hundredths of a megabyte of the largest. */
const ITEMS = 20;

/** `items` as a JSON array, in pieces. */
export function* jsonArray(items: Iterable<unknown>): Generator<string> {
  let separator = "[";
  let batch: string[] = [];
  for (const item of items) {
    batch.push(JSON.stringify(item));
    if (batch.length < ITEMS) continue;
    yield separator + batch.join();
    [separator, batch] = [",", []];
  }
  yield `${batch.length > 0 || separator === "[" ? separator : ""}${batch.join()}]`;
}
