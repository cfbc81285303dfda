import { defineConfig } from "vitest/config";

/**
 * `npm run ingress`, `image`, `chart`, `cluster`, `monitoring`, `package`, `docs`: what is claimed of other programs, tried with those programs.
 * No part of the tests, since each needs what a script of the same name in scripts/ gets.
 */
export default defineConfig({
  test: {
    include: ["test/**/*.real.ts"],
    setupFiles: ["test/setup.ts"],
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});
