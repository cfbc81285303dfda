/** Starts one of the programs with the recipe as shipped. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { freePorts } from "../../../scripts/free-ports.mjs";
import { later } from "../../end-to-end/app/rig.ts";
import { LOCALHOST } from "../../server/support/certificates.ts";
import { environment, filledIn, installed, type Program, RECIPES } from "./programs.ts";

export interface Behind {
  readonly carryoverUrl: string;
  /** Default: an address where nothing listens. */
  readonly adminUrl?: string;
  readonly platformUrl: string;
  readonly grpcUrl?: string;
  /** The file of descriptors, for a recipe that reads them. */
  readonly descriptors?: string;
  /** Of v1 traffic through carryover; default 100. */
  readonly percent?: number;
  /** Changes the recipe, to show what happens without a setting of it. */
  readonly edit?: (recipe: string) => string;
}

export interface Ingress {
  readonly url: string;
  /** Where HTTP/2 without TLS is spoken. */
  readonly h2Url: string;
  /** HTTP/1.1 and HTTP/2 over TLS, with the certificate `LOCALHOST` of the tests. */
  readonly tlsUrl: string;
  /** Everything the program has said. */
  said(): string;
}

export interface Child {
  said(): string;
  over(): boolean;
  readonly ended: Promise<number | null>;
  kill(): void;
}

/** Checks the recipe with the program's own check, starts it and waits until it listens; stopped after the test. */
export async function startProxy(program: Program, behind: Behind): Promise<Ingress> {
  installed(program);
  // Somebody else may take a free port between looking and listening; three in a row is something else.
  for (let attempt = 1; ; attempt++) {
    const made = await tryProxy(program, behind);
    if (typeof made !== "string") return made;
    if (attempt === 3 || !/in use|cannot bind/i.test(made)) throw new Error(`${program.title} ended:\n${made}`);
  }
}

async function tryProxy(program: Program, behind: Behind): Promise<Ingress | string> {
  const folder = await mkdtemp(join(tmpdir(), `carryover-${program.name}-`));
  later(() => rm(folder, { recursive: true, force: true }));
  const ports = (await freePorts(3)) as Ports;
  const [port, h2Port, tlsPort] = ports;
  const { edit = (recipe) => recipe } = behind;
  const recipe = edit(await readFile(join(RECIPES, program.recipe), "utf8"));
  await writeFile(join(folder, program.recipe), filledIn(recipe, valuesOf(behind, ports, folder)));
  await writeFile(join(folder, "tls.crt"), LOCALHOST.cert);
  await writeFile(join(folder, "tls.key"), LOCALHOST.key);
  await program.prepare(folder);
  const check = spawned(program.path, program.check(folder), folder);
  if ((await check.ended) !== 0) throw new Error(`${program.title} refuses the recipe:\n${check.said()}`);

  // The recipe for Envoy's transcoder has no TLS.
  const child = await running(program, folder, recipe.includes("LISTEN_TLS_PORT") ? [port, tlsPort] : [port]);
  if (child.over()) return child.said();
  const h2Url = `http://127.0.0.1:${program.oneListener ? port : h2Port}`;
  return { url: `http://127.0.0.1:${port}`, h2Url, tlsUrl: `https://localhost:${tlsPort}`, said: child.said };
}

type Ports = [port: number, h2Port: number, tlsPort: number];

function valuesOf(behind: Behind, [port, h2Port, tlsPort]: Ports, folder: string): Record<string, string> {
  const carryover = new URL(behind.carryoverUrl);
  const platform = new URL(behind.platformUrl);
  const grpc = new URL(behind.grpcUrl ?? behind.platformUrl);
  const { percent = 100 } = behind;
  return {
    LISTEN_PORT: String(port),
    LISTEN_GRPC_PORT: String(h2Port),
    LISTEN_TLS_PORT: String(tlsPort),
    TLS_CERT: join(folder, "tls.crt"),
    TLS_KEY: join(folder, "tls.key"),
    PROXY_HOST: carryover.hostname,
    PROXY_PORT: carryover.port,
    PROXY_ADMIN_PORT: new URL(behind.adminUrl ?? behind.carryoverUrl).port,
    PLATFORM_HOST: platform.hostname,
    PLATFORM_PORT: platform.port,
    GRPC_HOST: grpc.hostname,
    GRPC_PORT: grpc.port,
    DESCRIPTORS: behind.descriptors ?? "",
    PERCENT: String(percent),
    SHARE:
      percent === 100
        ? "g"
        : Math.round(percent * 655.36)
            .toString(16)
            .padStart(4, "0"),
  };
}

/** It dies with this process, even when that is killed. */
export function spawned(path: string, argv: readonly string[], folder: string): Child {
  const child = spawn("setpriv", ["--pdeathsig", "KILL", path, ...argv], {
    cwd: folder,
    env: environment(folder),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  let over = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  }
  const ended = new Promise<number | null>((done, failed) => {
    child.once("error", failed);
    child.once("close", (code) => {
      over = true;
      done(code);
    });
  });
  return { said: () => said, over: () => over, ended, kill: () => child.kill("SIGKILL") };
}

/** Runs the program until the end of the test. Resolves once it listens at all ports, or has ended. */
export async function running(program: Program, folder: string, ports: readonly number[]) {
  const child = spawned(program.path, program.run(folder), folder);
  later(async () => {
    child.kill();
    await child.ended;
  });
  while (!child.over() && (await Promise.all(ports.map(listens))).includes(false)) await wait(20);
  return child;
}

function listens(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      done(true);
    });
    socket.once("error", () => done(false));
  });
}
