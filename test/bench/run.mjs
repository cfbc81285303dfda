/**
 * How fast is carryover beside what people would use or write instead? (Design: numbers to reach.)
 * `npm run bench` takes minutes and writes RESULTS.md; `npm run bench -- --quick` does everything small and writes nothing.
 */
import { parseArgs } from "node:util";
import { runBench } from "./bench.mjs";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean" },
    // Another build to measure, an earlier one to set beside it (row ledger), some rows only, and another load generator:
    // for work on one of them.
    dist: { type: "string" },
    before: { type: "string" },
    only: { type: "string" },
    load: { type: "string" },
  },
});
await runBench(values);
