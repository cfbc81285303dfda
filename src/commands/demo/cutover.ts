/** The tour's cutover: a rule in shadow, the difference that it finds, the move to translate, a rollback, and the way out. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { createSandbox } from "#sandbox";
import { ConfigError } from "../../config/faults.ts";
import { OurHeader } from "../../model/http.ts";
import { createLog } from "../../telemetry/log.ts";
import type { CommandIo, Outcome } from "../command.ts";
import { addGate, addStatus } from "../status/command.ts";
import { FREE_PORTS, type Front, type Platform, startFront, startPlatform } from "./stage.ts";

const RULE = "role-reads";
const CLIENTS = ["ci-bot", "portal", "terraform"] as const;
/** Roles of the sandbox. Clients ask for one after the other, since repeats of one request are little evidence. */
const ROLES = ["viewer", "editor", "owner", "iam.viewer", "iam.admin", "custom-0", "custom-1", "custom-2", "custom-3"];
/** Most requests of each client that one scene waits for. */
const PATIENCE = 200;

/** Prints each scene. Gives whether all happened as they are told. */
export async function showCutover(io: CommandIo): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "carryover-tour-")).catch(({ message }: Error) => {
    const remedy = "set TMPDIR to a directory that can be written";
    throw new ConfigError([{ where: "carryover demo --tour", what: `no place for a rules file: ${message}`, remedy }]);
  });
  const tour = await openTour(join(folder, "rules.yaml"), io);
  try {
    let isTold = true;
    for (const play of SCENES) {
      const scene = await play(tour);
      io.print(sceneText(scene));
      isTold &&= scene.isTold;
    }
    return isTold;
  } finally {
    await tour.front.app.close(1_000);
    await tour.platform.sandbox.close();
    await rm(folder, { recursive: true });
  }
}

interface Tour {
  readonly io: CommandIo;
  readonly platform: Platform;
  readonly clients: readonly { readonly name: string; readonly token: string }[];
  readonly rulesFile: string;
  /** Lines of carryover's log. */
  readonly log: string[];
  /** Whether v2 leaves a role out of its lists, whose totals still count it. */
  readonly v2: { loses: boolean };
  front: Front;
}

async function openTour(rulesFile: string, io: CommandIo): Promise<Tour> {
  await writeFile(rulesFile, SHADOW);
  const v2 = { loses: false };
  const sandbox = createSandbox({
    // Its native v1 shows no times on roles, as a public v1 may; carryover's default shows them on every record.
    recordTimes: "published",
    faults: (next) => async (request, options) => {
      const response = await next(request, options);
      const isList = request.target.startsWith("/iam/v2beta1/roles?");
      return v2.loses && isList ? { ...response, body: withoutFirst(response.body, "roles") } : response;
    },
  });
  const platform = await startPlatform(sandbox, FREE_PORTS.sandbox);
  const clients = CLIENTS.map((name) => ({ name, token: sandbox.token(`admin#${name}`) }));
  const log: string[] = [];
  return { io, platform, clients, rulesFile, log, v2, front: await start({ platform, rulesFile, log }, {}) };
}

/** A page without its first record. */
function withoutFirst(page: Uint8Array, member: string): Uint8Array {
  const { [member]: records, ...rest } = JSON.parse(new TextDecoder().decode(page)) as Record<string, unknown>;
  return new TextEncoder().encode(
    JSON.stringify({ [member]: Array.isArray(records) ? records.slice(1) : [], ...rest }),
  );
}

/** Everybody stays on native v1, except for what the rules take. */
function start(
  { platform, rulesFile, log }: Pick<Tour, "platform" | "rulesFile" | "log">,
  flags: Readonly<Record<string, string>>,
): Promise<Front> {
  const cutover = { cutoverMode: "native", cutoverRulesFile: rulesFile };
  const destination = (line: string) => log.push(line);
  return startFront(platform, FREE_PORTS, { ...cutover, ...flags }, { log: createLog({ level: "warn", destination }) });
}

const SHADOW = `version: carryover/v1
rules:
  - name: ${RULE}
    match: { resource: roles, operation: reads }
    mode: shadow
    shadow: { sample: 1 }`;

const TRANSLATE = `version: carryover/v1
rules:
  - name: ${RULE}
    match: { resource: roles, operation: reads }
    mode: translate
    shadow: { sample: 1 }
    stepBack: { failures: 0.1, minRequests: 20 }`;

