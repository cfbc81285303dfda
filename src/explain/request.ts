/** Which request is to be explained, and from what is it read? */
import type { HeaderList } from "../model/message.ts";
import { Problem } from "../model/problem.ts";

/** A request as a client would send it. */
export interface AskedRequest {
  readonly method: string;
  /** Origin form, raw: what the client would put on the wire. */
  readonly target: string;
  /** Lower-case names, in order. */
  readonly headers: HeaderList;
  readonly body: Uint8Array;
  /** What of the given text was ignored, or read in another way than written. */
  readonly notes: readonly string[];
}

/** Gives the bytes of a file (`@body.json`); `-` is standard input. Throws when it cannot. */
export type ReadFile = (path: string) => Uint8Array;

/** The text cannot be read as a request: what is wrong, and what is expected. */
export function unclear(what: string): Problem {
  return new Problem("INVALID_REQUEST", what);
}
