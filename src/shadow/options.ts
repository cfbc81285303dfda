/** What is a shadow handed, and what is it asked? (Design section 7: shadow; the types of this folder.) */
import type { Compared, Comparison } from "../model/comparison.ts";
import type { Exchange } from "../model/exchange.ts";
import type { Match } from "../model/match.ts";
import type { Answer, ApiResponse, Send, SendLayer } from "../model/message.ts";
import type { RequestHead } from "../model/plan.ts";
import type { ShadowSettings } from "../model/rules.ts";
import type { Signal } from "../model/signal.ts";

export interface ShadowOptions<Shape> {
  readonly limits: ShadowLimits;
  /** One call to native v1, its answer's body bounded by whoever hands this in. */
  readonly native: Send;
  readonly translate: TranslateInShadow;
  /** `bytes` without their Content-Encoding, at most `limit` of them; rejects when that cannot be had. */
  decode(encoding: string, bytes: Uint8Array, limit: number): Promise<Uint8Array>;
  readonly compare: Compare<Shape>;
  /** Told of every comparison that is over, failed ones included, and of the head of what was compared. */
  report(comparison: Comparison, head: RequestHead): void;
  readonly samples: SampleOptions;
  /** Whose share of places and bytes a comparison takes: something that its sender cannot choose. */
  ownerOf(asked: Pick<ShadowAsk, "head" | "client">): string;
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
  request: { readonly match: Match; readonly head: RequestHead; readonly body: Uint8Array },
  layer: SendLayer,
  signal: Signal,
) => Promise<{ readonly answer: Answer; readonly exchange: Exchange }>;

/** What sets two answers beside each other (folder `cutover`). */
export interface Compare<Shape> {
  shapeOf(match: Match): Shape;
  /** Yields often, so that other requests run in between. */
  compareAnswers(native: ApiResponse, translated: ApiResponse, shape: Shape): Generator<void, Compared>;
  /** `compared` without what `control`, the same side against itself, has too. */
  withoutNoise(compared: Compared, control: Compared): Compared;
}

/** One request that might be compared. */
export interface ShadowAsk {
  readonly match: Match;
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
