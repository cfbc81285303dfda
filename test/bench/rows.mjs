/** The rows of the bench in their order, and the keys that select them. */
import { measureBusy } from "./rows/busy.mjs";
import { measureFlood } from "./rows/flood.mjs";
import { measureLatency } from "./rows/latency.mjs";
import { measureLedger } from "./rows/ledger.mjs";
import { measureLongList } from "./rows/long-list.mjs";
import { measureProfile } from "./rows/profile.mjs";
import { measureRaces } from "./rows/races.mjs";
import { measureReaders } from "./rows/readers.mjs";
import { measureRewriting } from "./rows/rewriting.mjs";
import { measureSeries } from "./rows/series.mjs";
import { measureShadow } from "./rows/shadow.mjs";
import { measureStart } from "./rows/start.mjs";

/**
 * `measure(bench, start)` gives `goals` (lines of the first table), `text` (Markdown: how it was measured, and the rest of
 * the numbers) and `faults` (what makes the run a failure). `tries`: rows of docs/trust.md. Processes handed to `start` end with the row.
 */
export const ROWS = [
  {
    keys: ["pass", "get", "list", "nginx"],
    tries: "T-LOD-01 (pass), T-LOD-02 (get), T-LOD-03 (list)",
    title: "Requests a second",
    measure: measureRaces,
  },
  { keys: ["rewrite"], title: "Rewriting a page", measure: measureRewriting },
  { keys: ["readers"], title: "A long list beside following the cursor", measure: measureReaders },
  { keys: ["long"], tries: "T-LOD-12 (delay)", title: "A very long list", measure: measureLongList },
  { keys: ["latency"], title: "Latency at a constant rate", measure: measureLatency },
  { keys: ["start"], title: "Start, and memory at rest", measure: measureStart },
  {
    keys: ["busy"],
    tries: "T-LOD-06 (short calls)",
    title: "Short calls while long lists saturate",
    measure: measureBusy,
  },
  { keys: ["flood"], title: "More long lists than memory", measure: measureFlood },
  { keys: ["shadow"], title: "Comparing in the background", measure: measureShadow },
  { keys: ["ledger"], title: "Knowing who calls, and deciding by rules", measure: measureLedger },
  { keys: ["series"], title: "Metric series", measure: measureSeries },
  { keys: ["profile"], title: "Where the time goes", measure: measureProfile },
];

/** What a row can be asked for by. */
export const KEYS = ROWS.flatMap((row) => row.keys);
