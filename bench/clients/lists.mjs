/**
 * Measures how long a client waits for a whole list: in one v1 response, or by following v2's cursor. Controlled over
 * the IPC channel.
 */
import { Agent, get } from "node:http";
import { answerQuestions } from "../channel.mjs";

const agent = new Agent({ keepAlive: true });

const questions = {
  /** One v1 list, until its last byte is here. What came is looked at after the clock has stopped. */
  v1: async ({ url, token }) => {
    const { status, headers, chunks, ms, firstMs } = await fetched(url, token);
    const body = Buffer.concat(chunks);
    if (status !== 200) throw new Error(`${url} was answered ${status}: ${body}`);
    const { items } = JSON.parse(body);
    checkOrder(items.map(({ id }) => id));
    return { ms, firstMs, bytes: body.length, records: items.length, list: headers["carryover-list"] ?? "" };
  },
  /** The same records from v2: one page after another, as its tokens lead. Reading a page to find its token is part of it. */
  cursor: async ({ url, token, size }) => {
    const uids = [];
    const started = performance.now();
    let next = "";
    let pages = 0;
    do {
      const query = next === "" ? "" : `&page_token=${next}`;
      const { status, chunks } = await fetched(`${url}?page_size=${size}${query}`, token);
      if (status !== 200) throw new Error(`page ${pages} was answered ${status}`);
      const page = JSON.parse(Buffer.concat(chunks));
      for (const { uid } of page.groups) uids.push(uid);
      next = page.nextPageToken;
      pages++;
    } while (next !== "");
    const ms = performance.now() - started;
    checkOrder(uids);
    return { ms, pages, records: uids.length };
  },
};

function fetched(url, token) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const request = get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      const chunks = [];
      let firstMs;
      response.on("data", (chunk) => {
        firstMs ??= performance.now() - started;
        chunks.push(chunk);
      });
      response.on("error", reject).on("end", () => {
        const { statusCode: status, headers } = response;
        resolve({ status, headers, chunks, firstMs, ms: performance.now() - started });
      });
    });
    request.on("error", reject);
  });
}

function checkOrder(ids) {
  for (let i = 1; i < ids.length; i++) {
    if (!(ids[i - 1] < ids[i])) throw new Error(`record ${i} is not behind the one before it`);
  }
}

answerQuestions(questions);
