/** Compares how soon a v1 client has a long list with a client that follows v2's cursor. */
import { join } from "node:path";
import { goal, range, ratios, spread, table } from "../figures.mjs";
import { startCarryover, startClient, startPeer } from "../processes.mjs";

const PAGE = 200;

export async function measureReaders(bench, start) {
  const settings = bench.settings.readers;
  const upstream = await start(startPeer("paged-upstream", [settings.records, settings.latencyMs, 0]));
  const client = await start(startClient("lists"));
  const token = `records-${settings.records}`;
  const follow = () => client.ask({ do: "cursor", url: `${upstream.url}/iam/v2beta1/groups`, token, size: PAGE });
  const sides = [];
  for (const readers of settings.readers) sides.push(await sideOf(readers, bench, start, { upstream, client, token }));

  const cursor = [];
  for (let round = 0; round < settings.rounds; round++) {
    const turns = [
      async () => cursor.push((await follow()).ms),
      ...sides.map((side) => async () => side.times.push((await side.list()).ms)),
    ];
    if (round % 2 === 1) turns.reverse();
    for (const turn of turns) await turn();
  }
  return {
    goals: sides.map((side) => goalOf(side, cursor, settings)),
    text: text(sides, cursor, settings),
    faults: [],
  };
}

/** carryover with so many readers a list, warm: started several times, for what the first request of each takes. */
async function sideOf(readers, { dist, folder, settings: { readers: settings } }, start, { upstream, client, token }) {
  const flags = {
    "lists-readers": readers,
    "upstream-v2-page-tokens": "keyset",
  };
  const cold = [];
  let list;
  let shown;
  for (let i = 0; i < settings.colds; i++) {
    const log = join(folder, `readers-${readers}.log`);
    const carryover = await start(startCarryover(dist, { upstream: upstream.url, log, flags }));
    list = () => client.ask({ do: "v1", url: `${carryover.url}/iam/v1/groups`, token });
    shown = await list();
    if (shown.records !== settings.records) throw new Error(`a list has ${shown.records} records`);
    cold.push(shown.ms);
    if (i < settings.colds - 1) await carryover.stop();
  }
  return { readers, list, shown, cold, times: [] };
}

function goalOf({ readers, times }, cursor, { records, latencyMs }) {
  const speedUp = ratios(cursor, times);
  const share = speedUp.median / readers;
  return goal({
    key: `readers-${readers}`,
    what: `v1 list of ${records.toLocaleString("en")} records, ${latencyMs} ms per upstream call, share of the ideal speed-up at ${readers} readers`,
    against: `following the cursor with ${PAGE} a page; ideal: its time / ${readers}`,
    target: 0.9,
    value: share,
    text: `${share.toFixed(2)} (${range(speedUp, 2)} times sooner)`,
  });
}

function text(sides, cursor, { records, latencyMs, rounds }) {
  const pages = Math.ceil(records / PAGE);
  const rows = sides.map(({ readers, times, cold, shown }) => {
    const speedUp = ratios(cursor, times);
    const share = (ratio) => (ratio / readers).toFixed(2);
    const bound = (1 + Math.ceil((pages - 1) / readers)) * latencyMs;
    const first = spread(cold);
    return [
      readers,
      range(spread(times), 0),
      `${range(speedUp, 2)}×`,
      `${readers}×`,
      share(speedUp.median),
      bound,
      `${range(first, 0)}, ${share(spread(cursor).median / first.median)} of the ideal`,
      shown.list,
    ];
  });
  const head = [
    "readers",
    "v1 list, ms",
    "speed-up",
    "ideal",
    "share of the ideal",
    "lower bound, ms",
    "very first request, ms",
    "carryover-list",
  ];
  return [
    `The client's time from its request to the last byte; median of ${rounds} rounds (least to most), the sides in turns. Following the cursor, one page of ${PAGE} after another, takes ${range(spread(cursor), 0)} ms. The ideal is that time divided by the readers. The lower bound is rounds × latency: one page alone, since only its answer says how many there are, then the others by ${sides.map(({ readers }) => readers).join(" or ")} at a time. The very first request is that of a process just started, nothing of it compiled or connected (${sides[0]?.cold.length} starts).`,
    table(head, rows),
  ].join("\n\n");
}
