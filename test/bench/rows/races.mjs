/** Compares carryover's requests per second with those of the alternatives. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { checkAnswers, checkWatched } from "../checks.mjs";
import { figure } from "../figures.mjs";
import { goal } from "../goals.mjs";
import { findNginxLua, startNginxLua } from "../peers/nginx-lua.mjs";
import { startCarryover, startPeer } from "../processes.mjs";
import { ratios, spread } from "../stats.mjs";
import { range, table } from "../tables.mjs";
import { race } from "./race.mjs";

export async function measureRaces(bench, start) {
  const { answers, calls, token, load, folder } = bench;
  const settings = bench.settings.races;
  const { races, missing, carryover } = await line(bench, start);
  await checkAnswers(races, answers, token);
  const results = await race(races, load, token, settings);
  const faults = results.flatMap((result) => result.faults);
  faults.push(...(await checkWatched(carryover, results)));
  return { goals: results.map(goalOf), text: text(results, settings, calls, answers, missing), faults, folder };
}

/** Who races whom. Only the servers that are needed are started. */
async function line({ dist, folder, answers, calls, wants }, start) {
  const file = join(folder, "answers.json");
  await writeFile(file, JSON.stringify(answers));
  const upstream = await start(startPeer("upstream", [file]));
  const carryover = await start(startCarryover(dist, { upstream: upstream.url, log: join(folder, "races.log") }));
  const bare = wants("pass") || wants("get") ? await start(startPeer("bare-proxy", [upstream.url])) : undefined;
  const parsing = wants("list") ? await start(startPeer("parse-list", [upstream.url])) : undefined;
  const found = wants("nginx") ? await findNginxLua() : undefined;
  const nginx = found === undefined ? undefined : await start(startNginxLua(found, upstream.url, folder));
  const own = (target) => ({ server: carryover, target });
  const races = [
    {
      key: "pass",
      what: "v2 get passed through, requests/s",
      against: "bare @fastify/http-proxy",
      id: "T-LOD-01",
      asked: { first: 0.85, second: 1 },
      own: own(calls.v2Get),
      peer: { server: bare, target: calls.v2Get },
    },
    {
      key: "get",
      what: "v1 get of one record, translated, requests/s",
      against: "bare @fastify/http-proxy, same bytes untouched",
      id: "T-LOD-02",
      asked: { first: 0.9, second: 1.3 },
      own: own(calls.v1Get),
      peer: { server: bare, target: calls.v2Get },
    },
    {
      key: "list",
      what: "v1 list of 200, translated, requests/s",
      against: "fastify + undici + JSON.parse, rename, JSON.stringify",
      id: "T-LOD-03",
      asked: { first: 1.3, second: 2 },
      own: own(calls.v1List),
      peer: { server: parsing, target: calls.v1List },
    },
    {
      key: "nginx",
      what: "v1 list of 200, translated, requests/s",
      against: `${found?.version.replace("nginx version: ", "")} + Lua (cjson), one worker`,
      asked: { first: 1.3, second: 2 },
      own: own(calls.v1List),
      peer: { server: nginx, target: calls.v1List },
    },
  ];
  const missing = wants("nginx") && nginx === undefined;
  return { races: races.filter(({ key, peer }) => wants(key) && peer.server !== undefined), missing, carryover };
}

function goalOf({ what, against, asked, samples, id }) {
  if (id !== undefined) figure(id, what, spread(perSecond(samples)[0]).median, "requests/s");
  const ratio = ratios(...perSecond(samples));
  return goal({ what, against, ...asked, unit: "×", value: ratio.median, text: `${range(ratio, 2)}×` });
}

const perSecond = ({ own, peer }) => [own, peer].map((side) => side.map((sample) => sample.perSecond));
const cpu = ({ own, peer }) => [own, peer].map((side) => side.map((sample) => sample.cpuUs));

function text(results, { rounds, seconds, connections }, calls, answers, missing) {
  const rows = (digits, pick) =>
    results.map(({ what, against, samples }) => {
      const [own, peer] = pick(samples);
      return [
        what.replace(", requests/s", ""),
        against,
        range(spread(own), digits),
        range(spread(peer), digits),
        range(ratios(own, peer), 2),
      ];
    });
  return [
    `Requests a second, median of ${rounds} rounds of ${seconds} s a side over ${connections} connections (least to most). The sides take turns, each goes first in every other round, and a ratio is of neighbours in time. A group is ${answers[calls.v2Get].body.length} bytes, a page of 200 is ${answers[calls.v2List].body.length}; the upstream answers them as bytes, at once. carryover counts metrics and logs every request to a file, its peers do nothing of the kind.`,
    table(
      ["carryover", "compared with", "carryover, requests/s", "peer, requests/s", "ratio (more is better)"],
      rows(0, perSecond),
    ),
    "Processor time of the process per request, all its threads. Other load on the machine moves this far less than it moves requests a second:",
    table(["carryover", "compared with", "carryover, µs", "peer, µs", "ratio (less is better)"], rows(0, cpu)),
    ...(missing
      ? ["nginx with Lua did not take part: it was not found (`scripts/install-bench-tools.sh` gets it)."]
      : []),
  ].join("\n\n");
}
