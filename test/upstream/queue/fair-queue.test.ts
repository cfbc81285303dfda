import { describe, expect, it } from "vitest";
import { createFairQueue, type FairQueueEntry, type FairQueueOptions } from "../../../src/upstream/fair-queue.ts";

interface Named extends FairQueueEntry {
  readonly name: string;
}

function subject(options: Partial<FairQueueOptions> = {}) {
  const queue = createFairQueue<Named>({ capacity: 1, kept: 0, ...options });
  const entries = new Map<string, Named>();
  /** `enter("a1")` is the first piece of work of credential `a`. */
  const enter = (name: string, now = 0, entry: Partial<FairQueueEntry> = {}) => {
    const made: Named = {
      ...{ name, credential: name.slice(0, 1), kind: "short", begun: false, since: now, deadline: now + 50_000, at: 0 },
      ...entry,
    };
    entries.set(name, made);
    return queue.enter(made, now);
  };
  const leave = (name: string, now = 0, work = 0) => queue.leave(entries.get(name) as Named, now, work);
  const next = (now = 0) => queue.next(now)?.name;
  /** The order in which all that waits starts, one at a time. */
  const order = (running: string, now = 0) => {
    const started: string[] = [];
    for (let name: string | undefined = running; name !== undefined; name = next(now)) {
      leave(name, now);
      started.push(name);
    }
    return started.slice(1);
  };
  return { queue, enter, leave, next, order, entries };
}

describe("the next place", () => {
  it("goes to credentials in turn, in each to those that came first", () => {
    const { enter, order } = subject();
    expect(enter("a1")).toBe("started");
    for (const name of ["a2", "a3", "a4", "b1", "b2", "c1"]) expect(enter(name)).toBe("waits");
    expect(order("a1")).toEqual(["b1", "c1", "a2", "b2", "a3", "a4"]);
  });

  it("goes to the credential with the fewest places", () => {
    const { enter, leave, next } = subject({ capacity: 4 });
    for (const name of ["a1", "a2", "a3", "b1", "a4", "b2"]) enter(name);
    leave("a1");
    expect(next()).toBe("b2");
    leave("a2");
    expect(next()).toBe("a4");
  });

  it("goes to credentials by cost, not by number", () => {
    const { enter, leave, next } = subject();
    enter("a0");
    const work = (name: string) => (name.startsWith("a") ? 1 : 0);
    for (let i = 1; i <= 40; i++) for (const credential of ["a", "b"]) enter(`${credential}${i}`);
    const started: string[] = [];
    for (let name: string | undefined = "a0"; started.length < 36; name = next()) {
      leave(name as string, 0, work(name as string));
      started.push(name as string);
    }
    // One unit of work is charged eight times: a call of `a` costs nine calls of `b`.
    expect(started.filter(work)).toHaveLength(4);
  });

  it("goes to whoever holds an eighth of the places less, whatever was cheap so far", () => {
    const { enter, leave, next } = subject({ capacity: 16 });
    for (let i = 1; i <= 20; i++) enter(`a${i}`);
    enter("b1");
    leave("a1");
    expect(next()).toBe("b1");
    enter("b2");
    leave("b1", 0, 100);
    expect(next()).toBe("b2");
  });

  it("remembers what a credential had without work in between", () => {
    const { enter, leave, next } = subject();
    enter("a1");
    enter("b1");
    leave("a1", 0, 10);
    next();
    for (const name of ["a2", "b2", "b3"]) enter(name);
    leave("b1");
    expect(next()).toBe("b2");
    leave("b2");
    expect(next()).toBe("b3");
  });

  it("is one fewer when fewer are to be under way", () => {
    const places = { now: 2 };
    const { enter, leave, next } = subject({ capacity: 4, places: () => places.now });
    expect(["a1", "a2", "a3"].map((name) => enter(name))).toEqual(["started", "started", "waits"]);
    places.now = 1;
    leave("a1");
    expect(next()).toBeUndefined();
    leave("a2");
    expect(next()).toBe("a3");
  });

  it("goes to requests that have begun, then to short work, then to pages of the oldest list", () => {
    const { enter, order } = subject();
    enter("a1");
    enter("a2", 5, { kind: "page", since: 5 });
    enter("a3", 6, { kind: "page", since: 2 });
    enter("a4", 7);
    enter("a5", 8, { begun: true });
    expect(order("a1", 9)).toEqual(["a5", "a4", "a3", "a2"]);
  });

  it("goes to the newest while that is asked for", () => {
    const { queue, enter, order } = subject();
    for (const name of ["a1", "a2", "a3"]) enter(name);
    queue.newestFirst = true;
    expect(order("a1")).toEqual(["a3", "a2"]);
  });

  it("is predicted for an accepted credential without those that come after it", () => {
    const { queue, enter, leave } = subject({ accepted: (credential) => credential === "a" });
    for (const name of ["x0", "x1", "y1", "z1", "a1", "a2"]) enter(name);
    leave("x0", 1_000);
    queue.next(1_000);
    expect([queue.sharers("a"), queue.sharers("z"), queue.sharers("b")]).toEqual([1, 4, 5]);
    expect([queue.predictedMs("a", 2_500), queue.predictedMs("b", 2_500)]).toEqual([7_500, 10_000]);
  });

  it("goes to credentials that the platform has accepted, one in eight to the others", () => {
    const { enter, order } = subject({ accepted: (credential) => credential === "a" });
    enter("a0");
    for (let i = 1; i <= 3; i++) enter(`x${i}`);
    for (let i = 1; i <= 9; i++) enter(`a${i}`);
    const started = order("a0");
    expect(started.slice(0, 8)).toEqual(["a1", "a2", "a3", "a4", "a5", "a6", "a7", "x1"]);
    expect(started.slice(8)).toEqual(["a8", "a9", "x2", "x3"]);
  });

  it("goes to the background only where half of the places are idle and nobody waits", () => {
    const { enter, leave, next } = subject({ capacity: 4 });
    expect(enter("z1", 0, { kind: "background" })).toBe("started");
    enter("a1");
    expect(enter("z2", 0, { kind: "background" })).toBe("waits");
    leave("z1");
    expect(next()).toBe("z2");
    for (const name of ["a2", "a3", "a4", "z3"]) enter(name, 0, name === "z3" ? { kind: "background" } : {});
    leave("a1");
    expect(next()).toBe("a4");
    for (const name of ["z2", "a2"]) leave(name);
    expect(next()).toBeUndefined();
    leave("a3");
    expect(next()).toBe("z3");
  });
});

