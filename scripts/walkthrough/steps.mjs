/** How is one step of the runbook taken, there and back? */
import { isServe, RUN, runBlocks } from "./blocks.mjs";
import { isV1, PROOFS } from "./proofs.mjs";
import { Broken, mark, noFaults } from "./stage.mjs";
import { print } from "./transcript.mjs";

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
