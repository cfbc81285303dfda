/** Long lists for tests, and what becomes of those who make them. */
import { createServer } from "node:http";
import type { Exchange } from "../../../src/model/exchange.ts";
import type { BodyStream, HeaderList } from "../../../src/model/http.ts";
import type { Decide, ResponsePlan } from "../../../src/model/request.ts";
import { createRequestLifecycle } from "../../../src/server/request-lifecycle.ts";
import { respond } from "../../../src/server/respond.ts";
import { BODIES, LIMITS, listening } from "./rig.ts";

export const PAGE = Buffer.from(
  Array.from({ length: 1_500 }, (_, i) => `{"id":"record-${i}","name":"n${(i * 7919) % 1009}"}`).join(","),
);

/** A v1 list of `pages` pages as it is composed: brackets, pages and commas apart. */
export function list(pages: number): Uint8Array[] {
  const pieces: Uint8Array[] = [Buffer.from('{"items":[')];
  for (let i = 0; i < pages; i++) {
    if (i > 0) pieces.push(Buffer.from(","));
    pieces.push(PAGE);
  }
  return [...pieces, Buffer.from("]}")];
}

/** A body that counts what is asked of it. */
export interface Watched {
  readonly body: BodyStream;
  /** Pieces given. */
  asked(): number;
  /** Times that its iteration was ended from outside. */
  returned(): number;
  /** Resolves when it has been. */
  readonly stopped: Promise<void>;
}

/** Gives `pieces`, then does what `last` says: ends, fails, or waits for ever. */
export function watched(pieces: Iterable<Uint8Array>, last: Error | "end" | "wait" = "end"): Watched {
  const source = pieces[Symbol.iterator]();
  let asked = 0;
  let returned = 0;
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const iterator: AsyncIterator<Uint8Array, undefined> = {
    next: async () => {
      const step = source.next();
      if (step.done !== true) {
        asked++;
        return step;
      }
      if (last === "wait") return new Promise(() => {});
      if (last !== "end") throw last;
      return { done: true, value: undefined };
    },
    return: async () => {
      returned++;
      stop();
      return { done: true, value: undefined };
    },
  };
  return { body: { [Symbol.asyncIterator]: () => iterator }, asked: () => asked, returned: () => returned, stopped };
}

/** The same piece for ever. */
export function* endless(piece: Uint8Array = PAGE): Generator<Uint8Array> {
  for (;;) yield piece;
}

const JSON_TYPE: HeaderList = [["content-type", "application/json"]];

/** Answers with `body`. */
export function plan(body: BodyStream, headers: HeaderList = JSON_TYPE, status = 200): ResponsePlan {
  return { kind: "answer", respond: async () => ({ status, headers, body }) };
}

/** Answers every request with `body`. */
export function streaming(body: BodyStream): Decide {
  return () => plan(body);
}

/** Intake and answers without the rest of a listener, for clients of little patience. */
export async function impatient(
  body: BodyStream,
  stallMs: number,
): Promise<{ port: number; ended: Promise<Exchange> }> {
  let observe: (exchange: Exchange) => void = () => {};
  const ended = new Promise<Exchange>((resolve) => {
    observe = resolve;
  });
  const intake = createRequestLifecycle({
    keepAliveMs: 75_000,
    basePath: "",
    trustedProxies: [],
    limits: LIMITS,
    observe,
    newRequestId: () => "id",
    now: () => performance.now(),
    log: () => {},
  });
  const server = createServer((req, res) => {
    const visit = intake.accept(req, res, "none");
    if (visit !== undefined) void respond(visit, plan(body), { bodyBytes: 0, basePath: "", stallMs, bodies: BODIES });
  });
  return { port: await listening(server), ended };
}
