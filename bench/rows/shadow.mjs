/** Measures the effect on clients of comparisons in the background, and of a v2 that hangs. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { goal, quantile, range, ratios, spread, table } from "../figures.mjs";
import { startCarryover, startClient, startPeer } from "../processes.mjs";

/** Native v1 answers everything, and every answer is compared. */
const SHADOW_ALL = `version: carryover/v1
rules:
  - name: everything
    match: {}
    mode: shadow
    shadow: { sample: 1.0 }
`;

export async function measureShadow(bench, start) {
  const { calls, settings } = bench;
  const sides = await startSides(bench, start);
  const targets = { get: calls.v1ById, list: calls.v1List };
  await checkAnswers(sides, targets, bench);
  const client = await start(startClient("steady"));
  const faults = [];
  // First, so that everything is compiled when latency is measured.
  await full(sides, targets, bench, faults);
  await steady(sides, targets, client, bench, faults);
  const ends = new Map(await Promise.all(sides.map(async ({ key, server }) => [key, await comparisonsOf(server)])));
  faults.push(...doubtsAbout(ends));
  return { goals: shadowGoals(sides), text: shadowText(sides, settings.shadow), faults };
}

/** The same native v1 behind all three; they differ in the mode and in v2. */
async function startSides({ dist, folder, answers, native }, start) {
  const [v2File, v1File, rules] = ["shadow-v2.json", "shadow-v1.json", "shadow.yaml"].map((name) => join(folder, name));
  await Promise.all([
    writeFile(v2File, JSON.stringify(answers)),
    writeFile(v1File, JSON.stringify(native)),
    writeFile(rules, SHADOW_ALL),
  ]);
  const v2 = await start(startPeer("upstream", [v2File]));
  const v1 = await start(startPeer("upstream", [v1File]));
  const hanging = await start(startPeer("hanging", []));
  const side = async (key, name, upstream, own) => {
    const log = join(folder, `shadow-${key}.log`);
    const flags = { "upstream-v1-url": v1.url, "cutover-mode": "native", "clients-identify": "claim:sub", ...own };
    const server = await start(startCarryover(dist, { upstream, log, flags }));
    const empty = () => ({ p50: [], p99: [], steadyCpu: [], perSecond: [], fullCpu: [], compared: [0, 0] });
    return { key, name, server, get: empty(), list: empty() };
  };
  return [
    await side("native", "native", v2.url, {}),
    await side("shadow", "shadow, every answer compared", v2.url, { "cutover-rules-file": rules }),
    await side("hanging", "shadow, v2 never answers", hanging.url, { "cutover-rules-file": rules }),
  ];
}

/** Throws when a side does not give native's bytes. */
async function checkAnswers(sides, targets, { native, token }) {
  for (const { name, server } of sides) {
    for (const target of Object.values(targets)) {
      const answer = await fetch(server.url + target, { headers: { authorization: `Bearer ${token}` } });
      if ((await answer.text()) !== native[target].body) throw new Error(`${name} changes ${target}`);
    }
  }
}

/** Round by round, the sides in turns; every other round the other way about. */
async function inTurns(sides, rounds, turn) {
  for (let round = -1; round < rounds; round++) {
    for (const side of round % 2 === 0 ? sides : [...sides].reverse()) {
      for (const kind of ["get", "list"]) await turn(side, kind, round >= 0);
    }
  }
}

/** At a constant rate, so that there is time to compare. */
async function steady(sides, targets, client, { token, settings }, faults) {
  const { rates, steady: how } = settings.shadow;
  await inTurns(sides, how.rounds, async ({ name, server, ...side }, kind, counts) => {
    const [cpu, before] = [server.cpuMs(), await comparisonsOf(server)];
    const fired = await client.ask({
      do: "fire",
      targets: [{ url: server.url + targets[kind], token }],
      ...how,
      rate: rates[kind],
    });
    const [{ latencies, failed }] = fired.targets;
    if (failed > 0) faults.push(`${name}, ${kind}: ${failed} of ${latencies.length} were not answered 200`);
    if (!counts) return;
    const requests = rates[kind] * (how.seconds + how.warmupSeconds);
    const after = await comparisonsOf(server);
    side[kind].p50.push(quantile(latencies, 0.5));
    side[kind].p99.push(quantile(latencies, 0.99));
    side[kind].steadyCpu.push(((server.cpuMs() - cpu) * 1000) / requests);
    side[kind].compared[0] += (after.get("equal") ?? 0) - (before.get("equal") ?? 0);
    side[kind].compared[1] += requests;
  });
}

