import { describe, expect, it } from "vitest";
import { type ApiResponse, type Caller, ResponseBufferFull, type Send } from "../../src/model/http.ts";
import { createMemoryBudget } from "../../src/model/memory-budget.ts";
import { createSignalController } from "../../src/model/signal.ts";
import { createResponseMemory } from "../../src/upstream/response-memory.ts";
import { settled } from "./clock.ts";

const MIB = 1024 * 1024;
const LIST = { method: "GET", target: "/groups?page_size=200", headers: [] };
const { signal } = createSignalController();

/** A platform whose responses have `bytes` each, once they are let go. */
function stage(limit: number, bytes: number) {
  const memory = createMemoryBudget(limit);
  const accepted = new Set<string>();
  const callerOf = (token: string): string => (accepted.has(token) ? token : "");
  const held = createResponseMemory(memory, callerOf);
  const caller = (credential: string): Caller => ({
    ...{ credential, since: 0, deadline: Number.POSITIVE_INFINITY, begun: () => false, ended: () => {} },
  });
  let underWay = 0;
  let given = 0;
  const gates: (() => void)[] = [];
  const send: Send = async (_, { room }) => {
    underWay++;
    await new Promise<void>((resolve) => gates.push(resolve));
    underWay--;
    if (room?.(bytes) === false) {
      given++;
      throw new ResponseBufferFull(bytes);
    }
    return { status: 200, headers: [], body: Buffer.alloc(bytes) };
  };
  const request = (token: string, asked = LIST) => {
    const from = caller(token);
    const response: Promise<ApiResponse> = held(send)(asked, { signal, caller: from });
    return { done: () => from.held?.done(), response, from };
  };
  return {
    memory,
    accepted,
    held,
    request,
    underWay: () => underWay,
    given: () => given,
    answer: async () => {
      for (const gate of gates.splice(0)) gate();
      await settled();
    },
  };
}

describe("calls that wait for memory", () => {
  it("are as many at a time as would fit into their caller's share with what its lists were lately", async () => {
    const { request, underWay, answer, accepted } = stage(16 * MIB, 4 * MIB);
    accepted.add("a");
    const first = request("a");
    await settled();
    await answer();
    await first.response;
    first.done();
    await settled();
    for (let i = 0; i < 10; i++) void request("a");
    await settled();
    expect(underWay()).toBe(2);
  });

  it("are given up at the head of a response for which there is no room, and made again when there is", async () => {
    const { request, underWay, answer, given, memory, accepted } = stage(16 * MIB, 4 * MIB);
    accepted.add("a");
    const all = Array.from({ length: 8 }, () => request("a"));
    await settled();
    // Nothing is known of its lists yet.
    expect(underWay()).toBe(8);
    await answer();
    // All were in the way of all; from then on there are two at a time.
    expect(given()).toBe(8);
    for (let left = 8; left > 0; left -= 2) {
      expect(underWay()).toBe(2);
      expect(memory.held()).toBe(8 * MIB);
      await answer();
      for (const { done } of all) done();
      await settled();
      await settled();
    }
    expect((await Promise.all(all.map(({ response }) => response))).map(({ status }) => status)).toEqual(
      Array(8).fill(200),
    );
    expect(given()).toBe(8);
    expect(memory.held()).toBe(0);
  });

  it("leave the others their half, and what one caller holds is one share before its credential is accepted and after", async () => {
    const { request, underWay, answer, accepted, memory } = stage(16 * MIB, 4 * MIB);
    for (let i = 0; i < 20; i++) void request("hog");
    await settled();
    expect(underWay()).toBe(8);
    accepted.add("hog");
    await answer();
    expect(memory.held()).toBeLessThanOrEqual(8 * MIB);
    accepted.add("other");
    const other = request("other");
    await settled();
    await answer();
    expect((await other.response).status).toBe(200);
  });

  it("of a request that holds something already do not wait: it would wait for itself", async () => {
    const { request, answer, accepted, held } = stage(8 * MIB, 4 * MIB);
    accepted.add("a");
    const calls = request("a");
    await settled();
    await answer();
    await calls.response;
    for (let i = 0; i < 3; i++) {
      const further = held(async (_, { room }) => {
        expect(room?.(4 * MIB)).toBe(true);
        return { status: 200, headers: [], body: Buffer.alloc(4 * MIB) };
      });
      await further(LIST, { signal, caller: calls.from });
    }
  });

  it("that write are never given up", async () => {
    const { request, answer, accepted } = stage(1 * MIB, 4 * MIB);
    accepted.add("a");
    const { response } = request("a", { method: "PATCH", target: "/groups/a", headers: [] });
    await settled();
    await answer();
    expect((await response).status).toBe(200);
  });

  it("for small responses hold nothing", async () => {
    const { request, answer, memory } = stage(16 * MIB, 100);
    const calls = request("a", { method: "GET", target: "/groups/a", headers: [] });
    await settled();
    await answer();
    await calls.response;
    expect(memory.held()).toBe(0);
  });
});
