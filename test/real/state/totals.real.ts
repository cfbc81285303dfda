/** Totals that replicas count together stay exact, whatever a real server does meanwhile. */
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { later as afterMs } from "../../../src/model/clock.ts";
import { createReplica } from "../../../src/state/shared/replica.ts";
import { createRows } from "../../../src/state/shared/rows.ts";
import { createValkeyStore } from "../../../src/state/shared/valkey-store.ts";
import { createCaller } from "../../state/shared/contract.ts";
import { later, takeDownAfterEach } from "../../support/take-down.ts";
import { SERVERS, type Server, startServer } from "./server.ts";

takeDownAfterEach();

const NAMES = ["one", "two", "three"];

function storeAt({ url }: Server) {
  const common = { username: undefined, prefix: "carryover", secrets: async () => ({}), later: afterMs };
  return createValkeyStore({ url, ...common, random: Math.random, fresh: randomUUID });
}

/** A replica that counts some hundred times per second, in rows of its own. */
function counting(server: Server) {
  const totals = new Map<string, number>();
  const id = randomUUID();
  const rows = createRows(id, Date.now());
  const replica = createReplica({
    id,
    store: storeAt(server),
    about: () => "{}",
    rows: [rows],
    wall: Date.now,
    later: afterMs,
  });
  const timer = setInterval(() => {
    const name = NAMES[Math.floor(Math.random() * NAMES.length)] ?? "";
    totals.set(name, (totals.get(name) ?? 0) + 1);
    rows.put(name, String(totals.get(name)));
  }, 5);
  replica.start();
  const stop = (): void => clearInterval(timer);
  later(async () => {
    stop();
    await replica.close();
  });
  return { replica, totals, stop };
}

it.each(SERVERS)(
  "%s: kill -9, a freeze, FLUSHALL, evicted keys and a failover to an older copy leave the sums exact",
  async (name) => {
    const server = await startServer(name);
    later(() => server.close());
    const all = [counting(server), counting(server), counting(server)];
    await all[0]?.replica.decide({ kind: "rule", key: "rule-0", what: "back", generation: 0, detail: "{}" });
    await setTimeout(1_500);
    // Without persistence a restart loses everything.
    await server.restart();
    await setTimeout(2_500);
    server.signal("SIGSTOP");
    await setTimeout(3_000);
    server.signal("SIGCONT");
    await setTimeout(1_500);
    await server.run("FLUSHALL");
    await setTimeout(1_500);
    // A server may evict any key when it is full.
    const keys = (await server.run("KEYS", "*")).match(/\{carryover\}\S+/g) ?? [];
    for (const key of keys) {
      await server.run("DEL", key);
      await setTimeout(300);
    }
    await setTimeout(1_500);
    // A failover to an older copy loses everything since.
    await server.run("SAVE");
    await setTimeout(2_500);
    await server.restart();
    await setTimeout(2_000);
    for (const { stop } of all) stop();
    await setTimeout(4_500);
    const store = storeAt(server);
    later(() => store.close());
    const { answers, rules } = await createCaller(store, "reader").tick({ asks: NAMES });
    const sums = answers.map((rows) => rows.reduce((sum, { text }) => sum + Number(text), 0));
    expect(rules).toMatchObject([{ key: "rule-0", what: "back" }]);
    const sent = NAMES.map((name) => all.reduce((sum, { totals }) => sum + (totals.get(name) ?? 0), 0));
    const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b);
    console.log(`${sum(sent)} counted, ${sum(sums)} in the store`);
    expect(sums).toEqual(sent);
  },
  60_000,
);
