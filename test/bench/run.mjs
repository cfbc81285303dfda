/**
 * How fast is carryover beside what people would use or write instead? (Design: numbers to reach.)
 * `npm run bench` takes minutes and writes RESULTS.md; `npm run bench -- --quick` takes seconds and writes nothing.
 * No threshold: the exit code is 1 only when something broke (an answer that is wrong, not 2xx, or none).
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { recordAnswers } from "./answers.mjs";
import { checkAnswers, checkWatched } from "./checks.mjs";
import { chooseLoad } from "./load.mjs";
import { startCarryover, startPeer } from "./processes.mjs";
import { report } from "./report.mjs";
import { measureRewriting } from "./rewriting.mjs";
import { race } from "./rounds.mjs";

const HERE = import.meta.dirname;
const { values: args } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    // Another build to measure, and fewer comparisons: for work on one of them.
    dist: { type: "string", default: join(HERE, "../../dist") },
    only: { type: "string", default: "" },
    load: { type: "string", default: "" },
  },
});
const settings = args.quick
  ? { rounds: 3, seconds: 1, warmupSeconds: 1, connections: 32, pages: 60 }
  : { rounds: 9, seconds: 3, warmupSeconds: 3, connections: 32, pages: 400 };

const dist = pathToFileURL(`${resolve(args.dist)}/`);
const folder = await mkdtemp(join(tmpdir(), "carryover-bench-"));
const started = [];
try {
  const load = await chooseLoad(args.load);
  const { answers, calls, token } = await recordAnswers(dist);
  const file = join(folder, "answers.json");
  await writeFile(file, JSON.stringify(answers));
  const start = async (launching) => {
    const one = await launching;
    started.push(one);
    return one;
  };
  const peer = (name, ...rest) => start(startPeer(join(HERE, "peers", `${name}.mjs`), rest));
  const upstream = await peer("upstream", file);
  const carryover = await start(startCarryover(dist, upstream.url, join(folder, "carryover.log")));
  const bare = await peer("bare-proxy", upstream.url);
  const parsing = await peer("parse-list", upstream.url);

  const races = [
    {
      key: "pass",
      name: "v2 get, passed through",
      against: "bare @fastify/http-proxy",
      own: { server: carryover, target: calls.v2Get },
      peer: { server: bare, target: calls.v2Get },
    },
    {
      key: "get",
      name: "v1 get, translated",
      against: "bare @fastify/http-proxy, same bytes untouched",
      own: { server: carryover, target: calls.v1Get },
      peer: { server: bare, target: calls.v2Get },
    },
    {
      key: "list",
      name: "v1 list of 200, translated",
      against: "fastify + undici + JSON.parse, rename, JSON.stringify",
      own: { server: carryover, target: calls.v1List },
      peer: { server: parsing, target: calls.v1List },
    },
  ].filter(({ key }) => args.only === "" || args.only.split(",").includes(key));

  await checkAnswers(races, answers, token);
  const rewriting = await measureRewriting(dist, answers[calls.v2List], settings);
  const results = await race(races, load, token, settings);
  const broken = results.flatMap(({ faults }) => faults);
  broken.push(...(await checkWatched(carryover, results)));
  await report({ results, rewriting, settings, load, quick: args.quick, answers, calls });
  for (const fault of broken) console.error(`broken: ${fault}`);
  if (broken.length > 0) process.exitCode = 1;
} finally {
  await Promise.all(started.map((one) => one.stop()));
  await rm(folder, { recursive: true, force: true });
}
