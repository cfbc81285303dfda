/** Requests more very long lists at once than carryover has memory for. */
import { join } from "node:path";
import { goal } from "../figures.mjs";
import { startCarryover, startClient, startPeer } from "../processes.mjs";

export async function measureFlood(bench, start) {
  const settings = bench.settings.flood;
  const { lists, credentials, records, latencyMs, heapMiB } = settings;
  const upstream = await start(startPeer("paged-upstream", [records, latencyMs, 0]));
  const carryover = await start(
    startCarryover(bench.dist, {
      upstream: upstream.url,
      log: join(bench.folder, "flood.log"),
      flags: { "upstream-v2-page-tokens": "keyset" },
      node: [`--max-old-space-size=${heapMiB}`],
    }),
  );
  const crowd = await start(startClient("crowd"));
  const tokens = Array.from({ length: lists }, (_, i) => `records-${records}-caller-${i % credentials}`);
  const told = await crowd.ask({ do: "once", url: `${carryover.url}/iam/v1/groups`, tokens });
  const alive = await isReady(carryover);
  const clean = Object.keys(told.ends).every((how) => how === "200 whole" || how === "503 with Retry-After");
  const ends = Object.entries(told.ends).map(([how, count]) => `${count} × ${how}`);
  const most = `${(carryover.mostResidentBytes() / 2 ** 20).toFixed(0)} MiB RSS at most`;
  const survived = alive && clean && told.ends["200 whole"] > 0;
  const value = goal({
    key: "flood",
    what: `${lists} lists of ${records.toLocaleString("en")} records at once with --max-old-space-size=${heapMiB}`,
    target: 1,
    value: survived ? 1 : 0,
    text: `${ends.join(", ")}; ${alive ? "ready afterwards" : "the process ended"}; ${most}; ${(told.ms / 1000).toFixed(1)} s`,
  });
  const rule = "every list whole, or refused with 503 and Retry-After; ready afterwards";
  return { goals: [{ ...value, asked: rule }], text: explained(settings), faults: [] };
}

function explained({ lists, credentials, latencyMs }) {
  return `${lists} clients with ${credentials} credentials ask at the same moment; ${latencyMs} ms per page, options as they come. One that is cut off, or a process that ends, is a failure.`;
}

async function isReady(carryover) {
  if (carryover.ended()) return false;
  const answer = await fetch(`${carryover.adminUrl}/readyz`).catch(() => undefined);
  return answer?.status === 200;
}