/** As fast as it goes: few can be compared then. */
async function full(sides, targets, { load, token, settings }, faults) {
  const how = settings.shadow.full;
  await inTurns(sides, how.rounds, async ({ name, server, ...side }, kind, counts) => {
    const cpu = server.cpuMs();
    const { perSecond, requests, failed } = await load.fire(server.url + targets[kind], token, how);
    if (failed > 0) faults.push(`${name}, ${kind} under full load: ${failed} requests without a 2xx`);
    if (!counts) return;
    side[kind].perSecond.push(perSecond);
    side[kind].fullCpu.push(((server.cpuMs() - cpu) * 1000) / requests);
  });
}

const KINDS = [
  ["get", "v1 get of one group (its list with `id`)"],
  ["list", "v1 list of 200"],
];

/** Ratios of neighbours in time. `sides`: native first. */
function shadowGoals([native, ...others]) {
  return KINDS.flatMap(([kind, what]) =>
    others.flatMap((side) =>
      ["p50", "p99"].map((name) => {
        const ratio = ratios(side[kind][name], native[kind][name]);
        const [own, base] = [side, native].map((one) => spread(one[kind][name]).median.toFixed(2));
        return goal({
          what: `${what}, ${side.name}, ${name}`,
          against: "the same in mode native",
          value: ratio.median,
          text: `${range(ratio, 2)}×: ${base} ms native, ${own} ms`,
        });
      }),
    ),
  );
}

function shadowText(sides, { rates, steady, full }) {
  const parts = KINDS.flatMap(([kind, what]) => [`${what}:`, ofKind(sides, kind)]);
  return [
    `Native v1 answers in every case, with the same bytes; carryover runs as a process for each line. At a constant rate (open load; ${rates.get} gets and ${rates.list} lists a second, ${steady.seconds} s a side in each of ${steady.rounds} rounds, the sides in turns) latency in ms and processor time per request in µs, comparing included; then under full load (${full.connections} connections, ${full.rounds} rounds of ${full.seconds} s), where most comparisons find no place and are let go. Median (least to most); ratios are of neighbours in time.`,
    ...parts,
  ].join("\n\n");
}

function ofKind(sides, kind) {
  const [native] = sides;
  const rows = sides.map((side) => {
    const { p50, p99, steadyCpu, perSecond, fullCpu, compared } = side[kind];
    const beside = side === native ? "" : `${range(ratios(perSecond, native[kind].perSecond), 2)}×`;
    return [
      side.name,
      range(spread(p50), 2),
      range(spread(p99), 2),
      range(spread(steadyCpu), 0),
      side === native ? "–" : `${((compared[0] / compared[1]) * 100).toFixed(0)}%`,
      range(spread(perSecond), 0),
      beside,
      range(spread(fullCpu), 0),
    ];
  });
  const head = [
    "",
    "p50",
    "p99",
    "µs",
    "found equal",
    "requests/s under full load",
    "beside native",
    "µs under full load",
  ];
  return table(head, rows);
}

/** How many by result, from its metrics. */
async function comparisonsOf({ adminUrl }) {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const counts = new Map();
  for (const [, result, count] of text.matchAll(/^carryover_comparisons_total\{[^}]*result="(\w+)"[^}]*\} (\d+)/gm)) {
    counts.set(result, (counts.get(result) ?? 0) + Number(count));
  }
  return counts;
}

/** What a run cannot be believed for; `ends`: comparisons by result, at its end, by the side's key. */
function doubtsAbout(ends) {
  const doubts = [];
  const [native, shadow, hanging] = ["native", "shadow", "hanging"].map((key) => ends.get(key));
  if (native.size > 0) doubts.push("native compares answers");
  if (!shadow.has("equal")) doubts.push("shadow compared nothing");
  const others = [...shadow.keys()].filter((result) => result !== "equal" && result !== "failed");
  if (others.length > 0) doubts.push(`shadow finds ${others} where both platforms hold the same`);
  if ([...hanging.keys()].some((result) => result !== "failed")) doubts.push("a v2 that hangs was compared with");
  if (!hanging.has("failed")) doubts.push("nothing was sent to the v2 that hangs");
  return doubts;
}
