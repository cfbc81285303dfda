/**
 * Measures whether one client can hold up all others. `node bench/hogs/run.mjs [uploads|unread|flood|page] …` after
 * `npm run build`; without a name all of them. Starts carryover in front of its own platform, runs hostile clients, and
 * prints figures of what other clients see meanwhile.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const dist = process.env.DIST ?? join(import.meta.dirname, "../../dist");
const GOOD = "Authorization: Bearer good\r\n";

async function start(args, pattern, stream, env = {}) {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  let text = "";
  const found = new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error(`ended: ${text}`)));
    child[stream].on("data", (data) => {
      text += data;
      const match = pattern.exec(text);
      if (match !== null) resolve(match);
    });
  });
  for (const other of ["stdout", "stderr"]) child[other].resume();
  return { child, match: await found };
}

async function stage(flags = [], env = {}) {
  const platform = await start([join(import.meta.dirname, "platform.mjs")], /(http:\S+)/, "stdout", env);
  const args = [
    "serve",
    "--upstream-v2-url",
    platform.match[1],
    "--listen-port",
    "0",
    "--admin-port",
    "0",
    "--log-level",
    "warn",
  ];
  const node = process.env.PROF === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${process.env.PROF}`];
  const proxy = await start(
    [...node, join(dist, "main.js"), ...args, ...flags],
    /v1 clients at (\S+),.* admin at ([^\s,]+)/,
    "stderr",
  );
  const { port } = new URL(proxy.match[1]);
  const status = () => readFileSync(`/proc/${proxy.child.pid}/status`, "utf8");
  return {
    port,
    admin: proxy.match[2],
    rss: () => Number(/VmRSS:\s+(\d+)/.exec(status())[1]) / 1024,
    peak: () => Number(/VmHWM:\s+(\d+)/.exec(status())[1]) / 1024,
    end: async () => {
      proxy.child.kill("SIGINT");
      await Promise.race([once(proxy.child, "exit"), sleep(5_000)]);
      proxy.child.kill("SIGKILL");
      platform.child.kill("SIGKILL");
    },
  };
}

/** Asked again and again until `over`, one at a time, each given 5 s. */
async function others(port, over, { every = 20, target = "/iam/v1/groups/a/1", token = "good", body } = {}) {
  const times = [];
  const statuses = new Map();
  let going = true;
  void over.finally(() => {
    going = false;
  });
  while (going) {
    const began = performance.now();
    const status = await new Promise((resolve) => {
      const headers = { authorization: `Bearer ${token}`, connection: "close" };
      const method = body === undefined ? "GET" : "POST";
      const req = request({ host: "127.0.0.1", port, path: target, method, headers, timeout: 5_000 }, (res) => {
        res
          .on("end", () => resolve(res.statusCode))
          .on("error", () => resolve(0))
          .resume();
      });
      req.on("timeout", () => req.destroy()).on("error", () => resolve(0));
      req.end(body);
    });
    times.push(performance.now() - began);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    await sleep(every);
  }
  times.sort((a, b) => a - b);
  const at = (share) => `${times[Math.min(times.length - 1, Math.floor(times.length * share))]?.toFixed(1)} ms`;
  return `${JSON.stringify(Object.fromEntries(statuses))} median ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)}`;
}

async function dialMany(port, count, head) {
  const sockets = [];
  for (let i = 0; i < count; i++) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(head);
    sockets.push(socket);
  }
  return sockets;
}

const hogging = {
  "pass-through": "POST /iam/v2beta1/groups",
  "v1 PUT": "PUT /iam/v1/groups/a/1",
  "v1 POST": "POST /iam/v1/groups/a",
};

async function uploads() {
  for (const [name, line] of Object.entries(hogging)) {
    const size = Number(process.env.UPLOAD_BYTES ?? 900_000);
    const first = Number(process.env.UPLOAD_FIRST ?? 64 * 1024);
    const { port, rss, end } = await stage();
    const head = `${line} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`;
    const hogs = await dialMany(port, 140, head + "x".repeat(first));
    const told = new Map();
    for (const hog of hogs) {
      hog.on("data", (data) => {
        const status = String(data).slice(9, 12);
        told.set(status, (told.get(status) ?? 0) + 1);
      });
      const drip = setInterval(() => hog.write("x"), 4_000);
      hog.once("close", () => clearInterval(drip));
    }
    await sleep(1_000);
    const over = sleep(Number(process.env.SECONDS ?? 14) * 1_000);
    const [got, put, sent] = await Promise.all([
      others(port, over, { every: 200 }),
      others(port, over, { every: 200, target: "/iam/v2beta1/groups", body: "x".repeat(3_000_000) }),
      others(port, over, { every: 200, target: "/iam/v2beta1/groups", body: "x".repeat(100_000), token: "other" }),
    ]);
    console.log(`uploads, 140 by ${name}: gets ${got}`);
    console.log(`  uploads of 3 MB ${put}`);
    console.log(`  uploads of 100 KB with another token ${sent}`);
    console.log(`  hogs were told ${JSON.stringify(Object.fromEntries(told))}, RSS ${rss().toFixed(0)} MiB`);
    for (const hog of hogs) hog.destroy();
    await end();
  }
}

