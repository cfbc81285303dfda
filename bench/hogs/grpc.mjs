/**
 * Measures whether one gRPC client can end the process, or hold up all others. `node bench/hogs/grpc.mjs [NAME] …` after
 * `npm run build`; without a name all attacks. Starts carryover with a heap of `HEAP` MiB (256) in front of the sandbox,
 * sends hostile messages with a token that the platform does not know (`KNOWN=1`: with one that it knows), and prints how long the event loop was held.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:http2";
import { connect as connectTcp, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { callHead, FRAME, frame, PREFACE } from "../../test/grpc/support/frames.mjs";
import { startCarryover } from "../processes.mjs";

const DIST = pathToFileURL(`${process.env.DIST ?? join(import.meta.dirname, "../../dist")}/`);
const HEAP_MIB = Number(process.env.HEAP ?? 256);
const SECONDS = Number(process.env.SECONDS ?? 5);
const MIB = 2 ** 20;
const directory = mkdtempSync(join(tmpdir(), "carryover-hogs-"));

/** Fields on the wire. */
const varint = (value) => {
  const bytes = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
};
const field = (number, payload) => Buffer.concat([varint(number * 8 + 2), varint(payload.length), payload]);
const fill = (bytes, pattern) => Buffer.alloc(bytes - (bytes % pattern.length), pattern);
const framed = (bytes, flag = 0) => {
  const prefix = Buffer.from([flag, 0, 0, 0, 0]);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
};

const LIST = "iam.Groups/List";
const UPDATE = "iam.Groups/Update";
const BATCH = "iam.RoleBindings/CreateBatch";
const REPO = "registry.Registry/UpdateRepo";
const SIZE = 4 * MIB - 64;
const UNKNOWN = 120;
const empties = (number, bytes) => fill(bytes, field(number, Buffer.alloc(0)));
const group = (levels) =>
  Buffer.concat([fill(2 * levels, varint(UNKNOWN * 8 + 3)), fill(2 * levels, varint(UNKNOWN * 8 + 4))]);
const attacks = {
  ids: [LIST, () => field(2, empties(5, SIZE))],
  "ids of a byte": [LIST, () => field(2, fill(SIZE, field(5, Buffer.from("x"))))],
  "ids below the limit": [LIST, () => field(2, empties(5, 2 * 19_990))],
  "ids that fill 1 MB": [LIST, () => field(2, fill(1_000_000, field(5, Buffer.from("x".repeat(50)))))],
  bindings: [BATCH, () => empties(2, SIZE)],
  "bindings below the limit": [BATCH, () => empties(2, 2 * 19_990)],
  "flat groups": [LIST, () => fill(SIZE, group(1))],
  "nested groups": [LIST, () => group(SIZE / 4)],
  "groups, 90 levels": [LIST, () => fill(SIZE, group(90))],
  "unknown varints": [LIST, () => fill(SIZE, Buffer.concat([varint(UNKNOWN * 8), varint(1)]))],
  "unknown numbers": [
    LIST,
    () => Buffer.concat(Array.from({ length: 800_000 }, (_, i) => Buffer.concat([varint((i + 100) * 8), varint(1)]))),
  ],
  "map entries": [UPDATE, () => fill(SIZE, field(4, Buffer.alloc(0)))],
  "map entries below the limit": [
    UPDATE,
    () =>
      Buffer.concat(
        Array.from({ length: 6_600 }, (_, i) =>
          field(4, Buffer.concat([field(1, Buffer.from(`k${i}`)), Buffer.from([16, 1])])),
        ),
      ),
  ],
  "long string": [LIST, () => field(3, Buffer.alloc(SIZE, "x"))],
  "long string of escapes": [REPO, () => field(5, Buffer.alloc(SIZE, 1))],
  "invalid UTF-8": [LIST, () => field(3, Buffer.alloc(SIZE, 0xff))],
  "gzip bomb": [LIST, () => Buffer.alloc(SIZE, 0), "gzip"],
  "gzip of ids": [LIST, () => field(2, empties(5, SIZE)), "gzip"],
};

