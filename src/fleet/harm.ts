/** How much harm a trouble does: the one place that orders what needs attention, in `carryover status` and on the page. */

/** Most harm first. */
export const HARMS = [
  /** Clients get errors now, or an instance does not respond, so that they may. */
  "clients-fail",
  /** Clients are served, but not as the rules say: none of them, or single ones that stepped back or whose v2 is slow. */
  "forced",
  "stepped-back",
  /** Clients were failed by the translation. */
  "clients-failed",
  /** Nothing fails yet: rules or certificates that cannot be used, or a state that a restart would lose. */
  "next-failure",
  /** Replicas decide alone, or differently. */
  "apart",
  /** Counts are missing, or show that a rule may not go further. */
  "evidence",
  /** Can be tidied up at leisure. */
  "leftover",
] as const;
export type Harm = (typeof HARMS)[number];

export interface Trouble {
  readonly harm: Harm;
  /** Without a full stop. */
  readonly text: string;
}

export function troubles(harm: Harm, texts: readonly string[]): readonly Trouble[] {
  return texts.map((text) => ({ harm, text }));
}
