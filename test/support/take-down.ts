/** Takes down what tests build: afterwards, and in reverse. */
import { afterAll, afterEach } from "vitest";

const closers: (() => Promise<void>)[] = [];

/** To be called at the top of a test file: everything built is taken down after each test. */
export const takeDownAfterEach = (): void => afterEach(takeDown);

/** To be called at the top of a test file whose tests share what is built: it is taken down after the last of them. */
export const takeDownAfterAll = (): void => afterAll(takeDown);

/** Runs `close` after the test, or after the file. */
export function later(close: () => Promise<void>): void {
  closers.push(close);
}

async function takeDown(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}
