/** Does a check come to an end, however slowly the platform answers? */
import { expect, it } from "vitest";
import { later, takeDownAfterEach } from "../app/rig.ts";
import { createDouble } from "../listener/support/double.ts";
import { check } from "./support.ts";

takeDownAfterEach();

it("an answer that comes byte by byte and never ends is given up", async () => {
  const double = await createDouble((_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"groups":[');
    const drip = setInterval(() => socket.write(" "), 10);
    socket.on("close", () => clearInterval(drip));
  });
  later(double.close);
  const patience = ["connect", "headers", "body"].flatMap((which) => [
    `--upstream-v2-timeouts-${which}-seconds`,
    "100ms",
  ]);
  const { code, out } = await check(["--upstream-v2-url", double.url, ...patience]);
  expect(code).toBe(1);
  expect(out).toMatch(/reach +upstream\.v2\.url: .*\(UPSTREAM_TIMEOUT\)/);
});
