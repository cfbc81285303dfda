/** What went by between a client and native v1? */
import { type ApiResponse, type BodyStream, type ClientResponse, type HeaderList, header } from "../model/http.ts";
import type { PassThroughObserver } from "../model/request.ts";

/** A request's body and its answer, as they went by: the answer still in its Content-Encoding. */
export interface CapturedExchange {
  readonly request: Uint8Array;
  readonly answer: ApiResponse;
}

/** `aborted`: the answer did not go by whole. */
export type CaptureFailure = "aborted" | "too-large" | "memory";

export interface CaptureOptions {
  readonly held: ByteReservation;
  readonly answerBytes: number;
  /** Called once, when the answer is over. */
  over(seen: CapturedExchange | CaptureFailure): void;
}

/** Longer bodies of requests are not compared: no record of the catalogue comes near. */
const REQUEST_BYTES = 1024 ** 2;

/** Copies, and nothing else: what is too much is dropped at once. Throws nothing. */
export function createExchangeCapture({ held, answerBytes, over }: CaptureOptions): PassThroughObserver {
  const request = createBoundedCopy(held, REQUEST_BYTES);
  const answer = createBoundedCopy(held, answerBytes);
  let status = 0;
  let headers: HeaderList = [];
  let lost: CaptureFailure | undefined;
  const lose = (why: CaptureFailure | undefined): void => {
    if (why === undefined || lost !== undefined) return;
    lost = why;
    request.drop();
    answer.drop();
  };
  return {
    sent(chunk) {
      if (lost === undefined) lose(request.add(chunk));
    },
    head(code, fields) {
      status = code;
      // Without their spelling, which is no difference.
      headers = fields.map(([name, value]) => [name, value]);
      if (Number(header(headers, "content-length") ?? 0) > answerBytes) lose("too-large");
    },
    data(chunk) {
      if (lost === undefined) lose(answer.add(chunk));
    },
    over(whole) {
      over(
        !whole ? "aborted" : (lost ?? { request: request.bytes(), answer: { status, headers, body: answer.bytes() } }),
      );
    },
  };
}

/** How is an answer of carryover's own followed to its end? */

/** Who is told of one answer. */
export interface ResponseCapture {
  readonly held: ByteReservation;
  over(seen: ApiResponse | CaptureFailure): void;
}

/**
 * `answer`, of which `over` gets a copy when the client has been given the last piece: bytes, order and errors of a stream
 * stay what they are. An answer that is whole already is told at once, and handed on as it is. `begin`: called once, when
 * the answer begins to go out (never for a stream that nobody takes); undefined when nobody wants a copy.
 */
export function captureResponse(
  answer: ClientResponse,
  limit: number,
  begin: () => ResponseCapture | undefined,
): ClientResponse {
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
  begin: () => ResponseCapture | undefined,
  head: Pick<ApiResponse, "status" | "headers">,
): BodyStream {
  const following = begin();
  if (following === undefined) return yield* body;
  const { held, over } = following;
  const copy = createBoundedCopy(held, limit);
  let lost: CaptureFailure | undefined;
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

/** How are bytes kept that go by, in buffers that are used again? */

/** A copy that grows up to a limit. */
export interface BoundedCopy {
  /** Says why when there is no room; then nothing of it is held any more, and nothing more is taken. */
  add(chunk: Uint8Array): "too-large" | "memory" | undefined;
  /** Everything added; a view of the copy. */
  bytes(): Uint8Array;
  drop(): void;
}

const NO_BYTES = new Uint8Array(0);

/** One buffer that doubles: a body in many small pieces takes no more than twice its length. `held` pays for all of it. */
export function createBoundedCopy(held: ByteReservation, limit: number): BoundedCopy {
  let buffer: Uint8Array = NO_BYTES;
  let length = 0;
  let refused: "too-large" | "memory" | undefined;
  const drop = (): void => {
    held.give(buffer.length);
    buffer = NO_BYTES;
    length = 0;
  };
  const refuse = (why: "too-large" | "memory"): typeof why => {
    drop();
    refused = why;
    return why;
  };
  return {
    add(chunk) {
      if (refused !== undefined) return refused;
      const needed = length + chunk.length;
      if (needed > limit) return refuse("too-large");
      if (needed > buffer.length) {
        const size = Math.min(limit, Math.max(needed, 2 * buffer.length));
        if (!held.take(size)) return refuse("memory");
        const larger = Buffer.allocUnsafe(size);
        larger.set(buffer.subarray(0, length));
        held.give(buffer.length);
        buffer = larger;
      }
      buffer.set(chunk, length);
      length = needed;
      return undefined;
    },
    bytes: () => buffer.subarray(0, length),
    drop,
  };
}

/** How many bytes do comparisons hold, all together and of one owner? (Design section 7: bounded.) */

/** What one comparison holds. */
export interface ByteReservation {
  /** True when there is room for `bytes` more, which are then held. */
  take(bytes: number): boolean;
  give(bytes: number): void;
  /** Gives back everything; nothing can be taken afterwards. */
  release(): void;
}

/**
 * Never more than `limit` bytes at a time, nor more than half of them for one owner. Counted are copies and answers as
 * bytes, not what JSON makes of them.
 */
export function createByteBudget(limit: number): { open(owner: string): ByteReservation; inUse(): number } {
  /** Only owners that hold something. */
  const byOwner = new Map<string, number>();
  let used = 0;
  const open = (owner: string): ByteReservation => {
    let own = 0;
    let released = false;
    const move = (bytes: number): void => {
      used += bytes;
      own += bytes;
      const left = (byOwner.get(owner) ?? 0) + bytes;
      if (left === 0) byOwner.delete(owner);
      else byOwner.set(owner, left);
    };
    return {
      take(bytes) {
        if (released || used + bytes > limit || (byOwner.get(owner) ?? 0) + bytes > Math.ceil(limit / 2)) return false;
        move(bytes);
        return true;
      },
      give(bytes) {
        if (!released) move(-bytes);
      },
      release() {
        released = true;
        move(-own);
      },
    };
  };
  return { open, inUse: () => used };
}
