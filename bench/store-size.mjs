/**
 * Measures how much memory a real Valkey needs for what replicas keep there (`state.url`). `node bench/store-size.mjs` takes some minutes, and
 * prints a table of docs/scale.md. One document is made as a replica makes it, and stored once for each replica, since their sizes are alike.
 * `scripts/install-state-tools.sh` installs the server.
 */
import { randomUUID } from "node:crypto";
import { cpus, release } from "node:os";
import { optionsOf } from "../scripts/options.mjs";
import { withTypeScript } from "../scripts/typescript.mjs";
import { mib, table } from "./figures.mjs";
import { commit } from "./report.mjs";

const values = optionsOf(
  {
    replicas: { type: "string", default: "100" },
    clients: { type: "string", default: "10,1000,20000" },
    events: { type: "string", default: "500" },
  },
  "node bench/store-size.mjs [--replicas 100] [--clients 10,1000,20000] [--events 500]",
);

/** Each client calls this many operations, of several resources. */
const OPERATIONS = 6;
const RESOURCES = ["group", "identity", "role", "roleBinding", "repo", "tag"];
const MODES = ["native", "shadow", "translate"];
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const START = Date.UTC(2026, 5, 1);
/** Turns of one second; a large document is sent in many. */
const MOST_TURNS = 2_000;

/** The same numbers in each run. */
function createRandom(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

await withTypeScript(async (load) => {
  const { startServer } = await load("/test/real/state/server.ts");
  const { createStoreConnection } = await load("/src/state/shared/connection.ts");
  const { later } = await load("/src/model/clock.ts");
  const { ownersKey, rowsKey } = await load("/src/state/shared/script.ts");
  const { documentRig, rowStore } = await load("/test/runtime/document-rig.ts");

  /** The rows of one replica after 180 days of traffic. */
  function makeDocument(clients) {
    const random = createRandom(clients);
    const store = rowStore();
    const made = documentRig({ store, max: clients });
    const nameOf = (at) => `team-${at % 97}-client-${(at * 7_919) % 1_000_003}`;
    const call = (client, at) => {
      const resource = RESOURCES[(client + at) % RESOURCES.length];
      const operation = ["list", "get", "update", "create"][at % 4];
      made.call(nameOf(client), { resource, operation, mode: MODES[(client + at) % MODES.length] });
    };
    // A request in every bucket of each length that is kept, and then each client's calls at times of the last two weeks.
    const steps = [...Array(180).fill(DAY), ...Array(14 * 24).fill(HOUR), ...Array(288).fill(5 * MINUTE)];
    made.clock.at = START;
    for (const [step, ms] of steps.entries()) {
      made.clock.at += ms;
      for (let at = 0; at < OPERATIONS * MODES.length; at++) {
        for (let n = random(40); n >= 0; n--) call(random(Math.min(clients, 10)), at);
      }
      if (step % 20 === 0) made.publisher.publish();
    }
    for (let client = 0; client < clients; client++) {
      for (let at = 0; at < OPERATIONS; at++) for (let n = random(9); n >= 0; n--) call(client, at);
    }
    for (let n = 0; n < Number(values.events); n++) {
      made.clock.at += random(MINUTE);
      const requests = n % 3 === 0 ? [randomUUID()] : undefined;
      const kind = n % 2 === 0 ? "breaker-opened" : "breaker-closed";
      made.events.record({ kind, reason: `v2 did not respond ${random(1_000)} times in ${random(60)} s`, requests });
    }
    made.tally.restore(
      Array.from({ length: Math.min(clients, 200) * 3 }, (_, at) => ({
        ...{ resource: RESOURCES[at % 3], operation: "list", client: nameOf(Math.floor(at / 3)) },
        ...{ comparisons: 100 + random(1_000), differences: random(3) },
      })),
    );
    // Until a whole round has no news.
    let turns = 0;
    for (let before = ""; turns < MOST_TURNS; turns++) {
      made.publisher.publish();
      const now = [...made.rows().values()].reduce((sum, text) => sum + text.length, 0);
      if (turns % 200 === 199) {
        if (String(now) === before) break;
        before = String(now);
      }
    }
    return made.rows();
  }

  /** Bytes of the server before and with the documents of all replicas. */
  async function store(rows, replicas) {
    const server = await startServer("valkey-9.1");
    const secrets = async () => ({});
    const connection = createStoreConnection({ url: server.url, later, secrets, random: Math.random });
    try {
      const used = async () => Number(/^used_memory:(\d+)/m.exec(await server.run("INFO", "memory"))?.[1]);
      await connection.call(["HGET", "warm", "up"]);
      const before = await used();
      for (let at = 0; at < replicas; at++) {
        const owner = `d.${randomUUID()}`;
        for (const [name, text] of rows) {
          await connection.call(["HSET", rowsKey("carryover", owner), `row:${name}`, text]);
        }
        const about = JSON.stringify({ host: "replica", instance: randomUUID(), version: "1.0.0", startedAt: START });
        await connection.call(["HSET", ownersKey("carryover"), owner, `${START} ${about}`]);
      }
      return (await used()) - before;
    } finally {
      connection.close();
      await server.close();
    }
  }

  const replicas = Number(values.replicas);
  console.log(
    `${new Date().toISOString().slice(0, 10)}, commit ${commit()}, Node ${process.version}, ${cpus().length} cores, Linux ${release()}, Valkey 9.1; ${values.events} events, history of 180 days\n`,
  );
  const lines = [];
  for (const clients of values.clients.split(",").map(Number)) {
    const rows = makeDocument(clients);
    const sizeOf = (...parts) =>
      [...rows].reduce(
        (sum, [name, text]) => (parts.some((part) => name.startsWith(`doc:${part}`)) ? sum + text.length : sum),
        0,
      );
    const kib = (bytes) => (bytes / 1024).toFixed(1);
    const bytes = await store(rows, replicas);
    lines.push([
      clients.toLocaleString("en"),
      kib(sizeOf("")),
      kib(sizeOf("clients")),
      kib(sizeOf("history")),
      kib(sizeOf("events")),
      kib(sizeOf("head", "totals", "bounds", "rules", "saved", "samples")),
      mib(bytes),
    ]);
  }
  const head = ["clients of one replica", "its document, KiB", "clients", "history", "events", "the rest"];
  console.log(table([...head, `Valkey with ${replicas} replicas, MiB`], lines));
});
