import { describe, expect, it } from "vitest";
import { TIME } from "../../../src/model/clock.ts";
import { createCallQueue } from "../../../src/upstream/call-queue.ts";
import { ask, dial } from "../../server/support/client.ts";
import { LIMITS, rig, takeDownAfterEach } from "../../server/support/rig.ts";

takeDownAfterEach();

const GET = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const refusals = (text: string): number => text.split(/HTTP\/1\.1 503 /).length - 1;

describe("a request that is refused for load", () => {
  it("T-LOD-05: keeps its connection: no storm of new ones follows on a storm of requests", async () => {
    const { port, double } = await rig({ script: () => {}, limits: { ...LIMITS, inFlight: 1 } });
    const [first, second] = [await dial(port), await dial(port)];
    first.send(GET);
    await double.until(() => double.requests.length === 1);
    for (let count = 1; count <= 3; count++) {
      second.send(GET);
      await second.until((text) => refusals(text) === count && text.endsWith("}"));
    }
    expect(second.text()).not.toMatch(/connection: close/i);
    expect(second.text().match(/retry-after: 1\r\n/g)).toHaveLength(3);
    // But not when a body was to follow, which is not read.
    second.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");
    const text = await second.closed();
    expect([refusals(text), text.match(/connection: close/gi)?.length]).toEqual([4, 1]);
    expect(double.requests).toHaveLength(1);
    first.leave();
  });
});

describe("T-LOD-05: where every connection to the platform is taken", () => {
  it.each([
    ["GET", "", ""],
    ["POST", "Content-Length: 2\r\n", "{}"],
  ])(
    "a %s that passes through waits as long as its deadline allows, then is 503 and was never sent",
    async (method, fields, body) => {
      const calls = createCallQueue({ connections: 1, pages: 1, start: 1, ...TIME });
      const here = await rig({
        script: () => {},
        pool: { connections: 1 },
        calls,
        limits: { ...LIMITS, requestSeconds: 2 },
      });
      const first = await dial(here.port);
      first.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n");
      await here.double.until(() => here.double.requests.length === 1);
      const answer = await ask(here.port, `${method} /second`, `Grpc-Timeout: 900m\r\n${fields}`, body);
      expect([answer.status, answer.field("retry-after")]).toEqual([503, "1"]);
      expect(answer.json()).toMatchObject({ code: 14, details: [{ reason: "OVERLOADED", metadata: {} }] });
      expect(here.double.received()).not.toContain("/second");
      expect(here.double.connections()).toBe(1);
      first.leave();
    },
  );

  it("a request that would wait too long is refused before anything is made for it", async () => {
    const asked: string[] = [];
    const here = await rig({
      credentialOf: (authorization) => `digest of ${authorization}`,
      admit: (_, credentialOf) => {
        asked.push(credentialOf());
        return "shed-wait";
      },
    });
    const answer = await ask(here.port, "GET /x", "AUTHORIZATION: Bearer t\r\n");
    expect([answer.status, answer.field("retry-after"), asked]).toEqual([503, "1", ["digest of Bearer t"]]);
    expect(await here.ended(1)).toMatchObject({ status: 503, reason: "OVERLOADED", notes: ["shed-wait"] });
    expect(here.double.requests).toEqual([]);
  });
});
