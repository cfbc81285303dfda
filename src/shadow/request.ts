/** What comparing is handed, and which requests can be compared at all, as far as their heads tell. */
import { createHash } from "node:crypto";
import type { Comparison } from "../model/comparison.ts";
import type { Exchange } from "../model/exchange.ts";
import { type ClientResponse, header, type Send, type SendLayer } from "../model/http.ts";
import type { FieldMatcher } from "../model/matcher.ts";
import type { OperationMatch, RequestHead } from "../model/request.ts";
import type { ShadowSettings } from "../model/rules.ts";
import type { Signal } from "../model/signal.ts";
import { camelCase } from "../model/text.ts";

export interface ShadowOptions {
  readonly limits: ShadowLimits;
  /** One call to native v1; the caller bounds the response's body. */
  readonly native: Send;
  readonly translate: TranslateInShadow;
  /** Takes every finished comparison, failed ones included, and the head of the compared request. */
  report(comparison: Comparison, head: RequestHead): void;
  readonly samples: SampleOptions;
  /** Members of records that are not compared: `RESOURCE.PATH` (`shadow.ignore`). */
  readonly ignore?: readonly string[];
  /** How members are compared that may differ (`shadow.matchersFile`). */
  readonly matchers?: readonly FieldMatcher[];
  /** Whose share of places and bytes a comparison takes: something that the sender cannot choose. */
  ownerOf(asked: Pick<ComparisonRequest, "head" | "client">): string;
  /** Monotonic clock, milliseconds. */
  now(): number;
  /** Milliseconds since 1970. */
  wall(): number;
  /** From 0 up to 1. */
  random(): number;
  /** Calls `run` once after `ms` milliseconds; the result cancels that. */
  later(ms: number, run: () => void): () => void;
  /** Resolves in another turn of the event loop. */
  turn(): Promise<void>;
}

export interface ShadowLimits {
  /** Comparisons under way at a time; twice as many wait. One client has at most half of either. */
  readonly concurrent: number;
  /** Longest response that is compared, on each side. */
  readonly answerBytes: number;
  /** Most bytes held in all, waiting comparisons included; one client holds at most half of them. */
  readonly memoryBytes: number;
  /** Longest time of one comparison. It waits for its place at most half as long. */
  readonly seconds: number;
}

export interface SampleOptions {
  /** Differing responses kept for each operation. */
  readonly perOperation: number;
  readonly values: "redact" | "show";
}

/**
 * The translated response to a v1 request. `layer` is put around every call to v2, innermost: a call that it stops never
 * leaves. Rejects with a `Problem`. Nothing may be learnt from such a translation (how v2 spells masks), as the responses may
 * be made up.
 */
export type TranslateInShadow = (
  request: { readonly match: OperationMatch; readonly head: RequestHead; readonly body: Uint8Array },
  layer: SendLayer,
  signal: Signal,
) => Promise<{ readonly answer: ClientResponse; readonly exchange: Exchange }>;

/** One request that might be compared. */
export interface ComparisonRequest {
  readonly match: OperationMatch;
  readonly head: RequestHead;
  readonly client: string;
  /** Name of the rule that asks for the comparison; undefined: `cutover.mode`. */
  readonly rule: string | undefined;
  /** Its `evidenceKey`: a rule that is about other requests now may keep its name. */
  readonly ruleId?: string | undefined;
  readonly settings: ShadowSettings;
  readonly requestId: string;
  readonly write: boolean;
}

const COMPARABLE_METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);

/** False where one of the two versions has no such operation, or no such response. */
export function isComparable({ match, head }: Pick<ComparisonRequest, "match" | "head">): boolean {
  const { operation } = match;
  if (!COMPARABLE_METHODS.has(head.method) || operation.kind === "native") return false;
  if (operation.kind === "get" && operation.extension) return false;
  if (isNewName(match.resource, head.target)) return false;
  if (header(head.headers, "range") !== undefined) return false;
  return !hasPageToken(match);
}

/** True for a collection in v2's spelling, which carryover accepts in v1 paths and native v1 does not know. */
function isNewName({ v1, v2 }: ComparisonRequest["match"]["resource"], target: string): boolean {
  if (v1 === v2) return false;
  const [collection = ""] = (target.split("/", 4)[3] ?? "").split(/[?:]/, 1);
  // The name contains no escapes: paths with needless ones are refused.
  return collection === v2;
}

/** Equal for equal requests, of any caller. */
export function requestDigest({ method, target }: RequestHead, body: Uint8Array): string {
  return createHash("sha256").update(`${method} ${target}\n`).update(body).digest("base64url");
}

/** Only a GET may be sent twice, whatever the catalogue says. */
export function isWrite({ write, head }: ComparisonRequest): boolean {
  return write || head.method !== "GET";
}

/** A page token is valid only for the version that issued it. */
function hasPageToken({ operation, query }: ComparisonRequest["match"]): boolean {
  const filters = "filters" in operation ? (operation.filters ?? []) : [];
  const names = filters.flatMap(({ v1, use }) => (use === "page-token" ? [v1, camelCase(v1)] : []));
  if (names.length === 0 || query === "") return false;
  const sent = new URLSearchParams(query);
  return names.some((name) => (sent.get(name) ?? "") !== "");
}
