/** What is a shadow handed, and what is it asked? (Design section 7: shadow; the types of this folder.) */
import type { ComparedResponses, Comparison } from "../model/comparison.ts";
import type { Exchange } from "../model/exchange.ts";
import { camelCase } from "../model/field-names.ts";
import { type ApiResponse, type ClientResponse, header, type Send, type SendLayer } from "../model/http.ts";
import type { OperationMatch, RequestHead } from "../model/request.ts";
import type { ShadowSettings } from "../model/rules.ts";
import type { Signal } from "../model/signal.ts";

export interface ShadowOptions<Shape> {
  readonly limits: ShadowLimits;
  /** One call to native v1, its answer's body bounded by whoever hands this in. */
  readonly native: Send;
  readonly translate: TranslateInShadow;
  /** `bytes` without their Content-Encoding, at most `limit` of them; rejects when that cannot be had. */
  decode(encoding: string, bytes: Uint8Array, limit: number): Promise<Uint8Array>;
  readonly compare: ResponseComparer<Shape>;
  /** Told of every comparison that is over, failed ones included, and of the head of what was compared. */
  report(comparison: Comparison, head: RequestHead): void;
  readonly samples: SampleOptions;
  /** Whose share of places and bytes a comparison takes: something that its sender cannot choose. */
  ownerOf(asked: Pick<ComparisonRequest, "head" | "client">): string;
  /** Monotonic clock, milliseconds. */
  now(): number;
  /** Milliseconds since 1970. */
  wall(): number;
  /** From 0 up to 1. */
  random(): number;
  /** Calls `run` once after `ms` milliseconds; what it gives back calls that off. */
  later(ms: number, run: () => void): () => void;
  /** Resolves in another turn of the event loop. */
  turn(): Promise<void>;
}

export interface ShadowLimits {
  /** Comparisons under way at a time; twice as many wait. At most half of either are one client's. */
  readonly concurrent: number;
  /** Longest answer that is compared, on each side. */
  readonly answerBytes: number;
  /** Most bytes held in all, waiting comparisons included; at most half of them for one client. */
  readonly memoryBytes: number;
  /** Longest time of one comparison; before it begins it waits for its place at most half as long. */
  readonly seconds: number;
}

export interface SampleOptions {
  /** Differing answers kept per operation. */
  readonly perOperation: number;
  readonly values: "redact" | "show";
}

/**
 * The translated answer to a v1 request. `layer` is put around every call to v2, innermost: what it catches never leaves.
 * Rejects with a `Problem`. Nothing may be learnt from such a translation (how v2 spells masks): its answers may be made up.
 */
export type TranslateInShadow = (
  request: { readonly match: OperationMatch; readonly head: RequestHead; readonly body: Uint8Array },
  layer: SendLayer,
  signal: Signal,
) => Promise<{ readonly answer: ClientResponse; readonly exchange: Exchange }>;

/** What sets two answers beside each other (folder `cutover`). */
export interface ResponseComparer<Shape> {
  shapeOf(match: OperationMatch): Shape;
  /** Yields often, so that other requests run in between. */
  compareAnswers(native: ApiResponse, translated: ApiResponse, shape: Shape): Generator<void, ComparedResponses>;
  /** `compared` without what `control`, the same side against itself, has too. */
  withoutNoise(compared: ComparedResponses, control: ComparedResponses): ComparedResponses;
}

/** One request that might be compared. */
export interface ComparisonRequest {
  readonly match: OperationMatch;
  readonly head: RequestHead;
  readonly client: string;
  /** Name of the rule that asks for it; undefined: `cutover.mode`. */
  readonly rule: string | undefined;
  /** Its identity: a rule that is changed keeps its name. */
  readonly ruleId?: string | undefined;
  readonly settings: ShadowSettings;
  readonly requestId: string;
  readonly write: boolean;
}

/** Which requests can be compared at all, known from their heads? */

const COMPARABLE_METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);

/** False where one of the two versions has no such operation, or no such answer. */
export function isComparable({ match, head }: ComparisonRequest): boolean {
  const { operation } = match;
  if (!COMPARABLE_METHODS.has(head.method) || operation.kind === "native") return false;
  if (operation.kind === "get" && operation.extension) return false;
  if (isNewName(match.resource, head.target)) return false;
  if (header(head.headers, "range") !== undefined) return false;
  return !hasPageToken(match);
}

/** True for a collection called as v2 calls it, which carryover takes in v1 paths too, and v1 itself never did. */
function isNewName({ v1, v2 }: ComparisonRequest["match"]["resource"], target: string): boolean {
  if (v1 === v2) return false;
  const [collection = ""] = (target.split("/", 4)[3] ?? "").split(/[?:]/, 1);
  // Nothing is written as an escape that can be written as itself: such paths are refused.
  return collection === v2;
}

/** Whatever the caller says: only a GET may be asked twice. */
export function isWrite({ write, head }: ComparisonRequest): boolean {
  return write || head.method !== "GET";
}

/** A page token means something to the version that gave it, and nothing to the other. */
function hasPageToken({ operation, query }: ComparisonRequest["match"]): boolean {
  const filters = "filters" in operation ? (operation.filters ?? []) : [];
  const names = filters.flatMap(({ v1, use }) => (use === "page-token" ? [v1, camelCase(v1)] : []));
  if (names.length === 0 || query === "") return false;
  const sent = new URLSearchParams(query);
  return names.some((name) => (sent.get(name) ?? "") !== "");
}
