import { describe, expect, it } from "vitest";
import { ask, dial } from "../../listener/support/client.ts";
import { LIMITS, rig, takeDownAfterEach } from "../../listener/support/rig.ts";
import { figure } from "../../support/figures.ts";

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
    // But not when a body was to follow, which nobody reads.
    second.send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");
    const text = await second.closed();
    expect([refusals(text), text.match(/connection: close/gi)?.length]).toEqual([4, 1]);
    expect(double.requests).toHaveLength(1);
    first.leave();
  });
});

describe("more requests than the processor can do", () => {
  it("T-LOD-05: are refused while the event loop is behind, some are served all the while, and then all are again", async () => {
    const held: (() => void)[] = [];
    const answer = { status: 200, headers: [], body: Buffer.from("done") };
    const here = await rig({
      limits: { ...LIMITS, inFlight: 5_000, requestSeconds: 50 },
      decide: ({ target }) => {
        // What a request costs, unless it only waits for the platform.
        const end = performance.now() + (target === "/held" ? 0 : 2);
        while (performance.now() < end);
        const respond = () =>
          new Promise<typeof answer>((resolve) => {
            if (target === "/held") held.push(() => resolve(answer));
            else resolve(answer);
          });
        return { kind: "answer", respond };
      },
    });
    const waiting = Array.from({ length: 100 }, () => ask(here.port, "GET /held"));
    while (held.length < 100) await new Promise((resolve) => setTimeout(resolve, 5));
    let storm = true;
    const again = async (): Promise<void> => {
      const client = await dial(here.port);
      for (let count = 1; storm; count++) {
        client.send(GET);
        await client.until((text) => text.split("HTTP/1.1 ").length > count && /(?:done|\})$/.test(text));
      }
      client.leave();
    };
    const clients = Array.from({ length: 100 }, again);
    const notes = () => here.seen.filter(({ notes }) => notes.includes("shed-event-loop")).length;
    const served = () => here.seen.filter(({ status }) => status === 200).length;
    // How many, the machine decides: one that has much else to do is behind most of the time.
    while (notes() < 200 || served() === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const shed = notes();
    storm = false;
    await Promise.all(clients);
    for (const release of held) release();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(100).fill(200));
    expect(here.seen.every(({ status }) => status === 200 || status === 503)).toBe(true);
    expect(here.listener.inFlight()).toBe(0);
    for (let i = 0; i < 5; i++) expect((await ask(here.port, "GET /after")).status).toBe(200);
    figure("T-LOD-05", "requests refused while the event loop was behind, none without an answer", shed, "requests");
  });
});

describe("T-LOD-05: where every connection to the platform is taken", () => {
  it.each([
    ["GET", "", ""],
    ["POST", "Content-Length: 2\r\n", "{}"],
  ])(
    "a %s that passes through waits so long and no longer, then is 503 and was never sent",
    async (method, fields, body) => {
      const here = await rig({ script: () => {}, pool: { connections: 1, waitMs: 150 } });
      const first = await dial(here.port);
      first.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n");
      await here.double.until(() => here.double.requests.length === 1);
      const answer = await ask(here.port, `${method} /second`, fields, body);
      expect([answer.status, answer.field("retry-after")]).toEqual([503, "1"]);
      expect(answer.json()).toMatchObject({ code: 14, details: [{ reason: "OVERLOADED", metadata: {} }] });
      expect(here.double.received()).not.toContain("/second");
      expect(here.double.connections()).toBe(1);
      first.leave();
    },
  );
});
