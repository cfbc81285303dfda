import { describe, expect, it, vi } from "vitest";
import { MOST_SECONDS } from "../../src/drain/list-sharing.ts";
import { createExchange } from "../../src/model/exchange.ts";
import type { ClientResponse } from "../../src/model/http.ts";
import { fieldOf, head, list, NO_BODY, type Rig, rig, type Sent, settle, textOf } from "./support.ts";

const NOTHING = { lists: 0, bytes: 0, works: 0, credentials: 0, writers: 0 };

async function said(sent: Sent): Promise<string> {
  return textOf(await sent.answer);
}

/** Asks, and has it made at once. */
async function made(on: Rig, token: string, text: string, target?: string): Promise<ClientResponse> {
  const sent = on.get(head(token, target));
  on.works.at(-1)?.end(list(text));
  return sent.answer;
}

function jwt(exp: number): string {
  return `e30.${Buffer.from(JSON.stringify({ exp })).toString("base64url")}.c2ln`;
}

describe("sharing that is off", () => {
  it("leaves every decision as it is, and holds nothing", () => {
    const { share } = rig({ seconds: 0 });
    const plan = { kind: "answer" as const, respond: vi.fn() };
    const exchange = Object.assign(createExchange("id", 0, "GET", "/"), { mode: "translate", operation: "list" });
    expect(share.share({ ...head("a"), exchange }, plan)).toBe(plan);
    expect(share.usage()).toEqual(NOTHING);
  });

  it("T-ISO-04, K6: cannot be configured to last for longer than a revoked token may be of use", () => {
    expect(() => rig({ seconds: MOST_SECONDS })).not.toThrow();
    for (const seconds of [MOST_SECONDS + 0.001, -1, Number.NaN]) expect(() => rig({ seconds })).toThrow(/0 to 5 s/);
  });
});

