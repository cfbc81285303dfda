/** `node test/bench/profile.mjs` after a build prints only the profile row of the bench. */
import { runBench } from "./bench.mjs";

await runBench({ only: "profile" });