async function unread() {
  const { port, rss, peak, end, admin } = await stage();
  const held = async () => {
    const text = await (await fetch(`${admin}/metrics`)).text();
    const mib = (name) => Math.round(Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1]) / 2 ** 20);
    return `${mib("carryover_held_bytes")} MiB (external ${mib("\\w*external_memory_bytes")}, heap ${mib("\\w*heap_size_used_bytes")})`;
  };
  const before = rss();
  const hogs = await dialMany(port, 0, "");
  const head = `GET /iam/v1/groups?name=long HTTP/1.1\r\nHost: a\r\n${GOOD}\r\n`;
  const all = Array.from({ length: 900 }, async () => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.pause();
    await once(socket, "connect");
    socket.write(head);
    hogs.push(socket);
  });
  await Promise.all(all);
  const over = sleep(Number(process.env.SECONDS ?? 25) * 1_000);
  const [small, lists] = await Promise.all([
    others(port, over, { every: 100, token: "good2" }),
    others(port, over, { every: 100, token: "good2", target: "/iam/v1/groups?name=short" }),
  ]);
  console.log(
    `unread, 900 of 6 MB: RSS ${before.toFixed(0)} before, ${rss().toFixed(0)} now, ${peak().toFixed(0)} MiB at most; held ${await held()}`,
  );
  console.log(`  others: gets ${small}, lists ${lists}`);
  for (const hog of hogs) hog.destroy();
  await sleep(5_000);
  for (let i = 0; i < 20; i++) await others(port, sleep(100), { every: 1, target: "/iam/v1/groups?name=short" });
  console.log(`  after they left: RSS ${rss().toFixed(0)} MiB, held ${await held()}`);
  await end();
}

/** Bodies of `bytes`, each of another kind. */
const bodies = {
  members: (bytes) => `{${Array.from({ length: bytes / 12 }, (_, i) => `"a${i}":1`).join(",")}}`,
  arrays: (bytes) => `{"x":[${Array.from({ length: bytes / 101 }, () => "[".repeat(50) + "]".repeat(50)).join(",")}]}`,
  text: (bytes) => `{"name":"${"x".repeat(bytes - 100)}"}`,
};

async function flood() {
  for (const [name, make] of Object.entries(bodies)) {
    const { port, end } = await stage();
    await others(port, sleep(1_000));
    const quiet = await others(port, sleep(2_000), { every: 5 });
    const body = Buffer.from(make(1_000_000));
    let going = true;
    let sent = 0;
    const statuses = new Set();
    const hog = async (i) => {
      while (going) {
        await new Promise((resolve) => {
          const headers = { authorization: `Bearer bad${i}`, "content-length": body.length };
          const req = request(
            { host: "127.0.0.1", port, path: "/iam/v1/groups/a/1", method: "PUT", headers },
            (res) => {
              statuses.add(res.statusCode);
              res.on("end", resolve).on("error", resolve).resume();
            },
          );
          req.on("error", resolve);
          req.end(body);
        });
        sent += 1;
      }
    };
    const hogs = Array.from({ length: 6 }, (_, i) => hog(i));
    const seen = await others(port, sleep(6_000), { every: 5 });
    going = false;
    console.log(
      `flood, six PUT 1 MB of ${name} with bad tokens: others ${seen} (quiet: ${quiet}); ${sent} sent, ${[...statuses]}`,
    );
    await end();
    await Promise.all(hogs);
  }
}

async function page() {
  for (const kind of ["members", "values", "long"]) {
    const { port, end } = await stage();
    await others(port, sleep(500));
    const over = sleep(4_000);
    const [heavy, seen] = await Promise.all([
      others(port, over, { every: 100, target: `/iam/v1/groups?name=${kind}` }),
      others(port, over, { every: 1 }),
    ]);
    console.log(`page of ${kind}: ${heavy}; others ${seen}`);
    await end();
  }
}

const trials = { uploads, unread, flood, page };
const wanted = process.argv.slice(2);
for (const name of wanted.length === 0 ? Object.keys(trials) : wanted) await trials[name]();