const SCENES: readonly ((tour: Tour) => Promise<Scene>)[] = [
  async (tour) => {
    const call = await callAsFirst(tour);
    return {
      title: "A cutover begins in shadow: native v1 responds, and carryover compares what it would have responded",
      steps: [shown(SHADOW), served(tour), call],
      means: "No client is moved yet. Each request that the rule takes is compared in the background.",
      isTold: call.status === 200 && call.mode === "shadow",
    };
  },
  async (tour) => {
    const isFound = await until(tour, async () => (await samples(tour)).output !== "");
    const [found, gate] = [await samples(tour), await runCommand(["gate", RULE, tour.front.adminUrl], tour.io)];
    return {
      title:
        "The comparison finds a difference before a client does: carryover shows times that this native v1 does not",
      steps: [found, gate],
      means:
        "The sample names the path, and the setting that removes the difference. Until then the gate stays closed.",
      isTold: isFound && /"set":"v1\.recordTimes/.test(found.output) && gate.code === 1,
    };
  },
  async (tour) => {
    await tour.front.app.close(1_000);
    tour.front = await start(tour, { v1RecordTimes: "published" });
    const gate = () => runCommand(["gate", RULE, tour.front.adminUrl], tour.io);
    const isOpen = await until(tour, async () => (await gate()).code === 0);
    return {
      title: "With that setting the responses are equal, and three clients call until the evidence is enough",
      steps: [served(tour), await gate()],
      means: "The gate opens when the true share of differences is surely below 2 %, however often one asks.",
      isTold: isOpen,
    };
  },
  async (tour) => {
    await writeFile(tour.rulesFile, TRANSLATE);
    await tour.front.app.reload();
    const call = await callAsFirst(tour);
    return {
      title: "The rule translates: carryover reads the changed file, without a restart",
      steps: [shown(TRANSLATE), call],
      means:
        "v2 serves these v1 requests now, of all clients, since this is a tour: elsewhere begin with a few (percent). The rule rolls back by itself when more than 10 % of them fail.",
      isTold: call.status === 200 && call.mode === "translate",
    };
  },
  async (tour) => {
    tour.v2.loses = true;
    const failed = await callAsFirst(tour);
    const isBack = await until(tour, async () => tour.log.some((line) => line.includes(STEPPED_BACK)));
    const after = await callAsFirst(tour);
    const line = tour.log.find((one) => one.includes(STEPPED_BACK)) ?? "";
    return {
      title: "v2 breaks: its lists lose a role that their own total still counts, and the rule steps back by itself",
      steps: [failed, { command: `grep '${STEPPED_BACK}' carryover.log`, output: line.trimEnd() }, after],
      means:
        "carryover never sends a short list as if it were whole. Native v1 serves the clients again, and comparing goes on.",
      isTold: failed.status === 502 && isBack && after.status === 200 && after.mode === "shadow",
    };
  },
  async (tour) => {
    const status = await runCommand(["status", tour.front.adminUrl], tour.io);
    const metrics = await readAdmin(
      `${tour.front.adminUrl}/metrics`,
      grep(/^carryover_rule_(state|step_backs).*/gm, 3),
      tour.io,
    );
    return {
      title: "The rollback shows on the operator's screen and in the metrics",
      steps: [status, metrics],
      means: "Nothing moves on until somebody has found the cause; alerts for these metrics come with the chart.",
      isTold: status.code === 0 && /stepped back/.test(status.output) && /state="back"/.test(metrics.output),
    };
  },
  async (tour) => {
    const [{ name }] = tour.clients as readonly [Tour["clients"][number]];
    const page = await readAdmin(`${tour.front.adminUrl}/way-out.md?client=${name}`, HEAD, tour.io);
    return {
      title: `What ${name} must change to need v1 no more, from the calls that it makes`,
      steps: [page],
      means: "Send the whole page to the client's owner. Once no client calls v1, remove carryover.",
      isTold: page.output.includes("/iam/v2beta1/roles"),
    };
  },
  async (tour) => {
    const page = await openPage(tour);
    return {
      title: "All of this is on one page for a browser: its first figures, and what needs attention first",
      steps: [page],
      means: "Below them: requests over time, rules, clients, differences, events, load, cost and replicas.",
      isTold: /^\d+ % of v1 requests translated/.test(page.output) && page.output.includes("stepped back"),
    };
  },
];

const STEPPED_BACK = "cutover: stepped-back";
const HEAD_LINES = 24;
const HEAD = {
  shell: `head -n ${HEAD_LINES}`,
  apply: (text: string) => text.split("\n").slice(0, HEAD_LINES),
};

/** `grep -oE`: the matching parts, each once. */
function grep(pattern: RegExp, most: number) {
  return {
    shell: `grep -oE '${pattern.source}' | sort -u | head -n ${most}`,
    apply: (text: string) => [...new Set(text.match(pattern))].sort().slice(0, most),
  };
}

