/** Profiles carryover under full load, module by module, for a translated get and for a list page of 200. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startCarryover, startPeer } from "../processes.mjs";
import { table } from "../tables.mjs";
import { partsOf } from "./profile-parts.mjs";

const LIST_PARTS = 14;

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
    columns.push({ name, requests, parts: new Map(partsOf(JSON.parse(await readFile(profile, "utf8")))) });
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
  ].join("\n\n");
}
