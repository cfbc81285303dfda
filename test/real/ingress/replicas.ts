/** Starts nginx in front of several processes with `deploy/nginx/carryover.conf` as shipped. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "../../../scripts/free-ports.mjs";
import { carryover, type Running } from "../../end-to-end/app/process.ts";
import { later } from "../../end-to-end/app/rig.ts";
import { installed, PROGRAMS, type Program } from "./programs.ts";
import { running, spawned } from "./proxy.ts";

const SHIPPED = resolve(import.meta.dirname, "../../../deploy/nginx/carryover.conf");

/** nginx on a port of its own before `urls`; checked with its own check, stopped after the test. */
export async function startReplicas(urls: readonly string[]): Promise<string> {
  const [program] = PROGRAMS.filter(({ name }) => name === "nginx");
  if (program === undefined) throw new Error("there is no nginx among the programs");
  installed(program);
  const port = await freePort();
  const folder = await folderOf(program, edited(await readFile(SHIPPED, "utf8"), urls, port));
  const check = spawned(program.path, program.check(folder), folder);
  if ((await check.ended) !== 0) throw new Error(`nginx refuses the file:\n${check.said()}`);
  const child = await running(program, folder, [port]);
  if (child.over()) throw new Error(`nginx ended:\n${child.said()}`);
  return `http://127.0.0.1:${port}`;
}

async function folderOf(program: Program, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "carryover-replicas-"));
  later(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, program.recipe), text);
  await program.prepare(folder);
  return folder;
}

/** Only ports change. Throws when the file has no such places any more. */
function edited(shipped: string, urls: readonly string[], port: number): string {
  const servers = /(?:^ {2}server 127\.0\.0\.1:\d+( .*);\n)+/m;
  const listen = /^ {2}listen 80;$/m;
  const options = servers.exec(shipped)?.[1];
  if (options === undefined || !listen.test(shipped)) throw new Error(`${SHIPPED} is not what this test knows`);
  const lines = urls.map((url) => `  server ${new URL(url).host}${options};\n`).join("");
  return shipped.replace(servers, lines).replace(listen, `  listen 127.0.0.1:${port};`);
}

/** One carryover as a process of its own. */
export interface Replica {
  readonly url: string;
  readonly adminUrl: string;
  readonly process: Running;
}

/** On free ports, or on those of `again`. */
export async function startReplica(platformUrl: string, again?: Replica): Promise<Replica> {
  const [port, adminPort] = [again?.url ?? "http://x:0", again?.adminUrl ?? "http://x:0"].map(
    (url) => new URL(url).port,
  );
  const run = carryover([
    ...["serve", "--upstream-v2-url", platformUrl, "--listen-host", "127.0.0.1", "--log-level", "warn"],
    ...["--listen-port", port ?? "0", "--admin-port", adminPort ?? "0", "--listen-trusted-proxies", "127.0.0.1/32"],
  ]);
  const said = await run.until(/admin at \S+,/);
  const [, url = "", adminUrl = ""] = /v1 clients at (\S+),.* admin at (\S+),/.exec(said) ?? [];
  return { url, adminUrl, process: run };
}

/** Requests that this process counts. */
export async function requestsOf({ adminUrl }: Replica): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return [...text.matchAll(/^carryover_requests_total\{[^}]*\} (\d+)/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
}
