import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { later, takeDownAfterEach } from "../end-to-end/app/rig.ts";
import { serve } from "../trust/lod/serving.ts";

takeDownAfterEach();

async function platform(port: number): Promise<Server> {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "application/json");
    response.end('{"items":[]}');
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return server;
}

const stop = async (server: Server): Promise<void> => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
};

it("the circuit breaker of the built program opens while the platform is away, and closes when it is back", async () => {
  const first = await platform(0);
  const { port } = first.address() as AddressInfo;
  const { url } = await serve({ upstreamV2Url: `http://127.0.0.1:${port}` });
  const until = async (status: number): Promise<void> => {
    while ((await fetch(`${url}/iam/v2beta1/groups`)).status !== status) await sleep(100);
  };
  await until(200);
  await stop(first);
  await until(503);
  const second = await platform(port);
  later(() => stop(second));
  await until(200);
  expect(second.listening).toBe(true);
}, 60_000);
