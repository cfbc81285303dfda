/** Counts metric series after very many distinct clients, paths and tokens. */
import { join } from "node:path";
import { mib, table } from "../figures.mjs";
import { startCarryover, startClient, startPeer } from "../processes.mjs";

const MEANS = ["user-agent", "claim:sub"];

export async function measureSeries(bench, start) {
  const { distinct, connections } = bench.settings.series;
  const upstream = await start(startPeer("paged-upstream", [distinct, 0, 0]));
  const client = await start(startClient("crowd"));
  const rows = [];
  const faults = [];
  for (const means of MEANS) {
    const log = join(bench.folder, "series.log");
    const flags = { "clients-identify": means };
    const server = await start(startCarryover(bench.dist, { upstream: upstream.url, log, flags }));
    const idle = await metricsOf(server);
    const few = await told(client, server, { count: 1_000, connections });
    const after = await metricsOf(server);
    const many = await told(client, server, { count: distinct, connections });
    const end = await metricsOf(server);
    faults.push(...strange(few), ...strange(many), ...loose(end.text));
    const resident = mib(server.mostResidentBytes());
    rows.push([means, idle.lines, after.lines, end.lines, end.clients, (end.text.length / 1024).toFixed(0), resident]);
    await server.stop();
  }
  return { goals: [], text: text(rows, distinct), faults };
}

const told = (client, { url }, how) => client.ask({ do: "come", url, ...how });

/** Lines of `/metrics` that are no comments. */
async function metricsOf({ adminUrl }) {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const clients = lines.filter((line) => line.startsWith("carryover_client_requests_total{")).length;
  return { text, lines: lines.length, clients };
}

/** Groups are there, odd paths are not: anything else means that not all of it was counted. */
function strange({ counts }) {
  return Object.keys(counts)
    .filter((status) => !["200", "404", "501"].includes(status))
    .map((status) => `${counts[status]} of many callers were answered ${status}`);
}

/** Nothing of a caller's own may stand in a label. */
function loose(text) {
  const found = /caller-\d|odd-\d|57f9e5fa|e30\./.exec(text);
  return found === null ? [] : [`the metrics show ${found[0]}`];
}

function text(rows, distinct) {
  const head = [
    "client known by",
    "at the start",
    "after 1,000",
    "after all",
    "of these by client",
    "KiB",
    "RSS at most, MiB",
  ];
  return [
    `${distinct.toLocaleString("en")} requests (and 1,000 before), each with a client, a path, a token and a request id of its own, in turns to v1 and v2, one in ten to a path that nobody knows. Lines of \`/metrics\`, options as they come:`,
    table(head, rows),
  ].join("\n\n");
}
