import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStopper } from "../../../src/model/signal.ts";
import { createPlaces } from "../../../src/upstream/readers/places.ts";
import { settled, watchedStopper } from "../clock.ts";

const live = createStopper().signal;

function subject({ perCredential = 2, room = 3, most = 0 } = {}) {
  const hall = { room };
  const places = createPlaces({ perCredential, most, room: () => hall.room });
  const order: string[] = [];
  const wait = (credential: string, name = credential, again = false) =>
    void places.wait(credential, live, again).then(() => order.push(name));
  return { hall, places, order, wait };
}

describe("places", () => {
  it("go round the credentials, in order within each", async () => {
    const { places, order, wait } = subject({ room: 1, perCredential: 1 });
    places.enter("x");
    for (const name of ["a1", "a2", "a3", "b1", "c1", "b2"]) wait(name.charAt(0), name);
    for (const credential of ["x", "a", "b", "c", "a", "b", "a"]) {
      places.leave(credential);
      await settled();
    }
    expect(order).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
    expect([places.inFlight(), places.waiting()]).toEqual([0, 0]);
  });

  it("are given to all whom more room admits", async () => {
    const { hall, places, order, wait } = subject({ room: 0 });
    for (const credential of ["a", "b", "a", "b"]) wait(credential);
    hall.room = 3;
    places.admit();
    await settled();
    expect(order).toEqual(["a", "b", "a"]);
    expect([places.inFlight(), places.waiting()]).toEqual([3, 1]);
  });

  it("go first to a call that comes again, among those of its credential", async () => {
    const { hall, places, order, wait } = subject({ room: 0 });
    wait("a", "first");
    wait("a", "again", true);
    hall.room = 2;
    places.admit();
    await settled();
    expect(order).toEqual(["again", "first"]);
  });

  it("are not waited for by who gave up", async () => {
    const { hall, places, order, wait } = subject({ room: 0 });
    const stopper = watchedStopper();
    wait("a", "before");
    const gone = places.wait("a", stopper.signal, false);
    const only = places.wait("b", stopper.signal, false);
    wait("a", "behind");
    stopper.abort(new Error("gone"));
    await expect(gone).rejects.toThrow("gone");
    await expect(only).rejects.toThrow("gone");
    await expect(places.wait("a", stopper.signal, false)).rejects.toThrow("gone");
    expect([places.waiting(), stopper.listeners()]).toEqual([2, 0]);
    hall.room = 9;
    places.admit();
    await settled();
    expect(order).toEqual(["before", "behind"]);
    expect(places.inFlight()).toBe(2);
  });
});

it("a credential with nothing under way need not wait for others that hold every place, up to the most", () => {
  const { hall, places } = subject({ perCredential: 3, room: 3, most: 5 });
  for (const _ of [1, 2, 3]) expect(places.enter("hangs")).toBe(true);
  expect(["b", "b", "c", "d"].map((name) => places.enter(name))).toEqual([true, false, true, false]);
  places.leave("hangs");
  expect(places.enter("d")).toBe(true);
  hall.room = 0;
  places.leave("d");
  // Where nobody may call, nobody may.
  expect(places.enter("e")).toBe(false);
});

it("whatever happens: no more than allowed, no place idle while somebody may have it, nobody forgotten", async () => {
  const credential = fc.constantFrom("a", "b", "c");
  const step = fc.oneof(
    fc.record({ kind: fc.constant("come" as const), credential }),
    fc.record({ kind: fc.constant("leave" as const), at: fc.nat(20) }),
    fc.record({ kind: fc.constant("abort" as const), at: fc.nat(20) }),
    fc.record({ kind: fc.constant("room" as const), room: fc.nat(6) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(step, { maxLength: 50, size: "max" }),
      async (perCredential, steps) => {
        const { hall, places } = subject({ perCredential, room: 2 });
        const inside: string[] = [];
        const waiting = new Map<ReturnType<typeof watchedStopper>, string>();
        const own = (name: string) => inside.filter((each) => each === name).length;
        const enter = (name: string) => {
          // Whoever gets a place gets it while there is room for it.
          expect(inside.length).toBeLessThan(hall.room);
          expect(own(name)).toBeLessThan(perCredential);
          inside.push(name);
        };
        for (const each of steps) {
          if (each.kind === "room") {
            hall.room = each.room;
            places.admit();
          } else if (each.kind === "leave") {
            const [name] = inside.splice(each.at % Math.max(1, inside.length), 1);
            if (name !== undefined) places.leave(name);
          } else if (each.kind === "abort") {
            [...waiting.keys()][each.at % Math.max(1, waiting.size)]?.abort(new Error("gone"));
          } else if (places.enter(each.credential)) enter(each.credential);
          else {
            const stopper = watchedStopper();
            waiting.set(stopper, each.credential);
            void places.wait(each.credential, stopper.signal, false).then(
              () => {
                waiting.delete(stopper);
                expect(stopper.listeners()).toBe(0);
                enter(each.credential);
              },
              () => waiting.delete(stopper),
            );
          }
          await settled();
          expect([places.inFlight(), places.waiting()]).toEqual([inside.length, waiting.size]);
          if (inside.length < hall.room) for (const name of waiting.values()) expect(own(name)).toBe(perCredential);
        }
        hall.room = 1;
        places.admit();
        await settled();
        while (inside.length > 0) {
          places.leave(inside.shift() ?? "");
          await settled();
        }
        expect([places.inFlight(), places.waiting(), waiting.size]).toEqual([0, 0, 0]);
      },
    ),
    { numRuns: 200 },
  );
});
