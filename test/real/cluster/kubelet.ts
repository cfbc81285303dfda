/** Runs a container's process on this machine with what kubelet would give it. */
import { chmod, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { carryover, type Running } from "../../end-to-end/app/process.ts";
import { later } from "../../end-to-end/app/rig.ts";
import type { Mount, Seen } from "../chart/pod.ts";

export interface Container {
  readonly process: Running;
  /** Hands over what has changed since, as kubelet does: all of a volume at one moment, and nothing else. */
  sync(seen: Seen): Promise<void>;
  /** Where a path of the container lies here. */
  place(path: string): string;
  /** Runs carryover's command line in the container, as `kubectl exec` does. The admin port is a free one here, and so is said. */
  exec(argv: readonly string[], adminPort: string): Running;
}

const STAMPS = { next: 0 };

/**
 * Starts the process with its arguments, variables and files. Files lie below a folder of the test's own, so absolute paths in
 * variables and in the configuration get that folder before them; ports become free ones on loopback. Nothing else is changed.
 */
export async function started(seen: Seen): Promise<Container> {
  const root = await mkdtemp(join(tmpdir(), "carryover-pod-"));
  later(() => rm(root, { recursive: true, force: true }));
  const paths = seen.mounts.map(({ path }) => path).sort((a, b) => b.length - a.length);
  const here = (text: string) =>
    paths.reduce(
      (now, path) => now.replaceAll(new RegExp(`(?<![\\w./-])${path}(?=[/"'\\s]|$)`, "g"), `${root}${path}`),
      text,
    );
  for (const mount of seen.mounts) await materialise(root, mount, here);
  const env = Object.fromEntries(Object.entries(seen.env).map(([name, value]) => [name, here(value)]));
  const free = ["--listen-host=127.0.0.1", "--listen-port=0", "--admin-host=127.0.0.1", "--admin-port=0"];
  const process = carryover([...seen.argv.map(here), ...free], env);
  return {
    process,
    place: (path) => `${root}${path}`,
    exec: (argv, adminPort) => carryover(argv, { ...env, CARRYOVER_ADMIN_PORT: adminPort }),
    sync: async (now) => {
      for (const mount of now.mounts) if (mount.live) await materialise(root, mount, here);
    },
  };
}

/** As kubelet's atomic writer: a folder of its own for each state, `..data` points to it, and what is seen points into `..data`. */
async function materialise(root: string, mount: Mount, here: (text: string) => string): Promise<void> {
  const folder = `${root}${mount.path}`;
  const single = mount.files.get("");
  if (single !== undefined) {
    await mkdir(dirname(folder), { recursive: true });
    await writeFile(folder, here(new TextDecoder().decode(single)), { mode: 0o440 });
    return;
  }
  await mkdir(folder, { recursive: true });
  if (mount.kind !== "files") return;
  const stamp = `..2026_11_22_${STAMPS.next++}`;
  const old = (await readdir(folder)).filter((name) => name.startsWith("..2026"));
  for (const [name, bytes] of mount.files) {
    const file = join(folder, stamp, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, here(new TextDecoder().decode(bytes)));
    await chmod(file, 0o440);
  }
  await symlink(stamp, join(folder, "..data_tmp"));
  await rename(join(folder, "..data_tmp"), join(folder, "..data"));
  for (const name of new Set([...mount.files.keys()].map((file) => file.split("/")[0] ?? ""))) {
    await symlink(join("..data", name), join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
  for (const name of old) await rm(join(folder, name), { recursive: true });
}
