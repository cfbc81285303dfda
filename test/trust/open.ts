/** Which ids have no test yet? None, when the work is done. */

export const OPEN: ReadonlySet<string> = new Set<string>([
  "T-LOD-01",
  "T-LOD-02",
  "T-LOD-03",
  "T-LOD-06",
  "T-LOD-12",
  "T-TMO-07",
]);
