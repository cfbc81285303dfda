/** Reads native v1 for clients that v2 failed: in place of v2's response, or to learn what native would have said. */
import { Readable } from "node:stream";
import type { Timer } from "../model/clock.ts";
import { type NativeOutcome, recordCall } from "../model/exchange.ts";
import {
  AFTER_V2,
  type ClientResponse,
  type HeaderList,
  header,
  OurHeader,
  type StreamSend,
  withoutHeaders,
} from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import type { RequestContext } from "../model/request.ts";
import { createSignalController, type Signal } from "../model/signal.ts";
import { failureOf } from "../model/v2-failure.ts";

export interface NativeReads {
  /** Native's response, whatever its status, for the client. Rejects with `Problem`, or with the signal's reason. */
  respond(request: RequestContext, signal: Signal): Promise<ClientResponse>;
  /** What native does with the same read, in the background. Never rejects. */
  outcome(request: RequestContext): Promise<NativeOutcome>;
}

export interface NativeReadsOptions {
  /** A call to native v1, within its connections and its breaker. */
  readonly stream: StreamSend;
  /** Milliseconds on the clock of the requests' deadlines. */
  readonly now: () => number;
  readonly later: Timer;
}

/** A shorter response is handed over whole: HTTP/1.0 clients cannot take pieces. */
const WHOLE_BYTES = 64 * 1024;
/** In the background no more of a response is read: the rest would show nothing new. */
const JUDGED_BYTES = 256 * 1024;
const JUDGED_MS = 10_000;

export function createNativeReads({ stream, now, later }: NativeReadsOptions): NativeReads {
  const call = (request: RequestContext, headers: HeaderList, deadline: number, signal: Signal) => {
    const { method, target, exchange, credential = "" } = request;
    const from = { credential, since: exchange.startedAt, deadline };
    return responseOf(stream, { method, target, headers, body: undefined, from }, signal);
  };
  return {
    async respond(request, signal) {
      const { exchange, deadline = Number.POSITIVE_INFINITY } = request;
      const began = now();
      let status = 0;
      try {
        // The gRPC port reads the body itself.
        const headers = exchange.rpc === undefined ? request.headers : unencoded(request.headers);
        const response = await call(request, headers, deadline, signal);
        status = response.status;
        const mode = [OurHeader.MODE, AFTER_V2] as const;
        return { ...response, headers: [...response.headers, mode], body: await wholeIfShort(response) };
      } finally {
        recordCall(exchange, "v1", request, status, now() - began);
      }
    },
    async outcome(request) {
      const controller = createSignalController();
      const cancel = later(JUDGED_MS, () => controller.abort(new Problem("UPSTREAM_TIMEOUT", "native took too long")));
      try {
        const { status, body } = await call(request, unencoded(request.headers), now() + JUDGED_MS, controller.signal);
        let length = 0;
        for await (const piece of body) {
          length += piece.length;
          if (length > JUDGED_BYTES) break;
        }
        return failureOf(status) === undefined ? "served" : "failed";
      } catch (error) {
        return error instanceof Problem && error.fault === "capacity" ? "unknown" : "failed";
      } finally {
        cancel();
      }
    },
  };
}

type StreamedResponse = ClientResponse & { readonly body: Readable };

/** The response to a call, its body in pieces. Ending their iteration early ends the call. */
function responseOf(stream: StreamSend, request: Parameters<StreamSend>[0], signal: Signal): Promise<StreamedResponse> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    let begun = false;
    const body = new Readable({
      read: () => call.resume(),
      destroy: (error, done) => {
        signal.removeEventListener("abort", stop);
        call.cancel();
        done(error);
      },
    });
    const fail = (error: unknown): void => {
      if (!begun) reject(error);
      // The error reaches the reader of the stream. Before there is one, it must not be an uncaught error.
      body.on("error", () => {});
      body.destroy(error instanceof Error ? error : new Error("native v1 failed", { cause: error }));
    };
    const stop = (): void => fail(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    const call = stream(request, {
      head: (status, _text, headers) => {
        begun = true;
        resolve({ status, headers, body });
      },
      data: (chunk) => body.push(chunk),
      end: () => {
        body.push(null);
      },
      fail,
    });
  });
}

async function wholeIfShort({ headers, body }: StreamedResponse): Promise<Uint8Array | Readable> {
  const length = Number(header(headers, "content-length") ?? Number.NaN);
  if (!(length <= WHOLE_BYTES)) return body;
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

const ENCODINGS: ReadonlySet<string> = new Set(["accept-encoding"]);

function unencoded(headers: HeaderList): HeaderList {
  return [...withoutHeaders(headers, ENCODINGS), ["accept-encoding", "identity"]];
}
