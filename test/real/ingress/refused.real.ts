/** Calls that carryover refuses before they are whole, through proxies that share connections: they break no other call. */
import type { ClientHttp2Session } from "node:http2";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { grpcClient } from "../../../sandbox/test/grpc-client.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { answered, framed, open, session } from "../../grpc/support/rpc.ts";
import { translating } from "../../grpc/support/translating.ts";
import { later } from "../../support/take-down.ts";
import { PROGRAMS } from "./programs.ts";
import { startProxy } from "./proxy.ts";

takeDownAfterEach();

const GOOD_CALLS = 400;
/** Between the head of a call, its message and its end. Undefined sends both at once. */
const PAUSES_MS = [undefined, undefined, undefined, 0, 1, 3, 8];

/** Calls of one connection: nginx closes one after 1,000. */
const CALLS_EACH = 100;

/** Calls a service that is not there until `over`; how often each outcome came. */
async function refusals(url: string, over: () => boolean): Promise<ReadonlyMap<string, number>> {
  const outcomes = new Map<string, number>();
  const one = async (on: ClientHttp2Session, turn: number): Promise<void> => {
    const stream = open(on, "/acme.nothing.v9.Service/Do");
    const done = answered(stream);
    for (const [pause, send] of [
      [PAUSES_MS[turn % PAUSES_MS.length], () => stream.write(framed(Buffer.alloc(100)))],
      [PAUSES_MS[(turn * 5) % PAUSES_MS.length], () => stream.end()],
    ] as const) {
      if (pause !== undefined) await wait(pause);
      if (!stream.destroyed) send();
    }
    const { head, status, message, rstCode } = await done;
    const outcome = status === 12 ? "12" : `${status} ${message}, HTTP ${head[":status"]}, reset ${rstCode}`;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  };
  const loops = Array.from({ length: 16 }, async (_, loop) => {
    while (!over()) {
      const on = session(url);
      for (let turn = 0; turn < CALLS_EACH && !over(); turn++) await one(on, turn * 16 + loop);
      on.destroy();
    }
  });
  await Promise.all(loops);
  return outcomes;
}

describe.each(PROGRAMS)("$title", (program) => {
  it("calls that are refused early have their status, and break no other client's calls", async () => {
    const { carryover, sandbox, sandboxUrl, rpc } = await translating();
    const { url: carryoverUrl, adminUrl } = carryover;
    const proxy = await startProxy(program, { carryoverUrl, adminUrl, platformUrl: sandboxUrl, grpcUrl: rpc });
    let over = false;
    const hostile = refusals(proxy.h2Url, () => over);
    const outcomes = new Map<string, number>();
    await Promise.all(
      Array.from({ length: GOOD_CALLS / CALLS_EACH }, async () => {
        const good = grpcClient(sandbox, proxy.h2Url);
        later(async () => good.close());
        for (let i = 0; i < CALLS_EACH; i++) {
          const { code, message } = await good.call("iam.Groups/List", { id: sandbox.wellKnown.rootGroup });
          const outcome = `${code} ${message}`;
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        }
      }),
    );
    over = true;
    const refused = await hostile;
    expect([[...outcomes], [...refused.keys()]], JSON.stringify([...refused])).toEqual([[["0 ", GOOD_CALLS]], ["12"]]);
  });
});
