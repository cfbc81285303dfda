/** Memory of bodies that are being received. */
import { expect, it } from "vitest";
import { createBodyMemory, GATHERED_BYTES } from "../../src/edge/body-limits.ts";
import { ANONYMOUS_SHARE } from "../../src/model/credential-shares.ts";
import { createMemoryBudget } from "../../src/model/memory-budget.ts";
import { createSignalController } from "../../src/model/signal.ts";

const CLAIM = 4 * 2 ** 20;

function subject(caller: string) {
  const memory = createMemoryBudget(64 * 2 ** 20);
  const turns: number[] = [];
  const processorShare = {
    run: async <T>(_signal: unknown, work: () => T, knownMs = 0): Promise<T> => {
      turns.push(knownMs);
      return work();
    },
  };
  const { signal } = createSignalController();
  return { memory, turns, body: createBodyMemory(caller, CLAIM, { memory, processorShare }, signal) };
}

it("is taken as a body comes, whatever length its head claims", async () => {
  const { body, memory } = subject("a");
  expect([body.came(GATHERED_BYTES), memory.held()]).toEqual([undefined, 0]);
  await body.came(100_000);
  expect(memory.held()).toBe(256 * 1024);
  await body.came(300_000);
  expect(memory.held()).toBe(600_000);
  body.keep(0);
  expect(memory.held()).toBe(0);
});

it("waits for the turn of a caller that the platform has not accepted, once for each long body", async () => {
  const [stranger, known] = [subject(ANONYMOUS_SHARE), subject("a")];
  for (const { body } of [stranger, known]) for (const bytes of [100_000, 300_000]) await body.came(bytes);
  expect([stranger.turns, known.turns]).toEqual([[16], []]);
});
