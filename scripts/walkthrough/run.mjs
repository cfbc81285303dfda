/**
 * Does docs/runbook.md work? (Each of its steps on a sandbox, by its own commands, there and back; ends with 0, or with 1 at the
 * first step that is not as promised. `npm run walkthrough`.)
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createClients } from "./clients.mjs";
import { startPlatform } from "./platform.mjs";
import { judge, readMetrics } from "./promql.mjs";
import { isV1, PROOFS } from "./proofs.mjs";
import { readRunbook, says } from "./runbook.mjs";
import { createShell, freePorts } from "./shell.mjs";
import { commands, indented, shortened } from "./transcript.mjs";
import { MEANWHILE } from "./world.mjs";

/** Longest wait, with clients calling, until something is as the runbook says. */
const PATIENCE_MS = 30_000;

/** The platform, as the runbook calls it. */
const PLATFORM = "https://api.example.com";

class Broken extends Error {}

const { values } = parseArgs({ options: { dist: { type: "string" }, only: { type: "string" } } });
const dist = new URL(values.dist === undefined ? "../../dist/" : `file://${values.dist}/`, import.meta.url);
const print = (text) => process.stdout.write(`${text}\n`);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Everything that a step needs. */
async function createWorld() {
  const { createSandbox } = await import(new URL("sandbox/sandbox.js", dist).href);
  const platform = await startPlatform(createSandbox);
  const [port, adminPort] = await freePorts(2);
  const urls = {
    platform: platform.url,
    carryover: `http://127.0.0.1:${port}`,
    admin: `http://127.0.0.1:${adminPort}`,
  };
  const shell = createShell(new URL("main.js", dist).pathname, {
    ADMIN: urls.admin,
    V1: urls.carryover,
    QUIET: "2s",
    TOKEN: platform.sandbox.token("admin#operator@example.com"),
    // What is different in a walkthrough: addresses, and how long a file waits to be looked at.
    CARRYOVER_LISTEN_HOST: "127.0.0.1",
    CARRYOVER_LISTEN_PORT: String(port),
    CARRYOVER_ADMIN_PORT: String(adminPort),
    CARRYOVER_CUTOVER_RELOAD_SECONDS: "0.1",
  });
  const world = { platform, urls, shell, pause, server: undefined, before: new Map(), sentBefore: 0, way: "carryover" };
  world.clients = await createClients({ sandbox: platform.sandbox, base: () => urls[world.way] });
  world.through = (way) => {
    world.way = way;
  };
  world.stop = async () => {
    await world.server?.stop();
    world.server = undefined;
  };
  world.close = async () => {
    await world.stop();
    world.clients.close();
    await platform.sandbox.close();
    shell.remove();
  };
  return world;
}

async function metricsOf({ urls, server }) {
  if (server === undefined) return new Map();
  return readMetrics(await (await fetch(`${urls.admin}/metrics`)).text());
}

/** From here on is counted. */
async function mark(world) {
  world.before = await metricsOf(world);
  world.sentBefore = world.platform.sent.length;
  world.clients.state.seen.length = 0;
}

/** Lets clients call until `holds` gives something, which it gives; undefined when that takes too long. */
async function calling(world, holds) {
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until) {
    await world.clients.round();
    noFaults(world);
    const found = await holds();
    if (found !== undefined) return found;
  }
  return undefined;
}

function noFaults({ clients: { state } }) {
  if (state.faults.length > 0) throw new Broken(`a client got an error: ${state.faults[0]}`);
}

