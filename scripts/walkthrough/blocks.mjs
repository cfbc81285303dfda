/** What becomes of one block of the runbook? (A file is written, a command run, an expression waited for.) */
import { createHash } from "node:crypto";
import { says } from "./runbook.mjs";
import { Broken, calling, mark, PATIENCE_MS, PLATFORM } from "./stage.mjs";
import { commands, indented, print, shortened } from "./transcript.mjs";
import { MEANWHILE, pause } from "./world.mjs";

/** How a block is run, by its kind. */
export const RUN = {
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
export const isServe = ({ lines }) => lines.join("\n").trim().startsWith("carryover serve ");

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
export async function runBlocks(world, blocks, context) {
  for (const [index, block] of blocks.entries()) {
    await RUN[block.kind](world, block, { ...context, following: blocks[index + 1] });
  }
}
