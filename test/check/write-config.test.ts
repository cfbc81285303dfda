/** What becomes of a report whose file cannot be written, or must not be? */
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { run } from "../../src/cli.ts";
import { later, takeDownAfterEach } from "../app/rig.ts";
import { platform } from "./support.ts";

takeDownAfterEach();

/** A check that writes real files, in a folder of its own. */
async function written(
  fileIn: (folder: string) => string,
): Promise<{ code: number | undefined; out: string; err: string }> {
  const folder = mkdtempSync(join(tmpdir(), "carryover-check-"));
  later(async () => rmSync(folder, { recursive: true }));
  const { sandbox, url } = await platform();
  let out = "";
  let err = "";
  const io = {
    env: { CARRYOVER_CHECK_TOKEN: sandbox.token("admin") },
    readFile: (path: string) => readFileSync(path),
    print: (text: string) => {
      out += text;
    },
    warn: (text: string) => {
      err += text;
    },
    onReload: () => {},
    onExit: () => {},
    onStop: () => {},
  };
  const code = await run(["check", "--upstream-v2-url", url, "--write-config", fileIn(folder)], io);
  return { code, out, err };
}

describe("a file that cannot be written", () => {
  it("does not take the report with it", async () => {
    const { code, out, err } = await written((folder) => join(folder, "none", "c.yaml"));
    expect(code).toBe(64);
    expect(out).toMatch(/^carryover check of /);
    expect(err).toMatch(/--write-config: .*c\.yaml cannot be written \(ENOENT\); name a file that can be written/);
  });

  it("is none behind a link that leads nowhere: nothing is made there", async () => {
    let target = "";
    const { code, err } = await written((folder) => {
      target = join(folder, "elsewhere");
      const link = join(folder, "c.yaml");
      symlinkSync(target, link);
      return link;
    });
    expect([code, existsSync(target)]).toEqual([64, false]);
    expect(err).toMatch(/c\.yaml is there already/);
  });
});
