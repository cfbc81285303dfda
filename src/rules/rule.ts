/** The rules that say what serves a v1 request: valid, complete, frozen. */
import type { Force, RuleSettings } from "../model/rules.ts";
import type { RuleMatch } from "./conditions.ts";

/** A valid rules file. */
export interface Rules {
  /** Overrides every rule and `cutover.mode` from the next request on. */
  readonly force: Force;
  /** Overrides the option `fallback`. */
  readonly fallback: "native" | "refuse" | undefined;
  /** In order: the first that matches decides. */
  readonly rules: readonly Rule[];
  /** Digest of the file's bytes, to tell files apart: 12 hexadecimal digits. */
  readonly digest: string;
}

export interface Rule extends RuleSettings {
  readonly match: RuleMatch;
}
