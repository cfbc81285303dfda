/** Sets the random cases of property tests. */
import fc from "fast-check";

// The same ones each time, so that a red run is red for everybody. FC_SEED=random looks for new ones; a number repeats a run.
const asked = process.env["FC_SEED"] ?? "20261121";
fc.configureGlobal({ ...(asked === "random" ? {} : { seed: Number(asked) }) });
