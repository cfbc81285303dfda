import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { later as timer } from "../../../src/model/clock.ts";
import { createAddressWatch } from "../../../src/upstream/certificate-renewal.ts";
import { createPool } from "../../../src/upstream/pool.ts";
import { createRetryBudget } from "../../../src/upstream/retry.ts";
import { createStream } from "../../../src/upstream/stream.ts";
import { ask } from "../../server/support/client.ts";
import { createDouble, type Double, ok } from "../../server/support/double.ts";
import { later, POOL, rig, takeDownAfterEach } from "../../server/support/rig.ts";
import { figure } from "../../support/figures.ts";

takeDownAfterEach();

/** What the name server says: addresses, or an error's code. */
interface Names {
  said: readonly string[] | string;
  asked: number;
  readonly lookup: LookupFunction;
}

function names(said: Names["said"]): Names {
  const state: Names = {
    said,
    asked: 0,
    lookup: (_hostname, options, callback) => {
      state.asked++;
      const answer = state.said;
      setImmediate(() => {
        if (typeof answer === "string") return callback(Object.assign(new Error(answer), { code: answer }), "", 4);
        const found = answer.map((address): LookupAddress => ({ address, family: 4 }));
        if (options.all === true) callback(null, found);
        else callback(null, found[0]?.address ?? "", 4);
      });
    },
  };
  return state;
}

/** A listener in front of `platform.test`, at the port of `double`; its name is looked at every 20 ms. */
async function stage(known: Names, double: Double) {
  const pool = createPool({ url: `http://platform.test:${double.port}`, ...POOL, lookup: known.lookup });
  later(pool.close);
  const moved: string[] = [];
  const watch = createAddressWatch({
    lookup: known.lookup,
    later: timer,
    everyMs: 20,
    moved: (name) => moved.push(name),
  });
  watch.add(pool);
  watch.start();
  later(async () => watch.close());
  const { port } = await rig({ upstreams: { v2: createStream(pool, createRetryBudget()) } });
  return { port, moved };
}

const reasonOf = (answer: Awaited<ReturnType<typeof ask>>) => [answer.status, answer.json().details[0]?.reason];

describe("T-FLT-16: a name that cannot be looked up", () => {
  it.each([
    ["does not exist", "ENOTFOUND"],
    ["cannot be asked for now", "EAI_AGAIN"],
    ["has no address", []],
  ] as const)("(it %s) is 502 without the name, and nothing of a write has left", async (_, said) => {
    const double = await createDouble(ok());
    later(double.close);
    const known = names(said);
    const { port } = await stage(known, double);
    for (const [line, fields, body] of [
      ["GET /x", "", ""],
      ["POST /x", "Content-Length: 2\r\n", "{}"],
    ] as const) {
      const answer = await ask(port, line, fields, body);
      expect(reasonOf(answer)).toEqual([502, "UPSTREAM_UNREACHABLE"]);
      expect(answer.json().details[0]?.metadata).toEqual({});
      expect(answer.body).not.toMatch(/platform\.test|ENOTFOUND|EAI/);
    }
    known.said = ["127.0.0.1"];
    const began = performance.now();
    expect((await ask(port, "GET /x")).status).toBe(200);
    figure("T-FLT-16", "time until a name that can be looked up again is used", performance.now() - began, "ms");
  });
});

describe("T-FLT-16: connections that work are left alone", () => {
  it.each([
    ["cannot be looked up", "ENOTFOUND"],
    ["has no address", []],
    ["leads to their address among others", ["127.0.0.3", "127.0.0.1", "127.0.0.4"]],
  ] as const)("when their name %s", async (_, said) => {
    const double = await createDouble(ok());
    later(double.close);
    const known = names(["127.0.0.1"]);
    const { port, moved } = await stage(known, double);
    expect((await ask(port, "GET /x")).status).toBe(200);
    known.said = said;
    const before = known.asked;
    while (known.asked < before + 3) await sleep(5);
    expect((await ask(port, "GET /x")).status).toBe(200);
    expect([moved, double.connections()]).toEqual([[], 1]);
  });
});

describe("T-FLT-16: a name that leads elsewhere", () => {
  it("is followed by connections that are never idle, and no request fails for it", async () => {
    const first = await createDouble(ok('"first"'));
    later(first.close);
    // The same port at another address of this machine.
    const second = await createDouble(ok('"second"'), undefined, { host: "127.0.0.2", port: first.port });
    later(second.close);
    const known = names(["127.0.0.1"]);
    const { port, moved } = await stage(known, first);
    const answers: string[] = [];
    let over = false;
    const clients = [1, 2, 3].map(async () => {
      while (!over) {
        const { status, body } = await ask(port, "GET /x");
        answers.push(status === 200 ? body : String(status));
      }
    });
    while (answers.length < 20) await sleep(5);
    known.said = ["127.0.0.2"];
    const began = performance.now();
    while (answers.at(-1) !== '"second"') await sleep(1);
    figure("T-FLT-16", "time until another address is used, with a look every 20 ms", performance.now() - began, "ms");
    await first.until(() => first.gone() === first.connections());
    over = true;
    await Promise.all(clients);
    expect(new Set(answers)).toEqual(new Set(['"first"', '"second"']));
    expect(moved).toEqual(["platform.test"]);
  });
});