function samples({ front, io }: Tour): Promise<SceneStep> {
  return readAdmin(`${front.adminUrl}/samples?resource=role`, grep(/"(path|set)":"[^"]*"/g, 4), io);
}

function shown(rules: string): SceneStep {
  return { command: "cat rules.yaml", output: rules };
}

function served({ front: { command, announcement }, rulesFile }: Tour): SceneStep {
  return {
    command: `${command} > carryover.log &`.replace(rulesFile, "rules.yaml"),
    output: announcement.replace(rulesFile, "rules.yaml"),
  };
}

function callAsFirst({ clients, front, io }: Tour) {
  const [first] = clients as readonly [Tour["clients"][number]];
  return callAs(first, `${front.url}/iam/v1/roles`, io);
}

/** All clients call, again and again, until `isOver`; false when they called too often for that. */
async function until({ clients, front, io }: Tour, isOver: () => Promise<boolean>): Promise<boolean> {
  for (let round = 0; round < PATIENCE; round++) {
    const role = ROLES[round % ROLES.length];
    await Promise.all(clients.map((client) => callAs(client, `${front.url}/iam/v1/roles?name=${role}`, io)));
    if (await isOver()) return true;
  }
  return false;
}

interface Scene {
  /** One sentence on the scene. */
  readonly title: string;
  readonly steps: readonly SceneStep[];
  readonly means: string;
  /** Whether it happened as `title` and `means` say. */
  readonly isTold: boolean;
}

interface SceneStep {
  /** For a shell with TOKEN set. */
  readonly command: string;
  readonly output: string;
}

function sceneText({ title, steps, means, isTold }: Scene): string {
  const lines = steps.flatMap(({ command, output }) => [
    `  $ ${command}`,
    ...output.split("\n").map((line) => `    ${line}`.trimEnd()),
  ]);
  const warning = isTold ? [] : ["  THIS DID NOT HAPPEN AS IT IS TOLD HERE"];
  return [`== ${title}`, ...lines, `  => ${means}`, ...warning, ""].join("\n");
}

/** Sends a request of this client and shows what is worth seeing of the response. */
async function callAs(
  { name, token }: { readonly name: string; readonly token: string },
  url: string,
  io: Pick<CommandIo, "fetch">,
): Promise<SceneStep & { readonly status: number; readonly mode: string | null }> {
  const response = await io.fetch(url, { headers: { authorization: `Bearer ${token}`, "user-agent": name } });
  const body = await response.text();
  const { status, statusText, headers } = response;
  const mode = headers.get(OurHeader.MODE);
  return {
    command: `curl -si -A ${name} -H "Authorization: Bearer $TOKEN" '${url}' | grep -E '^(HTTP|carryover-mode|\\{"code)'`,
    output: [
      `HTTP/1.1 ${status} ${statusText}`,
      ...(mode === null ? [] : [`carryover-mode: ${mode}`]),
      ...(body.startsWith('{"code') ? [body] : []),
    ].join("\n"),
    status,
    mode,
  };
}

/** Reads a page of the admin port, and keeps what `filter` leaves of it. */
async function readAdmin(
  url: string,
  filter: { readonly shell: string; apply(text: string): readonly string[] },
  io: Pick<CommandIo, "fetch">,
): Promise<SceneStep> {
  const response = await io.fetch(url);
  const output = filter.apply(await response.text()).join("\n");
  return { command: `curl -s '${url}' | ${filter.shell}`, output };
}

/** Opens the page of the admin port as a browser does, and keeps the text of its cards and of the first trouble. */
async function openPage({ front, io }: Tour): Promise<SceneStep> {
  const response = await io.fetch(`${front.adminUrl}/`, { headers: { accept: "text/html" } });
  const html = await response.text();
  const cards = html.matchAll(/<p class="big">(.*?)<\/p>\s*<p>(.*?)<\/p>/gs);
  const trouble = /<ol class="troubles"><li>(.*?)<\/li>/s.exec(html)?.slice(1) ?? [];
  const texts = [...Array.from(cards, ([, figure, says]) => `${figure} ${says}`), ...trouble];
  const output = texts.map((text) => text.replaceAll(/<[^<>]*>/g, "").replaceAll(/\s+/g, " ")).join("\n");
  return { command: `xdg-open ${front.adminUrl}/`, output };
}

/** Runs `carryover status` or `carryover gate`, as a shell would. */
async function runCommand(
  words: readonly string[],
  io: CommandIo,
): Promise<SceneStep & { readonly code: number | undefined }> {
  const outcome: Outcome = { code: undefined };
  const printed: string[] = [];
  const own: CommandIo = { ...io, env: {}, print: (text) => printed.push(text) };
  const program = new Command().exitOverride();
  addStatus(program, own, outcome);
  addGate(program, own, outcome);
  await program.parseAsync(words, { from: "user" });
  const { code } = outcome;
  return {
    command: `npx carryover ${words.join(" ")}; echo "exit code $?"`,
    output: [...printed, `exit code ${code}`].join("\n"),
    code,
  };
}
