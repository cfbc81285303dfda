/** A server on a Unix socket that only the user of this process can reach. */
import { once } from "node:events";
import { chmod, lstat, mkdir, stat, unlink } from "node:fs/promises";
import { connect, type Server } from "node:net";
import { dirname } from "node:path";
import { ConfigError } from "../config/faults.ts";

/** Permissions of everyone else. */
const OTHERS = 0o077;
const SOCKET_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Closing the server removes the file. Throws ConfigError for an unusable `path`. */
export async function listenPrivately(server: Server, path: string, backlog: number): Promise<void> {
  try {
    await preparePrivateFolder(dirname(path));
    await removeStale(path);
    server.listen({ path, backlog });
    await once(server, "listening");
    // Until now the folder alone has kept others out.
    await chmod(path, SOCKET_MODE);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw fault(`${path} cannot be created (${reason})`, "name a file in a folder that this user may write to");
  }
}

async function preparePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: FOLDER_MODE }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const { mode, uid } = await stat(folder);
  const remedy = "name a file in a folder that does not exist yet: carryover creates it";
  if (uid !== process.getuid?.()) throw fault(`the folder ${folder} belongs to another user`, remedy);
  if ((mode & OTHERS) !== 0)
    throw fault(`other users may open the folder ${folder}`, `set its mode to 0700, or ${remedy}`);
}

/** A process that was killed leaves its socket behind. */
async function removeStale(path: string): Promise<void> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (found === undefined) return;
  if (!found.isSocket()) throw fault(`${path} exists and is not a socket`, "name another file, or remove this one");
  if (await isServed(path)) throw fault(`another process listens at ${path}`, "stop it, or name another file");
  await unlink(path);
}

/** Only a refused connection proves that the server is gone: a busy one fails otherwise. */
function isServed(path: string): Promise<boolean> {
  const probe = connect(path);
  return new Promise((resolve) => {
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code !== "ECONNREFUSED"));
  });
}

function fault(what: string, remedy: string): ConfigError {
  return new ConfigError([{ where: "listen.socket", what, remedy }]);
}
