import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { SendLayer } from "../../../src/model/http.ts";
import { listening, type Rig, rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";

takeDownAfterEach();

const MASKED = ["name", "description", "capabilities"] as const;

/** Waits for nothing, a turn, or some milliseconds before and after each call: writers meet in every order. */
const unsteady: SendLayer = (next) => {
  let calls = 0;
  const pause = async () => {
    calls += 1;
    if (calls % 3 === 1) await sleep(calls % 4);
  };
  return async (request, options) => {
    await pause();
    const answer = await next(request, options);
    await pause();
    return answer;
  };
};

function role(rig: Rig): unknown[] {
  const found = rig.sandbox.snapshot().roles.find((one) => one["uid"] === rig.sandbox.wellKnown.customRole);
  return MASKED.map((name) => found?.[name]);
}

describe("two writers of one record", () => {
  it("T-PUT-06: leave the whole of what one of them said, never a mix, by one PATCH each and no read", async () => {
    const rounds = scale(20, 1000);
    const rig = await rigForTest({ native: false, sandbox: { faults: unsteady, logSize: 10 } });
    const target = `/iam/v1/roles/${rig.sandbox.wellKnown.customRole}`;
    const bodies = [
      { name: "one", description: "of the first", capabilities: ["groups.list"] },
      { name: "two", capabilities: ["roles.list"] },
    ];
    const alone: unknown[][] = [];
    for (const body of bodies) {
      await rig.ask("PUT", target, { body });
      alone.push(role(rig));
    }
    expect(alone[0]).not.toEqual(alone[1]);
    rig.arrived.length = 0;
    let mixed = 0;
    const won = [0, 0];
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? bodies : bodies.toReversed();
      const answers = await Promise.all(order.map((body) => rig.ask("PUT", target, { body })));
      // A client that was overtaken may see what the other wrote: v2's response to the PATCH contains all of it.
      for (const { status } of answers) expect(status).toBe(200);
      const state = JSON.stringify(role(rig));
      const whose = alone.findIndex((one) => JSON.stringify(one) === state);
      if (whose < 0) mixed++;
      else won[whose] = (won[whose] ?? 0) + 1;
    }
    expect(mixed).toBe(0);
    expect(Math.min(...won)).toBeGreaterThan(0);
    expect(rig.arrived.map(({ method }) => method)).toEqual(Array.from({ length: 2 * rounds }, () => "PATCH"));
    figure("T-PUT-06", "PUTs of two writers at a time", 2 * rounds, "requests");
    figure("T-PUT-06", "rounds that left a mix of both", mixed, "rounds");
  });
});

/** An ingress that gives up on a try when `impatient` says so, and sends the same PUT again, as nginx does by default. */
async function ingress(
  to: string,
  impatient: (attempt: number) => Promise<void> | undefined,
): Promise<{ url: string; sent(): number }> {
  let sent = 0;
  const attempt = (req: IncomingMessage, body: Buffer, nth: number): Promise<{ status: number; body: Buffer }> =>
    new Promise((resolve, reject) => {
      sent++;
      const headers = { authorization: req.headers.authorization, "content-length": body.length };
      const out = httpRequest(`${to}${req.url}`, { method: req.method ?? "GET", headers, agent: false }, (answer) => {
        const pieces: Buffer[] = [];
        answer.on("error", reject).on("data", (piece: Buffer) => pieces.push(piece));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(pieces) }));
      });
      out.on("error", reject);
      out.end(body);
      impatient(nth)?.then(() => out.destroy(new Error("the ingress gave up")));
    });
  const server = createServer((req, res) => {
    const pieces: Buffer[] = [];
    req.on("data", (piece: Buffer) => pieces.push(piece));
    req.on("end", async () => {
      const body = Buffer.concat(pieces);
      const { status, body: answer } = await attempt(req, body, 0).catch(() => attempt(req, body, 1));
      res.writeHead(status, { "content-type": "application/json" }).end(answer);
    });
  });
  return { url: `http://127.0.0.1:${await listening(server)}`, sent: () => sent };
}

describe("an ingress that sends a PUT again", () => {
  it("T-PUT-08: once the first has been done: the record is as after one, and both are counted", async () => {
    let [done, again] = [() => {}, () => {}];
    const firstDone = new Promise<void>((resolve) => {
      done = resolve;
    });
    const secondCame = new Promise<void>((resolve) => {
      again = resolve;
    });
    let calls = 0;
    const slow: SendLayer = (next) => async (request, options) => {
      const answer = await next(request, options);
      if (++calls > 1) again();
      done();
      // The first gets no response before it has been sent again: the order of the two is undefined.
      await secondCame;
      return answer;
    };
    const rig = await rigForTest({ native: false, sandbox: { faults: slow } });
    const front = await ingress(rig.url, (attempt) => (attempt > 0 ? undefined : firstDone));
    const uid = rig.sandbox.wellKnown.customRole;
    const response = await fetch(`${front.url}/iam/v1/roles/${uid}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${rig.sandbox.token("admin")}` },
      body: '{"name":"once","capabilities":["groups.list"]}',
    });
    expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ name: "once" })]);
    const [name, description = ""] = role(rig);
    expect([name, description]).toEqual(["once", ""]);
    expect([front.sent(), rig.arrived.map(({ method }) => method)]).toEqual([2, ["PATCH", "PATCH"]]);
    // The first was given up by its client, and says so: an operator sees that one PUT came twice.
    expect(rig.exchanges.map(({ status, aborted }) => [status, aborted]).toSorted()).toEqual([
      [200, false],
      [499, true],
    ]);
    const metrics = await (await fetch(`${rig.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/carryover_requests_total\{[^}]*operation="update"[^}]*code="499"\} 1/);
    figure("T-PUT-08", "PATCHes for a PUT that an ingress replayed once", rig.arrived.length, "calls");
  });
});
