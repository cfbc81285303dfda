/** Which ids have no test yet? None, when the work is done. */

export const OPEN: ReadonlySet<string> = new Set<string>([
  "T-FLT-21",
  "T-FLT-22",
  "T-FLT-23",
  "T-FLT-24",
  "T-LOD-01",
  "T-LOD-02",
  "T-LOD-03",
  "T-LOD-06",
  "T-LOD-12",
  "T-LOD-13",
  "T-LOD-14",
  "T-TMO-07",
]);
