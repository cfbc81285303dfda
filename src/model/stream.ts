/** How do bytes pass through untouched? The port between what takes requests in and what sends them out. */
import type { Problem } from "./problem.ts";

/** One request as it goes on the wire. */
export interface StreamRequest {
  readonly method: string;
  /** Origin form; not parsed, not normalised. */
  readonly target: string;
  /** Flat: name, value, name, value; in order, repeats kept, nothing that belongs to one connection, no Host. */
  readonly headers: string[];
  readonly body: NodeJS.ReadableStream | undefined;
  /** Whose share of the upstream it takes (a keyed digest), when it came, and when its time is over; of nobody when absent. */
  readonly from?: { readonly credential: string; readonly since: number; readonly deadline: number } | undefined;
}

/** Who takes the answer: `head` once, then `data`, then `end`; `fail` ends it at any time. */
export interface StreamSink {
  /** `headers` flat as in the request. */
  head(status: number, statusText: string, headers: string[]): void;
  /** False: no more until `resume` is called. */
  data(chunk: Uint8Array): boolean;
  end(): void;
  fail(problem: Problem): void;
}

/** A call under way. */
export interface StreamCall {
  resume(): void;
  /** Stops the call; the sink hears nothing any more. */
  cancel(): void;
}

/** One request out, its answer into the sink as it comes. Never throws. */
export type Stream = (request: StreamRequest, sink: StreamSink) => StreamCall;
