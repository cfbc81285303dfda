import { defineConfig } from "vitest/config";

/** `npm run guards`: takes out each guard in turn and runs the tests that must notice. No part of the tests: it runs many of them many times. */
export default defineConfig({
  test: { include: ["test/guards/*.guards.ts"], setupFiles: ["test/setup.ts"], testTimeout: 300_000 },
});
