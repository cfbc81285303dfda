/** A client of the admin port that sends too slowly is let go, in real time. */
import { afterEach, expect, it } from "vitest";
import { type AdminServer, createAdminServer } from "../../src/admin/server.ts";
import { sending } from "../server/support/client.ts";

const open: AdminServer[] = [];
afterEach(() => Promise.all(open.splice(0).map((admin) => admin.close())));

it("a head that does not end within five seconds is 408", async () => {
  const admin = createAdminServer({
    host: "127.0.0.1",
    port: 0,
    metrics: { contentType: "text/plain", text: async () => "" },
    ready: () => true,
    views: new Map(),
  });
  open.push(admin);
  const slow = await sending(
    Number(new URL((await admin.listen()).url).port),
    "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ",
  );
  const dripping = setInterval(() => slow.send("a"), 200);
  expect(await slow.closed()).toMatch(/^HTTP\/1\.1 408 /);
  clearInterval(dripping);
});
