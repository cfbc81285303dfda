/** Runs the contract of Send on the sandbox, and on the layers around a Send. */

import type { Sandbox } from "../../sandbox/src/sandbox.ts";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import { type ApiRequest, compose } from "../../src/model/http.ts";
import { createCallQueue } from "../../src/upstream/call-queue.ts";
import { createSend } from "../../src/upstream/client.ts";
import { createPool, type Pool } from "../../src/upstream/pool.ts";
import { createRetry, createRetryBudget } from "../../src/upstream/retry.ts";
import { type SendSubject, sendContract } from "./send.contract.ts";

/** Two requests that the sandbox answers the same each time. */
function requests(sandbox: Sandbox): Pick<SendSubject, "found" | "refused"> {
  const ask = (target: string): ApiRequest => ({
    method: "GET",
    target,
    headers: [["authorization", `Bearer ${sandbox.token("admin")}`]],
  });
  return {
    found: ask(`/iam/v2beta1/groups/${sandbox.wellKnown.someGroup}`),
    refused: { request: ask("/iam/v2beta1/groups/none"), status: 404 },
  };
}

sendContract("a Send that waits in the queue, and is retried", async () => {
  const sandbox = seededSandbox();
  const { url } = await sandbox.listen();
  const pool: Pool = createPool({
    url,
    connections: 8,
    timeouts: { connectMs: 5_000, headersMs: 5_000, bodyMs: 5_000 },
  });
  const retry = createRetry({ budget: createRetryBudget(), wall: Date.now, random: () => 0, sleep: async () => {} });
  const clock = { now: () => 0, wall: Date.now, later: () => () => {} };
  const calls = createCallQueue({ connections: 8, pages: 4, start: 4, ...clock });
  return {
    ...requests(sandbox),
    send: compose([retry, calls.layer("short")], createSend(pool, { maxResponseBytes: 1 << 20 })),
    close: async () => {
      await pool.close();
      await sandbox.close();
    },
  };
});

sendContract("the sandbox in this process", async () => {
  const sandbox = seededSandbox();
  return { ...requests(sandbox), send: sandbox.send };
});