function sandbox(records) {
  const file = join(directory, "api.binpb");
  const args = ["main.js", "sandbox", "--listen-port", "0", "--records", String(records), "--descriptors", file];
  const child = spawn(process.execPath, args, { cwd: DIST, stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((resolve) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      const [, url] = /at (http:\S+)/.exec(text) ?? [];
      const [, token] = /TOKEN=(\S+)/.exec(text) ?? [];
      if (url !== undefined && token !== undefined) resolve({ child, url, token, file });
    });
  });
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

async function stage({ heap = HEAP_MIB, flags = {}, records = 0 } = {}) {
  const platform = await sandbox(records);
  const port = await freePort();
  const server = await startCarryover(DIST, {
    upstream: platform.url,
    log: join(directory, "log"),
    flags: { "listen-grpc-port": port, "grpc-descriptors": platform.file, ...flags },
    node: [`--max-old-space-size=${heap}`],
    probe: true,
  });
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(platform.file)));
  const [prefix] = [...registry].flatMap(({ kind, typeName }) =>
    kind === "service" && typeName.endsWith(".iam.Groups") ? [typeName.slice(0, -"iam.Groups".length)] : [],
  );
  return {
    token: platform.token,
    server,
    port,
    path: (name) => `/${prefix}${name}`,
    end: async () => {
      await Promise.race([server.stop(), sleep(8_000)]);
      platform.child.kill("SIGKILL");
    },
  };
}

function call(session, path, token, body, encoding) {
  return new Promise((resolve) => {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      authorization: `Bearer ${token}`,
      ...(encoding === undefined ? {} : { "grpc-encoding": encoding }),
    });
    let status = "none";
    let bytes = 0;
    const said = (headers) => {
      status = headers["grpc-status"] ?? status;
    };
    stream
      .on("response", said)
      .on("trailers", said)
      .on("error", () => {})
      .on("close", () => resolve({ status, bytes }));
    stream.on("data", (data) => {
      bytes += data.length;
    });
    stream.end(body);
  });
}

const count = (map, key) => map.set(key, (map.get(key) ?? 0) + 1);
const shown = (map) => JSON.stringify(Object.fromEntries(map));

/** Calls again and again until `over`, one at a time. */
async function good({ port, path, token }, over) {
  const statuses = new Map();
  const times = [];
  let going = true;
  void over.finally(() => {
    going = false;
  });
  const session = connect(`http://127.0.0.1:${port}`);
  session.on("error", () => {});
  const body = framed(field(3, Buffer.from("no such group")));
  while (going && !session.destroyed) {
    const began = performance.now();
    const { status } = await Promise.race([call(session, path(LIST), token, body), sleep(5_000, { status: "late" })]);
    times.push(performance.now() - began);
    count(statuses, status);
    await sleep(10);
  }
  session.destroy();
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))]?.toFixed(1);
  return `${shown(statuses)} median ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)} ms`;
}

/** The event loop's delay and the memory while `during` runs, or that the process has ended. */
async function watched({ server }, during) {
  try {
    await server.ask({ do: "settle" });
    await server.ask({ do: "feel" });
    await server.ask({ do: "watch" });
    await sleep(200);
    await server.ask({ do: "forget" });
    if (process.env.PROF !== undefined) await server.ask({ do: "profile" });
    const said = await during();
    if (process.env.PROF !== undefined) await server.ask({ do: "profiled", file: process.env.PROF });
    const { delay, busy } = await server.ask({ do: "felt" });
    const { samples } = await server.ask({ do: "watched" });
    const most = (name) => (Math.max(...samples.map((sample) => sample[name])) / MIB).toFixed(0);
    const held = Math.max(0, delay.max - delay.resolution).toFixed(0);
    const memory = `heap and external ${most("held")}, RSS ${most("rss")} MiB`;
    return `loop held ${held} ms, with ${busy.max.toFixed(0)} ms of the processor; ${memory}; ${said}`;
  } catch (error) {
    return `THE PROCESS ENDED (${error.message})`;
  }
}

