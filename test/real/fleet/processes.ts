/** Five real processes of carryover behind a real HAProxy, with a store that they share and a platform that does what the test says. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "../../../sandbox/src/sandbox.ts";
import { runCommand } from "../../../scripts/command.ts";
import { freePorts } from "../../../scripts/free-ports.mjs";
import { later } from "../../support/take-down.ts";
import { type Instance, serve } from "../../trust/lod/serving.ts";
import { type Front, type Place, startFront } from "./front.ts";
import { type Sick, startPlatform } from "./platform.ts";
import { type Store, startStore } from "./store.ts";

export const TOKEN = "0123456789-admin-token";

/** What a process follows now. */
export interface Following {
  /** Of `carryover force`. */
  readonly force: string;
  readonly reason: string | undefined;
  readonly by: string | undefined;
  /** Rules that stepped back, or return. */
  readonly back: ReadonlySet<string>;
}

export interface Process {
  readonly at: number;
  readonly url: string;
  /** A view of the admin port as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into views of every shape.
  view(path: string): Promise<any>;
  /** Rejects while the process does not run. */
  following(): Promise<Following>;
  isStoreUp(): Promise<boolean>;
  command(...words: readonly string[]): Promise<{ readonly code: number | undefined; readonly out: string }>;
  /** Ends it by `signal` and waits until it is gone. */
  stop(signal: NodeJS.Signals): Promise<void>;
  /** On the same ports. */
  start(how?: How): Promise<void>;
}

export interface How {
  readonly env?: Readonly<Record<string, string>>;
  /** `dist/main.js` of another version. */
  readonly main?: string;
}

export interface Fleet {
  readonly sandbox: Sandbox;
  readonly sick: Sick;
  readonly store: Store;
  readonly front: Front;
  readonly processes: readonly Process[];
  /** Puts other rules into force everywhere. */
  setRules(text: string): Promise<void>;
}

export async function startFleet(count: number, rules: string): Promise<Fleet> {
  const folder = await mkdtemp(join(tmpdir(), "carryover-fleet-"));
  later(() => rm(folder, { recursive: true, force: true }));
  const [rulesFile, tokenFile, descriptors] = ["rules.yaml", "token", "api.binpb"].map((name) => join(folder, name));
  const { sandbox, sick, url } = await startPlatform();
  await writeFile(rulesFile ?? "", rules);
  await writeFile(tokenFile ?? "", TOKEN);
  await writeFile(descriptors ?? "", sandbox.descriptors());
  const store = await startStore(count, folder);
  const ports = await freePorts(3 * count);
  const places = Array.from({ length: count }, (_, i): Place => {
    const [port = 0, grpcPort = 0, adminPort = 0] = ports.slice(3 * i);
    return { port, grpcPort, adminPort };
  });
  const processes = places.map((place, at) =>
    processOf(at, place, {
      upstreamV2Url: url,
      upstreamV1Url: url,
      upstreamV2Breaker: "false",
      cutoverMode: "native",
      cutoverRulesFile: rulesFile ?? "",
      adminTokenFile: tokenFile ?? "",
      grpcDescriptors: descriptors ?? "",
      logLevel: "warn",
      listenPort: String(place.port),
      listenGrpcPort: String(place.grpcPort),
      adminPort: String(place.adminPort),
      // HAProxy looks every 300 ms.
      listenShutdownDelaySeconds: "1",
      ...store.flags(at),
    }),
  );
  await Promise.all(processes.map((one) => one.start()));
  const setRules = async (text: string): Promise<void> => {
    await writeFile(rulesFile ?? "", text);
    const digests = async () => Promise.all(processes.map(async (one) => (await one.view("/rules")).rulesFile.reloads));
    const before = await digests();
    for (let seen = before; seen.some((reloads, i) => reloads === before[i]); seen = await digests()) {
      await new Promise((soon) => setTimeout(soon, 100));
    }
  };
  return { sandbox, sick, store, processes, front: await startFront(places), setRules };
}

function processOf(at: number, { port, adminPort }: Place, flags: Readonly<Record<string, string>>): Process {
  let running: Instance | undefined;
  const adminUrl = `http://127.0.0.1:${adminPort}`;
  const text = async (path: string): Promise<string> =>
    (await fetch(adminUrl + path, { headers: { authorization: `Bearer ${TOKEN}` } })).text();
  const view = async (path: string) => JSON.parse(await text(path));
  return {
    at,
    url: `http://127.0.0.1:${port}`,
    view,
    following: async () => {
      const { forcedBy, rules } = await view("/rules");
      const back = rules.filter(({ state }: { state: string }) => state !== "forward");
      return {
        force: forcedBy.command,
        reason: forcedBy.reason,
        by: forcedBy.by,
        back: new Set<string>(back.map(({ name }: { name: string }) => name)),
      };
    },
    isStoreUp: async () => /^carryover_state_store_up 1$/m.test(await text("/metrics")),
    command: (...words) => runCommand([...words, adminUrl], { env: { CARRYOVER_ADMIN_TOKEN: TOKEN } }),
    stop: async (signal) => {
      running?.run.stop(signal);
      await running?.run.ended;
    },
    start: async ({ env = {}, main } = {}) => {
      running = await serve(flags, env, undefined, main);
    },
  };
}
