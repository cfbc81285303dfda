import { type TokenSources, tokenFrom } from "../token-input.ts";

/** What did a probe find, and what is to be set? */

/** `skipped`: it could not be judged; that is never good news. `note`: worth knowing, nothing to be done. */
export type FindingLevel = "ok" | "note" | "warn" | "fail" | "skipped";

/** A value for one option; `path` as in `docs/configuration.md`. */
export interface OptionSetting {
  readonly path: string;
  readonly value: string;
}

export interface Finding {
  /** Id of the probe. */
  readonly probe: string;
  readonly level: FindingLevel;
  /** What was seen: names and numbers, never a value of a record, never a credential. */
  readonly what: string;
  /** What to do about it; empty when there is nothing to do. */
  readonly remedy: string;
  /** The option that puts it right, when there is one. */
  readonly set?: OptionSetting;
}

/** Findings of one probe, made in few words. */
export interface FindingMaker {
  ok(what: string): Finding;
  note(what: string, remedy?: string, set?: OptionSetting): Finding;
  warn(what: string, remedy: string, set?: OptionSetting): Finding;
  fail(what: string, remedy: string, set?: OptionSetting): Finding;
  /** `why` it could not be judged, and what would let it be. */
  skipped(why: string, remedy?: string): Finding;
}

/** Speaks for `probe`. */
export function findingsFor(probe: string): FindingMaker {
  const make = (level: FindingLevel, what: string, remedy = "", set?: OptionSetting): Finding => ({
    probe,
    level,
    what,
    remedy,
    ...(set === undefined ? {} : { set }),
  });
  return {
    ok: (what) => make("ok", what),
    note: (what, remedy, set) => make("note", what, remedy, set),
    warn: (what, remedy, set) => make("warn", what, remedy, set),
    fail: (what, remedy, set) => make("fail", what, remedy, set),
    skipped: (why, remedy) => make("skipped", why, remedy),
  };
}

/**
 * What all findings together say: the worst of them. `unjudged`: no list could be looked at, so that nothing speaks for
 * this platform; `incomplete`: nothing wrong, and something not judged.
 */
export type CheckVerdict = "fail" | "unjudged" | "warn" | "incomplete" | "ok";

export function verdictOf(findings: readonly Finding[]): CheckVerdict {
  const has = (level: FindingLevel) => findings.some((finding) => finding.level === level);
  if (has("fail")) return "fail";
  // Whoever asks about rules alone is told about them alone.
  const asked = findings.filter(({ probe }) => probe !== "rules");
  const lists = asked.filter(({ probe, level }) => probe === "lists" && level !== "skipped");
  if (lists.length === 0 && (asked.length > 0 || findings.length === 0)) return "unjudged";
  if (has("warn")) return "warn";
  return has("skipped") ? "incomplete" : "ok";
}

/** Of the process; `strict`: a warning is no success either. A gate must not pass with nothing looked at. */
export function exitCodeOf(verdict: CheckVerdict, strict: boolean): 0 | 1 {
  return verdict === "fail" || verdict === "unjudged" || (verdict === "warn" && strict) ? 1 : 0;
}

/** A name that the platform sent, fit for a terminal: anything but an identifier is quoted, anything long cut. */
export function shownName(name: string): string {
  const short = name.length > 60 ? `${name.slice(0, 60)}…` : name;
  return /^[\w.@$-]+…?$/.test(short) ? short : JSON.stringify(short.replaceAll(/[^\x20-\x7e…]/g, "?"));
}

/** Names in one line, the first few of many. */
export function listed(names: readonly string[], most = 12): string {
  const shown = names.slice(0, most).map(shownName).join(", ");
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

/** With which credential does a check ask? */

/** The variable that may hold the token. It belongs to this command: no option has it. */
export const TOKEN_VARIABLE = "CARRYOVER_CHECK_TOKEN";
/** For a person who gave none. */
export const HOW_TO_GIVE = `with --token-file FILE (- is standard input) or in ${TOKEN_VARIABLE}`;

/** `file`: of `--token-file`, `-` for standard input; wins over `variable`. Undefined when there is none. Throws ConfigError. */
export function readToken(
  file: string | undefined,
  variable: string | undefined,
  sources: TokenSources,
): string | undefined {
  return tokenFrom({ file, variable: { name: TOKEN_VARIABLE, value: variable }, sources, clean: withoutScheme });
}

/** As it is pasted from a header. */
function withoutScheme(text: string): string {
  return text.replace(/^bearer +/i, "");
}
