import { execFile } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { ROOT } from "./podman.ts";

const DROP_IN = "carryover@.service.d";
let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "carryover-unit-"));
  // Node lies elsewhere on a machine that builds; systemd looks whether it is there.
  const unit = readFileSync(join(ROOT, "deploy/systemd/carryover@.service"), "utf8");
  writeFileSync(join(folder, "carryover@.service"), unit.replace("/usr/local/bin/node", process.execPath));
});
afterEach(() => rmSync(join(folder, DROP_IN), { recursive: true, force: true }));
afterAll(() => rmSync(folder, { recursive: true }));

/** Not there counts as a failure: no check is left out in silence. */
function analyze(...argv: readonly string[]): Promise<{ readonly failed: boolean; readonly said: string }> {
  return new Promise((done) => {
    execFile("systemd-analyze", [...argv], { cwd: folder }, (error, out, err) => {
      done({ failed: error !== null, said: `${out}${err}` });
    });
  });
}

it("is verified by systemd without a word", async () => {
  expect(await analyze("verify", "./carryover@.service")).toEqual({ failed: false, said: "" });
});

it("is verified with the drop-in for a shared port", async () => {
  cpSync(join(ROOT, "deploy/systemd", DROP_IN), join(folder, DROP_IN), { recursive: true });
  expect(await analyze("verify", "./carryover@01.service")).toEqual({ failed: false, said: "" });
  // It is read: an unknown line in it is told.
  appendFileSync(join(folder, DROP_IN, "shared-port.conf"), "NoSuchLine=1\n");
  expect((await analyze("verify", "./carryover@01.service")).said).toContain("NoSuchLine");
});

it("leaves little open: at most 1.5 of 10 by systemd's own count", async () => {
  const { failed, said } = await analyze("security", "--offline=true", "--threshold=15", "./carryover@.service");
  expect(said).toMatch(/Overall exposure level for carryover@i\.service: \d\.\d OK/);
  expect(failed).toBe(false);
});
