/**
 * Compares the speed of carryover with the alternatives. `npm run bench` takes minutes and writes RESULTS.md;
 * `npm run bench -- --quick` does everything small and writes nothing.
 */
import { optionsOf } from "../../scripts/options.mjs";
import { runBench } from "./bench.mjs";
import { KEYS } from "./rows.mjs";

const LOADS = ["autocannon", "wrk"];

const values = optionsOf(
  {
    quick: { type: "boolean" },
    // Another build to measure, an earlier one to set beside it (row ledger), some rows only, and another load generator:
    // for work on one of them.
    dist: { type: "string" },
    before: { type: "string" },
    only: { type: "string" },
    load: { type: "string" },
  },
  "npm run bench -- [--quick] [--only ROW,ROW] [--dist FOLDER] [--before FOLDER] [--load autocannon|wrk]",
  ({ only, load }) => {
    const unknown = (only?.split(",") ?? []).filter((key) => !KEYS.includes(key));
    if (unknown.length > 0) return `no such row: ${unknown.join(", ")}; there are ${KEYS.join(", ")}`;
    return load === undefined || LOADS.includes(load) ? undefined : `no such load generator: ${load}`;
  },
);
await runBench(values);
