/** Runs carryover in memory with a catalogue of the test's own. (No listener, no network: head, body, response.) */

import type { Catalogue } from "../../src/catalogue/catalogue.ts";
import { createExchange, type Exchange } from "../../src/model/exchange.ts";
import type { ApiRequest, ApiResponse, Send } from "../../src/model/http.ts";
import { Problem, problemBody } from "../../src/model/problem.ts";
import { createSignalController } from "../../src/model/signal.ts";
import { createRouter } from "../../src/router/router.ts";
import { createProxy } from "../../src/runtime/proxy.ts";
import type { MaskMemory, Tools } from "../../src/translate/operation.ts";
import { createTranslations } from "../../src/translate/translations.ts";
import type { MemoryFront } from "../end-to-end/comparison/harness.ts";
import { readingTools } from "./drains.ts";
import { gathered } from "./whole.ts";

/** Throws what `createTranslations` and `createRouter` throw of a catalogue that is no longer sound. */
export function frontOf(catalogue: Catalogue): MemoryFront {
  const { resources, natives, version } = catalogue;
  const route = createRouter({ resources, natives, version, extraPrefixes: [] });
  const translations = createTranslations(resources, {
    version,
    unknownRequest: "drop",
    unknownResponse: "pass",
    insertZeros: true,
    mismatch: "zeros",
  });
  return (v2) => {
    const mask = createMask();
    const { decide } = createProxy({
      route,
      translations,
      upstreams: new Set(["v2"]),
      fallback: "refuse",
      limits: { uriBytes: 8192, bodyBytes: 1024 },
      audience: { from: undefined, to: "" },
      tools: ({ exchange }) => toolsOf(v2, exchange, mask),
    });
    return async (request) => answerOf(decide, request, v2);
  };
}

async function answerOf(
  decide: ReturnType<typeof createProxy>["decide"],
  { method, target, headers, body }: ApiRequest,
  v2: Send,
): Promise<ApiResponse> {
  const { signal } = createSignalController();
  const exchange = createExchange("mutation", 0, method, target.split("?")[0] ?? "");
  try {
    const plan = decide({ method, target, headers, exchange });
    if (plan.kind === "pass")
      return await v2({ method, target: plan.target, headers, ...(body ? { body } : {}) }, { signal });
    if (plan.kind === "deferred") throw new Error("no form is sent here");
    return await gathered(await plan.respond(body ?? new Uint8Array(), signal));
  } catch (error) {
    const problem = Problem.from(error);
    const text = Buffer.from(problemBody(problem));
    return { status: problem.http, headers: [["content-type", "application/json"]], body: text };
  }
}

function toolsOf(send: Send, exchange: Exchange, mask: MaskMemory): Tools {
  return { ...readingTools(send), mask, bodyMask: { known: "camelCase", fixed: false, learn: () => {} }, exchange };
}

function createMask(): MaskMemory {
  const memory: { known: MaskMemory["known"] } = { known: undefined };
  return {
    get known() {
      return memory.known;
    },
    fixed: false,
    learn(spelling) {
      memory.known = spelling;
    },
  };
}
