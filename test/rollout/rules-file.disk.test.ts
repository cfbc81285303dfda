import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import { readRules } from "../../src/config/rules.ts";
import { readBounded } from "../../src/config/watched-file.ts";
import { rulesContext } from "../../src/rollout/rules-file.ts";
import { byHand } from "./rules-file-hands.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "rules-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const catalogue = await loadCatalogue("v2beta1");
const CONTEXT = rulesContext(catalogue, { name: "rules.yaml", native: true, now: 0, expired: "refuse" });

function rules(name: string): string {
  return `version: carryover/v1\nrules:\n  - name: ${name}\n    match: {}\n    mode: native\n`;
}

/** The file of `dir`, read as carryover reads it; `inForce` names the only rule. */
async function started() {
  const path = join(dir, "rules.yaml");
  const names: string[] = [];
  const hands = byHand(path, readBounded, {
    parse: (bytes) => readRules(bytes, CONTEXT),
    apply: (all) => names.push(all.rules.map(({ name }) => name).join()),
  });
  await hands.file.start();
  return { path, names, ...hands };
}

describe("a file", () => {
  it.each([
    ["empty", () => truncateSync(join(dir, "rules.yaml"))],
    [
      "a directory",
      (path: string) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
    [
      "a pipe that nobody writes into",
      (path: string) => {
        rmSync(path);
        execFileSync("mkfifo", [path]);
      },
    ],
    [
      "a link to itself",
      (path: string) => {
        rmSync(path);
        symlinkSync("rules.yaml", path);
      },
    ],
  ])("that is %s is refused, and the last good rules stay", async (_name, spoil) => {
    const path = join(dir, "rules.yaml");
    writeFileSync(path, rules("a"));
    const { names, settle, look, failed, file } = await started();
    spoil(path);
    await settle();
    await look();
    expect([names, failed.length]).toEqual([["a"], 1]);
    expect(file.state().failing?.faults).not.toEqual([]);
    rmSync(path, { recursive: true });
    writeFileSync(path, rules("b"));
    await settle();
    expect([names, file.state().failing]).toEqual([["a", "b"], undefined]);
  });
});

describe("a mounted ConfigMap", () => {
  /** As the kubelet does it: a directory of its own for each version, reached by a link that is swapped. */
  function publish(stamp: string, text: string, before?: string): void {
    mkdirSync(join(dir, `..${stamp}`));
    writeFileSync(join(dir, `..${stamp}`, "rules.yaml"), text);
    symlinkSync(`..${stamp}`, join(dir, "..data_tmp"));
    renameSync(join(dir, "..data_tmp"), join(dir, "..data"));
    if (before === undefined) symlinkSync(join("..data", "rules.yaml"), join(dir, "rules.yaml"));
    else rmSync(join(dir, `..${before}`), { recursive: true });
  }

  it("that is updated is noticed each time, though file, inode and link are other ones", async () => {
    publish("2026_12_01_10_00_00.1", rules("v1"));
    const { names, settle, file } = await started();
    publish("2026_12_01_10_05_00.2", rules("v2"), "2026_12_01_10_00_00.1");
    await settle();
    publish("2026_12_01_10_06_00.3", "version: carryover/v9\n", "2026_12_01_10_05_00.2");
    await settle();
    expect(file.state().failing?.message).toMatch(/rules\.yaml:1/);
    publish("2026_12_01_10_07_00.4", rules("v4"), "2026_12_01_10_06_00.3");
    await settle();
    expect([names, file.state().reloads, file.state().failing]).toEqual([["v1", "v2", "v4"], 2, undefined]);
  });

  it("whose key is taken out leaves the last rules in force", async () => {
    publish("1", rules("v1"));
    const { names, settle, file } = await started();
    publish("2", rules("v2"), "1");
    rmSync(join(dir, "..2", "rules.yaml"));
    await settle();
    expect([names, file.state().failing?.message]).toEqual([["v1"], expect.stringMatching(/ENOENT/)]);
  });
});

describe("readBounded", () => {
  it("gives every byte of a file, up to the limit", async () => {
    const bytes = new Uint8Array(1024 ** 2).map((_, at) => at % 251);
    writeFileSync(join(dir, "file"), bytes);
    expect(Buffer.compare(await readBounded(join(dir, "file")), bytes)).toBe(0);
    writeFileSync(join(dir, "file"), new Uint8Array(1024 ** 2 + 1));
    await expect(readBounded(join(dir, "file"))).rejects.toThrow("it has more than 1048576 bytes");
  });

  it("says of what is no file what it is", async () => {
    await expect(readBounded(dir)).rejects.toThrow("it is a directory");
    execFileSync("mkfifo", [join(dir, "pipe")]);
    await expect(readBounded(join(dir, "pipe"))).rejects.toThrow("it is no file");
    await expect(readBounded("/dev/zero")).rejects.toThrow("it is no file");
  });

  it("counts what comes where the system gives no size", async () => {
    expect(new TextDecoder().decode(await readBounded("/proc/self/comm"))).toMatch(/\n$/);
    await expect(readBounded("/proc/self/environ", 0)).rejects.toThrow("it has more than 0 bytes");
  });
});
