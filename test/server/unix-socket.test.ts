import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { connect, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { ConfigError } from "../../src/config/faults.ts";
import { listenPrivately } from "../../src/server/server.ts";
import { later, rig, takeDownAfterEach } from "./support/rig.ts";

takeDownAfterEach();

/** A folder of this user alone, gone after the test. */
async function privateFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "carryover-"));
  later(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A server at `path`, closed after the test. */
async function servedAt(path: string): Promise<() => Promise<unknown>> {
  const server = createServer((_, res) => res.end("ok"));
  const close = () => new Promise((closed) => server.close(closed));
  later(async () => void (await close()));
  await listenPrivately(server, path, 16);
  return close;
}

/** The fault that `path` is refused with. */
async function faultOf(path: string): Promise<string> {
  const error = await servedAt(path).catch((thrown: unknown) => thrown);
  if (!(error instanceof ConfigError)) throw new Error(`no ConfigError: ${String(error)}`);
  return error.faults.map(({ where, what, remedy }) => `${where}: ${what}; ${remedy}`).join("\n");
}

/** The status and text of a GET by way of `socketPath`. */
async function asked(socketPath: string, path: string, headers: Record<string, string> = {}): Promise<number> {
  const req = request({ socketPath, path, headers, agent: false }).end();
  const [res] = await once(req, "response");
  res.resume();
  await once(res, "end");
  return res.statusCode;
}

describe("a private Unix socket", () => {
  it("has mode 0600 in a folder of mode 0700 that is made for it, and is removed at close", async () => {
    const folder = join(await privateFolder(), "own");
    const path = join(folder, "clients.sock");
    const close = await servedAt(path);
    const modes = await Promise.all([path, folder].map(async (file) => (await stat(file)).mode & 0o777));
    expect(modes).toEqual([0o600, 0o700]);
    expect(await asked(path, "/")).toBe(200);
    await close();
    await expect(stat(path)).rejects.toThrow("ENOENT");
  });

  it("replaces the socket of a process that was killed", async () => {
    const path = join(await privateFolder(), "clients.sock");
    const script = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
    await once(spawn(process.execPath, ["-e", script]), "exit");
    expect((await stat(path)).isSocket()).toBe(true);
    await servedAt(path);
    expect(await asked(path, "/")).toBe(200);
  });

  it("leaves the socket of a live process alone", async () => {
    const path = join(await privateFolder(), "clients.sock");
    await servedAt(path);
    expect(await faultOf(path)).toBe(
      `listen.socket: another process listens at ${path}; stop it, or name another file`,
    );
    expect(await asked(path, "/")).toBe(200);
  });

  it("leaves the socket of a process alone that is too busy to accept a connection", async () => {
    const path = join(await privateFolder(), "clients.sock");
    const script = `require("node:net").createServer().listen({ path: ${JSON.stringify(path)}, backlog: 1 }, () => { require("node:fs").writeSync(1, "listens"); process.kill(process.pid, "SIGSTOP"); })`;
    const busy = spawn(process.execPath, ["-e", script]);
    later(async () => void busy.kill("SIGKILL"));
    // The file is there before the socket listens.
    await once(busy.stdout, "data");
    const refused = new Promise<string | undefined>((resolve) => {
      for (let i = 0; i < 8; i++) {
        const client = connect(path);
        client.on("error", ({ code }: NodeJS.ErrnoException) => resolve(code));
        later(async () => void client.destroy());
      }
    });
    expect(await refused).toBe("EAGAIN");
    expect(await faultOf(path)).toContain(`another process listens at ${path}`);
  });

  it("leaves a file alone that is not a socket", async () => {
    const path = join(await privateFolder(), "clients.sock");
    await writeFile(path, "text");
    expect(await faultOf(path)).toBe(
      `listen.socket: ${path} exists and is not a socket; name another file, or remove this one`,
    );
  });

  it("is refused in a folder that other users may open", async () => {
    const folder = await privateFolder();
    await chmod(folder, 0o711);
    expect(await faultOf(join(folder, "clients.sock"))).toMatch(/^listen\.socket: other users may open the folder /);
  });

  it("is refused in a folder of another user", async () => {
    const folder = await privateFolder();
    const { uid } = await stat(folder);
    const me = vi.spyOn(process, "getuid").mockReturnValue(uid + 1);
    later(async () => me.mockRestore());
    expect(await faultOf(join(folder, "clients.sock"))).toBe(
      `listen.socket: the folder ${folder} belongs to another user; name a file in a folder that does not exist yet: carryover creates it`,
    );
  });

  it.each([
    ["below a folder that does not exist", (folder: string) => join(folder, "none", "more", "clients.sock"), "ENOENT"],
    ["below a file", (folder: string) => join(folder, "file", "clients.sock"), "ENOTDIR"],
  ])("is refused %s", async (_, pathIn, code) => {
    const folder = await privateFolder();
    await writeFile(join(folder, "file"), "text", { mode: 0o600 });
    expect(await faultOf(pathIn(folder))).toMatch(new RegExp(`^listen\\.socket: .* cannot be created \\(${code}: `));
  });
});

describe("a server on a port and a Unix socket", () => {
  it("trusts X-Forwarded-* that arrive by the socket, adds no address to them, and trusts no others", async () => {
    const socket = join(await privateFolder(), "clients.sock");
    const { double, port } = await rig({ socket });
    const headers = {
      "x-forwarded-for": "192.0.2.7",
      "x-forwarded-proto": "https",
      "x-forwarded-host": "v1.example.com",
    };
    expect(await asked(socket, "/by-socket", headers)).toBe(200);
    const bySocket = double.received();
    expect(bySocket).toMatch(/x-forwarded-for: 192\.0\.2\.7\r\n/i);
    expect(bySocket).toMatch(/x-forwarded-proto: https\r\n/i);
    expect(bySocket).toMatch(/x-forwarded-host: v1\.example\.com\r\n/i);
    expect((await fetch(`http://127.0.0.1:${port}/by-port`, { headers })).status).toBe(200);
    expect(double.received().slice(bySocket.length)).not.toContain("192.0.2.7");
  });

  it("needs no port", async () => {
    const socket = join(await privateFolder(), "clients.sock");
    const { listener } = await rig({ socket, port: undefined });
    expect(await asked(socket, "/")).toBe(200);
    expect(listener.inFlight()).toBe(0);
    await listener.close(0);
    await expect(stat(socket)).rejects.toThrow("ENOENT");
  });

  it("opens nothing if the port is taken", async () => {
    const folder = await privateFolder();
    const taken = createTcpServer();
    await new Promise<void>((open) => taken.listen(0, "127.0.0.1", open));
    later(async () => void (await new Promise((closed) => taken.close(closed))));
    await mkdir(join(folder, "own"), { mode: 0o700 });
    const socket = join(folder, "own", "clients.sock");
    const { port } = taken.address() as { port: number };
    await expect(rig({ socket, port })).rejects.toThrow("EADDRINUSE");
  });
});