describe("a finished list", () => {
  it("is given again for an equal request, with its age, and noted", async () => {
    const on = rig();
    expect(fieldOf(await made(on, "a", "records"), "age")).toBeUndefined();
    on.clock.ms += 2000;
    const again = on.get(head("a"));
    expect(await said(again)).toBe("records");
    expect(fieldOf(await again.answer, "age")).toBe("2");
    expect(fieldOf(await again.answer, "carryover-list")).toBe("witness=cover; pages=1; records=1");
    expect(again.exchange.notes).toEqual(["list-shared"]);
    expect(on.works).toHaveLength(1);
  });

  it("K2: is not kept for a request without one bearer token", async () => {
    const on = rig();
    for (const odd of [head(undefined), head("a", undefined, [["authorization", "Bearer a"]])]) {
      const [one, two] = [on.get(odd), on.get(odd)];
      for (const work of on.works.splice(0)) work.end(list("own"));
      expect(await Promise.all([said(one), said(two)])).toEqual(["own", "own"]);
    }
    expect(on.share.usage()).toEqual(NOTHING);
  });

  it("K6: is given for so many seconds, counted from when its reading began", async () => {
    const on = rig({ seconds: 3 });
    const first = on.get(head("a"));
    on.clock.ms += 2000;
    on.works[0]?.end(list("records"));
    await first.answer;
    on.clock.ms += 999;
    expect(await said(on.get(head("a")))).toBe("records");
    on.clock.ms += 1;
    on.get(head("a"));
    expect(on.works).toHaveLength(2);
  });

  it("K6: is given for no longer than the platform says", async () => {
    const on = rig();
    const first = on.get(head("a"));
    on.works[0]?.end(list("records", [["cache-control", "max-age=2"]]));
    await first.answer;
    on.clock.ms += 1999;
    expect(await said(on.get(head("a")))).toBe("records");
    on.clock.ms += 1;
    on.get(head("a"));
    expect(on.works).toHaveLength(2);
  });

  it("K6: is not given when the token has ended, nor is anything shared with it then", async () => {
    const on = rig();
    const token = jwt(on.clock.ms / 1000 + 2);
    await made(on, token, "records");
    on.clock.ms += 1999;
    expect(await said(on.get(head(token)))).toBe("records");
    on.clock.ms += 1;
    on.get(head(token));
    on.get(head(token));
    expect(on.works).toHaveLength(3);
    expect(on.share.usage().credentials).toBeLessThanOrEqual(1);
  });

  it("K6: does not lie in memory when nobody asks for it any more, nor does its credential", async () => {
    vi.useFakeTimers();
    try {
      const on = rig({ now: () => performance.now() + 1, wall: () => Date.now() });
      await made(on, "a", "records");
      expect(on.share.usage()).toMatchObject({ lists: 1, works: 0, credentials: 1 });
      await vi.advanceTimersByTimeAsync(5100);
      expect(on.share.usage()).toEqual(NOTHING);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is not what a client gets that wants its own", async () => {
    const on = rig();
    await made(on, "a", "records");
    for (const own of ["cache-control", "pragma"]) {
      on.get(head("a", undefined, [[own, "no-cache"]]));
      on.get(head("a", undefined, [[own, "no-cache"]]));
    }
    expect(on.works).toHaveLength(5);
  });

  it("is not what a GET with a body gets", async () => {
    const on = rig();
    await made(on, "a", "records");
    on.get(head("a"), Buffer.from("{}"));
    expect(on.works).toHaveLength(2);
    expect(await said(on.get(head("a"), NO_BODY))).toBe("records");
  });

  it("has bytes of its own, not a part of a larger buffer", async () => {
    const on = rig();
    const large = Buffer.from("before records behind");
    const sent = on.get(head("a"));
    on.works[0]?.end({ ...list(""), body: large.subarray(7, 14) });
    await sent.answer;
    const again = await on.get(head("a")).answer;
    large.fill(0);
    expect(textOf(again)).toBe("records");
    expect((again.body as Uint8Array).buffer.byteLength).toBe(7);
  });
});

describe("a write", () => {
  it("K7: drops the lists of its own credential, and no other's", async () => {
    const on = rig();
    await made(on, "a", "a's");
    await made(on, "b", "b's");
    on.share.over(on.write(head("a")));
    on.get(head("a"));
    expect(on.works).toHaveLength(3);
    expect(await said(on.get(head("b")))).toBe("b's");
    expect(on.works).toHaveLength(3);
  });

  it("K7: of any kind and however its credential is spelled", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "MKCOL"]) {
      const on = rig();
      await made(on, "a", "records");
      on.share.over(on.write({ ...head(undefined), method, headers: [["authorization", "bearer a"]] }));
      expect(on.share.usage(), method).toEqual(NOTHING);
    }
  });

  it("K7: is under way until it is over: nothing is shared by its credential meanwhile", async () => {
    const on = rig();
    const writes = [on.write(head("a")), on.write(head("a"))];
    await made(on, "a", "before or after");
    on.get(head("a"));
    on.get(head("a"));
    expect(on.works).toHaveLength(3);
    on.share.over(writes[0]!);
    on.share.over(writes[0]!);
    on.get(head("a"));
    expect(on.works).toHaveLength(4);
    expect(on.share.usage()).toEqual({ ...NOTHING, writers: 1 });
    on.share.over(writes[1]!);
    expect(on.share.usage()).toEqual(NOTHING);
    await made(on, "a", "after");
    expect(await said(on.get(head("a")))).toBe("after");
  });

  it("K7: keeps those that ask behind it from what was begun before it", async () => {
    const on = rig();
    const [leader, follower] = [on.get(head("a")), on.get(head("a"))];
    on.share.over(on.write(head("a")));
    const behind = on.get(head("a"));
    expect(on.works).toHaveLength(2);
    on.works[0]?.end(list("before"));
    expect(await Promise.all([said(leader), said(follower)])).toEqual(["before", "before"]);
    const later = on.get(head("a"));
    on.works[1]?.end(list("after"));
    expect(await Promise.all([said(behind), said(later)])).toEqual(["after", "after"]);
    expect(await said(on.get(head("a")))).toBe("after");
    expect(on.works).toHaveLength(2);
  });

  it("K7: that begins while a follower waits for what fails sends it off alone", async () => {
    const on = rig();
    on.get(head("a"));
    const followers = [on.get(head("a")), on.get(head("a"))];
    const write = on.write(head("a"));
    on.works[0]?.fail(new Error("down"));
    await settle();
    expect(on.works).toHaveLength(3);
    on.works[1]?.end(list("one"));
    on.works[2]?.end(list("two"));
    expect(await Promise.all(followers.map(said))).toEqual(["one", "two"]);
    on.share.over(write);
    expect(on.share.usage()).toEqual(NOTHING);
  });

  it("K7: by nobody, or one who shares nothing, is nothing to remember", () => {
    const on = rig();
    on.share.over(on.write(head(undefined)));
    on.share.over(on.write({ ...head(undefined), headers: [["authorization", "Basic a"]] }));
    expect(on.share.usage()).toEqual(NOTHING);
  });
});

