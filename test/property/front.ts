/** Calls carryover without a port, and records everything that reaches the platform. */

import type { Catalogue } from "../../src/catalogue/catalogue.ts";
import { createExchange } from "../../src/model/exchange.ts";
import type { ApiRequest, ApiResponse, Send } from "../../src/model/http.ts";
import { Problem } from "../../src/model/problem.ts";
import { createSignalController } from "../../src/model/signal.ts";
import { createRouter } from "../../src/router/router.ts";
import { createProxy } from "../../src/runtime/proxy.ts";
import type { TranslateOptions } from "../../src/translate/operation.ts";
import { createTranslations } from "../../src/translate/translations.ts";
import { readingTools } from "../support/drains.ts";
import { gathered } from "../support/whole.ts";

/** What became of one v1 request. */
export interface Told {
  /** The answer's status, or the one that the listener makes of `problem`. */
  readonly status: number;
  /** Undefined when carryover itself refused. */
  readonly answer: ApiResponse | undefined;
  readonly problem: Problem | undefined;
  /** Every call that reached v2, in order. */
  readonly sent: readonly ApiRequest[];
}

export type Ask = (request: ApiRequest) => Promise<Told>;

/** Carryover from its router to `v2`, without listener, retry and network. Rejects with what is thrown and no Problem. */
export function createFront(catalogue: Catalogue, v2: Send, options: Partial<TranslateOptions> = {}): Ask {
  const { signal } = createSignalController();
  const sent: ApiRequest[] = [];
  const send = async (request: ApiRequest): Promise<ApiResponse> => {
    sent.push(request);
    return v2(request, { signal });
  };
  const { version, resources, natives } = catalogue;
  const { decide } = createProxy({
    route: createRouter({ resources, natives, version, extraPrefixes: [] }),
    translations: createTranslations(resources, {
      version,
      unknownRequest: "drop",
      unknownResponse: "pass",
      insertZeros: true,
      mismatch: "zeros",
      ...options,
    }),
    upstreams: new Set(["v2"]),
    fallback: "refuse",
    limits: { uriBytes: 8192, bodyBytes: 1024 },
    audience: { from: undefined, to: "http://v2" },
    tools: ({ exchange }) => ({
      ...readingTools(send, { signal }),
      exchange,
      mask: { known: "snake_case", fixed: true, learn: () => {} },
      bodyMask: { known: undefined, fixed: false, learn: () => {} },
    }),
  });
  return async ({ method, target, headers, body }) => {
    sent.length = 0;
    const exchange = createExchange("r", 0, method, target.split("?")[0] ?? "");
    const told = (status: number, answer?: ApiResponse, problem?: Problem): Told => ({
      status,
      answer,
      problem,
      sent: [...sent],
    });
    try {
      const plan = decide({ method, target, headers, exchange });
      if (plan.kind !== "answer") throw new Error(`${method} ${target} is not translated`);
      const answer = await gathered(await plan.respond(body ?? new Uint8Array(), signal));
      return told(answer.status, answer);
    } catch (thrown) {
      if (thrown instanceof Problem) return told(thrown.http, undefined, thrown);
      throw thrown;
    }
  };
}

/** The body of an answer as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
export function jsonOf(answer: ApiResponse | undefined): any {
  return JSON.parse(Buffer.from(answer?.body ?? "null").toString("utf8"));
}