/** Runs `work` for `SECONDS`, which gets a promise of their end and whether it has come, and prints what it says. */
async function trial(name, here, work) {
  await good(here, sleep(500));
  const line = await watched(here, () => {
    const over = sleep(SECONDS * 1_000);
    let going = true;
    void over.finally(() => {
      going = false;
    });
    return work(over, () => going);
  });
  console.log(`${name}: ${line}`);
  await here.end();
}

async function attack(name) {
  const [rpc, make, encoding] = attacks[name];
  const message = make();
  const body = encoding === "gzip" ? framed(gzipSync(message), 1) : framed(message);
  const here = await stage();
  await trial(name, here, async (over, going) => {
    const statuses = new Map();
    const hog = async (i) => {
      const session = connect(`http://127.0.0.1:${here.port}`);
      session.on("error", () => {});
      while (going() && !session.destroyed) {
        const { status } = await Promise.race([
          call(session, here.path(rpc), process.env.KNOWN === "1" ? here.token : `bad${i}`, body, encoding),
          over.then(() => ({ status: "waiting" })),
        ]);
        count(statuses, status);
      }
      session.destroy();
    };
    const hogs = Array.from({ length: Number(process.env.HOGS ?? 6) }, (_, i) => hog(i));
    const seen = await good(here, over);
    await Promise.all(hogs);
    return `good ${seen}; hogs ${shown(statuses)}`;
  });
}

/** Lists of the sandbox's records, by an accepted client, while the good one calls. */
async function lists() {
  const here = await stage({ records: Number(process.env.RECORDS ?? 9_500), heap: Number(process.env.HEAP ?? 1_024) });
  await trial("lists", here, async (over, going) => {
    const statuses = new Map();
    let bytes = 0;
    const session = connect(`http://127.0.0.1:${here.port}`);
    session.on("error", () => {});
    const list = async () => {
      while (going()) {
        const answer = await call(session, here.path(LIST), here.token, framed(Buffer.alloc(0)));
        count(statuses, answer.status);
        bytes = answer.bytes;
      }
    };
    const listing = Array.from({ length: Number(process.env.LISTS ?? 1) }, list);
    const seen = await good(here, over);
    await Promise.all(listing);
    session.destroy();
    return `good ${seen}; lists ${shown(statuses)} of ${bytes} bytes`;
  });
}

/** Messages in frames of one byte each, written by hand. */
async function crumbs() {
  for (const [what, target] of [
    ["translated", (here) => here.path(LIST)],
    ["passed", (here) => here.path("iam.v2beta1.GroupsService/ListGroups")],
  ]) {
    const here = await stage();
    await trial(`crumbs, ${what}`, here, async (over) => {
      const head = callHead(target(here), [["authorization", "Bearer bad"]]);
      const prefix = Buffer.from([0, 0, 0, 0, 0]);
      prefix.writeUInt32BE(1_000_000, 1);
      const sockets = [];
      for (let i = 0; i < 10; i++) {
        const socket = connectTcp(here.port, "127.0.0.1");
        socket.on("error", () => {}).resume();
        await once(socket, "connect");
        socket.write(PREFACE);
        socket.write(frame(FRAME.settings, 0, 0));
        socket.write(frame(FRAME.window, 0, 0, Buffer.from([0x7f, 0, 0, 0])));
        for (let id = 1; id < 40; id += 2) {
          socket.write(frame(FRAME.headers, 4, id, head));
          socket.write(frame(FRAME.data, 0, id, prefix));
          const one = frame(FRAME.data, 0, id, Buffer.from([1]));
          socket.write(Buffer.alloc(one.length * 65_000, one));
        }
        sockets.push(socket);
      }
      const seen = await good(here, over);
      for (const socket of sockets) socket.destroy();
      return `good ${seen}`;
    });
  }
}

const trials = { ...Object.fromEntries(Object.keys(attacks).map((name) => [name, () => attack(name)])), lists, crumbs };
const wanted = process.argv.slice(2);
for (const name of wanted.length === 0 ? Object.keys(trials) : wanted) await trials[name]();
rmSync(directory, { recursive: true });
