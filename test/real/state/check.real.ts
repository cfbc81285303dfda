/** `carryover check --state` against real servers, sound and faulty. */
import { writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { describe, expect, it } from "vitest";
import { STORE_COMMANDS } from "../../../src/state/shared/commands.ts";
import { EXPIRED } from "../../commands/check/certificates.ts";
import { judged } from "../../commands/check/support.ts";
import { folder } from "../../end-to-end/cutover/rig.ts";
import { LOCALHOST, OTHER_NAME } from "../../server/support/certificates.ts";
import { documentedRights } from "../../state/shared/account.ts";
import { later, listening, takeDownAfterEach } from "../../support/take-down.ts";
import { SERVERS, type Server, type ServerName, startServer } from "./server.ts";

takeDownAfterEach();

async function serverOf(name: ServerName, ...words: readonly string[]): Promise<Server> {
  const server = await startServer(name, ...words);
  later(() => server.close());
  return server;
}

const ALL = `ok the account may run all ${STORE_COMMANDS.length} commands that replicas need`;
const HARMLESS = "ok maxmemory-policy noeviction evicts no step back";
const UNSEEN = "skipped maxmemory-policy cannot be seen: the account may run neither INFO nor CONFIG GET";

/** Findings about the store, with their remedies in `remedies`. */
async function check(url: string, more: readonly string[] = []) {
  const result = await judged(["--state", "--state-url", url, ...more], { files: "disk" });
  return {
    ...result,
    found: result.told("store"),
    remedies: result
      .of("store")
      .map(({ remedy }) => remedy)
      .join("\n"),
  };
}

/** Options for an account of the server with these rights; `text` is what the password file has. */
async function account(server: Server, rights: readonly string[], text = "secret\n"): Promise<readonly string[]> {
  await server.run("ACL", "SETUSER", "carryover", "on", ">secret", "resetkeys", ...rights);
  const file = join(await folder(), "password");
  writeFileSync(file, text);
  return ["--state-username", "carryover", "--state-password-file", file];
}

/** A port that speaks TLS and passes everything to the server. */
async function behindTls(server: Server, options: TlsOptions = {}): Promise<number> {
  const front = createTlsServer({ ...LOCALHOST, ...options }, (socket) => {
    const inner = connect(server.port, "127.0.0.1");
    socket.on("error", () => inner.destroy());
    inner.on("error", () => socket.destroy());
    socket.pipe(inner).pipe(socket);
  });
  return listening(front);
}

describe.each(SERVERS)("%s", (name) => {
  const shown = name === "redis-server" ? "redis 7.0." : name.replace("-", " ");

  it("is right, and no key is left", async () => {
    const server = await serverOf(name);
    const { code, verdict, found } = await check(server.url);
    expect(found).toEqual([expect.stringContaining(`ok state.url: ${shown}`), ALL, HARMLESS]);
    expect([code, verdict]).toEqual([0, "ok"]);
    expect(await server.run("DBSIZE")).toBe(":0\r\n");
  });

  it("is usable with the documented account, which cannot see the eviction policy", async () => {
    const server = await serverOf(name);
    const { code, verdict, found } = await check(server.url, await account(server, documentedRights()));
    expect(found).toEqual([expect.stringMatching(/^ok state\.url/), ALL, UNSEEN]);
    expect([code, verdict]).toEqual([0, "incomplete"]);
  });

  it.each(STORE_COMMANDS)("names %s if the account may not run it", async (command) => {
    const server = await serverOf(name);
    const rights = documentedRights().filter((word) => word !== `+${command.toLowerCase()}`);
    const { code, found, remedies } = await check(server.url, await account(server, rights));
    expect(found[1]).toBe(`fail the account may not run ${command}`);
    expect(remedies).toContain(`add +${command.toLowerCase()} to the account`);
    expect(code).toBe(1);
    // The key is gone without DEL as well: HDEL has removed its only field.
    if (command !== "HDEL") expect(await server.run("DBSIZE")).toBe(":0\r\n");
  });

  it("names the keys that the account may not use", async () => {
    const server = await serverOf(name);
    const options = [...(await account(server, documentedRights())), "--state-prefix", "other"];
    const { found, remedies } = await check(server.url, options);
    expect(found[1]).toBe("fail the account may not use keys that begin with {other}:1:");
    expect(remedies).toContain("add ~{other}:1:* to the account");
  });

  it("warns of a policy that evicts any key", async () => {
    const server = await serverOf(name, "--maxmemory-policy", "allkeys-lru");
    const { code, verdict, found } = await check(server.url);
    expect(found[2]).toMatch(/^warn maxmemory-policy allkeys-lru: .* may evict step backs/);
    expect([code, verdict]).toEqual([0, "warn"]);
    // An account that may run only one of the two commands.
    for (const right of ["+info", "+config|get"]) {
      const limited = await check(server.url, await account(server, [...documentedRights(), right]));
      expect(limited.found[2]).toMatch(/^warn maxmemory-policy allkeys-lru/);
      await server.run("ACL", "DELUSER", "carryover");
    }
  });

  it("names the option for a wrong and for a missing password, and shows neither", async () => {
    const server = await serverOf(name);
    const wrong = await check(server.url, await account(server, documentedRights(), "an-old-secret"));
    expect(wrong.found).toEqual([
      expect.stringMatching(/^fail state\.url: the server refuses the password \(WRONGPASS/),
    ]);
    expect(wrong.remedies).toContain("state.passwordFile");
    expect([wrong.code, wrong.out.includes("an-old-secret")]).toEqual([1, false]);
    await server.run("ACL", "SETUSER", "default", "off");
    const missing = await check(server.url);
    expect(missing.found).toEqual([expect.stringMatching(/^fail state\.url: the server requires a password \(NOAUTH/)]);
    expect(missing.remedies).toContain("set state.passwordFile");
  });

  it("names a copy that takes no writes", async () => {
    const [server, primary] = [await serverOf(name), await serverOf(name)];
    await server.run("REPLICAOF", "127.0.0.1", String(primary.port));
    const { code, found, remedies } = await check(server.url);
    expect(found.join("\n")).toMatch(
      /warn it is a copy of another server[\s\S]*fail state\.url: the server .*(READONLY|MASTERDOWN|LOADING)/,
    );
    expect(remedies).toContain("write the address of the primary");
    expect(code).toBe(1);
  });

  it("gives up a server that is frozen", async () => {
    const server = await serverOf(name);
    server.signal("SIGSTOP");
    const begun = performance.now();
    const { code, found, remedies } = await check(server.url);
    expect(found).toEqual([
      expect.stringMatching(/^fail state\.url: there is no response in time \(no connection within 3 s/),
    ]);
    expect(remedies).toContain("whether the server hangs");
    expect([code, performance.now() - begun < 5_000]).toEqual([1, true]);
  });

  it("names keys that another program uses, and leaves them as they are", async () => {
    const server = await serverOf(name);
    await server.run("SET", "{carryover}:1:check", "mine");
    const { found, remedies } = await check(server.url);
    expect(found[1]).toMatch(/^fail state\.url: another program uses these keys \(WRONGTYPE/);
    expect(remedies).toContain("state.prefix");
    expect(await server.run("GET", "{carryover}:1:check")).toContain("mine");
  });
});

describe("the way to the store", () => {
  it.each([
    ["redis://127.0.0.1:9", "nothing listens there (connect ECONNREFUSED 127.0.0.1:9)", "host and port of state.url"],
    ["redis://no-such-host.invalid", "the name is not known", "correct the host of state.url"],
  ])("%s", async (url, what, remedy) => {
    const { code, found, remedies } = await check(url);
    expect(found).toEqual([expect.stringContaining(`fail state.url: ${what}`)]);
    expect(remedies).toContain(remedy);
    expect(code).toBe(1);
  });

  it("gives up a server that accepts and says nothing", async () => {
    const port = await listening(createServer(() => {}));
    expect((await check(`redis://127.0.0.1:${port}`)).found[0]).toMatch(/^fail .*no response in time/);
  });

  it("names the option for each fault of certificates and of TLS", async () => {
    const server = await serverOf("valkey-9.1");
    const home = await folder();
    const file = (name: string, text: string) => {
      writeFileSync(join(home, name), text);
      return join(home, name);
    };
    const trusting = ({ cert }: typeof LOCALHOST) => ["--state-tls-ca-file", file(`${cert.length}.pem`, cert)];
    const pair = [
      "--state-tls-cert-file",
      file("own.pem", LOCALHOST.cert),
      "--state-tls-key-file",
      file("own.key", LOCALHOST.key),
    ];
    const port = await behindTls(server);
    const strict = await behindTls(server, { ca: LOCALHOST.cert, requestCert: true, rejectUnauthorized: true });
    const [other, expired] = [await behindTls(server, OTHER_NAME), await behindTls(server, EXPIRED)];
    const at = (to: number, more: readonly string[]) => check(`rediss://localhost:${to}`, more);
    expect((await at(port, trusting(LOCALHOST))).verdict).toBe("ok");
    expect((await at(strict, [...trusting(LOCALHOST), ...pair])).verdict).toBe("ok");
    const faults = [
      [at(port, []), "signed by an authority that this machine does not know", "state.tls.caFile"],
      [at(port, trusting(OTHER_NAME)), "signed by an authority that this machine does not know", "state.tls.caFile"],
      [
        at(other, trusting(OTHER_NAME)),
        "the certificate is for another name",
        "name of the certificate into state.url",
      ],
      [at(expired, trusting(EXPIRED)), "the certificate has expired", "renewed"],
      [at(strict, trusting(LOCALHOST)), "(tlsv13 alert certificate required)", "state.tls.certFile"],
      [at(server.port, trusting(LOCALHOST)), "no response in time", "with redis:// if that port speaks no TLS"],
      [check(`redis://localhost:${port}`), "the connection is cut", "rediss:// if that port speaks TLS"],
    ] as const;
    for (const [checked, what, remedy] of faults) {
      const { code, found, remedies } = await checked;
      expect([code, found, remedies]).toEqual([1, [expect.stringContaining(what)], expect.stringContaining(remedy)]);
    }
  }, 30_000);

  it("follows a cluster to the node that has the keys", async () => {
    const [first, second] = [
      await serverOf("valkey-9.1", "--cluster-enabled", "yes"),
      await serverOf("valkey-9.1", "--cluster-enabled", "yes"),
    ];
    await first.run("CLUSTER", "ADDSLOTSRANGE", "0", "8191");
    await second.run("CLUSTER", "ADDSLOTSRANGE", "8192", "16383");
    await first.run("CLUSTER", "MEET", "127.0.0.1", String(second.port));
    const isReady = async () =>
      (await Promise.all([first, second].map((one) => one.run("CLUSTER", "INFO")))).every((text) =>
        text.includes("cluster_state:ok"),
      );
    await expect.poll(isReady, { timeout: 20_000 }).toBe(true);
    for (const { url } of [first, second]) {
      const { found } = await check(url);
      expect(found.slice(1)).toEqual([
        "note it is a cluster: one of its nodes has all keys of carryover",
        ALL,
        HARMLESS,
      ]);
    }
  }, 40_000);

  it("refuses a Sentinel, which keeps nothing", async () => {
    const port = await listening(
      createServer((socket) => {
        const words = ["server", "redis", "version", "7.0.15", "mode", "sentinel"];
        const text = words.map((word) => `$${word.length}\r\n${word}\r\n`).join("");
        socket.on("data", () => socket.write(`%3\r\n${text}`));
      }),
    );
    const { code, found } = await check(`redis://127.0.0.1:${port}`);
    expect(found).toEqual(["fail state.url: redis 7.0.15 is a Sentinel, which keeps nothing itself"]);
    expect(code).toBe(1);
  });
});
