/** Where does carryover's time go? `node test/bench/profile.mjs` after a build prints that row of the bench alone. */
import { runBench } from "./bench.mjs";

await runBench({ only: "profile" });