describe("one credential alone", () => {
  it("has all places but those that are kept for others", () => {
    const { enter, next, leave } = subject({ capacity: 8, kept: 2 });
    for (let i = 0; i < 8; i++) enter(`a${i}`);
    expect(next()).toBeUndefined();
    expect([enter("b1"), enter("b2"), enter("b3")]).toEqual(["started", "started", "waits"]);
    leave("a0");
    expect(next()).toBeUndefined();
    for (const name of ["a1", "a2"]) leave(name);
    expect(next()).toBe("b3");
  });

  it("leaves places to short work, however many pages it reads", () => {
    const { enter } = subject({ capacity: 4, mostPages: 2 });
    expect(["a1", "a2", "a3"].map((name) => enter(name, 0, { kind: "page" }))).toEqual(["started", "started", "waits"]);
    expect(enter("b1")).toBe("started");
  });

  it("that may not read any more holds up no other", () => {
    const { enter, leave, next } = subject({ capacity: 2, mayRead: (credential) => credential !== "a" });
    expect(enter("a1", 0, { kind: "page" })).toBe("waits");
    expect([enter("b1", 0, { kind: "page" }), enter("b2", 0, { kind: "page" })]).toEqual(["started", "started"]);
    enter("b3", 0, { kind: "page" });
    leave("b1");
    expect(next()).toBe("b3");
  });
});

describe("who waits", () => {
  it("may leave, and is forgotten", () => {
    const { queue, enter, entries, order } = subject();
    for (const name of ["a1", "a2", "b1", "a3"]) enter(name);
    expect(queue.cancel(entries.get("a2") as Named)).toBe(true);
    expect(queue.cancel(entries.get("a2") as Named)).toBe(false);
    expect([queue.waiting(), queue.usedBy("a"), queue.usedBy("c")]).toEqual([2, 2, 0]);
    expect(order("a1")).toEqual(["b1", "a3"]);
    expect([queue.waiting(), queue.taken(), queue.usedBy("a")]).toEqual([0, 0, 0]);
  });

  it("is taken out when what is left of the deadline is no chance", () => {
    const { queue, enter } = subject();
    enter("a1");
    enter("a2", 0, { deadline: 10_000 });
    enter("a3", 0, { deadline: 250, since: 0 });
    expect(queue.expire(199).map(({ name }) => name)).toEqual([]);
    expect(queue.expire(200).map(({ name }) => name)).toEqual(["a3"]);
    expect(queue.expire(9_000).map(({ name }) => name)).toEqual(["a2"]);
    expect([queue.waiting(), queue.oldest()]).toEqual([0, undefined]);
  });

  it("is refused at once when the pace shows that the deadline comes first, and only then", () => {
    const { enter, leave, next, queue } = subject();
    enter("a0");
    // One place is given back each second.
    for (let i = 1; i <= 6; i++) enter(`a${i}`);
    for (let i = 0; i < 4; i++) {
      leave(`a${i}`, i * 1_000);
      next(i * 1_000);
    }
    expect([enter("a7", 3_000, { deadline: 4_200 }), enter("a8", 3_000, { deadline: 8_000 })]).toEqual([
      "refused",
      "waits",
    ]);
    // A credential with nothing in the queue comes to its turn sooner.
    expect(enter("b1", 3_000, { deadline: 5_500 })).toBe("waits");
    expect(enter("a9", 3_000, { deadline: 4_500, begun: true })).toBe("waits");
    expect(queue.waiting()).toBe(5);
  });

  it("is not refused for a pause: without a place given back, calls end by their timeouts", () => {
    const { enter } = subject({ capacity: 4, longestMs: 1_000 });
    for (let i = 0; i < 4; i++) enter(`a${i}`);
    for (let i = 4; i < 12; i++) expect(enter(`a${i}`, 60_000, { deadline: 63_000 })).toBe("waits");
    expect(enter("b1", 90_000, { deadline: 90_300 })).toBe("waits");
    expect(enter("c1", 90_000, { deadline: 90_200 })).toBe("refused");
  });

  it("is not refused for the pace of a time in which nobody waited", () => {
    const { enter, leave } = subject({ capacity: 2 });
    for (let i = 0; i < 10; i++) {
      enter("a0", i * 1_000);
      leave("a0", i * 1_000);
    }
    for (let i = 1; i <= 100; i++) enter(`a${i}`, 60_000);
    expect(enter("b1", 60_000, { deadline: 60_500 })).toBe("waits");
  });
});
