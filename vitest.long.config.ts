import { defineConfig } from "vitest/config";

/**
 * `npm run test:long`: the promises of docs/trust.md at full size. The same tests as in `npm test`, which try less of each (`test/support/scale.ts`), and those
 * that take too long for it (`*.long.ts`).
 */
export default defineConfig({
  test: {
    include: [
      "test/trust/**/*.test.ts",
      "test/lists/t-drn-*.test.ts",
      "test/drain-model/*.test.ts",
      "test/**/*.long.ts",
    ],
    setupFiles: ["test/setup.ts"],
    env: { TEST_SCALE: "long" },
    // One at a time: what is measured must not meet its neighbours.
    maxWorkers: 1,
    testTimeout: 900_000,
    hookTimeout: 60_000,
  },
});
