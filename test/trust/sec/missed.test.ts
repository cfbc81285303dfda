/** Guarantees that rest on a single line of code each, and that ordinary use would not miss (T-SEC-04). For the gate see test/edge/gate.test.ts. */
import { expect, it } from "vitest";
import { createPool } from "../../../src/upstream/pool.ts";
import { createRetryBudget } from "../../../src/upstream/retry.ts";
import { createStream } from "../../../src/upstream/stream.ts";
import { dial } from "../../server/support/client.ts";
import { createDouble } from "../../server/support/double.ts";
import { later, POOL, rig, takeDownAfterEach } from "../../server/support/rig.ts";

takeDownAfterEach();

it("T-FLT-09: an answer that has begun and breaks off is never asked for again", async () => {
  const { port, double, ended } = await rig({
    script: (_request, socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
      setTimeout(() => socket.destroy(), 30);
    },
  });
  const client = await dial(port);
  client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(await client.closed()).toMatch(/half$/);
  await ended(1);
  expect(double.requests).toHaveLength(1);
});

const BYTES = 32 * 1024 * 1024;

/** Else the whole answer would lie in memory. */
it("T-SLO-03: nothing more is read for a client that has not taken what came", async () => {
  const double = await createDouble(({ line }, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${line.includes("/long") ? BYTES : 2}\r\n\r\n`);
    socket.write(line.includes("/long") ? Buffer.alloc(BYTES) : "ok");
  });
  later(double.close);
  const pool = createPool({ url: double.url, ...POOL });
  later(pool.close);
  const stream = createStream(pool, createRetryBudget());
  let taken = 0;
  /** Resolves when the answer has begun, or for `patient` has ended. */
  const call = (target: string, patient: boolean) =>
    new Promise<{ cancel(): void }>((resolve, reject) => {
      const made = stream(
        { method: "GET", target, headers: [], body: undefined },
        {
          head: () => {},
          data: (chunk) => {
            if (!patient) taken += chunk.length;
            if (!patient) resolve(made);
            return patient;
          },
          end: () => resolve(made),
          fail: reject,
        },
      );
    });
  const long = await call("/long", false);
  const first = taken;
  // Meanwhile others are served, one after the other: time enough for more to come.
  for (let i = 0; i < 50; i++) await call("/short", true);
  expect([first > 0, taken]).toEqual([true, first]);
  long.cancel();
});
