/** What went by between a client and native v1? */
import type { ApiResponse, HeaderList } from "../model/message.ts";
import type { Watch } from "../model/plan.ts";
import { createCopy } from "./copy.ts";
import type { Held } from "./memory.ts";

/** A request's body and its answer, as they went by: the answer still in its Content-Encoding. */
export interface Seen {
  readonly request: Uint8Array;
  readonly answer: ApiResponse;
}

/** `aborted`: the answer did not go by whole. */
export type Lost = "aborted" | "too-large" | "memory";

export interface WatchInput {
  readonly held: Held;
  readonly answerBytes: number;
  /** Called once, when the answer is over. */
  over(seen: Seen | Lost): void;
}

/** Longer bodies of requests are not compared: no record of the catalogue comes near. */
const REQUEST_BYTES = 1024 ** 2;

/** Copies, and nothing else: what is too much is dropped at once. Throws nothing. */
export function createWatch({ held, answerBytes, over }: WatchInput): Watch {
  const request = createCopy(held, REQUEST_BYTES);
  const answer = createCopy(held, answerBytes);
  let status = 0;
  let headers: HeaderList = [];
  let lost: Lost | undefined;
  const lose = (why: Lost | undefined): void => {
    if (why === undefined || lost !== undefined) return;
    lost = why;
    request.drop();
    answer.drop();
  };
  return {
    sent(chunk) {
      if (lost === undefined) lose(request.add(chunk));
    },
    head(code, flat) {
      status = code;
      headers = listOf(flat);
      const length = headers.find(([name]) => name === "content-length")?.[1];
      if (Number(length ?? 0) > answerBytes) lose("too-large");
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

/** Lower-case names, as everywhere between the parts. */
function listOf(flat: readonly string[]): HeaderList {
  const list: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) list.push([(flat[i] ?? "").toLowerCase(), flat[i + 1] ?? ""]);
  return list;
}
