/** What a check finds, and the verdict over all findings. */
import { CHECK_TOKEN_VARIABLE } from "../../config/command-variables.ts";
import { shownName } from "../../rules/words.ts";

/** `skipped`: it could not be judged, which is never good news. `note`: worth knowing, with nothing to be done. */
export type FindingLevel = "ok" | "note" | "warn" | "fail" | "skipped";

/** A value for one option; `path` as in `docs/configuration.md`. */
export interface OptionSetting {
  readonly path: string;
  readonly value: string;
}

/** What a probe says. */
export interface Judgement {
  readonly level: FindingLevel;
  /** What was seen: names and numbers, never a value of a record, never a credential. */
  readonly what: string;
  /** What to do about it; empty when there is nothing to do. */
  readonly remedy: string;
  /** The option that fixes it, when there is one. */
  readonly set?: OptionSetting | undefined;
}

export interface Finding extends Judgement {
  /** Id of the probe. */
  readonly probe: string;
}

export function ok(what: string): Judgement {
  return { level: "ok", what, remedy: "" };
}

export function note(what: string, remedy = "", set?: OptionSetting): Judgement {
  return { level: "note", what, remedy, set };
}

export function warn(what: string, remedy: string, set?: OptionSetting): Judgement {
  return { level: "warn", what, remedy, set };
}

export function fail(what: string, remedy: string, set?: OptionSetting): Judgement {
  return { level: "fail", what, remedy, set };
}

/** `why` it could not be judged, and what would allow it. */
export function skipped(why: string, remedy = ""): Judgement {
  return { level: "skipped", what: why, remedy };
}

/** What `probe` found. */
export function findingsOf(probe: string, ...judgements: readonly Judgement[]): readonly Finding[] {
  return judgements.map((judgement) => ({ probe, ...judgement }));
}

/**
 * The worst of all findings. `unjudged`: no list could be read, so nothing speaks for this platform. `incomplete`: nothing
 * is wrong, but something was not judged.
 */
export type CheckVerdict = "fail" | "unjudged" | "warn" | "incomplete" | "ok";

export function verdictOf(findings: readonly Finding[]): CheckVerdict {
  const has = (level: FindingLevel) => findings.some((finding) => finding.level === level);
  if (has("fail")) return "fail";
  // A check that asks no platform is judged by what it looked at.
  const asked = findings.filter(({ probe }) => !["rules", "state", "store", "recording", "port"].includes(probe));
  const lists = asked.filter(({ probe, level }) => probe === "lists" && level !== "skipped");
  if (lists.length === 0 && (asked.length > 0 || findings.length === 0)) return "unjudged";
  if (has("warn")) return "warn";
  return has("skipped") ? "incomplete" : "ok";
}

/** Of the process. `strict`: a warning is a failure too. A gate must not pass when nothing was looked at. */
export function exitCodeOf(verdict: CheckVerdict, strict: boolean): 0 | 1 {
  return verdict === "fail" || verdict === "unjudged" || (verdict === "warn" && strict) ? 1 : 0;
}

/** Names in one line, the first few of many. */
export function listed(names: readonly string[], most = 12): string {
  const shown = names.slice(0, most).map(shownName).join(", ");
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

export const HOW_TO_GIVE = `with --token-file FILE (- is standard input) or in ${CHECK_TOKEN_VARIABLE}`;
