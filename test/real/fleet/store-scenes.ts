/** What befalls the store, or the way to it. In each scene decisions are made meanwhile, under load. */
import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import { OTHER_NAME } from "../../server/support/certificates.ts";
import type { Server } from "../state/server.ts";
import type { Process } from "./processes.ts";
import { BETWEEN, failuresOf, QUIET, type Rig } from "./rig.ts";

export interface Scene {
  readonly name: string;
  /** How long the fault lasts. */
  readonly seconds: number;
  /** The store still takes decisions meanwhile. */
  readonly decides?: boolean;
  /** Begins the fault, and returns what ends it. */
  begin(rig: Rig): Promise<() => Promise<void> | void>;
}

/** For how long a decision may be unknown to a replica that reaches the store. */
const MOST_MS = 2_000;
/** Until all replicas reach a store that is back: they try again after 4 s at most. */
const BACK_MS = 10_000;

const toServer = (...words: readonly string[]) => ({
  begin: async ({ store }: Rig): Promise<void> => expectOk(await store.server().run(...words)),
});

const NOTHING: Scene = { name: QUIET, seconds: 3, decides: true, begin: async () => () => {} };

export const SCENES: readonly Scene[] = [
  NOTHING,
  {
    name: "kill -9 of the server, which loses everything",
    seconds: 3,
    begin: async ({ store }) => {
      await store.server().kill();
      return () => store.server().start();
    },
  },
  {
    name: "kill -9 of the server, which has all that it had when it is back",
    seconds: 3,
    begin: async ({ store }) => {
      expectOk(await store.server().run("SAVE"));
      await store.server().kill();
      return () => store.server().start();
    },
  },
  {
    name: "a failover to a copy that lacks acknowledged decisions",
    seconds: 1,
    begin: async (rig) => {
      const copy = await copyOf(rig);
      await rig.stepBackAt(rig.process(3));
      await setTimeout(2_000);
      await rig.store.server().kill();
      return () => rig.store.moveTo(copy);
    },
  },
  {
    name: "a server that is frozen for 20 s",
    seconds: 20,
    begin: async ({ store }) => {
      store.server().signal("SIGSTOP");
      return () => store.server().signal("SIGCONT");
    },
  },
  {
    name: "a way that swallows everything for a minute",
    seconds: 60,
    begin: async ({ store }) => {
      for (const way of store.ways) way.silence();
      return () => {
        for (const way of store.ways) way.restore();
      };
    },
  },
  {
    name: "answers that take a second",
    seconds: 5,
    begin: async ({ store }) => {
      for (const way of store.ways) way.delay(1_000);
      return () => {
        for (const way of store.ways) way.delay(0);
      };
    },
  },
  full("noeviction", true),
  full("volatile-lru", true),
  full("allkeys-lru", false),
  {
    name: "FLUSHALL",
    seconds: 3,
    decides: true,
    begin: async (rig) => {
      await toServer("FLUSHALL").begin(rig);
      return () => {};
    },
  },
  {
    name: "a wrong password",
    seconds: 3,
    begin: async ({ store }) => {
      store.setPassword("another-password");
      for (const way of store.ways) way.cut();
      return () => store.setPassword();
    },
  },
  {
    name: "an authority that did not sign the server's certificate",
    seconds: 3,
    begin: async ({ store }) => {
      store.setAuthority(OTHER_NAME.cert);
      for (const way of store.ways) way.cut();
      return () => store.setAuthority();
    },
  },
  {
    name: "an account with too few permissions",
    seconds: 3,
    begin: async (rig) => {
      await toServer("ACL", "SETUSER", "carryover", "-eval", "-evalsha").begin(rig);
      return () => toServer("ACL", "SETUSER", "carryover", "+eval", "+evalsha").begin(rig);
    },
  },
  NOTHING,
];

