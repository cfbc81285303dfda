/**
 * Many clients at once, controlled over the IPC channel: a crowd that asks for long lists and discards them, clients whose lists are checked one by
 * one, and a stream of clients that come once each.
 */
import { Agent, get } from "node:http";
import { answerQuestions } from "../channel.mjs";

const RETRY_MS = 200;
const RECORD = Buffer.from('"id":"');
let crowd;

const questions = {
  /** Each of `tokens` asks for the list once; resolves when all have an end. */
  once: async ({ url, tokens }) => {
    crowd = fresh();
    await Promise.all(tokens.map((token) => discard(url, token)));
    return told();
  },
  /** Each of `tokens` asks for the list again and again, until `end`. */
  begin: ({ url, tokens }) => {
    crowd = fresh();
    const mine = crowd;
    for (const token of tokens) again(mine, url, token);
    return {};
  },
  /** Leaves without waiting for the answers under way, as many clients would. */
  end: () => {
    crowd.on = false;
    crowd.agent.destroy();
    return told();
  },
  /**
   * Each client makes `rounds` requests, one after the other, on its own connection; gives how long each took, and whether its list was whole.
   * `clients`: groups of `count` clients with one `token`.
   */
  async counted({ url, clients, rounds }) {
    const began = performance.now();
    const all = clients.flatMap(({ token, count, records }) =>
      Array.from({ length: count }, () => ({ token, records })),
    );
    const asked = await Promise.all(all.map((client) => turns(url, client, rounds)));
    return { ms: performance.now() - began, asked: asked.flat() };
  },
  /**
   * `count` requests, each by a client with a name, a token and a path of its own, `connections` at a time, to v1 and v2 in turns. Gives how many had which status.
   */
  async come({ url, count, connections }) {
    const agent = new Agent({ keepAlive: true, maxSockets: connections });
    const counts = new Map();
    let next = 0;
    const one = async () => {
      while (next < count) {
        const status = await ask(url, next++, agent);
        counts.set(status, (counts.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: connections }, one));
    agent.destroy();
    return { counts: Object.fromEntries(counts) };
  },
};

function fresh() {
  return { on: true, agent: new Agent({ keepAlive: true }), counts: new Map(), bytes: 0, started: performance.now() };
}

function told() {
  const { counts, bytes, started } = crowd;
  return { ends: Object.fromEntries(counts), bytes, ms: performance.now() - started };
}

async function again(mine, url, token) {
  while (mine.on) {
    if ((await discard(url, token)) !== "200 whole") await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** How it ended: its status, whether the answer was whole, and whether a refusal said when to come back. */
function discard(url, token) {
  const mine = crowd;
  return new Promise((resolve) => {
    const done = (how) => {
      if (mine.on) mine.counts.set(how, (mine.counts.get(how) ?? 0) + 1);
      resolve(how);
    };
    const request = get(url, { agent: mine.agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      const { statusCode, headers } = response;
      const later = headers["retry-after"] === undefined ? "" : " with Retry-After";
      response.on("data", (chunk) => {
        mine.bytes += chunk.length;
      });
      response.on("end", () => done(statusCode === 200 ? "200 whole" : `${statusCode}${later}`));
      response.on("error", () => done(`${statusCode} cut off`));
    });
    request.on("error", (error) => done(error.code ?? "failed"));
  });
}

async function turns(url, { token, records }, rounds) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const answers = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const { status, found } = await read(url, token, agent);
    const how = status !== 200 ? String(status) : found === records ? "whole" : `${found} of ${records}`;
    answers.push({ token, how, ms: performance.now() - began });
  }
  agent.destroy();
  return answers;
}

function read(url, token, agent) {
  return new Promise((resolve) => {
    const request = get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      const pieces = [];
      response.on("data", (piece) => pieces.push(piece));
      response.on("end", () => resolve({ status: response.statusCode, found: count(Buffer.concat(pieces)) }));
      response.on("error", () => resolve({ status: "cut off" }));
    });
    request.on("error", (error) => resolve({ status: error.code ?? "failed" }));
  });
}

/** Records of groups: only they have an id. */
function count(bytes) {
  let found = 0;
  for (let at = bytes.indexOf(RECORD); at >= 0; at = bytes.indexOf(RECORD, at + RECORD.length)) found++;
  return found;
}

function ask(url, at, agent) {
  // One request in ten has an unknown path.
  const uid = `57f9e5fa7da60166436d01ae3baf059ec752f4bb/${at.toString(16).padStart(16, "0")}`;
  const path = at % 10 === 0 ? `/iam/v1/odd-${at}/${uid}` : `/iam/${at % 2 === 0 ? "v2beta1" : "v1"}/groups/${uid}`;
  const claims = Buffer.from(JSON.stringify({ sub: `caller-${at}`, iss: "https://issuer.example" })).toString(
    "base64url",
  );
  const headers = {
    authorization: `Bearer e30.${claims}.x`,
    "user-agent": `caller-${at}/1.0`,
    "x-request-id": `r-${at}`,
  };
  return new Promise((resolve) => {
    const request = get(url + path, { agent, headers }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode)).on("error", () => resolve("cut off"));
    });
    request.on("error", (error) => resolve(error.code ?? "failed"));
  });
}

answerQuestions(questions);