/** How a block is run, by its kind. */
const RUN = {
  async yaml(world, { file, lines }, context) {
    print(`   ${file}:`);
    print(indented(lines.join("\n"), "     "));
    world.shell.write(file, `${lines.join("\n")}\n`.replaceAll(PLATFORM, world.urls.platform));
    if (file !== "rules.next.yaml") return;
    world.last = `${lines.join("\n")}\n`;
    await runBlocks(world, context.every.get("apply").blocks, context);
  },
  async sh(world, { lines }, { following }) {
    const script = lines.join("\n").trim();
    print(commands(script));
    if (isServe({ lines })) return serve(world, script);
    const expected = following?.kind === "text" ? following.lines : [];
    const attempt = async () => {
      const { code, text } = await world.shell.run(script);
      return { code, text, missing: code === 0 ? says(text, expected) : `to end with 0, not ${code}` };
    };
    let done = await attempt();
    if (done.missing !== undefined && expected.length > 0) {
      const later = await calling(world, async () => {
        done = await attempt();
        return done.missing === undefined ? done : undefined;
      });
      done = later ?? done;
    }
    if (done.text.trim() !== "") print(indented(shortened(done.text), "   | "));
    if (done.missing !== undefined) throw new Broken(`expected of that command: ${done.missing}`);
    if (expected.length > 0) print("   ok  it says what the runbook shows");
    if (world.server !== undefined && world.shell.read("rules.yaml") !== world.rules) await inForce(world);
  },
  /** Part of the command before it. */
  async text() {},
  async promql(world, { lines }) {
    const asked = lines.map((line) => line.replace(/ *#.*/, "").trim()).filter((line) => line !== "");
    const judged = async () => {
      const now = await metricsOf(world);
      return asked.map((line) => ({ line, ...judge(line, now, world.before) }));
    };
    const held = await calling(world, async () => {
      const found = await judged();
      return found.every(({ holds }) => holds) ? found : undefined;
    });
    for (const { line, seen, holds } of held ?? (await judged()))
      print(`   ${holds ? "ok " : "NOT"} ${line}   (is ${seen})`);
    if (held === undefined) throw new Broken("that does not become true");
  },
  async meanwhile(world, { file }) {
    print(`   meanwhile: ${file.replaceAll("-", " ")}`);
    const change = MEANWHILE.get(file);
    if (change === undefined) throw new Broken(`nothing is known of ${file}`);
    await change(world);
    await mark(world);
  },
};

const isServe = ({ lines }) => lines.join("\n").trim().startsWith("carryover serve ");

async function serve(world, script) {
  await world.stop();
  world.rules = world.shell.read("rules.yaml");
  const ready = async () => {
    const answer = await fetch(`${world.urls.admin}/readyz`).catch(() => undefined);
    await answer?.arrayBuffer();
    return answer?.status === 200;
  };
  world.server = await world.shell.serve(script, ready);
  print(indented(world.server.text().trim(), "   | "));
  await mark(world);
}

/** Waits until the rules file, which was changed, is in force. */
async function inForce(world) {
  world.rules = world.shell.read("rules.yaml");
  const digest = createHash("sha256").update(world.rules).digest("hex").slice(0, 12);
  const until = Date.now() + PATIENCE_MS;
  const isNow = async () => (await (await fetch(`${world.urls.admin}/rules`)).json()).file?.digest === digest;
  while (!(await isNow())) {
    if (Date.now() > until) throw new Broken("the file does not come into force");
    await pause(50);
  }
  await mark(world);
}

async function runBlocks(world, blocks, context) {
  for (const [index, block] of blocks.entries()) {
    await RUN[block.kind](world, block, { ...context, following: blocks[index + 1] });
  }
}

/** What clients and the platform say of it, whatever the runbook looked at. */
async function prove(world, proof, what) {
  await world.clients.round();
  noFaults(world);
  const { seen } = world.clients.state;
  const wrong = proof({ seen, sent: world.platform.sent.slice(world.sentBefore) });
  if (wrong !== undefined) throw new Broken(`${what}: ${wrong}`);
  print(`   ok  ${what}: ${seen.length} calls since, none failed, ${servedBy(seen)}`);
}

/** How many calls were served by whom. */
function servedBy(seen) {
  const counts = new Map();
  for (const { mode, target } of seen) {
    const who = mode ?? (isV1(target) ? "v1 without carryover" : "v2");
    counts.set(who, (counts.get(who) ?? 0) + 1);
  }
  return [...counts].map(([who, count]) => `${count} ${who}`).join(", ");
}

async function runStep(world, step, context) {
  const { done, back } = PROOFS.get(step.id) ?? {};
  if (done === undefined) throw new Broken(`nobody says what step ${step.id} proves`);
  const forth = step.blocks.filter((block) => !block.back);
  const backwards = step.blocks.filter((block) => block.back);
  await mark(world);
  await runBlocks(world, forth, context);
  await prove(world, done, "clients");
  print("   Back:");
  await mark(world);
  const byFile = forth.some(({ file }) => file === "rules.next.yaml") && !backwards.some(({ kind }) => kind === "sh");
  if (byFile) await runBlocks(world, context.every.get("back").blocks, context);
  await runBlocks(world, backwards, context);
  await prove(world, back, "clients, back again");
  await again(world, byFile, backwards.some(isServe) ? forth.filter(isServe) : [], context);
}

/** Forth once more, for the next step: its file before is this step's, and what it begins with is this step's configuration. */
async function again(world, byFile, serves, context) {
  if (byFile) {
    print("   Forth again:");
    world.shell.write("rules.next.yaml", world.last);
    const [block] = context.every.get("apply").blocks;
    await RUN.sh(world, { ...block, lines: block.lines.filter((line) => !line.startsWith("carryover ")) }, context);
  }
  await runBlocks(world, serves, context);
}

async function walk() {
  const { steps, every } = readRunbook(readFileSync(new URL("../../docs/runbook.md", import.meta.url), "utf8"));
  const began = Date.now();
  const world = await createWorld();
  print("The runbook (docs/runbook.md) on a sandbox: every step by its own commands, there and back.\n");
  print(
    `   platform   ${world.urls.platform}   native v1 and v2 over the same records; the runbook calls it ${PLATFORM}`,
  );
  print(`   carryover  ${world.urls.carryover}   ${world.clients.subjects.length} clients call it`);
  print(`   admin      ${world.urls.admin}\n`);
  let current;
  try {
    for (const [index, step] of steps.entries()) {
      current = step;
      const from = Date.now();
      print(`== ${step.title} (${index + 1} of ${steps.length})`);
      await runStep(world, step, { every });
      print(`   done in ${((Date.now() - from) / 1000).toFixed(1)} s\n`);
      if (step.id === values.only) break;
    }
    const { calls, rounds } = world.clients.state;
    const seconds = Math.round((Date.now() - began) / 1000);
    print(`All ${steps.length} steps are as promised: ${calls} calls in ${rounds} rounds, none failed, ${seconds} s.`);
    return 0;
  } catch (error) {
    print(
      `\nNOT AS PROMISED: step ${current?.id} (${current?.title}): ${error instanceof Broken ? error.message : error.stack}`,
    );
    return 1;
  } finally {
    await world.close();
  }
}

process.exitCode = await walk();
