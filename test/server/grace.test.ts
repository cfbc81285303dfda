import { expect, it } from "vitest";
import { sending } from "./support/client.ts";
import { rig, takeDownAfterEach } from "./support/rig.ts";

takeDownAfterEach();

it.each([
  ["for ever", Number.POSITIVE_INFINITY],
  ["for longer than a timer can", 2 ** 31],
])("a listener that may wait %s for what is in flight cuts nothing off", async (_, graceMs) => {
  let answer = () => {};
  const { port, listener, double } = await rig({
    script: (_request, socket) => {
      answer = () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    },
  });
  const client = await sending(port, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
  await double.until(() => double.requests.length === 1);
  const closed = listener.close(graceMs);
  await new Promise((resolve) => setTimeout(resolve, 100));
  answer();
  expect(await client.closed()).toMatch(/^HTTP\/1\.1 200 .*ok$/s);
  expect(await closed).toBe(0);
});

it.each([Number.NaN, -1, Number.NEGATIVE_INFINITY])("one that may wait for %s ms cuts off at once", async (graceMs) => {
  const { port, listener, double } = await rig({ script: () => {} });
  const client = await sending(port, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
  await double.until(() => double.requests.length === 1);
  expect(await listener.close(graceMs)).toBe(1);
  expect(await client.closed()).toMatch(/^HTTP\/1\.1 504 /);
});

it("a client whose response began before the shutdown and ended in it may send one more request", async () => {
  let end = () => {};
  const { port, listener, double } = await rig({
    script: (_request, socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no");
      end = () => socket.write("k");
    },
  });
  const client = await sending(port, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
  await client.until((text) => text.endsWith("\r\n\r\no"));
  listener.beginShutdown();
  end();
  await client.until((text) => text.endsWith("ok"));
  const closed = listener.close(5_000);
  await new Promise((resolve) => setTimeout(resolve, 100));
  client.send("GET /y HTTP/1.1\r\nHost: a\r\n\r\n");
  await double.until(() => double.requests.length === 2);
  end();
  expect(await client.closed()).toMatch(/ok.*HTTP\/1\.1 200 .*connection: close.*ok$/is);
  expect(await closed).toBe(0);
});
