/** Compares two servers on a machine that is never quiet: in short turns, each going first in every other round. */
import { setTimeout as sleep } from "node:timers/promises";

/** Runs all races round by round. Gives for each its samples: `own` and `peer`, one per round, and what failed. */
export async function race(races, load, token, settings) {
  const results = races.map((one) => ({ ...one, samples: { own: [], peer: [] }, requests: 0, faults: [] }));
  for (let round = -1; round < settings.rounds; round++) {
    for (const result of results) {
      for (const side of round % 2 === 0 ? ["own", "peer"] : ["peer", "own"]) {
        const sample = await turn(result[side], load, token, settings, round < 0);
        if (side === "own") result.requests += sample.requests;
        if (sample.failed > 0) result.faults.push(`${result.what}, ${side}: ${sample.failed} requests without a 2xx`);
        if (sample.requests === 0) result.faults.push(`${result.what}, ${side}: no request was answered`);
        if (round >= 0) result.samples[side].push(sample);
      }
    }
  }
  return results;
}

async function turn({ server, target }, load, token, { connections, seconds, warmupSeconds }, warmup) {
  const before = server.cpuMs();
  const fired = await load.fire(server.url + target, token, { connections, seconds: warmup ? warmupSeconds : seconds });
  const sample = { ...fired, cpuUs: ((server.cpuMs() - before) * 1000) / fired.requests };
  // Sockets of this turn close before the next one begins.
  await sleep(100);
  return sample;
}
