import { expect, test } from "vitest";
import { createJobs } from "../../src/shadow/shadow.ts";
import { settled } from "./rig.ts";

/** Jobs that the test ends; `began` and `ended` by name, `owner/number`. */
function places(concurrent: number) {
  const jobs = createJobs<string>({ concurrent, ms: 1_000, later: () => () => {} });
  const [began, busy]: [string[], string[]] = [[], []];
  const finish = new Map<string, () => void>();
  const add = (...names: string[]): void => {
    for (const name of names) {
      const [owner = ""] = name.split("/");
      jobs.add({
        owner,
        run: () => {
          began.push(name);
          return new Promise((resolve) => finish.set(name, () => resolve(name)));
        },
        done: (outcome) => {
          if ("failure" in outcome) busy.push(name);
        },
      });
    }
  };
  const end = async (name: string): Promise<void> => {
    finish.get(name)?.();
    await settled();
  };
  return { jobs, began, busy, add, end };
}

test("one owner runs in half of the places, rounded up, and waits in half of the others", () => {
  const { jobs, began, busy, add } = places(3);
  add("a/1", "a/2", "a/3", "a/4", "a/5", "a/6");
  expect([began, jobs.waiting(), busy]).toEqual([["a/1", "a/2"], 3, ["a/6"]]);
  add("b/1", "b/2", "b/3", "b/4", "c/1");
  expect([began.slice(2), jobs.waiting(), busy]).toEqual([["b/1"], 6, ["a/6", "c/1"]]);
});

test("a place that is left goes to whoever waits longest and has not its half", async () => {
  const { began, add, end } = places(2);
  add("a/1", "b/1", "a/2", "c/1");
  await end("b/1");
  expect(began).toEqual(["a/1", "b/1", "c/1"]);
  await end("a/1");
  expect(began).toEqual(["a/1", "b/1", "c/1", "a/2"]);
});

test("the only place is anybody's", () => {
  const { began, add } = places(1);
  add("a/1");
  expect(began).toEqual(["a/1"]);
});

test("there is room for whoever would find a place, and asking takes none", async () => {
  const { jobs, add, end } = places(2);
  add("a/1", "a/2");
  expect(jobs.hasRoom("a")).toBe(true);
  add("a/3");
  expect([jobs.hasRoom("a"), jobs.hasRoom("b")]).toEqual([false, true]);
  add("b/1", "b/2", "c/1");
  for (let i = 0; i < 10; i++) expect(jobs.hasRoom("d")).toBe(false);
  await end("b/1");
  expect(jobs.hasRoom("d")).toBe(true);
  void jobs.close();
  expect(jobs.hasRoom("d")).toBe(false);
});
