/** What came of each probe when `npm run real -- grpc` last recorded it. */
import { readFileSync } from "node:fs";

export interface Outcomes {
  readonly native: string;
  readonly translated: string;
  readonly passed: string;
}

export const RECORDED = new URL("recorded.json", import.meta.url);

/** By what is unusual about a probe. */
export function recordedOutcomes(): ReadonlyMap<string, Outcomes> {
  return new Map(Object.entries(JSON.parse(readFileSync(RECORDED, "utf8")) as Record<string, Outcomes>));
}

/** Carryover does as native v1 does. */
export function isSame({ native, translated, passed }: Outcomes): boolean {
  return native === translated && native === passed;
}
