/** How does a client learn that a request of several writes got only so far? (Trap T61.) */
import { OurHeader } from "../../model/http.ts";
import type { ApiResponse } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import type { Tools } from "../tools.ts";

type Noting = Pick<Tools, "exchange">;

/**
 * The platform's refusal of a further write, its own words, with a header that names what was written before. `done`: its
 * v1 name; undefined when nothing was.
 */
export function refusedAfter(done: string | undefined, answer: ApiResponse, tools: Noting): ApiResponse {
  if (done === undefined) return answer;
  tools.exchange.notes.push("partial-write");
  return { ...answer, headers: [...answer.headers, [OurHeader.PARTIAL, done]] };
}

/** Makes a further write; a `Problem` that it ends with says in its metadata what was written before. */
export async function writeAfter<T>(done: string | undefined, tools: Noting, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (thrown) {
    if (done === undefined || !(thrown instanceof Problem)) throw thrown;
    tools.exchange.notes.push("partial-write");
    const { reason, message, metadata, fieldViolations, retryAfter, cause } = thrown;
    throw new Problem(reason, message, {
      metadata: { ...metadata, partial: done },
      fieldViolations,
      ...(retryAfter === undefined ? {} : { retryAfter }),
      cause,
    });
  }
}