describe("equal requests at the same time", () => {
  it("K8: wait for one answer, with its age, and noted", async () => {
    const on = rig();
    const sent = [1, 2, 3].map(() => on.get(head("a")));
    await settle();
    expect(on.works).toHaveLength(1);
    on.clock.ms += 3000;
    on.works[0]?.end(list("records", [["x-request-id", "the leader's"]]));
    expect(await Promise.all(sent.map(said))).toEqual(["records", "records", "records"]);
    expect(sent.map(({ exchange }) => exchange.notes)).toEqual([[], ["list-collapsed"], ["list-collapsed"]]);
    const answers = await Promise.all(sent.map(({ answer }) => answer));
    expect(answers.map((answer) => fieldOf(answer, "age"))).toEqual([undefined, "3", "3"]);
    expect(answers.map((answer) => fieldOf(answer, "x-request-id"))).toEqual(["the leader's", undefined, undefined]);
    expect(on.share.usage().works).toBe(0);
  });

  it("T-ISO-02, K8: do not wait for another credential or another list", async () => {
    const two = rig();
    for (const other of [head("a"), head("b"), head("a", "/iam/v1/roles")]) two.get(other);
    expect(two.works).toHaveLength(3);
  });

  it("T-ISO-03, K8: have each their own abort, and the work goes on for the others", async () => {
    const on = rig();
    const [leader, one, two] = [on.get(head("a")), on.get(head("a")), on.get(head("a"))];
    one.client.abort("one left");
    await expect(one.answer).rejects.toBe("one left");
    leader.client.abort("the leader left");
    await expect(leader.answer).rejects.toBe("the leader left");
    expect(on.works[0]?.signal.aborted).toBe(false);
    const joined = on.get(head("a"));
    on.works[0]?.end(list("records"));
    expect(await Promise.all([said(two), said(joined)])).toEqual(["records", "records"]);
    expect(on.works).toHaveLength(1);
  });

  it("K8: cancel the work when the last of them leaves, and nobody joins it any more", async () => {
    const on = rig();
    const [leader, follower] = [on.get(head("a")), on.get(head("a"))];
    leader.client.abort("left");
    expect(on.works[0]?.signal.aborted).toBe(false);
    follower.client.abort("left as well");
    expect(on.works[0]?.signal).toMatchObject({ aborted: true, reason: "left as well" });
    const next = on.get(head("a"));
    expect(on.works).toHaveLength(2);
    await settle();
    const joined = on.get(head("a"));
    on.works[1]?.end(list("records"));
    expect(await Promise.all([said(next), said(joined)])).toEqual(["records", "records"]);
    expect(on.works).toHaveLength(2);
  });

  it("K8: cancel nothing when a client leaves whose answer is there", async () => {
    const on = rig();
    const sent = on.get(head("a"));
    on.works[0]?.end(list("records"));
    await sent.answer;
    sent.client.abort("left");
    expect(on.works[0]?.signal.aborted).toBe(false);
  });

  it("K8: have nothing made for them when the client has left already", async () => {
    const on = rig();
    const left = on.get(head("b"));
    const decided = on.share.share(
      { ...head("a"), exchange: left.exchange },
      { kind: "answer", respond: async () => Promise.reject(new Error("made")) },
    );
    left.client.abort("left");
    if (decided.kind !== "answer") throw new Error("not answered");
    await expect(decided.respond(NO_BODY, left.client.signal)).rejects.toBe("left");
  });

  it("T-ISO-08, K8: copy no failure: each tries itself, one after another", async () => {
    for (const refusal of [401, 403, 429, 500, 503, "thrown"] as const) {
      const on = rig();
      const sent = [1, 2, 3].map(() => on.get(head("a")));
      for (const turn of [0, 1, 2]) {
        await settle();
        expect(on.works).toHaveLength(turn + 1);
        const own = list(`refused ${turn}`);
        if (refusal === "thrown") on.works[turn]?.fail(`refused ${turn}`);
        else on.works[turn]?.end({ ...own, status: refusal });
        const gets = sent[turn]!.answer;
        if (refusal === "thrown") await expect(gets).rejects.toBe(`refused ${turn}`);
        else expect(await gets).toEqual({ ...own, status: refusal });
      }
      expect(sent.flatMap(({ exchange }) => exchange.notes)).toEqual([]);
      expect(on.share.usage()).toEqual(NOTHING);
    }
  });

  it("K8: share what one of them gets after a failure", async () => {
    const on = rig();
    const [leader, ...followers] = [1, 2, 3].map(() => on.get(head("a")));
    on.works[0]?.fail(new Error("down"));
    await expect(leader!.answer).rejects.toThrow("down");
    await settle();
    on.works[1]?.end(list("records"));
    expect(await Promise.all(followers.map(said))).toEqual(["records", "records"]);
    expect(followers.map(({ exchange }) => exchange.notes)).toEqual([[], ["list-collapsed"]]);
  });

  it("K8: wait for no more than two failures in turn", async () => {
    const on = rig();
    const sent = Array.from({ length: 6 }, () => on.get(head("a")));
    for (const turn of [0, 1]) {
      on.works[turn]?.fail("down");
      await settle();
    }
    // The third leads, the others no longer wait for it.
    expect(on.works).toHaveLength(6);
    on.works.forEach((work, i) => {
      work.end(list(String(i)));
    });
    expect((await Promise.all(sent.slice(2).map(said))).sort()).toEqual(["2", "3", "4", "5"]);
  });

  it("K4, K8: make their own when the answer must not be shared, all at once", async () => {
    async function* pieces() {
      yield Buffer.from("x");
    }
    for (const answer of [
      { ...list(""), body: pieces() },
      list("x", [["set-cookie", "a=b"]]),
      list("x", [["cache-control", "no-store"]]),
      { ...list("x"), headers: [] },
    ]) {
      const on = rig();
      const sent = [1, 2, 3].map(() => on.get(head("a")));
      on.works[0]?.end(answer);
      expect(await sent[0]!.answer).toBe(answer);
      await settle();
      expect(on.works).toHaveLength(3);
      on.works[1]?.end(list("one"));
      on.works[2]?.end(list("two"));
      expect(await Promise.all([said(sent[1]!), said(sent[2]!)])).toEqual(["one", "two"]);
      expect(on.share.usage()).toEqual(NOTHING);
    }
  });

  it("K6: do not get what the platform lets be used for less long than it took", async () => {
    const on = rig();
    const [leader, follower] = [on.get(head("a")), on.get(head("a"))];
    on.clock.ms += 2000;
    on.works[0]?.end(list("old", [["cache-control", "max-age=2"]]));
    expect(await said(leader)).toBe("old");
    await settle();
    on.works[1]?.end(list("new"));
    expect(await said(follower)).toBe("new");
  });

  it("K6: do not wait for what was begun longer ago than a list may be kept", async () => {
    const on = rig();
    on.get(head("a"));
    on.clock.ms += MOST_SECONDS * 1000 - 1;
    on.get(head("a"));
    expect(on.works).toHaveLength(1);
    on.clock.ms += 1;
    const late = on.get(head("a"));
    expect(on.works).toHaveLength(2);
    on.works[0]?.end(list("old"));
    await settle();
    const joined = on.get(head("a"));
    on.works[1]?.end(list("new"));
    expect(await Promise.all([said(late), said(joined)])).toEqual(["new", "new"]);
    expect(on.works).toHaveLength(2);
  });

  it("K8: wait in a number that is bounded", async () => {
    const on = rig();
    const sent = Array.from({ length: 103 }, () => on.get(head("a")));
    await settle();
    expect(on.works).toHaveLength(3);
    on.works.forEach((work, i) => {
      work.end(list(String(i)));
    });
    const all = await Promise.all(sent.map(said));
    expect(all.filter((text) => text === "0")).toHaveLength(101);
    expect(all.slice(-2).sort()).toEqual(["1", "2"]);
  });
});

