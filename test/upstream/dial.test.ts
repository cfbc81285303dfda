/** Names with several addresses: slow ones, dead ones. */
import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type LookupFunction } from "node:net";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { createSignalController } from "../../src/model/signal.ts";
import { createSend } from "../../src/upstream/client.ts";
import { dial } from "../../src/upstream/dial.ts";
import { createPool } from "../../src/upstream/pool.ts";
import { later, takeDownAfterEach } from "../support/take-down.ts";

takeDownAfterEach();

/** A listener that takes its first connections only after `ms`: until then its queue is full, and the kernel drops every SYN. */
const SLOW = `
const { createServer } = require("node:net");
const { parentPort, workerData } = require("node:worker_threads");
const server = createServer((socket) => {
  socket.on("error", () => {});
  socket.on("data", () => socket.end("HTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\n\\r\\nslow"));
});
server.listen({ port: 0, host: workerData.host, backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, workerData.ms));
});`;

async function slow(host: string, ms: number): Promise<number> {
  const worker = new Worker(SLOW, { eval: true, workerData: { host, ms } });
  later(async () => void (await worker.terminate()));
  const port = await new Promise<number>((resolve) => worker.once("message", resolve));
  const fillers = Array.from({ length: 8 }, () => connect(port, host).on("error", () => {}));
  later(async () => {
    for (const one of fillers) one.destroy();
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  return port;
}

const naming =
  (...addresses: readonly string[]): LookupFunction =>
  (_host, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    );

async function answer(port: number, addresses: readonly string[], connectMs: number): Promise<string> {
  const timeouts = { connectMs, headersMs: 5_000, bodyMs: 5_000 };
  const pool = createPool({
    url: `http://platform.example:${port}`,
    timeouts,
    connections: 1,
    lookup: naming(...addresses),
  });
  later(pool.close);
  const { signal } = createSignalController();
  const send = createSend(pool, { maxResponseBytes: 1024 });
  const { body } = await send({ method: "GET", target: "/", headers: [] }, { signal });
  return Buffer.from(body).toString();
}

it("a slow address is not given up while another one is tried, for as long as connectSeconds says", async () => {
  const port = await slow("127.0.0.2", 700);
  expect(await answer(port, ["127.0.0.2", "127.0.0.3"], 5_000)).toBe("slow");
});

it("the next address is tried after a quarter of a second, and the first one that takes the connection wins", async () => {
  const port = await slow("127.0.0.2", 20_000);
  const server = createServer((_, res) => res.end("quick")).listen(port, "127.0.0.3");
  later(async () => void server.close());
  expect(await answer(port, ["127.0.0.2", "127.0.0.3"], 5_000)).toBe("quick");
});

it("the whole time is connectSeconds, and what is said then is a timeout", async () => {
  const port = await slow("127.0.0.2", 20_000);
  await expect(answer(port, ["127.0.0.2"], 400)).rejects.toMatchObject({ reason: "UPSTREAM_TIMEOUT" });
});

it("a name without an address, and one with nothing but refusals, say so", async () => {
  const free = createTcpServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => free.once("listening", resolve));
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  const outcome = (addresses: readonly string[]): Promise<string> =>
    new Promise((resolve) => {
      const how = { protocol: "http:", host: "platform.example", timeoutMs: 2_000, protocols: [] };
      dial({ ...how, port, lookup: naming(...addresses) }, (error) =>
        resolve(String((error as { code?: string }).code)),
      );
    });
  expect(await outcome([])).toBe("ENOTFOUND");
  expect(await outcome(["127.0.0.1", "127.0.0.3"])).toBe("ECONNREFUSED");
});
