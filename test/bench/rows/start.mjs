/** How soon is carryover ready, and what does it hold while nobody asks? */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../../scripts/free-ports.mjs";
import { goal } from "../goals.mjs";
import { NODE_FLAGS, residentBytes } from "../processes.mjs";
import { spread } from "../stats.mjs";
import { range, table } from "../tables.mjs";

const POLL_MS = 2;
const GIVE_UP_MS = 60_000;

export async function measureStart({ dist, settings: { starts: settings } }, start) {
  const children = [];
  const ready = [];
  for (let i = -1; i < settings.starts; i++) {
    const { child, ms, stop } = await startOnce(dist);
    await start({ stop });
    // The first one finds the files on the disk, the others in memory: a start after a restart is like these.
    if (i < 0) await stop();
    else {
      children.push(child);
      ready.push(ms);
    }
  }
  await sleep(settings.settleSeconds * 1000);
  const resident = children.map(({ pid }) => residentBytes(pid) / 2 ** 20);
  const [time, memory] = [spread(ready), spread(resident)];
  const goals = [
    goal({
      what: "start to ready",
      first: 500,
      unit: " ms",
      least: true,
      value: time.median,
      text: `${range(time, 0)} ms`,
    }),
    goal({
      what: "idle RSS",
      first: 115,
      unit: " MiB",
      least: true,
      value: memory.median,
      text: `${range(memory, 1)} MiB`,
    }),
  ];
  return { goals, text: text(settings, time, memory), faults: [], ready, resident };
}

function text({ starts, settleSeconds }, time, memory) {
  return [
    `From the spawn of \`node dist/main.js serve\` to the first 200 of \`/readyz\`, asked every ${POLL_MS} ms; then the resident memory of each process ${settleSeconds} s after the last start. Median of ${starts} processes (least to most).`,
    table(["start to ready, ms", "idle RSS, MiB"], [[range(time, 0), range(memory, 1)]]),
  ].join("\n\n");
}

async function startOnce(dist) {
  const port = await freePort();
  const main = fileURLToPath(new URL("main.js", dist));
  const flags = ["--listen-host", "127.0.0.1", "--listen-port", "0", "--admin-port", String(port)];
  const began = performance.now();
  const args = [...NODE_FLAGS, main, "serve", ...flags, "--upstream-v2-url", "http://127.0.0.1:9"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "ignore"] });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  while ((await statusOf(`http://127.0.0.1:${port}/readyz`)) !== 200) {
    if (child.exitCode !== null) throw new Error(`carryover ended with ${child.exitCode} before it was ready`);
    if (performance.now() - began > GIVE_UP_MS) throw new Error("carryover did not become ready");
    await sleep(POLL_MS);
  }
  return { child, ms: performance.now() - began, stop };
}

function statusOf(url) {
  return new Promise((resolve) => {
    const request = get(url, { agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on("error", () => resolve(0));
  });
}
