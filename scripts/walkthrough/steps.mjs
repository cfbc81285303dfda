/** Takes one step of the runbook, there and back, and prints what it does as a transcript. */
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { MEANWHILE, SAME } from "./meanwhile.mjs";
import { isV1, PROOFS } from "./proofs.mjs";
import { says } from "./runbook.mjs";
import { ADMIN_TOKEN, Broken, calling, mark, noFaults, PATIENCE_MS } from "./stage.mjs";

/** What clients and the platform say of it, whatever the runbook looked at. */
async function prove(world, proof, what) {
  const { seen } = world.clients.state;
  const before = seen.length;
  await world.clients.round();
  noFaults(world);
  const wrong = proof({ seen, before, sent: world.platform.sent.slice(world.sentBefore) });
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
export async function runStep(world, step) {
  const { done, back, staysBack } = PROOFS.get(step.id) ?? {};
  if (done === undefined) throw new Broken(`nobody says what step ${step.id} proves`);
  const forth = step.actions.filter((action) => !action.back);
  const backwards = step.actions.filter((action) => action.back);
  const changesRules = forth.some(({ text }) => text.endsWith(APPLY));
  mark(world);
  await runActions(world, forth);
  await prove(world, done, "clients");
  print("   Back:");
  mark(world);
  await runActions(world, changesRules && backwards.length === 0 ? [BACK] : backwards);
  await prove(world, back, "clients, back again");
  if (staysBack) return;
  if (changesRules) await runActions(world, [BACK]);
  if (backwards.some(isServe)) await runActions(world, forth.filter(isServe));
}

/** The scripts with which the runbook changes rules. The second one, run twice, leads forth again. */
const APPLY = "sh apply";
const BACK = { kind: "command", text: "sh back", says: [] };

/** How an action is taken, by its kind. */
const TAKE = {
  async file(world, { text: name, says: lines }) {
    const file = `${lines.join("\n")}\n`;
    print(`   ${name}:`);
    print(indented(file, "     "));
    world.shell.write(name, world.adapted(file));
  },
  async command(world, action) {
    const { text: command, says: expected } = action;
    print(`   $ ${command}`);
    if (isServe(action)) return serve(world, command);
    const attempt = async () => {
      const { code, text } = await world.shell.run(
        command,
        NAMES_ALL.test(command) && { REPLICAS: world.everyReplica },
      );
      return { text, missing: code === 0 ? says(text, expected) : `to end with 0, not ${code}` };
    };
    let done = await attempt();
    if (done.missing !== undefined && ASKS.test(command)) {
      await calling(world, async () => {
        done = await attempt();
        return done.missing === undefined ? done : undefined;
      });
    }
    const text = done.missing === undefined ? shortened(done.text) : done.text;
    if (text.trim() !== "") print(indented(text, "   | "));
    if (done.missing !== undefined) throw new Broken(`expected of ${command}: ${done.missing}`);
    if (expected.length > 0) print("   ok  it says what the runbook shows");
    await inForce(world);
  },
  async meanwhile(world, { text: name }) {
    print(`   meanwhile: ${name.replaceAll("-", " ")}`);
    const change = MEANWHILE.get(name);
    if (change === undefined) throw new Broken(`nothing is known of ${name}`);
    if ((await change(world)) !== SAME) mark(world);
    await inForce(world);
  },
};

/** A command that only looks: it may be asked again until it says what it is to say. */
const ASKS = /^(?:carryover (?:status|gate|report|exam) |curl )/;

/** What replicas do not tell each other over the store: the operator names all of them. */
const NAMES_ALL = /\bcarryover forget /;

/** True for what starts carryover. */
const isServe = ({ text }) => text.startsWith("carryover serve ");

async function serve(world, command) {
  await world.stop();
  const [, config = ""] = /--config (\S+)/.exec(command) ?? [];
  const isRecorded = /^record:/m.test(world.shell.read(config) ?? "");
  world.rules = world.shell.read("rules.yaml");
  const start = ({ port, adminPort, admin, at }) => {
    const ready = async () => {
      const answer = await fetch(`${admin}/readyz`).catch(() => undefined);
      await answer?.arrayBuffer();
      return answer?.status === 200;
    };
    return world.shell.serve(command, ready, {
      CARRYOVER_LISTEN_PORT: String(port),
      CARRYOVER_ADMIN_PORT: String(adminPort),
      ...(at > 0 && { CARRYOVER_STATE_DIR: `state-${at + 1}` }),
      ...(at > 0 && isRecorded && { CARRYOVER_RECORD_FILE: `requests-${at + 1}.jsonl` }),
    });
  };
  world.servers = await Promise.all(world.replicas.map(start));
  print(indented(world.servers[0].text().trim(), "   | "));
  mark(world);
}

/** Waits until the rules file is in force, if it was changed. */
async function inForce(world) {
  if (world.servers.length === 0 || world.shell.read("rules.yaml") === world.rules) return;
  world.rules = world.shell.read("rules.yaml");
  const digest = createHash("sha256").update(world.rules).digest("hex").slice(0, 12);
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  for (const server of world.servers) server.hup();
  const until = Date.now() + PATIENCE_MS;
  const isNow = async ({ admin }) =>
    (await (await fetch(`${admin}/rules`, { headers })).json()).file?.digest === digest;
  while ((await Promise.all(world.replicas.map(isNow))).includes(false)) {
    if (Date.now() > until) {
      const said = world.servers[0].text().trim().split("\n").at(-1);
      throw new Broken(`the file does not come into force; the first replica said last: ${said}`);
    }
    await pause(50);
  }
  mark(world);
}

/** One after the other. Throws `Broken` for what is not as the runbook says. */
export async function runActions(world, actions) {
  for (const action of actions) await TAKE[action.kind](world, action);
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
