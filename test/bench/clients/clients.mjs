/**
 * Measures how long each request of many clients takes, and whether its list is whole. Controlled over the IPC channel.
 * Each client makes `rounds` requests, one after the other, on its own connection. `clients`: groups of `count` clients
 * with one `token`.
 */
import { Agent, get } from "node:http";
import { answerQuestions } from "../channel.mjs";

const RECORD = Buffer.from('"id":"');

const questions = {
  async crowd({ url, clients, rounds }) {
    const began = performance.now();
    const all = clients.flatMap(({ token, count, records }) =>
      Array.from({ length: count }, () => ({ token, records })),
    );
    const asked = await Promise.all(all.map((client) => ask(url, client, rounds)));
    return { ms: performance.now() - began, asked: asked.flat() };
  },
};

async function ask(url, { token, records }, rounds) {
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

answerQuestions(questions);
