/** Faults of a real server, or of the way to it. */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createServer as createTlsServer } from "node:tls";
import { describe, expect, it } from "vitest";
import { later as afterMs } from "../../../src/model/clock.ts";
import type { Decision, SharedStore, TickReply } from "../../../src/state/shared/protocol.ts";
import { createValkeyStore, type ValkeyOptions } from "../../../src/state/shared/valkey-store.ts";
import { folder } from "../../end-to-end/cutover/rig.ts";
import { LOCALHOST } from "../../server/support/certificates.ts";
import { documentedRights } from "../../state/shared/account.ts";
import { createCaller } from "../../state/shared/contract.ts";
import { later, listening, takeDownAfterEach } from "../../support/take-down.ts";
import { SERVERS, type Server, type ServerName, startServer } from "./server.ts";

takeDownAfterEach();

async function serverOf(name: ServerName, ...words: readonly string[]): Promise<Server> {
  const server = await startServer(name, ...words);
  later(() => server.close());
  return server;
}

function storeAt(url: string, more: Partial<ValkeyOptions> = {}): SharedStore {
  const store = createValkeyStore({
    url,
    username: undefined,
    prefix: "carryover",
    secrets: async () => ({}),
    later: afterMs,
    random: Math.random,
    fresh: randomUUID,
    ...more,
  });
  later(() => store.close());
  return store;
}

const ROWS = { contributions: [{ owner: "a", revision: 1, rows: [{ name: "one", text: "x" }] }] } as const;
const BACK: Decision = { kind: "rule", key: "rule-a", what: "back", generation: 0, detail: "{}" };
const MORE_ROWS = { contributions: [{ owner: "a", revision: 2, rows: [{ name: "one", text: undefined }] }] } as const;

/** The fault of a tick, and the milliseconds until it came. */
async function faultOf(tick: Promise<TickReply>): Promise<readonly [string, number]> {
  const begun = performance.now();
  const fault = await tick.then(
    () => "none",
    (error) => `${error.kind}: ${error.message}`,
  );
  return [fault, performance.now() - begun];
}

/** Ticks every 100 ms until one succeeds. */
async function untilUp(caller: ReturnType<typeof createCaller>, most = 10_000): Promise<TickReply> {
  for (const begun = performance.now(); performance.now() - begun < most; await setTimeout(100)) {
    const reply = await caller.tick().catch(() => undefined);
    if (reply !== undefined) return reply;
  }
  throw new Error(`no response within ${most} ms`);
}

describe.each(SERVERS)("%s", (name) => {
  it("needs no more of an account than the documented permissions", async () => {
    const server = await serverOf(name);
    await server.run("ACL", "SETUSER", "carryover", "on", ">secret", "resetkeys", ...documentedRights());
    await server.run("ACL", "SETUSER", "default", "off");
    const store = storeAt(server.url, { username: "carryover", secrets: async () => ({ password: "secret" }) });
    const caller = createCaller(store, "a");
    await caller.tick({ ...ROWS, wantsReplicas: true });
    await caller.tick({ ...MORE_ROWS, asks: ["one"] });
    expect([await store.owners(), await store.rowsOf("a")]).toEqual([[expect.anything()], new Map()]);
    expect((await caller.tick({ wants: [BACK, { kind: "force", detail: "{}" }] })).outcomes).toEqual([
      "applied",
      "applied",
    ]);
    const other = storeAt(server.url, {
      username: "carryover",
      prefix: "other",
      secrets: async () => ({ password: "secret" }),
    });
    const [fault] = await faultOf(createCaller(other, "a").tick());
    expect(fault).toMatch(/^unusable: .*(NOPERM|No permissions|permission)/i);
    expect(fault).not.toContain("secret");
  });

  it("takes decisions when it has no memory left, and refuses rows", async () => {
    const server = await serverOf(name, "--maxmemory-policy", "noeviction");
    const caller = createCaller(storeAt(server.url), "a");
    await caller.tick(ROWS);
    await server.run("CONFIG", "SET", "maxmemory", "1");
    const [fault] = await faultOf(caller.tick(MORE_ROWS));
    expect(fault).toMatch(/^full: /);
    expect((await caller.tick({ wants: [BACK] })).outcomes).toEqual(["applied"]);
  });

  it("runs the script again after it was restarted without it", async () => {
    const server = await serverOf(name);
    const caller = createCaller(storeAt(server.url), "a");
    const { store } = await caller.tick();
    await server.run("SCRIPT", "FLUSH");
    expect((await caller.tick()).store.id).toBe(store.id);
    await server.restart();
    expect((await untilUp(caller)).store.id).not.toBe(store.id);
  });
});

