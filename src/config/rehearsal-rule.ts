/** A rule with `fallback: refuse`: it must be for one client, for a bounded time, watched, and stop by itself. */
import type { RuleCircumstances, RuleRemark } from "../rules/conditions/condition.ts";
import { endOf } from "../rules/rule.ts";
import { HOUR } from "../rules/words.ts";
import type { RuleText } from "./rules-schema.ts";

/** Milliseconds. A longer rehearsal is a switch-off. */
const LONGEST = 7 * 24 * HOUR;

export function rehearsalRemarks(rule: RuleText, { native, now }: RuleCircumstances): readonly RuleRemark[] {
  const { fallback, mode, match, guard, stepBack, onFailure } = rule;
  // A rule with mode brownout has a remark of its own.
  if (fallback === undefined || mode === "brownout") return [];
  if (mode !== "translate") {
    // A rehearsal may end, and go on, by the word of the mode.
    const what = "has no effect without mode: translate";
    return [{ path: ["fallback"], what, remedy: "remove it, or set mode: translate", kind: "doubtful" }];
  }
  const at = (what: string, remedy: string, ...path: string[]): readonly RuleRemark[] => [
    { path: path.length === 0 ? ["fallback"] : path, what, remedy },
  ];
  if (!native) return at("has no effect: upstream.v1.url is not set, so native v1 is off for all clients", "remove it");
  const end = endOf(rule);
  const isBounded = Number.isFinite(end);
  const thresholds = stepBack?.failures;
  return [
    ...(match.client?.length === 1
      ? []
      : at("switches native v1 off for one client only", "name one client in match.client")),
    ...(isBounded ? [] : at("switches native v1 off without an end", "set expires")),
    ...(isBounded && end - Math.max(now, match.time?.from ?? now) > LONGEST
      ? at("lasts for more than 7 days", "set an earlier expires, or a later match.time.from")
      : []),
    ...(guard.action === "stepBack"
      ? []
      : at("needs the guard, which goes back when v2 fails", "set guard: stepBack", "guard")),
    ...(thresholds !== undefined
      ? []
      : at("never stops by itself", "set stepBack.failures to the share of refused and failed requests that may be")),
    ...(onFailure === undefined
      ? []
      : at("contradicts fallback: refuse: native v1 would serve the client", "remove one of them", "onFailure")),
  ];
}
