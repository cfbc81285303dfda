/** Does an upstream wait for a client that takes nothing? (Else its whole answer would lie in memory.) */
import { expect, it } from "vitest";
import { createBudget } from "../../../src/upstream/budget.ts";
import { createPool } from "../../../src/upstream/pool.ts";
import { createStream } from "../../../src/upstream/stream.ts";
import { createDouble } from "../../listener/support/double.ts";
import { later, POOL, takeDownAfterEach } from "../../listener/support/rig.ts";

takeDownAfterEach();

const BYTES = 32 * 1024 * 1024;

it("T-SLO-03: nothing more is read for a client that has not taken what came", async () => {
  const double = await createDouble(({ line }, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${line.includes("/long") ? BYTES : 2}\r\n\r\n`);
    socket.write(line.includes("/long") ? Buffer.alloc(BYTES) : "ok");
  });
  later(double.close);
  const pool = createPool({ url: double.url, ...POOL });
  later(pool.close);
  const stream = createStream(pool, createBudget());
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
