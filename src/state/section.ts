/** Keeps one part of the process's memory in a section of the state store, and reads it at the start. */
import { createHash } from "node:crypto";
import type { Timer } from "../model/clock.ts";
import type { StateStore } from "./store.ts";

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
  /** Takes what was saved. Returns what of it cannot be used; empty: nothing. Throws when nothing of it can be used. */
  restore(text: string): readonly string[];
  /** The section cannot be read, or is gone. */
  lost(): void;
  /** What follows from `lost`, for the operator. */
  readonly whenLost: string;
  /** Logs one line for the operator. */
  warn(message: string, cause: unknown): void;
  /** The section cannot be written from now on; default: `warn`. */
  failed?(message: string, cause: unknown): void;
  /** It can be written again. */
  recovered?(): void;
}

export type SavedSection = ReturnType<typeof createSavedSection>;

/** A process that does not ask for the store (an older version) may write, too: then the last writer wins, and it is logged once. */
export function createSavedSection(options: SectionOptions) {
  const { store, name, everyMs, idleChecks, later, revision, snapshot, restore, warn, failed = warn } = options;
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
  let isPendingAlways = false;

  const write = async (always: boolean): Promise<void> => {
    const now = revision();
    try {
      const found = await store.mark(name);
      // A section that somebody removed is written again.
      const isGone = found === undefined && mark !== undefined;
      if (now === saved && !always && !isGone && !failing) return;
      checks = 0;
      const isForeign = found !== undefined && found !== mark;
      // Without news, what another process counted is worth more.
      if (isForeign && now === saved && !failing) return;
      if (isForeign && !isShared) {
        isShared = true;
        warn(
          `state.dir: another process writes ${place}; the last one wins. Give each replica a directory of its own`,
          undefined,
        );
      }
      mark = await store.write(name, snapshot());
      saved = now;
      const isBack = failing;
      failing = false;
      if (isBack) options.recovered?.();
    } catch (error) {
      const isNews = !failing;
      failing = true;
      if (isNews) failed(`state.dir: ${place} cannot be written; a restart would lose what is new`, error);
    }
  };
  /** Writes never overlap, and callers that ask while one waits for its turn share it. */
  const enqueue = (always: boolean): Promise<void> => {
    isPendingAlways ||= always;
    pending ??= writing.then(() => {
      pending = undefined;
      const now = isPendingAlways;
      isPendingAlways = false;
      return write(now);
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
  const loseAll = async (why: string, cause: unknown, isThere: boolean): Promise<void> => {
    const aside = isThere ? await store.setAside(name).catch(() => undefined) : undefined;
    // A folder in its place has no mark, and neither has what was moved away.
    mark = await store.mark(name).catch(() => undefined);
    options.lost();
    const kept = aside === undefined ? "" : ` (kept as ${aside})`;
    warn(`state.dir: ${place} ${why}${kept}: ${options.whenLost}`, cause);
  };
  const read = async (wasUsed: boolean): Promise<boolean> => {
    let found: string | undefined;
    try {
      mark = await store.mark(name);
      found = await store.read(name);
    } catch (error) {
      await loseAll("cannot be read", error, true);
      return true;
    }
    if (found === undefined) {
      if (wasUsed) await loseAll("is missing, though this directory was in use", undefined, false);
      return wasUsed;
    }
    try {
      const unusable = restore(found);
      if (unusable.length === 0) return false;
      const aside = await store.setAside(name).catch(() => undefined);
      mark = await store.mark(name).catch(() => undefined);
      const kept = aside === undefined ? "" : ` (it is kept as ${aside})`;
      warn(`state.dir: parts of ${place} cannot be used${kept}: ${unusable.join("; ")}`, undefined);
    } catch (error) {
      await loseAll("cannot be used", error, true);
    }
    return true;
  };
  return {
    /**
     * Reads the section, and starts to save. What cannot be used is kept under another name, with a warning. `wasUsed`: there was a section
     * before, so that a missing one is lost.
     */
    start: async (wasUsed: boolean): Promise<void> => {
      const isNews = await read(wasUsed);
      running = true;
      check();
      // A loss is known from now on, whatever happens to this process.
      if (isNews) await enqueue(true);
    },
    /** Saves what has changed; with `always`, in any case. Resolves when it is on disk, or could not be written. */
    save: (always = false): Promise<void> => (running ? enqueue(always) : Promise.resolve()),
    /** True if the last attempt to write failed: a restart would lose data. */
    failing: (): boolean => failing,
    /** True when nothing, or what this process read or wrote last, is on disk. */
    isUnchanged: async (): Promise<boolean> => {
      const found = await store.mark(name);
      return found === undefined || found === mark;
    },
    /** Saves a last time, and stops. Never rejects. */
    close: async (): Promise<void> => {
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

/** Digits of a check. */
const CHECK_DIGITS = 16;

/** A digest that shows whether `texts` were changed by accident: 16 hexadecimal digits. */
export function checkOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, CHECK_DIGITS);
}

/** The JSON object in `pieces`, which end with `}`, with a check of all of it as its last member. */
export function* withCheck(pieces: Iterable<string>): Generator<string> {
  const hash = createHash("sha256");
  let last = "";
  for (const piece of pieces) {
    hash.update(last);
    yield last;
    last = piece;
  }
  const rest = last.replace(/\}$/, "");
  hash.update(rest);
  yield `${rest},"check":"${hash.digest("hex").slice(0, CHECK_DIGITS)}"}`;
}

/** False when the text is not as `withCheck` made it. An older version wrote no check. */
export function isIntact(text: string): boolean {
  const [tail, check] = /,"check":"([0-9a-f]{16})"\}$/.exec(text.slice(-64)) ?? [];
  return tail === undefined || checkOf(text.slice(0, -tail.length)) === check;
}
