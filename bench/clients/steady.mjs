/**
 * Measures latency at a constant rate with an open-loop load, controlled over the IPC channel. It checks the clock
 * every millisecond. A request that is due is sent at once on a free connection, or waits for one while its time runs.
 * A slow server therefore delays no request, and every slow response is measured.
 */
import { connect } from "node:net";
import { answerQuestions } from "../channel.mjs";

const END = Buffer.from("\r\n\r\n");

const questions = { fire };

/** `targets` (url and token each; with `names`, as many user agents in turns; `fields` of the head) take turns. Gives for each: how many were answered and failed, and every latency in ms. */
async function fire({ targets, rate, seconds, warmupSeconds, connections }) {
  const runs = await Promise.all(targets.map((target) => open(target, connections)));
  const period = 1000 / rate;
  const begin = performance.now();
  const counted = begin + warmupSeconds * 1000;
  const end = counted + seconds * 1000;
  const late = [];
  for (let due = begin, turn = 0; due < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const now = performance.now();
    for (; due <= now && due < end; due += period, turn++) {
      const run = runs[turn % runs.length];
      if (due >= counted) late.push(now - due);
      send(run, { since: now, counts: due >= counted });
    }
  }
  await Promise.all(runs.map(finished));
  return {
    late: sorted(late),
    targets: runs.map(({ latencies, failed }) => ({ latencies: sorted(latencies), failed })),
  };
}

async function open({ url, token, names = 0, fields = "" }, connections) {
  const { hostname, port, host, pathname, search } = new URL(url);
  const head = `GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\naccept: application/json\r\nauthorization: Bearer ${token}\r\n${fields}`;
  const agents = names === 0 ? [""] : Array.from({ length: names }, (_, at) => `user-agent: client-${at}/1.0\r\n`);
  const requests = agents.map((agent) => Buffer.from(`${head}${agent}\r\n`));
  const run = { requests, turn: 0, free: [], waiting: [], sockets: [], latencies: [], failed: 0, open: 0 };
  const connected = Array.from({ length: connections }, () => connection(run, hostname, Number(port)));
  await Promise.all(connected);
  return run;
}

function connection(run, host, port) {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    const state = { socket, asked: undefined, left: -1, held: undefined };
    run.sockets.push(socket);
    socket.on("data", (chunk) => receive(run, state, chunk));
    socket.on("error", reject);
    socket.on("close", () => fail(run, state));
    socket.once("connect", () => {
      run.free.push(state);
      resolve();
    });
  });
}

function send(run, asked) {
  run.open++;
  const state = run.free.pop();
  if (state === undefined) run.waiting.push(asked);
  else write(run, state, asked);
}

function write(run, state, asked) {
  state.asked = asked;
  state.left = -1;
  state.socket.write(run.requests[run.turn++ % run.requests.length]);
}

function receive(run, state, chunk) {
  let bytes = chunk;
  if (state.left < 0) {
    if (state.held !== undefined) bytes = Buffer.concat([state.held, chunk]);
    const at = bytes.indexOf(END);
    state.held = at < 0 ? bytes : undefined;
    if (at < 0) return;
    const head = bytes.toString("latin1", 0, at);
    if (!head.startsWith("HTTP/1.1 200")) run.failed++;
    state.left = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
    bytes = bytes.subarray(at + END.length);
  }
  state.left -= bytes.length;
  // An answer without a length, or with more bytes than it said: nothing can be said about the next one.
  if (!(state.left >= 0)) state.socket.destroy();
  else if (state.left === 0) answered(run, state);
}

function answered(run, state) {
  const { since, counts } = state.asked;
  if (counts) run.latencies.push(performance.now() - since);
  run.open--;
  state.asked = undefined;
  const next = run.waiting.shift();
  if (next === undefined) run.free.push(state);
  else write(run, state, next);
}

function fail(run, state) {
  if (state.asked === undefined) {
    run.free = run.free.filter((one) => one !== state);
    return;
  }
  run.failed++;
  run.open--;
  state.asked = undefined;
}

/** Waits for what is still under way, but not for ever, and closes the connections. */
async function finished(run) {
  const patience = performance.now() + 10_000;
  while (run.open > 0 && performance.now() < patience) await new Promise((resolve) => setTimeout(resolve, 5));
  run.failed += run.open;
  for (const socket of run.sockets) socket.removeAllListeners("close").destroy();
}

function sorted(values) {
  return values.sort((a, b) => a - b);
}

answerQuestions(questions);
