/** Browsers that follow the operator's page (server-sent events), controlled over the IPC channel. */
import { request } from "node:http";
import { answerQuestions } from "../channel.mjs";

let open = [];

const questions = {
  /** Opens `count` pages, and resolves once each was admitted or refused. */
  follow: async ({ url, count, queries }) => {
    open = await Promise.all(
      Array.from({ length: count }, (_, at) => follow(`${url}/page/live${queries[at % queries.length]}`)),
    );
    return { admitted: open.filter(({ status }) => status === 200).length };
  },
  /** What was read since the last time: updates (pieces with news) and bytes, of one page on average. */
  read: () => {
    const admitted = open.filter(({ status }) => status === 200);
    const mean = (name) => admitted.reduce((sum, one) => sum + one[name], 0) / admitted.length;
    const found = { updates: mean("updates"), bytes: mean("bytes") };
    for (const one of admitted) [one.updates, one.bytes] = [0, 0];
    return found;
  },
  leave: () => {
    for (const { response } of open) response.destroy();
    open = [];
    return {};
  },
};

function follow(url) {
  return new Promise((resolve, reject) => {
    request(url, { agent: false }, (response) => {
      const page = { status: response.statusCode, response, updates: 0, bytes: 0 };
      let last = 0;
      response.on("error", () => {});
      response.on("data", (chunk) => {
        page.bytes += chunk.length;
        // Pieces that come together are one update.
        if (performance.now() - last > 300) page.updates += 1;
        last = performance.now();
      });
      resolve(page);
    })
      .on("error", reject)
      .end();
  });
}

answerQuestions(questions);
