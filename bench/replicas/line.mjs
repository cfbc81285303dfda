/** Starts the processes that are compared, each in front of the same platform. */
import { join } from "node:path";
import { recordAnswers } from "../answers.mjs";
import { startCanned } from "../peers/nginx-canned.mjs";
import { HASH, POLICIES, startFront } from "../peers/nginx-front.mjs";
import { startCarryover, startCluster, startPeer } from "../processes.mjs";

const OVERLAP = 10;
const PAGE = 200;
const LIST = "/iam/v2beta1/groups";

/**
 * Resolves with `upstream`, `front`, `sides` (each with a `name`, a `url`, how many `processes`, who is the carryover behind
 * it as `servers`, and whether nginx is in between) and the `calls` to make. `start` takes each process.
 */
export async function startLine({ dist, folder, nginx, settings }, start) {
  const { answers, calls } = await recordAnswers();
  const long = await windowsOf(settings.turns.records);
  const page = answers[calls.v2List].body;
  const record = answers[calls.v2Get].body;
  const upstream = await start(startCanned(nginx, { page, record, long }, folder));
  const begin = (name) => start(startCarryover(dist, { upstream: upstream.url, log: join(folder, `${name}.log`) }));
  const replicas = [];
  for (let i = 0; i < 4; i++) replicas.push(await begin(`replica-${i}`));
  const ways = [
    { name: "1 behind nginx", count: 1, policy: "least_conn" },
    ...Object.keys(POLICIES).map((policy) => ({ name: `2 behind nginx, ${policy}`, count: 2, policy })),
    ...["least_conn", HASH].map((policy) => ({ name: `4 behind nginx, ${policy}`, count: 4, policy })),
  ].map((way) => ({ ...way, servers: replicas.slice(0, way.count) }));
  const front = await start(startFront(nginx, ways.map(replicaUrls), folder));
  const clusters = [];
  for (const workers of [2, 4]) {
    const log = join(folder, `cluster-${workers}.log`);
    const server = await start(startCluster(dist, { upstream: upstream.url, log, workers }));
    clusters.push({ name: `node:cluster, ${workers} workers`, count: workers, url: server.url, servers: [server] });
  }
  const [alone] = replicas;
  const sides = [
    { name: "1 process", count: 1, url: alone.url, servers: [alone] },
    ...ways.map((way) => ({ ...way, url: front.urls.get(way.name), proxied: true })),
    ...clusters,
  ];
  return { upstream, front, sides, replicas, clusters, calls, answers };
}

const replicaUrls = ({ servers, ...way }) => ({ ...way, replicas: servers.map(({ url }) => url) });

/** The windows that a list of so many records is read through, as a platform gives them: text by query. */
async function windowsOf(records) {
  const platform = await startPeer("paged-upstream", [records, 0, 0]);
  try {
    const queries = [`page_size=${PAGE}`];
    for (let skip = PAGE - OVERLAP; skip + OVERLAP < records; skip += PAGE - OVERLAP) {
      queries.push(`page_size=${PAGE}&skip=${skip}`);
    }
    const ask = async (query) => [query, await (await fetch(`${platform.url}${LIST}?${query}`)).text()];
    return await Promise.all(queries.map(ask));
  } finally {
    await platform.stop();
  }
}
