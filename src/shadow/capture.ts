/** Copies of requests and responses that pass by, within a budget of bytes. */
import { type ApiResponse, type BodyStream, type ClientResponse, type HeaderList, header } from "../model/http.ts";
import type { PassThroughObserver } from "../model/request.ts";

/** A request's body and its response, which is still in its Content-Encoding. */
export interface CapturedExchange {
  readonly request: Uint8Array;
  readonly answer: ApiResponse;
}

/** `aborted`: the response did not pass by whole. */
export type CaptureFailure = "aborted" | "too-large" | "memory";

export interface CaptureOptions {
  readonly reservation: ByteReservation;
  readonly answerBytes: number;
  /** Called once, at the end of the response. */
  over(captured: CapturedExchange | CaptureFailure): void;
}

/** Longest request that is compared: no record of the catalogue comes near. */
const REQUEST_BYTES = 1024 ** 2;

/** Copies what passes by between a client and native v1, and drops the copy once it is too long. Never throws. */
export function createExchangeCapture({ reservation, answerBytes, over }: CaptureOptions): PassThroughObserver {
  const request = createBoundedCopy(reservation, REQUEST_BYTES);
  const answer = createBoundedCopy(reservation, answerBytes);
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

export interface ResponseCapture {
  readonly reservation: ByteReservation;
  /** Called once, at the end of the response. */
  over(captured: ApiResponse | CaptureFailure): void;
}

/**
 * `answer`, unchanged for the client; `over` gets a copy when the client has the last piece, at once when the body is
 * whole already. `begin` is called once, when the response begins to go out; it returns undefined when no copy is wanted.
 */
export function captureResponse(
  answer: ClientResponse,
  limit: number,
  begin: () => ResponseCapture | undefined,
): ClientResponse {
  const { body, status, headers } = answer;
  if (!(body instanceof Uint8Array)) return { ...answer, body: copied(body, limit, begin, { status, headers }) };
  const capture = begin();
  if (capture === undefined) return answer;
  const { reservation, over } = capture;
  if (body.length > limit) over("too-large");
  else if (!reservation.take(body.length)) over("memory");
  else over({ ...answer, body });
  return answer;
}

async function* copied(
  body: BodyStream,
  limit: number,
  begin: () => ResponseCapture | undefined,
  head: Pick<ApiResponse, "status" | "headers">,
): BodyStream {
  const capture = begin();
  if (capture === undefined) return yield* body;
  const { reservation, over } = capture;
  const copy = createBoundedCopy(reservation, limit);
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

/** A copy that grows up to a limit. */
export interface BoundedCopy {
  /** Returns why there is no room; then the copy is dropped, and takes nothing more. */
  add(chunk: Uint8Array): "too-large" | "memory" | undefined;
  /** Everything added; a view of the copy. */
  bytes(): Uint8Array;
  drop(): void;
}

const NO_BYTES = new Uint8Array(0);

/** One buffer that doubles, so that many small pieces take at most twice their length, counted by `reservation`. */
export function createBoundedCopy(reservation: ByteReservation, limit: number): BoundedCopy {
  let buffer: Uint8Array = NO_BYTES;
  let length = 0;
  let refused: "too-large" | "memory" | undefined;
  const drop = (): void => {
    reservation.give(buffer.length);
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
        if (!reservation.take(size)) return refuse("memory");
        const larger = Buffer.allocUnsafe(size);
        larger.set(buffer.subarray(0, length));
        reservation.give(buffer.length);
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

/** The bytes of one comparison. */
export interface ByteReservation {
  /** True when there is room for `bytes` more, which are then held. */
  take(bytes: number): boolean;
  give(bytes: number): void;
  /** Gives back everything. Nothing can be taken afterwards. */
  release(): void;
}

/** At most `limit` bytes at a time, and at most half of them for one owner. Counts bytes, not the values parsed from them. */
export function createByteBudget(limit: number): { open(owner: string): ByteReservation; inUse(): number } {
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
