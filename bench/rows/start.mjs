/**
 * Measures how soon carryover is ready and each command done, compared with a node that does nothing, and the memory at
 * rest.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../scripts/free-ports.mjs";
import { goal, range, ratios, spread, table } from "../figures.mjs";
import { NODE_FLAGS, residentBytes } from "../processes.mjs";

const POLL_MS = 2;
const GIVE_UP_MS = 60_000;
/** Commands that end by themselves. */
const COMMANDS = [["explain", "GET /iam/v1/groups"], ["report", "--help"], ["--version"]];

export async function measureStart({ dist, settings: { starts: settings } }, start) {
  const children = [];
  const ready = [];
  const bare = [];
  const others = COMMANDS.map((words) => ({ words, ms: [] }));
  for (let i = -1; i < settings.starts; i++) {
    const nothing = runOnce(["-e", "0"]);
    const { child, ms, stop } = await startOnce(dist);
    await start({ stop });
    const took = others.map(({ words }) => runOnce([fileURLToPath(new URL("main.js", dist)), ...words]));
    // The first one finds the files on the disk, the others in memory: a start after a restart is like these.
    if (i < 0) await stop();
    else {
      children.push(child);
      ready.push(ms);
      bare.push(nothing);
      for (const [at, { ms }] of others.entries()) ms.push(took[at]);
    }
  }
  await sleep(settings.settleSeconds * 1000);
  const resident = children.map(({ pid }) => residentBytes(pid) / 2 ** 20);
  const [memory, beside] = [spread(resident), ratios(ready, bare)];
  const goals = [
    goal({
      key: "start",
      what: "start to ready",
      against: "`node -e 0`",
      target: 6.5,
      unit: "×",
      least: true,
      value: beside.median,
      text: `${range(beside, 1)}×`,
    }),
    goal({
      key: "idle",
      what: "idle RSS",
      target: 115,
      unit: " MiB",
      least: true,
      value: memory.median,
      text: `${range(memory, 1)} MiB`,
    }),
  ];
  const rows = [
    { name: "`node -e 0`", ms: bare },
    { name: "`serve`, until it is ready", ms: ready },
    ...others.map(({ words, ms }) => ({
      name: `\`${words[0]}${words[1]?.startsWith("-") ? ` ${words[1]}` : ""}\``,
      ms,
    })),
  ].map(({ name, ms }) => [name, range(spread(ms), 0), range(ratios(ms, bare), 1)]);
  return { goals, text: text(settings, rows, memory), faults: [], ready, resident };
}

function text({ starts, settleSeconds }, rows, memory) {
  return [
    `\`serve\`: from the spawn of \`node dist/main.js serve\` to the first 200 of \`/readyz\`, asked every ${POLL_MS} ms. The others: from the spawn to the end. One after another, ${starts} rounds; median (least to most).`,
    table(["start", "ms", "beside `node -e 0`"], rows),
    `Resident memory of each \`serve\` ${settleSeconds} s after the last start: ${range(memory, 1)} MiB.`,
  ].join("\n\n");
}

/** Milliseconds of a process that ends by itself. */
function runOnce(words) {
  const began = performance.now();
  const { status, stderr } = spawnSync(process.execPath, words, {
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${words.join(" ")} ended with ${status}: ${stderr}`);
  return performance.now() - began;
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
