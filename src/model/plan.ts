/** What is to be done with a request, known from its head alone? */
import type { Exchange, Upstream } from "./exchange.ts";
import type { Answer, HeaderList } from "./message.ts";
import type { Signal } from "./signal.ts";

/** A request before its body was read. */
export interface RequestHead {
  readonly method: string;
  /** Raw origin-form target as the client sent it (base path already taken off). */
  readonly target: string;
  readonly headers: HeaderList;
  /** `1.0`, `1.1`; undefined: as new as any. */
  readonly httpVersion?: string | undefined;
  /** Stands for the credential: a keyed digest. Undefined: nobody worked it out yet. */
  readonly credential?: string | undefined;
  /** When its time is over, on the clock of its exchange; undefined: never. */
  readonly deadline?: number | undefined;
}

/** Streams through untouched to an upstream. */
export interface PassPlan {
  readonly kind: "pass";
  readonly upstream: Upstream;
  /** The target to send; the client's own bytes unless said otherwise. */
  readonly target: string;
  /** Fields of carryover's own, put behind those of the answer. */
  readonly headers?: HeaderList;
  /** Sees what goes by. */
  readonly watch?: Watch;
}

/**
 * Hears of a request and its answer as they pass: it changes and delays nothing. Chunks are the stream's own and must be
 * copied to be kept. It must not throw; if it does, the passing goes on without it.
 */
export interface Watch {
  /** A piece of the request's body. */
  sent(chunk: Uint8Array): void;
  /** `headers` flat, as the upstream sent them. */
  head(status: number, headers: readonly string[]): void;
  data(chunk: Uint8Array): void;
  /** Called once: true when the whole answer went by. */
  over(whole: boolean): void;
}

/** Answered by carryover, usually after calls to v2. */
export interface AnswerPlan {
  readonly kind: "answer";
  /** `body` is the whole request body (empty when there was none). Throws `Problem`. */
  respond(body: Uint8Array, signal: Signal): Promise<Answer>;
}

export type Plan = PassPlan | AnswerPlan;

/** Decides on a request from its head, noting what it learns in `exchange`. Throws `Problem` for what must be refused. */
export type Decide = (head: RequestHead, exchange: Exchange) => Plan;
