import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take longest: begun last, each would keep one core busy while the other has nothing left to do. */
const LONGEST = [
  "comparison/comparison",
  "comparison/variants",
  "comparison/calls",
  "lists/churn",
  "lists/bad-pages",
  "app/reload",
  "lists/t-drn",
  "cutover-e2e/",
  "shadow/catalogue",
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

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/setup.ts"],
    // The default leaves one of two cores idle.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    hookTimeout: 20_000,
    coverage: { include: ["src/**"], reporter: ["text-summary", "html"] },
  },
});
