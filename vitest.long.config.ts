import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { triedIn } from "./test/trust/titles.ts";

/** Files with a test under an id of docs/trust.md, wherever they are. */
const named = [...triedIn(join(import.meta.dirname, "test")).values()].flat();
const files = [...new Set(named)].filter((name) => /\.test\.ts$/.test(name)).map((name) => `test/${name}`);

/**
 * `npm run test:long`: the promises of docs/trust.md at full size. The same tests as in `npm test`, which try less of each (`test/support/scale.ts`), and those
 * that take too long for it (`*.long.ts`).
 */
export default defineConfig({
  test: {
    // The corpus has its ids in its file of requests, and the model of a drain belongs together.
    include: [
      "test/**/*.long.ts",
      "test/corpus/*.test.ts",
      "test/drain-model/*.test.ts",
      "test/trust/**/*.test.ts",
      ...files,
    ],
    // These speak of the page that is made from what this gives.
    exclude: ["test/trust/*.test.ts"],
    setupFiles: ["test/setup.ts"],
    env: { TEST_SCALE: "long" },
    // One at a time: what is measured must not meet its neighbours.
    maxWorkers: 1,
    testTimeout: 900_000,
    hookTimeout: 60_000,
  },
});
