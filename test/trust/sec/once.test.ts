/** Is an answer that broke off asked for again? (Then a client could get the beginning of one and the end of another.) */
import { expect, it } from "vitest";
import { dial } from "../../listener/support/client.ts";
import { rig, takeDownAfterEach } from "../../listener/support/rig.ts";

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

it("T-SMG-08: what stands behind a request that was refused for its framing is no request", async () => {
  const { port, double } = await rig();
  const client = await dial(port);
  client.send("GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n");
  const text = await client.closed();
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
  expect(double.requests).toHaveLength(0);
});
