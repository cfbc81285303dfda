import { describe, expect, it } from "vitest";
import type { Answer } from "../../src/model/message.ts";
import type { Decide } from "../../src/model/plan.ts";
import type { Signal } from "../../src/model/signal.ts";
import { createShare } from "../../src/share/share.ts";
import { ask, dial, request } from "../listener/support/client.ts";
import { pass, rig, takeDownAfterEach } from "../listener/support/rig.ts";
import { list, SECRET } from "./support.ts";

takeDownAfterEach();

const TOKEN = "Authorization: Bearer a\r\n";

interface Work {
  readonly signal: Signal;
  readonly end: (answer: Answer) => void;
}

/** A listener with sharing on, wired as the whole is: around the decisions, and told of every exchange that is over. */
async function front() {
  const works: Work[] = [];
  const waiting: (() => void)[] = [];
  const share = createShare({
    collapse: true,
    seconds: 5,
    bytes: 1024 * 1024,
    now: () => performance.now(),
    wall: () => Date.now(),
    secret: SECRET,
    origin: "https://platform.example",
    ruleVersion: "1",
  });
  const next: Decide = (head, exchange) => {
    if (head.method !== "GET") return pass(head.target);
    exchange.mode = "translate";
    exchange.operation = "list";
    return {
      kind: "answer",
      respond: (_body, signal) =>
        new Promise((end, fail) => {
          signal.addEventListener("abort", () => fail(signal.reason), { once: true });
          works.push({ signal, end });
          for (const wake of waiting.splice(0)) wake();
        }),
    };
  };
  let asked = 0;
  const decide = share.decide(next);
  const counted: Decide = (head, exchange) => {
    const plan = decide(head, exchange);
    if (plan.kind !== "answer") return plan;
    const respond: typeof plan.respond = (body, signal) => {
      const answer = plan.respond(body, signal);
      asked += 1;
      for (const wake of waiting.splice(0)) wake();
      return answer;
    };
    return { kind: "answer", respond };
  };
  const notes: string[][] = [];
  const ended: (() => void)[] = [];
  const { port } = await rig({
    decide: counted,
    observe: (exchange) => {
      share.over(exchange);
      notes.push(exchange.notes);
      for (const wake of ended.splice(0)) wake();
    },
  });
  const work = async (index: number): Promise<Work> => {
    for (let made = works[index]; ; made = works[index]) {
      if (made !== undefined) return made;
      await new Promise<void>((wake) => waiting.push(wake));
    }
  };
  /** Until `count` answers have been asked for. */
  const come = async (count: number): Promise<void> => {
    while (asked < count) await new Promise<void>((wake) => waiting.push(wake));
  };
  /** Until `count` requests are over. */
  const over = async (count: number): Promise<void> => {
    while (notes.length < count) await new Promise<void>((wake) => ended.push(wake));
  };
  return { port, share, works, work, come, over, notes };
}

describe("sharing behind the listener", () => {
  it("T-ISO-03, K8: gives a follower its list though the leader has hung up, and stops at once when all have", async () => {
    const { port, work, works, come, over, notes } = await front();
    const leader = await dial(port);
    leader.send(request("GET /iam/v1/groups", TOKEN));
    const led = await work(0);
    const follower = ask(port, "GET /iam/v1/groups", TOKEN);
    await come(2);
    leader.leave();
    await over(1);
    expect(led.signal.aborted).toBe(false);
    led.end(list("groups"));
    const answer = await follower;
    expect([answer.status, answer.body, answer.field("age")]).toEqual([200, "groups", expect.stringMatching(/^\d+$/)]);
    expect(answer.field("cache-control")).toBe("private, no-store");
    await over(2);
    expect(notes.flat()).toContain("list-collapsed");

    const last = await dial(port);
    last.send(request("GET /iam/v1/tags", TOKEN));
    const left = await work(1);
    last.leave();
    await over(3);
    expect(left.signal.aborted).toBe(true);
    expect(works).toHaveLength(2);
  });

  it("K7: forgets what was kept when a write of the same credential passes through", async () => {
    const { port, work, works, share, over } = await front();
    const first = ask(port, "GET /iam/v1/groups", TOKEN);
    (await work(0)).end(list("before"));
    expect((await first).body).toBe("before");
    expect((await ask(port, "GET /iam/v1/groups", TOKEN)).body).toBe("before");
    expect((await ask(port, "DELETE /iam/v2beta1/groups/x", TOKEN)).body).toBe("ok");
    const behind = ask(port, "GET /iam/v1/groups", TOKEN);
    (await work(1)).end(list("after"));
    expect((await behind).body).toBe("after");
    await over(4);
    expect(works).toHaveLength(2);
    expect(share.held().writers).toBe(0);
  });
});
