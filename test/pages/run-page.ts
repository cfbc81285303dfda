/** Runs every command of a page from top to bottom. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Command, type Step, stepsOf } from "./commands.ts";
import { bare, isStepOfCi } from "./excepted.ts";
import { differs } from "./output.ts";
import type { Page } from "./page.ts";
import type { Server } from "./shell.ts";
import { createStage, type Stage } from "./stage.ts";
import { isListening, isReady } from "./standing.ts";
import type { Program } from "./tools.ts";

/** Longest wait for one command that ends: for those that never do, on a machine that has much else to do. */
const PATIENCE_MS = 240_000;

/** The page that `npm run real -- walkthrough` runs. */
export const WALKED = "docs/runbook.md";

/** What goes on until it is stopped, and how it is known to be ready. */
const SERVERS: readonly { readonly like: RegExp; readonly ready: "admin" | "sandbox" }[] = [
  { like: /^(?:\w+=\S+ )*(?:npx )?carryover (?:serve|demo)\b(?![\s\S]*(?:--tour|--help|\|))/, ready: "admin" },
  { like: /^(?:npm ci && )?npm (?:start|run dev)\b(?![\s\S]*--tour)/, ready: "admin" },
  { like: /^(?:npx )?carryover sandbox\b(?![\s\S]*--help)/, ready: "sandbox" },
];

/** A test neither writes to the user's own folders nor starts services. */
const CHANGES_MACHINE = /(?:^|[\s>=:])\/(?:etc|usr|var|opt|root|home|run)\/|\b(?:sudo|systemctl|apt-get|useradd)\b/;

/** Takes each step on a stage of its own. `programs`: further ones than the machine's own. */
export async function runPage(page: Page, programs: readonly Program[] = []): Promise<void> {
  const commands = stepsOf(page).flatMap((step) => (step.kind === "command" && isTried(step) ? [step.text] : []));
  const text = commands.join("\n");
  const stage = await createStage({
    install: /\bnpm ci\b/.test(text),
    programs,
    replicas: /carryover-\d\.internal|10\.0\.0\.\d:8081/.test(text),
    unknownRules: /\bcarryover confirm\b/.test(text),
  });
  try {
    await follow(page, stage);
  } finally {
    await stage.close();
  }
}

/** Takes each step; throws at the first that is not as the page says, with its place and what to do. */
export async function follow(page: Page, stage: Stage, patienceMs = PATIENCE_MS): Promise<void> {
  const world: World = { page, stage, patienceMs, servers: new Map() };
  try {
    for (const step of stepsOf(page)) await take(world, step);
  } finally {
    for (const server of world.servers.values()) await server.stop();
  }
}

/** Whether these tests run it: neither excepted, nor a step of `.ci/run` by itself. */
export function isTried({ text, excepted }: Command): boolean {
  return !excepted && !isStepOfCi(text);
}

interface World {
  readonly page: Page;
  readonly stage: Stage;
  readonly patienceMs: number;
  /** By what they are: one of each at a time. */
  readonly servers: Map<"admin" | "sandbox", Server>;
}

async function take(world: World, step: Step): Promise<void> {
  if (step.kind === "file") {
    const file = join(world.stage.folder, step.name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, step.text);
    return;
  }
  if (!isTried(step)) return;
  if (CHANGES_MACHINE.test(step.text)) {
    wrong(
      world.page,
      step,
      "would change the machine on which it is tried: write into the folder, and say in words where it goes",
    );
  }
  const text = [...world.stage.placeholders].reduce((now, [name, value]) => now.replaceAll(name, value), step.text);
  const kind = SERVERS.find(({ like }) => like.test(bare(text)));
  if (kind === undefined) return typed(world, step, text);
  if (kind.ready === "admin") await world.stage.makeRoom();
  await world.servers.get(kind.ready)?.stop();
  const server = await world.stage.shell.serve(text.replace(/\s+&\s*$/, ""));
  world.servers.set(kind.ready, server);
  await waitFor(world, step, server, kind.ready);
}

async function typed({ page, stage, patienceMs }: World, command: Command, text: string): Promise<void> {
  const { shows, exit } = command;
  const comment = text.slice(bare(text).length);
  const stated = [exit, ...[...comment.matchAll(/\bexits? (?:with )?(\d+)/g)].map(([, other]) => Number(other))];
  const { code, text: said } = await stage.shell
    .run(text, stage.curl(shows === undefined), patienceMs)
    .catch((error: Error) => wrong(page, command, error.message));
  // 141: what reads its output has had enough.
  if (!stated.includes(code) && code !== 141) {
    wrong(
      page,
      command,
      `ends with ${code}, not ${stated.join(" or ")}. It says:\n${said}\nMend the block${hint(code)}.`,
    );
  }
  const difference = shows === undefined ? undefined : differs(said, shows);
  if (difference !== undefined) {
    wrong(
      page,
      command,
      `is shown with other output: the page ${difference}\nAll of it:\n${said}\nMend what the page shows; … stands for anything.`,
    );
  }
}

function hint(code: number): string {
  if (code === 127) return ": is the program there? (scripts/install-*-tools.sh get those that the project needs)";
  if (code === 22) return ": the server answered with an error";
  return ", or let the page say how it ends: `# exit 2: …` behind the command, `$ echo $?` in a console block";
}

async function waitFor(world: World, step: Command, server: Server, what: "admin" | "sandbox"): Promise<void> {
  const over = () => server.code() !== undefined;
  const { stage, page } = world;
  const ready = what === "admin" ? await isReady(stage.port(8081), over) : await isListening(stage.port(8090), over);
  if (!ready) wrong(page, step, `is to go on serving and does not. It says:\n${server.text()}`);
  const difference = step.shows === undefined ? undefined : differs(server.text(), [...step.shows, "…"]);
  if (difference !== undefined) wrong(page, step, `is shown with other output: the page ${difference}`);
}

function wrong(page: Page, command: Command, what: string): never {
  throw new Error(`${page.name}:${command.line}: \`${command.text}\`\n${what}`);
}
