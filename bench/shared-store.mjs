/**
 * Measures what replicas cost the store that they share (`state.url`): commands, processor time and memory of a real Valkey.
 * `node bench/shared-store.mjs` takes some three minutes, and prints a table of docs/scale.md. All replicas are in this process, each with a
 * connection of its own; `scripts/install-state-tools.sh` installs the server.
 */
import { randomUUID } from "node:crypto";
import { cpus, release } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { optionsOf } from "../scripts/options.mjs";
import { withTypeScript } from "../scripts/typescript.mjs";
import { spread, table } from "./figures.mjs";
import { commit } from "./report.mjs";

const values = optionsOf(
  {
    replicas: { type: "string", default: "1,5,20" },
    rows: { type: "string", default: "10,1000,20000" },
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "3" },
  },
  "node bench/shared-store.mjs [--replicas 1,5,20] [--rows 10,1000,20000] [--seconds N] [--rounds N]",
);
const numbers = (text) => text.split(",").map(Number);

/** Rules with requests: a row of each replica for each of them changes every second, and the rows of ten are asked for every fifth. */
const RULES = 10;
/** Further rows of each replica: this many change per second. */
const CHANGED = 20;
const TEXT = "x".repeat(150);
/** For this number of replicas the processor time is calculated from the two largest that were measured. */
const CALCULATED = 100;
const SETTLED_MS = 3_000;
/** A replica with many rows sends them with several ticks. */
const SENT_MS = 120_000;

await withTypeScript(async (load) => {
  const { startServer } = await load("/test/real/state/server.ts");
  const { createReplica } = await load("/src/state/shared/replica.ts");
  const { createRows } = await load("/src/state/shared/rows.ts");
  const { createValkeyStore } = await load("/src/state/shared/valkey-store.ts");
  const { VERSION } = await load("/src/version.ts");
  const { later } = await load("/src/model/clock.ts");

  /** A replica that counts. */
  function start(url, rowCount) {
    const id = randomUUID();
    const rows = createRows(`r.${id}`, Date.now());
    for (let i = 0; i < rowCount; i++) rows.put(`row:${i}`, `0 ${TEXT}`);
    const names = Array.from({ length: RULES }, (_, i) => `rule:${i}`);
    let ticks = 0;
    let turn = 0;
    const secrets = async () => ({});
    const common = { username: undefined, prefix: "carryover", random: Math.random, fresh: randomUUID };
    const replica = createReplica({
      id,
      store: createValkeyStore({ url, later, secrets, ...common }),
      about: () => JSON.stringify({ host: "replica", version: VERSION, rules: "0123456789ab", startedAt: Date.now() }),
      rows: [rows],
      asks: () => {
        ticks += 1;
        for (const name of names) rows.put(name, JSON.stringify({ requests: ticks, failures: 0, comparisons: ticks }));
        for (let i = 0; i < Math.min(CHANGED, rowCount); i++) rows.put(`row:${turn++ % rowCount}`, `${ticks} ${TEXT}`);
        return ticks % 5 === 0 ? names : [];
      },
      wall: Date.now,
      later,
    });
    replica.start();
    return {
      replica,
      isDone: async () => !rows.isWaiting() && replica.view().link.phase === "in-step",
    };
  }

  async function measure(count, rowCount) {
    const server = await startServer("valkey-9.1");
    const started = [];
    try {
      // Not at the same moment, as real replicas.
      for (let i = 0; i < count; i++) {
        started.push(start(server.url, rowCount));
        await sleep(1_000 / count);
      }
      const patience = performance.now() + SENT_MS;
      while (!(await Promise.all(started.map(({ isDone }) => isDone()))).every(Boolean)) {
        if (performance.now() > patience) throw new Error(`${count} replicas with ${rowCount} rows are not in step`);
        await sleep(200);
      }
      await sleep(SETTLED_MS);
      const found = [];
      for (let i = 0; i < Number(values.rounds); i++) {
        const before = await look(server);
        await sleep(Number(values.seconds) * 1_000);
        found.push(between(before, await look(server)));
      }
      return { count, rowCount, found };
    } finally {
      for (const { replica } of started) await replica.close();
      await server.close();
    }
  }

  console.log(
    `${new Date().toISOString().slice(0, 10)}, commit ${commit()}, Node ${process.version}, ${cpus().length} cores, Linux ${release()}, Valkey 9.1: ${values.rounds} rounds of ${values.seconds} s\n`,
  );
  const head = [
    "rows of each replica",
    "replicas",
    "commands per second",
    "processor time, % of a core",
    "µs per command",
  ];
  const lines = [];
  for (const rowCount of numbers(values.rows)) {
    const measured = [];
    for (const count of numbers(values.replicas)) measured.push(await measure(count, rowCount));
    lines.push(...measured.map(lineOf), calculated(measured));
  }
  console.log(table([...head, "memory of the server, MiB", "network, KiB per second"], lines));
});

async function look(server) {
  const text = (await Promise.all(["cpu", "stats", "memory"].map((part) => server.run("INFO", part)))).join("\n");
  const of = (name) => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(text)?.[1]);
  return {
    at: performance.now(),
    cpu: of("used_cpu_sys") + of("used_cpu_user"),
    commands: of("total_commands_processed"),
    bytes: of("total_net_input_bytes") + of("total_net_output_bytes"),
    memory: of("used_memory"),
  };
}

function between(before, after) {
  const seconds = (after.at - before.at) / 1_000;
  // Scripts call commands of their own, which the server counts as well.
  const commands = (after.commands - before.commands) / seconds;
  const core = (after.cpu - before.cpu) / seconds;
  return { commands, core, bytes: (after.bytes - before.bytes) / seconds, memory: after.memory };
}

function shown(found, of, digits) {
  const { median, low, high } = spread(found.map(of));
  return `${median.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`;
}

function lineOf({ count, rowCount, found }) {
  return [
    rowCount.toLocaleString("en"),
    count,
    shown(found, ({ commands }) => commands, 0),
    shown(found, ({ core }) => core * 100, 2),
    shown(found, ({ core, commands }) => (core * 1e6) / commands, 1),
    shown(found, ({ memory }) => memory / 2 ** 20, 1),
    shown(found, ({ bytes }) => bytes / 2 ** 10, 1),
  ];
}

/** Each further replica costs as much as those between the two largest measured numbers. Reading the rows of all grows faster, so this is the least. */
function calculated(measured) {
  const [less, most] = measured.slice(-2);
  const per = (of) => {
    const [a, b] = [less, most].map(({ found }) => spread(found.map(of)).median);
    return b + ((b - a) / (most.count - less.count)) * (CALCULATED - most.count);
  };
  const [commands, core] = [per((one) => one.commands), per((one) => one.core)];
  return [
    most.rowCount.toLocaleString("en"),
    `${CALCULATED} (calculated)`,
    commands.toFixed(0),
    (core * 100).toFixed(1),
    ((core * 1e6) / commands).toFixed(1),
    (per((one) => one.memory) / 2 ** 20).toFixed(0),
    (per((one) => one.bytes) / 2 ** 10).toFixed(0),
  ];
}
