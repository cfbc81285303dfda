/** Several real processes of carryover that share a real store, in front of a platform that does what the test says. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { runCommand } from "../../../scripts/command.ts";
import type { SendLayer } from "../../../src/model/http.ts";
import { send } from "../../end-to-end/app/rig.ts";
import { folder } from "../../end-to-end/cutover/rig.ts";
import { later } from "../../support/take-down.ts";
import { type Instance, serve } from "../../trust/lod/serving.ts";

export const TOKEN = "0123456789-admin-token";
const RULES = `version: carryover/v1
rules:
  - { name: forward, match: {}, mode: translate }
`;
const CLIENTS = 4;

export interface Member extends Instance {
  /** A view of the admin port as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into views of every shape.
  view(path: string): Promise<any>;
  metric(name: string): Promise<number>;
  command(...words: readonly string[]): Promise<{ readonly code: number | undefined; readonly out: string }>;
  /** What `carryover status` prints, in one line. */
  status(): Promise<string>;
  /** Status and mode of one request of one of four clients, and the milliseconds that it took. */
  ask(): Promise<{ readonly status: number; readonly mode: string; readonly ms: number }>;
  /** Status and mode of a GET of a client of its own. */
  call(target: string): Promise<{ readonly status: number; readonly mode: string }>;
  /** State of the rule. */
  state(): Promise<string>;
  kill(): Promise<void>;
}

export interface Fleet {
  /** Status of all responses of v2; 0: as usual. */
  readonly sick: { v2: number };
  /** Starts a process. */
  member(flags?: Readonly<Record<string, string>>): Promise<Member>;
}

export async function startFleet(common: Readonly<Record<string, string>>, rules = RULES): Promise<Fleet> {
  const sick = { v2: 0 };
  const faults: SendLayer = (next) => (request, options) => {
    if (sick.v2 === 0 || !request.target.includes("/v2beta1/")) return next(request, options);
    const body = Buffer.from('{"code":14,"message":"sick","details":[]}');
    return Promise.resolve({ status: sick.v2, headers: [["content-type", "application/json"]], body });
  };
  const sandbox = seededSandbox({ organisation: false, faults });
  later(() => sandbox.close());
  const { url } = await sandbox.listen();
  const home = await folder();
  const [rulesFile, tokenFile] = [join(home, "rules.yaml"), join(home, "token")];
  writeFileSync(rulesFile, rules);
  writeFileSync(tokenFile, TOKEN);
  const member = async (flags: Readonly<Record<string, string>> = {}): Promise<Member> => {
    const instance = await serve({
      upstreamV2Url: url,
      upstreamV1Url: url,
      upstreamV2Breaker: "false",
      cutoverMode: "native",
      cutoverRulesFile: rulesFile,
      adminTokenFile: tokenFile,
      listenShutdownDelaySeconds: "0",
      ...common,
      ...flags,
    });
    const { adminUrl, run } = instance;
    const text = async (path: string) =>
      (await fetch(`${adminUrl}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } })).text();
    const view = async (path: string) => JSON.parse(await text(path));
    const command: Member["command"] = (...words) =>
      runCommand([...words, adminUrl], { env: { CARRYOVER_ADMIN_TOKEN: TOKEN } });
    let asked = 0;
    return {
      ...instance,
      view,
      metric: async (name) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await text("/metrics"))?.[1]),
      command,
      status: async () => (await command("status")).out.replaceAll(/\s+/g, " "),
      ask: async () => {
        const at = asked++;
        const begun = performance.now();
        const { status, field } = await send(
          instance.url,
          sandbox,
          "GET",
          `/iam/v1/roles?name=viewer&description=${at}`,
          {
            as: `admin#${at % CLIENTS}`,
            headers: { "user-agent": `client-${at % CLIENTS}/1.0` },
          },
        );
        return { status, mode: String(field("carryover-mode")), ms: performance.now() - begun };
      },
      call: async (target) => {
        const headers = { "user-agent": "legacy/1.0" };
        const { status, field } = await send(instance.url, sandbox, "GET", target, { headers });
        return { status, mode: String(field("carryover-mode")) };
      },
      state: async () => (await view("/progress")).rules[0].state,
      kill: async () => {
        run.stop("SIGKILL");
        await run.ended;
      },
    };
  };
  return { sick, member };
}

/** Ten requests per second to `member` until `holds`, for `seconds` at most. */
export async function load(member: Member, seconds: number, holds: () => Promise<boolean>): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    await Promise.all(Array.from({ length: 10 }, () => member.ask()));
    if (await holds()) return;
    await setTimeout(900);
    if (await holds()) return;
  }
  throw new Error(`it does not happen within ${seconds} s`);
}

/** Resolves to the milliseconds until `holds`. */
export async function msUntil(holds: () => Promise<boolean>, most = 10_000): Promise<number> {
  const begun = performance.now();
  while (performance.now() - begun < most) {
    if (await holds()) return performance.now() - begun;
    await setTimeout(20);
  }
  throw new Error(`it does not happen within ${most} ms`);
}
