/** Rules, requests and comparisons for tests of the control. */

import type { Comparison } from "../../src/model/comparison.ts";
import { createExchange, type Exchange } from "../../src/model/exchange.ts";
import type { CutoverMode, ModeDecision, StepBackSettings } from "../../src/model/rules.ts";
import { createRollout, type Rollout, type RolloutOptions } from "../../src/rollout/rollout.ts";
import type { RolloutEvent } from "../../src/rollout/rule-state.ts";
import type { Rule, RuleMatch, Rules } from "../../src/rules/rule.ts";
import { headOf, makeRule } from "./make-rule.ts";

export const MINUTE = 60_000;

export const STEP_BACK: StepBackSettings = {
  failures: 0.02,
  differences: 0.001,
  minRequests: 200,
  minComparisons: 20,
  minClients: 3,
  window: 5 * MINUTE,
  returnAfter: 10 * MINUTE,
};

export function rule(over: Partial<Omit<Rule, "match">> & { readonly match?: Partial<RuleMatch> } = {}): Rule {
  const { match, ...rest } = over;
  const settings = {
    line: 3,
    shadow: { sample: 0.1, control: 0 },
    stepBack: STEP_BACK,
    identity: "1",
    evidenceKey: "1",
  };
  return makeRule("all", match, { ...settings, ...rest });
}

export function rulesOf(rules: readonly Rule[], over: Partial<Rules> = {}): Rules {
  return { force: "none", fallback: undefined, rules, digest: "aaaaaaaaaaaa", ...over };
}

export interface Rig {
  readonly control: Rollout;
  readonly told: RolloutEvent[];
  /** Milliseconds since 1970; to be set. */
  at: number;
  /** How far the clock that is never set is ahead of `at`; to be set. */
  ahead: number;
  choose(client?: string): ModeDecision;
  /** `count` requests that are over, of five clients in turn, if they are translated. */
  requests(count: number, facts?: Partial<Exchange>): void;
  compare(count: number, facts?: Partial<Comparison>): void;
}

export const START = Date.UTC(2026, 10, 21);

export function rig(
  rules: Rules | undefined,
  {
    mode = "translate" as CutoverMode,
    native = true,
    bucketOf = (_client: string): number => 50,
    onEvent = (_event: RolloutEvent): void => {},
    isShared = false,
    guardSeconds = undefined as RolloutOptions["guardSeconds"],
    isStoreUp = undefined as RolloutOptions["isStoreUp"],
    spared = undefined as RolloutOptions["spared"],
  } = {},
): Rig {
  const told: RolloutEvent[] = [];
  const clock = { at: START, ahead: 0 };
  const control = createRollout({
    rules,
    mode,
    native,
    bucketOf,
    wall: () => clock.at,
    now: () => clock.at + clock.ahead,
    onEvent: (event) => {
      told.push(event);
      onEvent(event);
    },
    isShared,
    ...(guardSeconds && { guardSeconds }),
    ...(isStoreUp && { isStoreUp }),
    ...(spared && { spared }),
  });
  return {
    control,
    told,
    get at() {
      return clock.at;
    },
    set at(at) {
      clock.at = at;
    },
    get ahead() {
      return clock.ahead;
    },
    set ahead(ahead) {
      clock.ahead = ahead;
    },
    choose: (client = "c0") =>
      control.choose({ resource: "group", operation: "list", write: false, client, head: headOf() }),
    requests: (count, facts = {}) => {
      for (let n = 0; n < count; n++) control.observe(finished(`c${n % 5}`, facts));
    },
    compare: (count, facts = {}) => {
      for (let n = 0; n < count; n++) {
        const one = comparison(`c${n % 5}`, facts);
        control.compared(one, credentialOf(one));
      }
    },
  };
}

/** As if each client had one of its own. */
function credentialOf({ client }: { readonly client: string }): string {
  return `credential of ${client}`;
}

/** A translated v1 request that went well, unless `facts` say otherwise. */
export function finished(client: string, facts: Partial<Exchange> = {}): Exchange {
  const credential = (): string => credentialOf({ client });
  return Object.assign(
    createExchange("r-1", 0, "GET", "/iam/v1/groups"),
    {
      apiVersion: "v1",
      resource: "group",
      operation: "list",
      mode: "translate",
      status: 200,
      rule: "all",
      client,
      credential,
    },
    { calls: [{ upstream: "v2", method: "GET", path: "/iam/v2beta1/groups", status: 200, ms: 1 }] },
    facts,
  );
}

export function comparison(client: string, facts: Partial<Comparison> = {}): Comparison {
  return {
    requestId: "r-1",
    at: START,
    resource: "group",
    operation: "list",
    client,
    rule: "all",
    served: "translate",
    kind: "read",
    result: "equal",
    total: 0,
    differences: [],
    failure: undefined,
    controlled: false,
    ms: 3,
    calls: { v1: 1, v2: 0 },
    ...facts,
  };
}
