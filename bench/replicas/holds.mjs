/**
 * Measures the memory of one process: at rest, for each connection, waiting request and client, and with as many long
 * lists as it may read.
 */
import { connect } from "node:net";
import { join } from "node:path";
import { startCarryover, startClient, startPeer } from "../processes.mjs";
import { measureStart } from "../rows/start.mjs";

const GROUP = "/iam/v1/groups/57f9e5fa7da60166436d01ae3baf059ec752f4bb/0000000000000010";

/** Bytes and milliseconds; each part with processes of its own. */
export async function measureHolds(bench) {
  const holds = { start: await within(bench, start) };
  for (const [name, measure] of Object.entries({ connections, waiting, clients, lists })) {
    console.error(`${new Date().toISOString().slice(11, 19)} what one process holds: ${name}`);
    holds[name] = [];
    for (let round = 0; round < bench.settings.holds.rounds; round++) holds[name].push(await within(bench, measure));
  }
  return holds;
}

async function within(bench, measure) {
  const started = [];
  const begin = async (launching) => {
    const one = await launching;
    started.push(one);
    return one;
  };
  try {
    return await measure(bench, begin);
  } finally {
    for (const one of started.reverse()) await one.stop();
  }
}

async function start({ dist, settings }, begin) {
  const { ready, resident } = await measureStart({ dist, settings: { starts: settings.holds } }, begin);
  return { readyMs: ready, residentMiB: resident };
}

const begun = ({ dist, folder }, upstream, flags = {}) =>
  startCarryover(dist, { upstream: upstream.url, log: join(folder, "holds.log"), flags, probe: true });

const settled = async (carryover) => (await carryover.ask({ do: "settle" })).memory.held;

/** Idle connections of clients that have made one request each. */
async function connections(bench, begin) {
  const count = bench.settings.holds.connections;
  const upstream = await begin(startPeer("paged-upstream", [1_000, 0, 0]));
  const carryover = await begin(begun(bench, upstream));
  await answered(await opened(carryover, 50));
  const before = await settled(carryover);
  const sockets = await opened(carryover, count);
  await answered(sockets);
  return { bytesEach: ((await settled(carryover)) - before) / count };
}

/** Requests under way that the platform does not answer. */
async function waiting(bench, begin) {
  const count = bench.settings.holds.waiting;
  const upstream = await begin(startPeer("hanging", []));
  // None may be over before the last one has come.
  const flags = { "upstream-v2-timeouts-headers-seconds": 59, "limits-request-seconds": 59 };
  const carryover = await begin(begun(bench, upstream, { "upstream-v2-connections": count, ...flags }));
  const before = await settled(carryover);
  await opened(carryover, count);
  await inFlight(carryover, count);
  return { bytesEach: ((await settled(carryover)) - before) / count };
}

async function inFlight({ adminUrl }, count) {
  for (let last = -1, now = 0; now >= last; last = now) {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    now = Number(/^carryover_in_flight_requests (\d+)/m.exec(text)?.[1]);
    if (now === count) return;
  }
  throw new Error(`fewer than ${count} requests are under way together: the machine is too busy`);
}

/** Connections, each with a request sent. */
async function opened({ url }, count) {
  const { hostname, port, host } = new URL(url);
  const head = `GET ${GROUP} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer somebody\r\nuser-agent: bench/1.0\r\n\r\n`;
  const open = () =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.once("error", reject).once("connect", () => {
        socket.off("error", reject).on("error", () => {});
        socket.write(head);
        resolve(socket);
      });
    });
  const sockets = [];
  while (sockets.length < count) sockets.push(await open());
  return sockets;
}

/** The first bytes of an answer of some hundred are all of it. */
function answered(sockets) {
  return Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("data", resolve))));
}

/** Clients that the ledger knows, each with one v1 and one v2 call. */
async function clients(bench, begin) {
  const count = bench.settings.holds.clients;
  const upstream = await begin(startPeer("paged-upstream", [count * 2, 0, 0]));
  const carryover = await begin(begun(bench, upstream, { "clients-max": 20_000 }));
  const client = await begin(startClient("crowd"));
  await client.ask({ do: "come", url: carryover.url, count: 500, connections: 32 });
  const before = await settled(carryover);
  await client.ask({ do: "come", url: carryover.url, count, connections: 32 });
  const bytesEach = ((await settled(carryover)) - before) / (count - 500);
  return { bytesEach, scrapeBytes: (await (await fetch(`${carryover.adminUrl}/metrics`)).text()).length };
}

/** As many long lists as are read at a time, all begun at once. */
async function lists(bench, begin) {
  const { lists: count, records } = bench.settings.holds;
  const upstream = await begin(startPeer("paged-upstream", [records, 20, 0]));
  const carryover = await begin(begun(bench, upstream, { "upstream-v2-page-tokens": "keyset" }));
  const crowd = await begin(startClient("crowd"));
  const url = `${carryover.url}/iam/v1/groups`;
  await crowd.ask({ do: "once", url, tokens: ["records-1000"] });
  const idle = await settled(carryover);
  await carryover.ask({ do: "watch" });
  const tokens = Array.from({ length: count }, (_, i) => `records-${records}-caller-${i % 4}`);
  const cpu = carryover.cpuMs();
  const { ends, ms } = await crowd.ask({ do: "once", url, tokens });
  const cpuMs = carryover.cpuMs() - cpu;
  const { samples } = await carryover.ask({ do: "watched" });
  if (ends["200 whole"] !== count) throw new Error(`of ${count} lists: ${JSON.stringify(ends)}`);
  const grown = Math.max(...samples.map(({ held }) => held)) - idle;
  return {
    bytesEach: grown / count,
    mostResidentBytes: carryover.mostResidentBytes(),
    recordsPerSecond: (count * records) / (ms / 1000),
    usPerRecord: (cpuMs * 1000) / (count * records),
  };
}
