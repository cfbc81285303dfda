import { Agent, get } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { createSandbox } from "../../../sandbox/src/sandbox.ts";
import { freePort } from "../../../scripts/free-ports.mjs";
import { later, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { type Carryover, startCarryover } from "../../support/carryover.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { PROGRAMS } from "../ingress/programs.ts";
import { startProxy } from "../ingress/proxy.ts";
import { startReplicas } from "../ingress/replicas.ts";

takeDownAfterEach();

const CLIENTS = 6;
const ROUNDS = scale(1, 5);
/** As long as the fronts need to notice: twice the second between two looks at /readyz, and some. */
const DRAIN = "4s";

interface Instance {
  running: Carryover;
  served: number;
  readonly port: string;
  readonly adminPort: string;
}

/** Its recipe with a second instance in it. */
type Fronted = (first: Instance, second: Instance, platformUrl: string) => Promise<string>;

const url = ({ port }: Instance): string => `http://127.0.0.1:${port}`;
const adminUrl = ({ adminPort }: Instance): string => `http://127.0.0.1:${adminPort}`;

function byRecipe(name: string, twice: (recipe: string, first: Instance, second: Instance) => string): Fronted {
  return async (first, second, platformUrl) => {
    const program = PROGRAMS.find((one) => one.name === name);
    if (program === undefined) throw new Error(`there is no program ${name}`);
    const behind = { carryoverUrl: url(first), adminUrl: adminUrl(first), platformUrl };
    const front = await startProxy(program, { ...behind, edit: (recipe) => twice(recipe, first, second) });
    return front.url;
  };
}

/** What stands between the two places, repeated with other ports. */
function repeated(recipe: string, pattern: RegExp, second: Instance): string {
  const [found] = pattern.exec(recipe) ?? [];
  if (found === undefined) throw new Error(`the recipe has no ${pattern}`);
  const again = found
    .replace("server carryover", "server second")
    .replace(/\$\{PROXY_PORT\}/, second.port)
    .replace(/\$\{PROXY_ADMIN_PORT\}/, second.adminPort);
  return recipe.replace(found, `${found}${again}`);
}

const FRONTS: readonly (readonly [string, Fronted])[] = [
  // The nginx recipe for one instance never retries, and open-source nginx has no health checks: several instances use this file.
  ["nginx 1.22", (first, second) => startReplicas([url(first), url(second)])],
  ["HAProxy 2.6", byRecipe("haproxy", (recipe, _, second) => repeated(recipe, /^ {2}server carryover .*\n/m, second))],
  [
    "Envoy 1.40",
    byRecipe("envoy", (recipe, _, second) =>
      repeated(recipe, /^ {14}- endpoint:\n.*PROXY_PORT.*\n.*PROXY_ADMIN_PORT.*\n/m, second),
    ),
  ],
];

it.each(FRONTS)("T-LOD-09: behind %s, rolling restarts fail no read", { timeout: 300_000 }, async (title, fronted) => {
  const sandbox = createSandbox();
  later(sandbox.close);
  const { url: platformUrl } = await sandbox.listen();
  const instances = [await instance(platformUrl), await instance(platformUrl)] as const;
  const front = await fronted(...instances, platformUrl);
  const authorization = `Bearer ${sandbox.token("admin")}`;
  const target = `${front}/iam/v1/groups/${sandbox.wellKnown.someGroup}`;
  const done = { yet: false };
  const asked = Array.from({ length: CLIENTS }, () => client(target, authorization, done));

  for (const one of instances) await served(one);
  const cut: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const one of instances) {
      cut.push(await one.running.stop());
      await start(one, platformUrl);
      // As a rollout does: the next one only when this one is in use again.
      await served(one);
    }
  }
  done.yet = true;
  const answers = (await Promise.all(asked)).flat();

  const failed = answers.filter((answer) => answer !== "200");
  figure("T-LOD-09", `reads while instances behind ${title} were restarted`, answers.length, "requests");
  figure("T-LOD-09", `of them failed, behind ${title}`, failed.length, "requests");
  console.log(`${title}: ${answers.length} reads, ${cut.length} restarts, ${failed.length} failed`);
  expect([failed, cut.filter((count) => count > 0)]).toEqual([[], []]);
  expect(answers.length).toBeGreaterThan(40 * cut.length);
});

async function instance(platformUrl: string): Promise<Instance> {
  const made = { served: 0, port: String(await freePort()), adminPort: String(await freePort()) };
  const started = { ...made, running: await carryoverOn(made, platformUrl, () => started.served++) };
  later(() => started.running.close());
  return started;
}

async function start(one: Instance, platformUrl: string): Promise<void> {
  one.served = 0;
  one.running = await carryoverOn(one, platformUrl, () => one.served++);
}

function carryoverOn(
  { port, adminPort }: Pick<Instance, "port" | "adminPort">,
  v2Url: string,
  onExchange: () => void,
): Promise<Carryover> {
  const flags = { listenPort: port, adminPort, listenShutdownDelaySeconds: DRAIN, listenTrustedProxies: "127.0.0.1" };
  return startCarryover({ v2Url, flags, onExchange });
}

/** Until the front sends it requests again. */
async function served(one: Instance): Promise<void> {
  while (one.served < 20) await wait(20);
}

/** One connection kept open, one request behind another; the status of each, or what became of it. */
async function client(target: string, authorization: string, done: { readonly yet: boolean }): Promise<string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const answers: string[] = [];
  while (!done.yet) {
    answers.push(
      await new Promise<string>((answered) => {
        const asked = get(target, { agent, headers: { authorization } }, (answer) => {
          answer.resume().once("end", () => answered(String(answer.statusCode)));
          answer.once("error", (error) => answered(error.message));
        });
        asked.once("error", (error) => answered(error.message));
      }),
    );
    await wait(5);
  }
  agent.destroy();
  return answers;
}
