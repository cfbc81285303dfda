/** What is v2 (without beta), seen from v1? (Design: derived pairs; the shapes are those of v2beta1.) */
import type { DerivedPair } from "../model/resource.ts";

/** Of the ten resources it lacks none. */
export default { like: "v1-v2beta1", less: [] } satisfies DerivedPair;