describe("a long list that comes in pieces", () => {
  function stream() {
    const state = { returned: false };
    const body: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: Buffer.from("x") }),
        return: async () => {
          state.returned = true;
          return { done: true, value: undefined };
        },
      }),
    };
    return { state, answer: { ...list(""), body } };
  }

  it("K8: stops being made when its client leaves while taking it", async () => {
    const on = rig();
    const sent = on.get(head("a"));
    const { answer, state } = stream();
    on.works[0]?.end(answer);
    expect(await sent.answer).toBe(answer);
    expect(on.works[0]?.signal.aborted).toBe(false);
    sent.client.abort("left");
    expect(on.works[0]?.signal).toMatchObject({ aborted: true, reason: "left" });
    // Who takes the pieces ends the taking.
    expect(state.returned).toBe(false);
  });

  it("K8: is let go of when the client it was made for has left", async () => {
    const on = rig();
    const [leader, follower] = [on.get(head("a")), on.get(head("a"))];
    leader.client.abort("left");
    const { answer, state } = stream();
    on.works[0]?.end(answer);
    await settle();
    expect(state.returned).toBe(true);
    expect(on.works[0]?.signal.aborted).toBe(true);
    on.works[1]?.end(list("own"));
    expect(await said(follower)).toBe("own");
  });
});

