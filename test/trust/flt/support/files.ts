/** Files as Kubernetes mounts a Secret: links into a folder behind one link, which an update swaps. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { later } from "../../../app/rig.ts";

export interface Mounted {
  path(name: string): string;
  /** All files at once, in one step, as an update does it. */
  swap(files: Readonly<Record<string, string>>): void;
}

/** Removed after the test. */
export function mounted(files: Readonly<Record<string, string>>): Mounted {
  const root = mkdtempSync(join(tmpdir(), "secret-"));
  later(async () => rmSync(root, { recursive: true, force: true }));
  let version = 0;
  const swap: Mounted["swap"] = (next) => {
    const name = `..${++version}`;
    mkdirSync(join(root, name));
    for (const [file, text] of Object.entries(next)) writeFileSync(join(root, name, file), text);
    symlinkSync(name, join(root, "..fresh"));
    renameSync(join(root, "..fresh"), join(root, "..data"));
    rmSync(join(root, `..${version - 1}`), { recursive: true, force: true });
  };
  swap(files);
  for (const file of Object.keys(files)) symlinkSync(join("..data", file), join(root, file));
  return { path: (name) => join(root, name), swap };
}
