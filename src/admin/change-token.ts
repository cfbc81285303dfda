/** The token of `POST /force` and `POST /confirm` for instances without `admin.tokenFile`: a file in `state.dir` that only carryover's own user can read. */
import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface ChangeToken {
  /** Undefined until the file is written, and after `close`. */
  now(): string | undefined;
  /** Writes a new token. Never rejects. */
  start(): Promise<void>;
  check(): Promise<void>;
  close(): void;
}

/** Where the file is. `carryover force` and `carryover confirm` without a token read it there. */
export function changeTokenPath(stateDir: string): string {
  return join(stateDir, "change-token");
}

/** Undefined where `admin.tokenFile` is set, and without a directory. A token is valid until the process ends. */
export function createChangeToken(
  { tokenFile, dir }: { readonly tokenFile: string | undefined; readonly dir: string | undefined },
  failed: (message: string, cause: unknown) => void,
): ChangeToken | undefined {
  if (tokenFile !== undefined || dir === undefined) return undefined;
  let inForce: string | undefined;
  return {
    now: () => inForce,
    start: async () => {
      const token = randomBytes(24).toString("hex");
      const path = changeTokenPath(dir);
      try {
        await rm(`${path}.new`, { force: true });
        await writeFile(`${path}.new`, token, { mode: 0o600, flag: "wx" });
        await rename(`${path}.new`, path);
        inForce = token;
      } catch (error) {
        failed(
          "carryover force and confirm cannot be used: their token cannot be written to state.dir, and admin.tokenFile is not set",
          error,
        );
      }
    },
    check: async () => {},
    close: () => {
      inForce = undefined;
    },
  };
}
