/** The token of the admin port's views, from a file that may change while carryover runs. */
import type { Config } from "../config/config.ts";
import { faultText } from "../config/faults.ts";
import { isTokenText } from "../config/values.ts";
import { createWatchedFile } from "../config/watched-file.ts";
import type { Timer } from "../model/clock.ts";

export interface AdminTokenParts {
  /** Rejects if the file cannot be read. */
  readonly read: (path: string) => Promise<Uint8Array>;
  readonly later: Timer;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  readonly log: {
    info(message: string): void;
    error(message: string, cause: undefined, facts: Readonly<Record<string, string>>): void;
  };
}

/** Short, because a person who replaces a leaked token waits for it. */
const EVERY_MS = 5_000;

/** Undefined without a file. When a token comes into force, the one before it stops working. */
export function createAdminToken(admin: Config["admin"], parts: AdminTokenParts) {
  const { token, tokenFile } = admin;
  if (token === undefined || tokenFile === undefined) return undefined;
  let inForce = token;
  const { read, later, wall, log } = parts;
  const file = createWatchedFile<string>({
    path: tokenFile,
    read,
    parse: (bytes) => {
      const found = Buffer.from(bytes).toString("utf8").trim();
      if (!isTokenText(found)) throw new Error("it is not one word of visible ASCII characters");
      return found;
    },
    // The first token was read and checked with the rest of the configuration.
    begin: Buffer.from(token),
    everyMs: EVERY_MS,
    later,
    wall,
    apply: (found) => {
      // Only the white space around it may have changed.
      if (found === inForce) return;
      inForce = found;
      log.info("the admin port's token was changed: views ask for the new one");
    },
    failed: (error, faults) => {
      const what = faults.length > 0 ? faults.map(faultText).join(" | ") : error.message;
      log.error("the admin port's token file cannot be used; the token before it stays in force", undefined, {
        faults: what,
      });
    },
    recovered: () => log.info("the admin port's token file holds the token in force again"),
    unreadable: (path, cause) => new Error(`${path} cannot be read (${cause.message})`),
  });
  return {
    /** The token in force. */
    now: (): string => inForce,
    start: (): void => void file.start(),
    /** Reads the file now; resolves when its token is in force or was refused. */
    check: (): Promise<void> => file.check(),
    close: (): void => file.close(),
  };
}
