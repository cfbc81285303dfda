/** How does the ledger outlive a restart? (Option `clients.file`.) */
import { createHash } from "node:crypto";
import type { LedgerSnapshot } from "../model/ledger.ts";
import { type Disk, disk as realDisk } from "./disk.ts";
import { readSnapshot } from "./snapshot.ts";

export interface LedgerFileOptions {
  readonly path: string;
  /** The real one, unless said otherwise. */
  readonly disk?: Disk;
  /** Milliseconds between two looks at whether there is something new to save; 30,000 unless said otherwise. */
  readonly everyMs?: number;
  /** Calls `run` once after `ms`; what it gives back calls that off. */
  readonly later: (ms: number, run: () => void) => () => void;
  readonly ledger: { snapshot(): LedgerSnapshot; restore(snapshot: LedgerSnapshot): void; revision(): number };
  /** Hears of what an operator should know, in one line. */
  readonly warn: (message: string, cause: unknown) => void;
}

export interface LedgerFile {
  /**
   * Reads the file into the ledger, before the first request, and begins to save. Never rejects: without a file the ledger
   * is empty; a damaged one is moved to `.damaged`; one that cannot be read is left alone, and nothing is saved. Of both it
   * warns.
   */
  start(): Promise<void>;
  /** True while the file could not be read, or not be written when that was tried last: a restart would forget what came since. */
  failing(): boolean;
  /** Saves what is new and stops. Never rejects. */
  close(): Promise<void>;
}

const EVERY_MS = 30_000;
/** Looks without anything new until the file is renewed all the same: it tells until when the ledger was watching. */
const IDLE_LOOKS = 10;

interface LedgerFileState {
  /** Digest of what the file holds, as far as this process knows; undefined: no file. */
  held: string | undefined;
  /** The ledger's revision that was saved last. */
  saved: number;
  /** Looks since then. */
  looks: number;
  /** The last write failed, or somebody else's was found: said once, until it is over. */
  failing: boolean;
  shared: boolean;
  stopped: boolean;
  /** Calls off the next look. */
  stop: () => void;
  writing: Promise<void>;
}

/**
 * Saves every `everyMs` when requests were entered, else every tenth time, and at the end. Of two processes with one file the
 * one that writes last wins, and says so: each needs a file of its own.
 */
export function createLedgerFile(given: LedgerFileOptions): LedgerFile {
  const options: Required<LedgerFileOptions> = { disk: realDisk, everyMs: EVERY_MS, ...given };
  const state: LedgerFileState = {
    held: undefined,
    saved: options.ledger.revision(),
    looks: 0,
    failing: false,
    shared: false,
    stopped: false,
    stop: () => {},
    writing: Promise.resolve(),
  };
  const tick = (): void => {
    state.stop = options.later(options.everyMs, () => {
      state.looks += 1;
      state.writing = save(options, state, state.looks >= IDLE_LOOKS).finally(() => {
        if (!state.stopped) tick();
      });
    });
  };
  return {
    start: async () => {
      const saves = await load(options, state);
      if (saves && !state.stopped) tick();
      else state.stopped = true;
      state.failing = !saves;
    },
    failing: () => state.failing,
    close: async () => {
      if (state.stopped) return;
      state.stopped = true;
      state.stop();
      await state.writing;
      await save(options, state, true);
    },
  };
}

/** False when nothing may be saved: what the file holds is not known, and must not be lost. */
async function load(options: Required<LedgerFileOptions>, state: LedgerFileState): Promise<boolean> {
  const { path, disk, ledger, warn } = options;
  let text: string | undefined;
  try {
    text = await disk.read(path);
  } catch (error) {
    warn(`clients.file: ${path} cannot be read; the ledger starts empty and is not saved`, error);
    return false;
  }
  state.held = digest(text);
  if (text === undefined) return true;
  try {
    ledger.restore(readSnapshot(text));
    return true;
  } catch (error) {
    return moveAside(options, state, error);
  }
}

async function moveAside(
  { path, disk, warn }: Required<LedgerFileOptions>,
  state: LedgerFileState,
  why: unknown,
): Promise<boolean> {
  const aside = `${path}.damaged`;
  try {
    await disk.move(path, aside);
    state.held = undefined;
    warn(`clients.file: ${path} holds no ledger; it is now ${aside}, and the ledger starts empty`, why);
    return true;
  } catch (error) {
    warn(`clients.file: ${path} holds no ledger and cannot be moved aside; the ledger is not saved`, error);
    return false;
  }
}

/** `always`: also when nothing is new, unless that would replace what somebody else counted. */
async function save(options: Required<LedgerFileOptions>, state: LedgerFileState, always: boolean): Promise<void> {
  const { path, disk, ledger, warn } = options;
  const now = ledger.revision();
  const isNew = now !== state.saved;
  if (!isNew && !always) return;
  state.looks = 0;
  try {
    const isForeign = digest(await disk.read(path)) !== state.held;
    if (isForeign && !isNew) return;
    if (isForeign) warnOfOthers(options, state);
    const text = JSON.stringify(ledger.snapshot());
    await disk.write(path, text);
    state.held = digest(text);
    state.saved = now;
    state.failing = false;
  } catch (error) {
    if (!state.failing) warn(`clients.file: ${path} cannot be written; the ledger goes on in memory`, error);
    state.failing = true;
  }
}

/** Somebody else wrote the file since this process read or wrote it: what they counted is about to be lost. */
function warnOfOthers({ path, warn }: Required<LedgerFileOptions>, state: LedgerFileState): void {
  if (state.shared) return;
  state.shared = true;
  warn(
    `clients.file: another process writes ${path}; the last one wins. Give each replica a file of its own`,
    undefined,
  );
}

function digest(text: string | undefined): string | undefined {
  return text === undefined ? undefined : createHash("sha256").update(text).digest("hex");
}
