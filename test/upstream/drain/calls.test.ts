import { describe, expect, it } from "vitest";
import { createStopper } from "../../../src/model/signal.ts";
import { createCalls } from "../../../src/upstream/drain/calls.ts";
import { settled } from "../clock.ts";

const { signal } = createStopper();

/** Calls that wait for the test. */
function subject(most: number) {
  const calls = createCalls(most);
  const open: { name: string; end(): Promise<void>; fail(error: Error): Promise<void> }[] = [];
  const make = (name: string, hurry = false, until = signal) =>
    calls.make(
      () =>
        new Promise<string>((resolve, reject) => {
          const leave = () => open.splice(open.indexOf(held), 1);
          const held = {
            name,
            end: () => {
              leave();
              resolve(name);
              return settled();
            },
            fail: (error: Error) => {
              leave();
              reject(error);
              return settled();
            },
          };
          open.push(held);
        }),
      until,
      hurry,
    );
  return { open, make, names: () => open.map((call) => call.name) };
}

describe("calls of one list", () => {
  it("are made at once while there is room, and in their order when there is again", async () => {
    const { open, make, names } = subject(2);
    const made = ["a", "b", "c", "d"].map((name) => make(name));
    await settled();
    expect(names()).toEqual(["a", "b"]);
    await open[1]?.end();
    expect(names()).toEqual(["a", "c"]);
    await open[0]?.end();
    expect(names()).toEqual(["c", "d"]);
    await open[0]?.end();
    await open[0]?.end();
    expect(await Promise.all(made)).toEqual(["a", "b", "c", "d"]);
  });

  it("go first when they hurry", async () => {
    const { open, make, names } = subject(1);
    void make("a");
    void make("b");
    void make("c", true);
    await settled();
    await open[0]?.end();
    expect(names()).toEqual(["c"]);
    await open[0]?.end();
    expect(names()).toEqual(["b"]);
  });

  it("leave their place whether they end well or not", async () => {
    const { open, make, names } = subject(1);
    const failed = make("a");
    const next = make("b");
    await settled();
    const heard = expect(failed).rejects.toThrow("boom");
    await open[0]?.fail(new Error("boom"));
    await heard;
    expect(names()).toEqual(["b"]);
    await open[0]?.end();
    expect(await next).toBe("b");
    void make("c");
    void make("d");
    await settled();
    expect(names()).toEqual(["c"]);
  });

  it("are not made any more when nobody wants them, and leave their place to the next", async () => {
    const { open, make, names } = subject(1);
    const stopper = createStopper();
    void make("a");
    const unwanted = make("b", false, stopper.signal);
    void make("c");
    await settled();
    stopper.abort(new Error("not needed"));
    const heard = expect(unwanted).rejects.toThrow("not needed");
    await open[0]?.end();
    await heard;
    expect(names()).toEqual(["c"]);
    await open[0]?.end();
    await expect(make("d", false, stopper.signal)).rejects.toThrow("not needed");
    void make("e");
    await settled();
    expect(names()).toEqual(["e"]);
  });
});