describe("anything else", () => {
  it("is left as it was decided", async () => {
    const { share } = rig();
    const exchange = rig().get(head("a")).exchange;
    const respond = async () => list("x");
    for (const [mode, operation, method] of [
      ["translate", "get", "GET"],
      ["shadow", "list", "GET"],
      ["translate", "list", "OPTIONS"],
      ["translate", "list", "HEAD"],
    ] as const) {
      const plan = { kind: "answer" as const, respond };
      Object.assign(exchange, { mode, operation });
      const decided = share.share({ ...head("a"), method, exchange }, plan);
      expect(decided).toBe(plan);
    }
    expect(share.usage()).toEqual(NOTHING);
  });

  it("T-ISO-10, K3: nothing that is held shows a token or another secret of a request", async () => {
    const seen: string[] = [];
    const set = Map.prototype.set;
    const spy = vi.spyOn(Map.prototype, "set").mockImplementation(function (this: Map<unknown, unknown>, key, value) {
      if (typeof key === "string") seen.push(key);
      return set.call(this, key, value);
    });
    try {
      const on = rig();
      const sent = on.get(head("s3cret-token", undefined, [["cookie", "s3cret-cookie"]]));
      on.works[0]?.end(list("x"));
      await sent.answer;
      on.write(head("s3cret-token"));
    } finally {
      spy.mockRestore();
    }
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.join("\n")).not.toContain("s3cret");
  });
});
