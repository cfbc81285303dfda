/** The token of `POST /force`, `/confirm` and `/forget` for instances without `admin.tokenFile`: a file in `state.dir` that only carryover's own user can read. */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Timer } from "../model/clock.ts";

export interface ChangeTokenParts {
  /** True while this process may write to the directory. */
  readonly isHeld: () => Promise<boolean>;
  readonly later: Timer;
  readonly failed: (message: string, cause: unknown) => void;
}

/** Milliseconds between two looks at the file. */
const EVERY_MS = 5_000;

/** Where the file is. `carryover force`, `confirm` and `forget` without a token read it there. */
export function changeTokenPath(stateDir: string): string {
  return join(stateDir, "change-token");
}

/** Undefined where `admin.tokenFile` is set, and without a directory. A token is valid until the process ends. */
export function createChangeToken(
  { tokenFile, dir }: { readonly tokenFile: string | undefined; readonly dir: string | undefined },
  { isHeld, later, failed }: ChangeTokenParts,
) {
  if (tokenFile !== undefined || dir === undefined) return undefined;
  const token = randomBytes(24).toString("hex");
  const path = changeTokenPath(dir);
  let inForce: string | undefined;
  let isWritten = false;
  let isFailing = false;
  let isClosed = false;
  let cancel = (): void => {};

  const write = async (): Promise<void> => {
    if (!(await isHeld())) throw new Error("this process has not got the directory");
    await rm(`${path}.new`, { force: true });
    await writeFile(`${path}.new`, token, { mode: 0o600, flag: "wx" });
    await rename(`${path}.new`, path);
  };
  const check = async (): Promise<void> => {
    try {
      if (!(await holds(path, token))) await write();
      isWritten = true;
      isFailing = false;
      if (!isClosed) inForce = token;
    } catch (error) {
      isWritten = false;
      if (!isFailing) {
        failed(
          "carryover force, confirm and forget cannot be used: their token cannot be written to state.dir, and admin.tokenFile is not set",
          error,
        );
      }
      isFailing = true;
    }
  };
  const schedule = (): void => {
    cancel = later(EVERY_MS, () => {
      void check().then(() => {
        if (!isClosed) schedule();
      });
    });
  };
  return {
    /** Undefined until the file is written for the first time, and after `close`. */
    now: (): string | undefined => inForce,
    /** True when the file held the token at the last look. */
    isWritten: (): boolean => isWritten,
    /** Writes a new token, and looks at the file from then on. Never rejects. */
    start: async (): Promise<void> => {
      await check();
      schedule();
    },
    /** Writes the same token again where the file is missing or holds something else. Never rejects. */
    check,
    close: (): void => {
      isClosed = true;
      inForce = undefined;
      cancel();
    },
  };
}

/** False for anything but a file with exactly this text. Opens without waiting, whatever is there. */
async function holds(path: string, text: string): Promise<boolean> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const file = await open(path, flags).catch(() => undefined);
  if (file === undefined) return false;
  try {
    const { size, mode } = await file.stat();
    if (size !== text.length || (mode & 0o077) !== 0) return false;
    return (await file.readFile("utf8")) === text;
  } finally {
    await file.close();
  }
}
