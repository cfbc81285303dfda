/** The parts of a recording, as readers find them. */
import type { RecordedGap, RecordedRequest } from "./entry.ts";

export type LogFormat = "carryover recording" | "carryover log" | "JSON access log" | "combined log" | "HAR";

/** From 1. */
export interface LogPlace {
  readonly line: number;
  readonly column: number;
}

export type Found =
  | { readonly kind: "request"; readonly request: RecordedRequest; readonly format: LogFormat; readonly at: LogPlace }
  /** `why`: in words that are the same for the same cause. */
  | { readonly kind: "skipped"; readonly why: string; readonly at: LogPlace }
  | ({ readonly kind: "gap" } & RecordedGap)
  /** Another line of a log, not a request. */
  | { readonly kind: "other" };

/** A recording that is not used at all. The message never repeats what was found. */
export class RecordingRefused extends Error {
  constructor(where: string, { line, column }: LogPlace, what: string, remedy: string) {
    super(`${where}:${line}:${column}: ${what}; ${remedy}`);
    this.name = "RecordingRefused";
  }
}

export function skipped(why: string, line: number, column = 1): Found {
  return { kind: "skipped", why, at: { line, column } };
}

const VISIBLE = /^\/[\x21-\x7e]*$/;
/** `limits.uriBytes` is smaller. */
const MAX_TARGET = 64 * 1024;

/** Path and query of a target or an absolute address; undefined for what cannot be asked for. */
export function targetOf(text: string): string | undefined {
  const origin = /^https?:\/\/[^/?#]*/i.exec(text)?.[0] ?? "";
  const [rest = ""] = text.slice(origin.length).split("#", 1);
  const target = rest.startsWith("/") || origin === "" ? rest : `/${rest}`;
  return VISIBLE.test(target) && target.length <= MAX_TARGET ? target : undefined;
}

const METHOD = /^[A-Z]{3,20}$/;

export function isMethod(text: string): boolean {
  return METHOD.test(text);
}
