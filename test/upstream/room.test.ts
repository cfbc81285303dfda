import { expect, it } from "vitest";
import { ResponseBufferFull } from "../../src/model/http.ts";
import { createSignalController } from "../../src/model/signal.ts";
import { createSend } from "../../src/upstream/client.ts";
import { createPool } from "../../src/upstream/pool.ts";
import { createDouble, ok, type Script } from "../server/support/double.ts";
import { later, POOL, takeDownAfterEach } from "../server/support/rig.ts";

takeDownAfterEach();

const REQUEST = { method: "GET", target: "/x", headers: [] };

async function subject(script: Script) {
  const double = await createDouble(script);
  later(double.close);
  const pool = createPool({ url: double.url, ...POOL, connections: 1 });
  later(pool.close);
  const { signal } = createSignalController();
  const send = createSend(pool, { maxResponseBytes: 10_000_000 });
  return { double, call: (room: (bytes: number) => boolean) => send(REQUEST, { signal, room }) };
}

it("a response for which there is no room is given up at its head, and its connection is free for the next call", async () => {
  let asked = 0;
  const { double, call } = await subject((_, socket, index) => {
    // The first one never ends.
    if (index === 0) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\nx");
    else socket.write(ok("{}"));
  });
  const given = await call((bytes) => {
    asked = bytes;
    return false;
  }).catch((error: unknown) => error);
  expect(given).toBeInstanceOf(ResponseBufferFull);
  expect([(given as ResponseBufferFull).bytes, asked]).toEqual([5_000_000, 5_000_000]);
  expect((await call(() => true)).status).toBe(200);
  expect(double.gone()).toBe(1);
});

it("a response of unknown length is asked about while it grows", async () => {
  const chunk = "x".repeat(100_000);
  const { call } = await subject((_, socket) => {
    socket.write(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${`${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(20)}`,
    );
  });
  const given = await call((bytes) => bytes < 500_000).catch((error: unknown) => error);
  expect(given).toBeInstanceOf(ResponseBufferFull);
  expect((given as ResponseBufferFull).bytes).toBeLessThan(700_000);
});
