import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest. Started last, each would keep one core busy while the other has nothing left to do. */
const LONGEST = [
  "end-to-end/comparison/",
  "pages/run.",
  "end-to-end/lists/",
  "commands/check/",
  "trust/",
  "property",
  "end-to-end/cutover/",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((part) => moduleId.includes(`/test/${part}`));
      return at === -1 ? LONGEST.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

/** Files that disturb the tests which come after them in their process, or look at that process as a whole: each gets one of its own. */
const ALONE: readonly string[] = ["test/index.test.ts", "test/state/storage.test.ts"];

export default defineConfig({
  // `#sandbox` is the sandbox's source, as for the build (package.json, `imports`).
  ssr: { resolve: { conditions: ["carryover-source"] } },
  test: {
    globalSetup: ["scripts/build/kernel.mjs", "scripts/build/page.mjs"],
    setupFiles: ["test/setup.ts"],
    // The default leaves one of two cores idle.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 20_000,
    coverage: { include: ["src/**", "sandbox/src/**"], reporter: ["text-summary", "html"] },
    projects: [
      // Without isolation, the modules of `src` are loaded once for each worker and not once for each of some 300 files.
      {
        extends: true,
        test: { name: "quick", include: ["{test,sandbox/test}/**/*.test.ts"], exclude: [...ALONE], isolate: false },
      },
      { extends: true, test: { name: "alone", include: [...ALONE] } },
      { extends: true, test: { name: "all", include: ["test/**/*.all.ts"], isolate: false } },
    ],
  },
});
