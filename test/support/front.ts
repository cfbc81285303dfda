/** Runs carryover in memory from its router to v2, and records every call. (No listener, no retry, no network.) */

import type { Catalogue } from "../../src/catalogue/catalogue.ts";
import { createExchange, type Exchange } from "../../src/model/exchange.ts";
import type { ApiRequest, ApiResponse, Send } from "../../src/model/http.ts";
import { Problem, problemBody } from "../../src/model/problem.ts";
import { createSignalController } from "../../src/model/signal.ts";
import { createRouter } from "../../src/router/router.ts";
import { createProxy } from "../../src/runtime/proxy.ts";
import type { MaskMemory, Tools, TranslateOptions } from "../../src/translate/operation.ts";
import { createTranslations } from "../../src/translate/translations.ts";
import type { MemoryFront } from "../end-to-end/comparison/harness.ts";
import { readingTools } from "./drains.ts";
import { gathered } from "./whole.ts";

/** What became of one v1 request. */
export interface Told {
  /** The response's status, or the one that the listener makes of `problem`. */
  readonly status: number;
  /** Undefined when carryover itself refused. */
  readonly answer: ApiResponse | undefined;
  readonly problem: Problem | undefined;
  /** Every call that reached v2, in order. */
  readonly sent: readonly ApiRequest[];
  /** The record of the request that metrics and log read. */
  readonly exchange: Exchange;
}

export type Ask = (request: ApiRequest) => Promise<Told>;

/**
 * `drains`: how lists are read, if not as carryover reads them. Throws what `createTranslations` and `createRouter` throw of a catalogue
 * that is no longer sound.
 */
export function createFront(
  { resources, natives, version }: Catalogue,
  options: Partial<TranslateOptions> = {},
  drains: (send: Tools["send"]) => Partial<Tools> = () => ({}),
): (v2: Send) => Ask {
  const route = createRouter({ resources, natives, version, extraPrefixes: [] });
  const translations = createTranslations(resources, {
    version,
    unknownRequest: "drop",
    unknownResponse: "pass",
    insertZeros: true,
    mismatch: "zeros",
    ...options,
  });
  return (v2) => {
    const { signal } = createSignalController();
    const sent: ApiRequest[] = [];
    const send: Send = async (request) => {
      sent.push(request);
      return v2(request, { signal });
    };
    const [mask, bodyMask] = [createMask(undefined), createMask("camelCase")];
    const { decide } = createProxy({
      route,
      translations,
      upstreams: new Set(["v2"]),
      fallback: "refuse",
      limits: { uriBytes: 8192, bodyBytes: 1024 },
      audience: { from: undefined, to: "" },
      tools: ({ exchange }) => ({
        ...readingTools(send, { signal }),
        ...drains((request) => send(request, { signal })),
        mask,
        bodyMask,
        exchange,
      }),
    });
    const answerTo = async (
      { method, target, headers, body }: ApiRequest,
      exchange: Exchange,
    ): Promise<ApiResponse> => {
      const plan = decide({ method, target, headers, exchange });
      if (plan.kind === "deferred") throw new Error("no form is sent here");
      if (plan.kind === "answer") return gathered(await plan.respond(body ?? new Uint8Array(), signal));
      return send({ method, target: plan.target, headers, ...(body ? { body } : {}) }, { signal });
    };
    return async (request) => {
      sent.length = 0;
      const exchange = createExchange("r", 0, request.method, request.target.split("?")[0] ?? "");
      try {
        const answer = await answerTo(request, exchange);
        return { status: answer.status, answer, problem: undefined, sent: [...sent], exchange };
      } catch (thrown) {
        if (!(thrown instanceof Problem)) throw thrown;
        return { status: thrown.http, answer: undefined, problem: thrown, sent: [...sent], exchange };
      }
    };
  };
}

/** Like `createFront`, but every error becomes a response. */
export function frontOf(catalogue: Catalogue): MemoryFront {
  const front = createFront(catalogue);
  return (v2) => {
    const ask = front(v2);
    return async (request) => {
      const told = await ask(request).catch((error: unknown) => ({ answer: undefined, problem: Problem.from(error) }));
      if (told.answer !== undefined) return told.answer;
      const problem = Problem.from(told.problem);
      const body = Buffer.from(problemBody(problem));
      return { status: problem.http, headers: [["content-type", "application/json"]], body };
    };
  };
}

/** A spelling of masks that is learned. */
function createMask(first: MaskMemory["known"]): MaskMemory {
  let known = first;
  return {
    get known() {
      return known;
    },
    fixed: false,
    learn: (spelling) => {
      known = spelling;
    },
  };
}
