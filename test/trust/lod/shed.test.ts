import { describe, expect, it } from "vitest";
import { dial } from "../../listener/support/client.ts";
import { LIMITS, rig, takeDownAfterEach } from "../../listener/support/rig.ts";

takeDownAfterEach();

const GET = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const refusals = (text: string): number => text.split(/HTTP\/1\.1 503 /).length - 1;

describe("a request that is refused for load", () => {
  it("T-LOD-05: keeps its connection: no storm of new ones follows on a storm of requests", async () => {
    const { port, double } = await rig({ script: () => {}, limits: { ...LIMITS, inFlight: 1 } });
    const first = await dial(port);
    first.send(GET);
    await double.until(() => double.requests.length === 1);
    const second = await dial(port);
    for (let count = 1; count <= 3; count++) {
      second.send(GET);
      await second.until((text) => refusals(text) === count && text.endsWith("}"));
    }
    expect(second.text()).not.toMatch(/connection: close/i);
    expect(second.text().match(/retry-after: 1\r\n/g)).toHaveLength(3);
    expect(second.socket.destroyed).toBe(false);
    expect(double.requests).toHaveLength(1);
    first.leave();
    second.leave();
  });

  it("T-LOD-05: gives its connection up when a body was to follow, which nobody reads", async () => {
    const { port, double } = await rig({ script: () => {}, limits: { ...LIMITS, inFlight: 1 } });
    const first = await dial(port);
    first.send(GET);
    await double.until(() => double.requests.length === 1);
    const second = await dial(port);
    second.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");
    const text = await second.closed();
    expect([refusals(text), /connection: close/i.test(text)]).toEqual([1, true]);
    first.leave();
  });
});
