/** v2 (without beta): the shapes are those of v2beta1. */

import type { DerivedPair } from "../model/resource.ts";

/** Of the ten resources it lacks none. */
export default { like: "v1-v2beta1", less: [] } satisfies DerivedPair;
