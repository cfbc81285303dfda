/**
 * An open-loop load generator, controlled over the IPC channel. Requests are due by the clock, whatever happened to
 * earlier ones. A request that finds no free connection opens one. Time counts from the moment when the request was
 * due. A client that has waited `patienceMs` leaves.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { answerQuestions } from "../channel.mjs";

const END = Buffer.from("\r\n\r\n");
/** One bucket of the time line. */
const BUCKET_MS = 100;

const questions = { closed, open };

/** As many as `connections` that always ask again can get: `perSecond`, their times, and how many failed. */
async function closed({ targets, connections, seconds }) {
  const run = fresh({ most: connections, patienceMs: 10_000 });
  const requests = targets.map(requestTo);
  const served = [];
  let failed = 0;
  const end = performance.now() + seconds * 1000;
  const again = (turn) => {
    if (performance.now() >= end) return Promise.resolve();
    return new Promise((resolve) => {
      send(run, requests[turn % requests.length], performance.now(), ({ status, ms }) => {
        if (status === 200) served.push(ms);
        else failed++;
        resolve();
      });
    }).then(() => again(turn + 1));
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: connections }, (_, i) => again(i)));
  const took = (performance.now() - began) / 1000;
  close(run);
  return { perSecond: served.length / took, served: sorted(served), failed };
}

/**
 * `phases`, one behind the other: `rate` and `seconds` each; `kept` connections are there before the first of them. Gives for each
 * what became of its requests: counts by kind, times of those that were served and of those that were refused, and a time line of
 * 100 ms each.
 */
async function open({ targets, phases, patienceMs, most, kept = 0 }) {
  const run = fresh({ most, patienceMs });
  const requests = targets.map(requestTo);
  for (let i = 0; i < kept; i++) await keep(run, requests[0]);
  const told = [];
  let open = 0;
  let due = performance.now();
  for (const { rate, seconds } of phases) {
    const phase = { began: due, counts: {}, served: [], refused: [], line: [], late: [] };
    told.push(phase);
    const end = due + seconds * 1000;
    for (let turn = 0; due < end; ) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      const now = performance.now();
      for (; due <= now && due < end; due += 1000 / rate, turn++) {
        const at = due;
        open++;
        phase.late.push(now - due);
        send(run, requests[turn % requests.length], at, (answer) => {
          open--;
          note(phase, at, answer);
        });
      }
    }
  }
  const patience = performance.now() + patienceMs + 1_000;
  while (open > 0 && performance.now() < patience) await new Promise((resolve) => setTimeout(resolve, 5));
  close(run);
  return {
    left: open,
    connections: run.opened,
    phases: told.map(({ counts, served, refused, line, late }) => ({
      counts,
      served: sorted(served),
      refused: sorted(refused),
      late: sorted(late).at(Math.floor(late.length * 0.99)),
      line: Array.from(line, (bucket) => bucket ?? { served: 0, other: 0, slowest: 0 }),
    })),
  };
}

function note(phase, at, { status, ms, retryAfter }) {
  const kind = status === 503 && retryAfter ? "503 with Retry-After" : String(status);
  phase.counts[kind] = (phase.counts[kind] ?? 0) + 1;
  if (status === 200) phase.served.push(ms);
  else if (status === 503) phase.refused.push(ms);
  const index = Math.floor((at - phase.began) / BUCKET_MS);
  phase.line[index] ??= { served: 0, other: 0, slowest: 0 };
  const bucket = phase.line[index];
  if (status === 200) bucket.served++;
  else bucket.other++;
  bucket.slowest = Math.max(bucket.slowest, ms);
}

function requestTo({ url, token }) {
  const { hostname, port, host, pathname, search } = new URL(url);
  const head = `GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\naccept: application/json\r\nauthorization: Bearer ${token}\r\n\r\n`;
  return { bytes: Buffer.from(head), hostname, port: Number(port) };
}

function fresh({ most, patienceMs }) {
  return { most, patienceMs, free: [], waiting: [], sockets: new Set(), opened: 0 };
}

/** `done` gets the status: 0 when there was no response, `left` when the client left before one came. */
function send(run, request, since, done) {
  const asked = { request, since, done };
  let state = run.free.pop();
  while (state?.socket.destroyed) state = run.free.pop();
  if (state !== undefined) write(run, state, asked);
  else if (run.sockets.size < run.most) write(run, connection(run, request), asked);
  else run.waiting.push(asked);
}

function connection(run, { hostname, port }) {
  const socket = connect({ host: hostname, port, noDelay: true });
  const state = { socket, asked: undefined, left: -1, held: undefined, status: 0, retryAfter: false, closes: false };
  run.sockets.add(socket);
  run.opened++;
  socket.on("data", (chunk) => receive(run, state, chunk));
  socket.on("error", () => {});
  socket.on("close", () => {
    run.sockets.delete(socket);
    finish(state, 0);
    next(run);
  });
  return state;
}

/** A connection that is there before anybody needs it. */
async function keep(run, request) {
  const state = connection(run, request);
  await once(state.socket, "connect");
  run.free.push(state);
}

function write(run, state, asked) {
  state.asked = asked;
  state.left = -1;
  state.timer = setTimeout(
    () => {
      finish(state, "left");
      state.socket.destroy();
    },
    Math.max(0, asked.since + run.patienceMs - performance.now()),
  );
  state.socket.write(asked.request.bytes);
}

function receive(run, state, chunk) {
  let bytes = chunk;
  if (state.left < 0) {
    if (state.held !== undefined) bytes = Buffer.concat([state.held, chunk]);
    const at = bytes.indexOf(END);
    state.held = at < 0 ? bytes : undefined;
    if (at < 0) return;
    const head = bytes.toString("latin1", 0, at);
    state.status = Number(head.slice(9, 12));
    state.retryAfter = state.status === 503 && /\r\nretry-after: *\d/i.test(head);
    state.closes = state.status !== 200 && /\r\nconnection: *close/i.test(head);
    state.left = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
    bytes = bytes.subarray(at + END.length);
  }
  state.left -= bytes.length;
  // An answer without a length, or with more bytes than it said: nothing can be said about the next one.
  if (!(state.left >= 0)) state.socket.destroy();
  else if (state.left === 0) {
    finish(state, state.status);
    if (state.closes) state.socket.destroy();
    else {
      run.free.push(state);
      next(run);
    }
  }
}

function finish(state, status) {
  if (state.asked === undefined) return;
  const { since, done } = state.asked;
  clearTimeout(state.timer);
  state.asked = undefined;
  done({ status, ms: performance.now() - since, retryAfter: state.retryAfter });
}

/** Who waits for a connection may have one, unless it has left meanwhile: then it never sends anything. */
function next(run) {
  const oldest = performance.now() - run.patienceMs;
  let asked = run.waiting.shift();
  for (; asked !== undefined && asked.since <= oldest; asked = run.waiting.shift()) {
    asked.done({ status: "left", ms: performance.now() - asked.since, retryAfter: false });
  }
  if (asked !== undefined) send(run, asked.request, asked.since, asked.done);
}

function close(run) {
  for (const socket of run.sockets) socket.removeAllListeners("close").destroy();
}

function sorted(values) {
  return values.sort((a, b) => a - b);
}

answerQuestions(questions);
