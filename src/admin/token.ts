/** Which token do the admin port's views ask for, when the file that holds it may change? */

import type { Config } from "../config/config.ts";
import { faultText } from "../config/faults.ts";
import { isTokenText } from "../config/values.ts";
import { createWatchedFile } from "../config/watched-file.ts";
import type { Timer } from "../model/clock.ts";

export interface AdminTokenParts {
  /** Rejects when the file cannot be read. */
  readonly read: (path: string) => Promise<Uint8Array>;
  readonly later: Timer;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  readonly log: {
    info(message: string): void;
    error(message: string, cause: undefined, facts: Readonly<Record<string, string>>): void;
  };
}

export interface AdminToken {
  /** What is in force now. */
  now(): string;
  start(): void;
  /** Looks at the file now; resolves when what it holds is in force or refused. */
  check(): Promise<void>;
  close(): void;
}

/** A token that leaked is changed by people who wait for it. */
const EVERY_MS = 5_000;

/** Undefined without a file. From the moment that another token is in force the one before it opens nothing. */
export function createAdminToken(admin: Config["admin"], parts: AdminTokenParts): AdminToken | undefined {
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
    // What the process began with was read and judged with the rest of the configuration.
    begin: Buffer.from(token),
    everyMs: EVERY_MS,
    later,
    wall,
    apply: (found) => {
      // White space around it may be new.
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
    now: () => inForce,
    start: () => void file.start(),
    check: () => file.check(),
    close: () => file.close(),
  };
}
