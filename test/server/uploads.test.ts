import { expect, it } from "vitest";
import { createUploadSlots } from "../../src/server/upload-slots.ts";

function entered(connections: number) {
  const uploads = createUploadSlots(connections);
  const here: string[] = [];
  const leaves = new Map<string, () => void>();
  const enter = (caller: string, name: string) =>
    uploads.enter(caller, (leave) => {
      here.push(name);
      leaves.set(name, () => {
        here.splice(here.indexOf(name), 1);
        leave();
      });
    });
  return { here, leaves, enter };
}

it("one caller holds a quarter of the connections at most, and all callers half of them", () => {
  const { here, enter } = entered(16);
  for (let i = 0; i < 100; i++) enter("hog", `hog-${i}`);
  expect(here).toHaveLength(4);
  for (let i = 0; i < 100; i++) enter(`other-${i}`, `other-${i}`);
  expect(here).toHaveLength(8);
  expect(here.slice(4)).toEqual(["other-0", "other-1", "other-2", "other-3"]);
});

it("a place that becomes free goes to the caller with the fewest, and among equals to who came first", () => {
  const { here, leaves, enter } = entered(8);
  for (const name of ["a1", "a2", "a3"]) enter("a", name);
  for (const name of ["b1", "c1", "d1"]) enter(name.slice(0, 1), name);
  expect(here).toEqual(["a1", "a2", "b1", "c1"]);
  leaves.get("b1")?.();
  expect(here).toEqual(["a1", "a2", "c1", "d1"]);
  leaves.get("a1")?.();
  expect(here).toEqual(["a2", "c1", "d1", "a3"]);
});

it("who gives up waiting gets no place", () => {
  const { here, leaves, enter } = entered(1);
  enter("a", "a1");
  const stop = enter("b", "b1");
  enter("c", "c1");
  stop();
  leaves.get("a1")?.();
  expect(here).toEqual(["c1"]);
});

it("there is a place for one caller where there is one connection", () => {
  const { here, enter } = entered(1);
  enter("a", "a1");
  expect(here).toEqual(["a1"]);
});
