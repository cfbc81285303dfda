import { defineConfig } from "vitest/config";
import { triedIn } from "./test/trust/titles.ts";

/** Files with a test under an id of docs/trust.md, wherever they are. */
const files = [...new Set([...triedIn().values()].flat())].filter((name) => /\.(?:test|all)\.ts$/.test(name));

/**
 * `npm run real -- long`: the promises of docs/trust.md at full size. These are tests of `npm test` and `npm run test:all`, which try less of each
 * (`test/support/scale.ts`).
 */
export default defineConfig({
  test: {
    // The corpus has its ids in its file of requests, and the model of a drain belongs together.
    include: [
      "test/corpus/*.{test,all}.ts",
      "test/drain/model/*.{test,all}.ts",
      "test/trust/**/*.{test,all}.ts",
      ...files,
    ],
    // These check the page that is made from the results, or, when scripts/trust/run.mjs asks for it, write it.
    exclude: process.env["TRUST_PAGE"] === "write" ? [] : ["test/trust/*.all.ts"],
    setupFiles: ["test/setup.ts"],
    env: { TEST_SCALE: "long" },
    // One at a time: what is measured must not meet its neighbours.
    maxWorkers: 1,
    testTimeout: 900_000,
    hookTimeout: 60_000,
  },
});
