import { defineConfig } from "vitest/config";

/**
 * What runs by name only: real programs, each after its script in `scripts/` (`npm run real -- ingress` and its like), and mutation checks (`npm run real -- guards`,
 * `npm run real -- mutation`).
 */
export default defineConfig({
  test: {
    include: ["test/**/*.{real,guards,mutants}.ts"],
    setupFiles: ["test/setup.ts"],
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