/** Other users of the server fill it. `decides`: decisions are safe there. */
function full(policy: string, decides: boolean): Scene {
  return {
    name: `a full server with ${policy}`,
    seconds: 4,
    decides,
    begin: async ({ store }) => {
      const server = store.server();
      await server.run("CONFIG", "SET", "maxmemory-policy", policy);
      await server.run("CONFIG", "SET", "maxmemory", String((await usedBytes(server)) + 2 ** 20));
      const value = "x".repeat(10_000);
      for (let i = 0; i < 300; i++) await server.run("SET", `others:${i}`, value);
      return async () => {
        expectOk(await server.run("CONFIG", "SET", "maxmemory", "0"));
        expectOk(await server.run("CONFIG", "SET", "maxmemory-policy", "noeviction"));
        for (let i = 0; i < 300; i++) await server.run("DEL", `others:${i}`);
      };
    },
  };
}

/** A copy of the server as it is now, which takes nothing of what comes later. */
async function copyOf({ store }: Rig): Promise<Server> {
  const copy = await store.another();
  await copy.run("REPLICAOF", "127.0.0.1", String(store.server().port));
  while (!(await copy.run("INFO", "replication")).includes("master_link_status:up")) await setTimeout(50);
  expectOk(await copy.run("REPLICAOF", "NO", "ONE"));
  return copy;
}

async function usedBytes(server: Server): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await server.run("INFO", "memory"))?.[1]);
}

function expectOk(reply: string): void {
  expect(reply).toContain("+OK");
}

/** Plays a scene, number `at`, and returns a line of what was measured. */
export async function play(rig: Rig, scene: Scene, at: number): Promise<string> {
  const { load, process, processes, msUntil } = rig;
  const [reason, by] = [`scene ${at}: ${scene.name}`, `operator-${at}`];
  const isForced = async (one: Process): Promise<boolean> => {
    const seen = await one.following();
    return seen.force === "native" && seen.reason === reason && seen.by === by;
  };
  const isAllBack = async (one: Process): Promise<boolean> => {
    const { back } = await one.following();
    return rig.back.every((name) => back.has(name));
  };
  load.begin(scene.name);
  const end = await scene.begin(rig);
  const ending = setTimeout(scene.seconds * 1_000);
  await setTimeout(500);
  await rig.stepBackAt(process(at + 1));
  const meanwhile: string[] = [];
  if (scene.decides) meanwhile.push(`step back everywhere after ${(await msUntil(isAllBack, MOST_MS)).toFixed(0)} ms`);
  const { code, out } = await process(at).command("force", "native", "--reason", reason, "--by", by);
  expect(code, out).toBe(0);
  // The replica that decides follows at once, whatever the store does.
  expect(await load.ask(process(at).url, "somebody")).toBe("native");
  if (scene.decides) meanwhile.push(`force everywhere after ${(await msUntil(isForced, MOST_MS)).toFixed(0)} ms`);
  await ending;
  await end();
  const up = await msUntil((one) => one.isStoreUp(), BACK_MS);
  const known = await msUntil(async (one) => (await isForced(one)) && (await isAllBack(one)), MOST_MS);
  for (const one of processes) expect(await load.ask(one.url, "somebody")).toBe("native");
  await process(at + 2).command("force", "none");
  const lifted = await msUntil(async (one) => (await one.following()).force === "none", MOST_MS);
  for (const one of processes) {
    expect(await load.ask(one.url, "somebody")).toBe("translate");
    for (const name of rig.back.slice(-2)) expect(await load.ask(one.url, name)).toBe("shadow");
  }
  load.begin(BETWEEN);
  expect(failuresOf(rig, scene.name)).toEqual([]);
  const numbers = [
    ...meanwhile,
    `store up ${up.toFixed(0)} ms after its return`,
    `all known ${known.toFixed(0)} ms later`,
    `force lifted everywhere after ${lifted.toFixed(0)} ms`,
  ];
  return `${scene.name}: ${numbers.join("; ")}`;
}
