/** Errors as text for the log, without secrets. */
import { scrub } from "../model/secrets.ts";

/** One scrubbed line: the messages of the error and of its causes, outermost first. */
export function causeText(cause: unknown): string {
  const parts: string[] = [];
  let next = cause;
  // Causes can form a cycle; no real chain has more than five.
  while (next !== undefined && next !== null && parts.length < 5) {
    parts.push(oneText(next));
    const first: unknown = next instanceof AggregateError ? next.errors[0] : undefined;
    next = next instanceof Error ? (next.cause ?? first) : undefined;
  }
  return scrub(parts.join(" <- "));
}

function oneText(value: unknown): string {
  if (!(value instanceof Error)) return typeof value === "string" ? value : typeof value;
  const code = "code" in value && typeof value.code === "string" ? ` ${value.code}` : "";
  return `${value.name}${code}: ${value.message}`;
}

/** The frames of the error's stack, in one line: for errors that are bugs of carryover. */
export function stackText(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || cause.stack === undefined) return undefined;
  const frames = cause.stack.split("\n").filter((line) => line.startsWith("    at "));
  if (frames.length === 0) return undefined;
  const shown = frames.slice(0, 10).map((line) => line.trim().slice(0, 200));
  return shown.join(" | ");
}
