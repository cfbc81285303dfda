/** Takes one step of the runbook, there and back, and prints what it does as a transcript. */
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { isV1, PROOFS } from "./proofs.mjs";
import { says } from "./runbook.mjs";
import { Broken, calling, mark, noFaults, PATIENCE_MS, PLATFORM } from "./stage.mjs";
import { MEANWHILE } from "./world.mjs";

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

/** Forth, back, and forth again for the next one. Throws `Broken` when something is not as promised. */
export async function runStep(world, step, context) {
  const { done, back } = PROOFS.get(step.id) ?? {};
  if (done === undefined) throw new Broken(`nobody says what step ${step.id} proves`);
  const forth = step.blocks.filter((block) => !block.back);
  const backwards = step.blocks.filter((block) => block.back);
  mark(world);
  await runBlocks(world, forth, context);
  await prove(world, done, "clients");
  print("   Back:");
  mark(world);
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
    let judged = [];
    const held = await calling(world, async () => {
      judged = await Promise.all(asked.map(async (line) => ({ line, value: await world.prometheus.holds(line) })));
      return judged.every(({ value }) => value !== undefined) ? judged : undefined;
    });
    for (const { line, value } of judged)
      print(value === undefined ? `   NOT ${line}` : `   ok  ${line}   (is ${value})`);
    if (held === undefined) throw new Broken("that does not become true");
  },
  async meanwhile(world, { file }) {
    print(`   meanwhile: ${file.replaceAll("-", " ")}`);
    const change = MEANWHILE.get(file);
    if (change === undefined) throw new Broken(`nothing is known of ${file}`);
    await change(world);
    mark(world);
  },
};

/** True for a block that starts carryover. */
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
  mark(world);
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
  mark(world);
}

/** One after the other. Throws `Broken` for what is not as the runbook says. */
async function runBlocks(world, blocks, context) {
  for (const [index, block] of blocks.entries()) {
    await RUN[block.kind](world, block, { ...context, following: blocks[index + 1] });
  }
}

const LINES = 18;
/** Of those the last ones: there verdicts stand. */
const LAST = 4;
const COLUMNS = 150;

/** To standard output. */
export function print(text) {
  process.stdout.write(`${text}\n`);
}

/** `text` with `mark` before each line. */
function indented(text, mark) {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => (mark + line).trimEnd())
    .join("\n");
}

/** A script as somebody types it. */
function commands(script) {
  return script
    .split("\n")
    .map((line, index, all) => (/(?:\||\\)$/.test(all[index - 1] ?? "") ? `   > ${line}` : `   $ ${line}`))
    .join("\n");
}

/** The first lines and the last, and how many there are between. */
function shortened(text) {
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => (line.length > COLUMNS ? `${line.slice(0, COLUMNS)}…` : line));
  if (lines.length <= LINES) return lines.join("\n");
  const cut = lines.length - LINES + 1;
  return [...lines.slice(0, LINES - 1 - LAST), `… ${cut} more lines …`, ...lines.slice(-LAST)].join("\n");
}
