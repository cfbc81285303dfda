/** How is an answer of carryover's own followed to its end? */
import type { Answer, ApiResponse, BodyStream } from "../model/message.ts";
import { createCopy } from "./copy.ts";
import type { Held } from "./memory.ts";
import type { Lost } from "./seen.ts";

/** Who is told of one answer. */
export interface Following {
  readonly held: Held;
  over(seen: ApiResponse | Lost): void;
}

/**
 * `answer`, of which `over` gets a copy when the client has been given the last piece: bytes, order and errors of a stream
 * stay what they are. An answer that is whole already is told at once, and handed on as it is. `begin`: called once, when
 * the answer begins to go out (never for a stream that nobody takes); undefined when nobody wants a copy.
 */
export function followed(answer: Answer, limit: number, begin: () => Following | undefined): Answer {
  const { body, status, headers } = answer;
  if (!(body instanceof Uint8Array)) return { ...answer, body: copied(body, limit, begin, { status, headers }) };
  const following = begin();
  if (following === undefined) return answer;
  const { held, over } = following;
  if (body.length > limit) over("too-large");
  else if (!held.take(body.length)) over("memory");
  else over({ ...answer, body });
  return answer;
}

async function* copied(
  body: BodyStream,
  limit: number,
  begin: () => Following | undefined,
  head: Pick<ApiResponse, "status" | "headers">,
): BodyStream {
  const following = begin();
  if (following === undefined) return yield* body;
  const { held, over } = following;
  const copy = createCopy(held, limit);
  let lost: Lost | undefined;
  let whole = false;
  try {
    for await (const piece of body) {
      lost ??= copy.add(piece);
      yield piece;
    }
    whole = true;
  } finally {
    over(!whole ? "aborted" : (lost ?? { ...head, body: copy.bytes() }));
  }
}
