import { defineConfig } from "vitest/config";

/** `npm run mutate`: not part of the tests, since it runs the comparison once for each row of the catalogue. */
export default defineConfig({
  test: { include: ["test/mutation/*.mutants.ts"], setupFiles: ["test/setup.ts"] },
});
