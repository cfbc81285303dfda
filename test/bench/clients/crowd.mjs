/** Requests many long lists at once and discards what it reads. Controlled over the IPC channel. */
import { Agent, get } from "node:http";
import { answerQuestions } from "../channel.mjs";

const RETRY_MS = 200;
let crowd;

const questions = {
  /** Each of `tokens` asks for the list once; resolves when all have an end. */
  once: async ({ url, tokens }) => {
    crowd = fresh();
    await Promise.all(tokens.map((token) => read(url, token)));
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
    if ((await read(url, token)) !== "200 whole") await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** How it ended: its status, whether the answer was whole, and whether a refusal said when to come back. */
function read(url, token) {
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

answerQuestions(questions);
