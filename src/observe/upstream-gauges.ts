/** How is it with each upstream at present? */
import type { Upstream } from "../model/exchange.ts";
import { upstreamLabel } from "./labels.ts";
import type { Maker, Reading } from "./maker.ts";

type States = () => Iterable<readonly [Upstream, boolean]>;

/** Read when somebody asks for metrics. */
export interface UpstreamGauges {
  /** Whether calls to it fail at once. */
  readonly breakers: States;
  /** Of each with certificates in files: whether what they hold is in force. */
  readonly certificates: States;
}

/** Shows them. */
export function createUpstreamGauges(make: Maker, { breakers, certificates }: UpstreamGauges): void {
  make.gauge("upstream_breaker_open", () => readings(breakers));
  make.gauge("upstream_certificates_last_reload_successful", () => readings(certificates));
}

function readings(states: States): Reading[] {
  return Array.from(states(), ([name, state]) => [[upstreamLabel(name)], Number(state)]);
}