describe("the way to a shared store", () => {
  it("gives up a server that is frozen after 2 s, and comes back within 10 s after it moves", async () => {
    const server = await serverOf("valkey-9.1");
    const caller = createCaller(storeAt(server.url), "a");
    await caller.tick();
    server.signal("SIGSTOP");
    const [fault, ms] = await faultOf(caller.tick());
    expect(fault).toBe("away: no response within 2 s");
    expect(ms).toBeLessThan(2_500);
    // Until the next attempt no tick waits.
    expect((await faultOf(caller.tick()))[1]).toBeLessThan(50);
    await setTimeout(1_000);
    server.signal("SIGCONT");
    await untilUp(caller);
  }, 20_000);

  it("reports a refused password at once, and takes the next one without a restart", async () => {
    const server = await serverOf("valkey-9.1", "--requirepass", "second-password");
    const file = join(await folder(), "password");
    writeFileSync(file, "first-password");
    const secrets = async () => ({ password: (await readFile(file, "utf8")).trim() });
    const caller = createCaller(storeAt(server.url, { secrets }), "a");
    const [fault, ms] = await faultOf(caller.tick());
    expect(fault).toMatch(/^(unusable|away): .*WRONGPASS/);
    expect(fault).not.toContain("first-password");
    expect(ms).toBeLessThan(4_000);
    writeFileSync(file, "second-password\n");
    await untilUp(caller);
  }, 20_000);

  it("goes on while its password is replaced, without a restart", async () => {
    const server = await serverOf("valkey-9.1");
    await server.run("ACL", "SETUSER", "carryover", "on", ">first", "resetkeys", ...documentedRights());
    const file = join(await folder(), "password");
    writeFileSync(file, "first");
    const secrets = async () => ({ password: (await readFile(file, "utf8")).trim() });
    const caller = createCaller(storeAt(server.url, { username: "carryover", secrets }), "a");
    const { store } = await caller.tick();
    await server.run("ACL", "SETUSER", "carryover", ">second");
    writeFileSync(file, "second\n");
    // The connection stays, with the rights of the account.
    await server.run("ACL", "SETUSER", "carryover", "<first");
    expect((await caller.tick()).store.id).toBe(store.id);
    expect(await server.run("CLIENT", "KILL", "USER", "carryover")).toBe(":1\r\n");
    expect((await untilUp(caller, 2_000)).store.id).toBe(store.id);
    const old = storeAt(server.url, { username: "carryover", secrets: async () => ({ password: "first" }) });
    expect((await faultOf(createCaller(old, "b").tick()))[0]).toMatch(/WRONGPASS/);
  }, 20_000);

  it("reports a missing password, and a port without a server", async () => {
    const server = await serverOf("redis-server", "--requirepass", "a-password");
    const [needed] = await faultOf(createCaller(storeAt(server.url), "a").tick());
    expect(needed).toMatch(/^unusable: NOAUTH/);
    const [refused] = await faultOf(createCaller(storeAt("redis://127.0.0.1:9"), "a").tick());
    expect(refused).toMatch(/^away: connect ECONNREFUSED/);
  });

  it("gives up a server that accepts and says nothing", async () => {
    const port = await listening(createServer(() => {}));
    const [fault, ms] = await faultOf(createCaller(storeAt(`redis://127.0.0.1:${port}`), "a").tick());
    expect(fault).toMatch(/^away: (no connection within 3 s|.*)/);
    expect(ms).toBeLessThan(3_500);
  });

  it("speaks TLS with a certificate of its own, and refuses an authority that it does not know", async () => {
    const server = await serverOf("valkey-9.1");
    const asks = { ...LOCALHOST, ca: LOCALHOST.cert, requestCert: true, rejectUnauthorized: true };
    const front = createTlsServer(asks, (socket) => {
      const inner = connect(server.port, "127.0.0.1");
      socket.on("error", () => inner.destroy());
      inner.on("error", () => socket.destroy());
      socket.pipe(inner).pipe(socket);
    });
    const url = `rediss://localhost:${await listening(front)}`;
    const withTls = (tls: Awaited<ReturnType<ValkeyOptions["secrets"]>>["tls"]) =>
      createCaller(storeAt(url, { secrets: async () => ({ tls }) }), "a").tick();
    const pair = { cert: LOCALHOST.cert, key: LOCALHOST.key };
    expect((await withTls({ ca: LOCALHOST.cert, ...pair })).isForeign).toBe(false);
    expect((await faultOf(withTls(pair)))[0]).toMatch(/^away: .*self-signed certificate/);
    expect((await faultOf(withTls({ ca: LOCALHOST.cert })))[0]).toMatch(/^away: /);
  }, 20_000);

  it("says that its keys hold something else, and changes nothing there", async () => {
    const server = await serverOf("valkey-9.1");
    await server.run("SET", "{carryover}:1:main", "mine");
    const [fault] = await faultOf(createCaller(storeAt(server.url), "a").tick());
    expect(fault).toBe("unusable: keys below state.prefix hold something else than carryover's state");
    expect(await server.run("GET", "{carryover}:1:main")).toContain("mine");
  });

  it("reconnects when the server became a copy of another one, which takes no writes", async () => {
    const [server, other] = [await serverOf("valkey-9.1"), await serverOf("valkey-9.1")];
    const caller = createCaller(storeAt(server.url), "a");
    await caller.tick();
    await server.run("REPLICAOF", "127.0.0.1", String(other.port));
    const faults: string[] = [];
    for (let i = 0; i < 4; i++) {
      faults.push((await faultOf(caller.tick()))[0]);
      await setTimeout(300);
    }
    expect(faults[0]).toMatch(/^away: READONLY/);
    await server.run("REPLICAOF", "NO", "ONE");
    await untilUp(caller);
  }, 20_000);

  it("goes on after a failover at an address that follows the primary", async () => {
    const [first, second] = [await serverOf("valkey-9.1"), await serverOf("valkey-9.1")];
    let primary = first;
    const port = await listening(
      createServer((socket) => {
        const inner = connect(primary.port, "127.0.0.1");
        socket.on("error", () => inner.destroy());
        inner.on("error", () => socket.destroy());
        socket.pipe(inner).pipe(socket);
      }),
    );
    const caller = createCaller(storeAt(`redis://127.0.0.1:${port}`), "a");
    await caller.tick();
    // The old connection leads to the old primary, which has become a copy.
    primary = second;
    await first.run("REPLICAOF", "127.0.0.1", String(second.port));
    expect((await faultOf(caller.tick()))[0]).toMatch(/^away: READONLY/);
    await untilUp(caller);
    expect(await second.run("DBSIZE")).not.toBe(":0\r\n");
  }, 20_000);

  it("follows a cluster to the node that has the keys, and gives up one that sends it in a circle", async () => {
    const nodes = await Promise.all(
      [0, 1].map(() => serverOf("valkey-9.1", "--cluster-enabled", "yes", "--cluster-node-timeout", "2000")),
    );
    const [first, second] = nodes as [Server, Server];
    await first.run("CLUSTER", "ADDSLOTSRANGE", "0", "8191");
    await second.run("CLUSTER", "ADDSLOTSRANGE", "8192", "16383");
    await first.run("CLUSTER", "MEET", "127.0.0.1", String(second.port));
    const [a, b] = [createCaller(storeAt(first.url), "a"), createCaller(storeAt(second.url), "b")];
    await untilUp(a);
    await untilUp(b);
    expect((await a.tick({ wantsReplicas: true })).replicas).toHaveLength(2);
    const ring = createServer((socket) => {
      socket.on("data", (bytes) => {
        const text = String(bytes);
        if (text.includes("HELLO")) return socket.write("%1\r\n$5\r\nproto\r\n:3\r\n");
        return socket.write(`-MOVED 1 127.0.0.1:${(ring.address() as { port: number }).port}\r\n`);
      });
    });
    const port = await listening(ring);
    const [fault] = await faultOf(createCaller(storeAt(`redis://127.0.0.1:${port}`), "a").tick());
    expect(fault).toBe("away: the cluster sends the command around in a circle");
  }, 30_000);
});
