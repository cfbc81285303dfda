/** What a call without a usable response means for the client. */
import { constants } from "node:http2";
import { Problem, type ProblemOption, type ProblemReason, RpcCode } from "../model/problem.ts";

/** A call that failed. */
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

const OPTIONS: Readonly<Record<keyof typeof TEXTS, readonly ProblemOption[]>> = {
  UPSTREAM_UNREACHABLE: [],
  UPSTREAM_TIMEOUT: ["upstream.*.timeouts"],
  UPSTREAM_INVALID: [],
};

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
 * The failure of a call as a Problem with a fixed text; the error itself is only in `cause`. A write whose bytes may have
 * left has `state: unknown`. A bug of our own is INTERNAL.
 */
export function failure(error: unknown, facts: CallFacts): Problem {
  if (error instanceof Problem) return error;
  const code = codeOf(error);
  if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED") return Problem.from(error);
  const words = code === "UND_ERR_HEADERS_OVERFLOW" ? LONG_HEAD : undefined;
  return problemOf(reasonOf(code, error), withoutBytes(code, error), facts, words);
}

/** RPC codes of HTTP/2 error codes (gRPC over HTTP/2, "Errors"). REFUSED_STREAM after a response has begun is an error like others. */
const RPC_OF_RESET: ReadonlyMap<number, RpcCode> = new Map([
  [constants.NGHTTP2_CANCEL, RpcCode.CANCELLED],
  [constants.NGHTTP2_ENHANCE_YOUR_CALM, RpcCode.RESOURCE_EXHAUSTED],
  [constants.NGHTTP2_INADEQUATE_SECURITY, RpcCode.PERMISSION_DENIED],
]);

/** For a call that the upstream reset with an HTTP/2 error code. */
export function resetFailure(http2Code: number, { method }: CallFacts): Problem {
  const metadata = WRITES.has(method) ? { state: "unknown" } : {};
  return new Problem("UPSTREAM_INVALID", `the platform reset the call (HTTP/2 error code ${http2Code})`, {
    ...{ metadata, options: [], fault: "platform" },
    code: RPC_OF_RESET.get(http2Code) ?? RpcCode.INTERNAL,
  });
}

/** For a response that cannot be used; `why` goes to the log. */
export function invalidAnswer(why: string, facts: CallFacts, cause?: unknown): Problem {
  return problemOf("UPSTREAM_INVALID", new Error(why, { cause }), facts);
}

/** For a response whose body has more than `limit` bytes. */
export function longAnswer(limit: number, facts: CallFacts, cause?: unknown): Problem {
  const size = limit % MIB === 0 ? `${limit / MIB} MiB` : `${limit} bytes`;
  const text = `the platform's response is longer than ${size}`;
  return problemOf("UPSTREAM_INVALID", new Error("body over the limit", { cause }), facts, { text, options: [] });
}

const MIB = 2 ** 20;

/** True when no byte of the call can have reached the upstream: it may be sent again. */
export function neverLeft(problem: Problem): boolean {
  return codeOf(problem.cause) === NOT_SENT;
}

/** The message for the client, and the options that help. */
interface FailureWords {
  readonly text: string;
  readonly options: readonly ProblemOption[];
}

const LONG_HEAD: FailureWords = {
  text: "the head of the platform's response is longer than limits.responseHeaderBytes",
  options: ["limits.responseHeaderBytes"],
};

function problemOf(
  reason: keyof typeof TEXTS,
  error: unknown,
  facts: CallFacts,
  { text, options }: FailureWords = { text: TEXTS[reason], options: OPTIONS[reason] },
): Problem {
  if (!facts.sent) {
    const cause = Object.assign(new Error("no byte was sent", { cause: error }), { code: NOT_SENT });
    return new Problem(reason, text, { options, cause });
  }
  const metadata = WRITES.has(facts.method) ? { state: "unknown" } : {};
  return new Problem(reason, text, { metadata, options, cause: error });
}

/** A parser's error holds the bytes that it could not read, perhaps a credential, and the cause goes to the log. */
function withoutBytes(code: string, error: unknown): unknown {
  if (!code.startsWith("HPE_")) return error;
  return Object.assign(new Error(error instanceof Error ? error.message : code), { code });
}

function reasonOf(code: string, error: unknown): keyof typeof TEXTS & ProblemReason {
  if (TIMEOUTS.has(code)) return "UPSTREAM_TIMEOUT";
  // A chunked body that just ends is a broken connection, not invalid HTTP.
  if (code === "HPE_INVALID_EOF_STATE") return "UPSTREAM_UNREACHABLE";
  if (code.startsWith("HPE_") || INVALID.has(code)) return "UPSTREAM_INVALID";
  // undici's message for bytes that belong to no request, and for an upgrade that was not requested.
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
