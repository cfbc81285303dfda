/** What does it mean for a client that a call to an upstream brought no answer? */
import { Problem, type ProblemReason } from "../model/problem.ts";

/** What is known of a call that failed. */
export interface CallFacts {
  readonly method: string;
  /** A byte of the request may have reached the upstream. */
  readonly sent: boolean;
}

const TEXTS = {
  UPSTREAM_UNREACHABLE: "the platform could not be reached",
  UPSTREAM_TIMEOUT: "the platform did not answer in time",
  UPSTREAM_INVALID: "the platform sent an answer that is not valid HTTP",
} as const;

/** Marks the cause of a call that failed before its first byte. */
const NOT_SENT = "NOT_SENT";

const WRITES: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);
const TIMEOUTS: ReadonlySet<string> = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "ETIMEDOUT",
]);
const INVALID: ReadonlySet<string> = new Set([
  "UND_ERR_HEADERS_OVERFLOW",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "UND_ERR_RES_EXCEEDED_MAX_SIZE",
]);

/**
 * The failure of a call as a Problem with a fixed text; the error itself is only in `cause` (design: own errors).
 * A write whose bytes may have left says `state: unknown`. What our own code did wrong is INTERNAL.
 */
export function failure(error: unknown, facts: CallFacts): Problem {
  if (error instanceof Problem) return error;
  const code = codeOf(error);
  if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED") return Problem.from(error);
  return problemOf(reasonOf(code, error), withoutBytes(code, error), facts);
}

/** A call whose answer came but cannot be used; `why` goes to the log. */
export function invalidAnswer(why: string, facts: CallFacts, cause?: unknown): Problem {
  return problemOf("UPSTREAM_INVALID", new Error(why, { cause }), facts);
}

/** True when `problem` comes from a call of which no byte can have reached the upstream: it may be sent again. */
export function neverLeft(problem: Problem): boolean {
  return codeOf(problem.cause) === NOT_SENT;
}

function problemOf(reason: keyof typeof TEXTS, error: unknown, facts: CallFacts): Problem {
  if (!facts.sent) {
    const cause = Object.assign(new Error("no byte was sent", { cause: error }), { code: NOT_SENT });
    return new Problem(reason, TEXTS[reason], { cause });
  }
  const metadata = WRITES.has(facts.method) ? { state: "unknown" } : {};
  return new Problem(reason, TEXTS[reason], { metadata, cause: error });
}

/** A parser's error holds the bytes that it could not read: an answer may hold a credential, and this goes to the log. */
function withoutBytes(code: string, error: unknown): unknown {
  if (!code.startsWith("HPE_")) return error;
  return Object.assign(new Error(error instanceof Error ? error.message : code), { code });
}

function reasonOf(code: string, error: unknown): keyof typeof TEXTS & ProblemReason {
  if (TIMEOUTS.has(code)) return "UPSTREAM_TIMEOUT";
  // A chunked body that just ends is a connection that broke, not an upstream that cannot speak HTTP.
  if (code === "HPE_INVALID_EOF_STATE") return "UPSTREAM_UNREACHABLE";
  if (code.startsWith("HPE_") || INVALID.has(code)) return "UPSTREAM_INVALID";
  // undici says so when bytes came that belong to no request, or an upgrade nobody asked for.
  if (code === "UND_ERR_SOCKET" && error instanceof Error && error.message.startsWith("bad "))
    return "UPSTREAM_INVALID";
  return "UPSTREAM_UNREACHABLE";
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  // Not all of the parser's errors have a code.
  return code === "" && error.name === "HTTPParserError" ? "HPE_OTHER" : code;
}
