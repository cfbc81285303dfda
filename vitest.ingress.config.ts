import { defineConfig } from "vitest/config";

/** `npm run ingress`: not part of the tests, since it needs the programs that scripts/install-ingress.sh gets. */
export default defineConfig({
  test: {
    include: ["test/ingress/*.ingress.ts"],
    setupFiles: ["test/setup.ts"],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
