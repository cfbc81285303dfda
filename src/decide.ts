/** How does a request find who serves it? (Router, translations and fallback, as the configuration and the catalogue have them.) */
import type { Catalogue } from "./catalogue.ts";
import type { Config } from "./config/config.ts";
import type { Upstream } from "./model/exchange.ts";
import type { Decide } from "./model/request.ts";
import { createProxy, type ProxyParts } from "./proxy.ts";
import { createRouter, type Router } from "./router/router.ts";
import { createTranslationsOnUse, type Translate } from "./translate/translations.ts";

/** What of the configuration decides. */
export type DecisionConfig = Pick<
  Config,
  "listen" | "upstream" | "lists" | "updates" | "unknownFields" | "v1" | "fallback"
>;

/** Everything that decides on requests and outlives them; made once, for clients and for comparing alike. */
export interface Decisions {
  /** Says which operation a target asks for. */
  readonly route: Router;
  /**
   * The proxy, for whatever `tools` a request is given: those that send, or those that only write down. Without `cutover`
   * everything that can be is translated; `fallback` takes the place of the configuration's.
   */
  decide(tools: ProxyParts["tools"], other?: Partial<Pick<ProxyParts, "cutover" | "fallback">>): Decide;
}

/** Throws `Error` for a catalogue whose paths contradict each other. `translate` makes the translations. */
export function createDecisions(
  config: DecisionConfig,
  catalogue: Catalogue,
  translate: Translate = createTranslationsOnUse,
): Decisions {
  const { v1, sts } = config.upstream;
  const upstreams: Upstream[] = [
    "v2",
    ...(v1 === undefined ? [] : ["v1" as const]),
    ...(sts === undefined ? [] : ["sts" as const]),
  ];
  const route = createRouter({
    resources: catalogue.resources,
    natives: catalogue.natives,
    version: catalogue.version,
    extraPrefixes: config.listen.extraPrefixes,
  });
  const parts = {
    route,
    translations: translate(catalogue.resources, {
      version: catalogue.version,
      unknownRequest: config.unknownFields.request,
      unknownResponse: config.unknownFields.response,
      insertZeros: config.upstream.v2.omitsZeros !== "no",
      omitsZeros: config.upstream.v2.omitsZeros,
      recordTimes: config.v1.recordTimes,
      mismatch: config.updates.mismatch,
      orderBy: config.lists.orderBy,
    }),
    upstreams: new Set(upstreams),
    fallback: config.fallback,
    audience: { from: config.listen.publicUrl, to: config.upstream.v2.audience },
  };
  return { route, decide: (tools, other) => createProxy({ ...parts, ...other, tools }) };
}
