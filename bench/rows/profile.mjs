/** Profiles carryover under full load, by part and by function, for a pass-through, a translated get and a list page of 200. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { table } from "../figures.mjs";
import { startCarryover, startPeer } from "../processes.mjs";

const LIST_PARTS = 14;
const FUNCTIONS = 15;

export async function measureProfile(bench, start) {
  const { answers, calls, modules, folder, load, token } = bench;
  const settings = bench.settings.profile;
  const file = join(folder, "profile.json");
  await writeFile(file, JSON.stringify(answers));
  const upstream = await start(startPeer("upstream", [file]));
  const log = join(folder, "profile.log");
  const carryover = await start(startCarryover(modules, { upstream: upstream.url, log, probe: true }));
  const kinds = [
    ["v2 get, passed through", calls.v2Get],
    ["v1 get, translated", calls.v1Get],
    ["v1 list of 200", calls.v1List],
  ];
  const columns = [];
  for (const [name, target] of kinds) {
    const fire = (seconds) => load.fire(carryover.url + target, token, { ...settings, seconds });
    await fire(settings.warmupSeconds);
    await carryover.ask({ do: "profile" });
    const { requests } = await fire(settings.seconds);
    const profile = join(folder, `${columns.length}.cpuprofile`);
    await carryover.ask({ do: "profiled", file: profile });
    columns.push({ name, requests, ...costsOf(JSON.parse(await readFile(profile, "utf8"))) });
  }
  return { goals: [], text: text(columns, settings), faults: [] };
}

function text(columns, { seconds }) {
  const cost = ({ parts, requests }, part) => (parts.get(part) ?? 0) / requests;
  const all = (column) => [...column.parts.values()].reduce((sum, us) => sum + us, 0) / column.requests;
  const parts = [...new Set(columns.flatMap(({ parts }) => [...parts.keys()]))];
  const [, get] = columns;
  parts.sort((a, b) => cost(get, b) - cost(get, a));
  const cell = (column, us) => `${us.toFixed(1)} (${((us / all(column)) * 100).toFixed(0)}%)`;
  const rows = parts
    .slice(0, LIST_PARTS + 1)
    .map((part) => [part, ...columns.map((column) => cell(column, cost(column, part)))]);
  rows.push(["**together**", ...columns.map((column) => all(column).toFixed(1))]);
  return [
    `Microseconds of carryover's main thread per request (share), ${seconds} s under full load each; the profiler itself slows everything a little. Built-in functions count where they were called from.`,
    table(["", ...columns.map(({ name }) => name)], rows),
    "By function, without what it calls:",
    functionTable(columns, (column, us) => cell(column, us / column.requests)),
  ].join("\n\n");
}

/** The functions that took the most, kind beside kind. */
function functionTable(columns, cell) {
  const rows = Array.from({ length: FUNCTIONS }, (_, at) =>
    columns.flatMap((column) => {
      const [name, us] = column.functions[at] ?? ["", 0];
      return [name, cell(column, us)];
    }),
  );
  return table(
    columns.flatMap(({ name }) => [name, "µs"]),
    rows,
  );
}

/** The profiler, and who asked for it. */
const OWN = "the bench's own";
/** The first that fits names a function's part; `at` is the file that it stands in. */
const PARTS = [
  [OWN, /\/test\/bench\/|^node:inspector/],
  ["router", /\/src\/router\//],
  ["rewriter", /\/src\/json\//],
  ["translation", /\/src\/(translate|catalogue|rollout)\//],
  ["log", /\/src\/telemetry\/(batch|log|scrub)|node_modules\/(pino|sonic-boom)/],
  ["metrics", /\/src\/telemetry\/|node_modules\/prom-client/],
  ["server", /\/src\/server\//],
  ["lists", /\/src\/drain\//],
  ["upstream calls", /\/src\/upstream\//],
  ["the sentence (proxy, app)", /\/src\//],
  ["undici", /node_modules\/undici|^wasm:/],
  ["fastify", /node_modules\//],
  [
    "node: HTTP and sockets",
    /^node:(_http|http|net|_stream|stream|internal\/(streams|stream_base|http|net|js_stream))/,
  ],
  ["node: the rest", /^node:/],
];
/** Built-in functions that are hardly more than a system call. */
const WRITES = /^write(v|Buffer|Latin1String|Utf8String|AsciiString)$/;
const OUTSIDE = new Map([
  ["(garbage collector)", "garbage collection"],
  ["(program)", "native code outside functions: reading sockets, parsing HTTP"],
]);

/**
 * Microseconds by part, and by function, the most first. Sleep and the bench's own are left out. In parts, built-ins count where they were
 * called from.
 */
function costsOf(profile) {
  const parents = new Map(profile.nodes.flatMap(({ id, children }) => (children ?? []).map((child) => [child, id])));
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const names = new Map(profile.nodes.map((node) => [node.id, [partOf(node, nodes, parents), functionOf(node)]]));
  const [parts, functions] = [new Map(), new Map()];
  profile.samples.forEach((id, i) => {
    const [part, name] = names.get(id);
    if (part === undefined) return;
    parts.set(part, (parts.get(part) ?? 0) + profile.timeDeltas[i]);
    functions.set(name, (functions.get(name) ?? 0) + profile.timeDeltas[i]);
  });
  return { parts, functions: [...functions].sort(([, a], [, b]) => b - a) };
}

/** Built-in functions have no file. */
function functionOf({ callFrame: { functionName, url } }) {
  const file = /(?:\/src\/|node_modules\/|^node:)(.*)$/.exec(url)?.[1];
  return `${functionName || "(anonymous)"}${file === undefined ? "" : ` in ${file}`}`;
}

/** Undefined: asleep, or the bench's own. */
function partOf(node, nodes, parents) {
  const { functionName } = node.callFrame;
  if (functionName === "(idle)") return undefined;
  if (node.callFrame.url === "" && WRITES.test(functionName)) return "writing to sockets";
  for (let at = node; at !== undefined; at = nodes.get(parents.get(at.id))) {
    const { url } = at.callFrame;
    if (url === "") continue;
    const name = PARTS.find(([, pattern]) => pattern.test(url))?.[0];
    return name === OWN ? undefined : name;
  }
  return OUTSIDE.get(functionName) ?? "node: the rest";
}
