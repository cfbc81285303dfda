/** The rules file while carryover runs: what is logged and recorded when it changes, and warnings about the names in it. */
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Config } from "../config/config.ts";
import { ConfigError, faultText } from "../config/faults.ts";
import { readRules } from "../config/rules.ts";
import { faultsOf, readBounded } from "../config/watched-file.ts";
import type { EventHistory } from "../history/events.ts";
import type { ClientIdentity, NameMeanings } from "../ledger/identity.ts";
import { type MissedName, missedText } from "../ledger/rule-names.ts";
import type { Timer } from "../model/clock.ts";
import type { Rollout } from "../rollout/rollout.ts";
import { createRulesFile, type LastRules, type RulesFile, rulesContext } from "../rollout/rules-file.ts";
import type { Rule } from "../rules/rule.ts";
import type { Log } from "../telemetry/log.ts";
import type { Progress } from "../telemetry/progress.ts";

/** An invalid rules file is a fault of the configuration: carryover refuses to start. */
export function asConfigError(error: unknown): never {
  if (error instanceof ConfigError || !(error instanceof Error)) throw error;
  const faults = faultsOf(error);
  throw faults.length === 0 ? error : new ConfigError(faults);
}

/** A rule that names a client by a name that is gone lets it pass to the rules after it. */
export function warnOfLostNames(
  before: NameMeanings,
  names: ReadonlySet<string>,
  rules: readonly Rule[],
  log: Log,
): void {
  const gone = [...new Set(before.names.map(([name]) => name))].filter((name) => !names.has(name));
  for (const { name, match } of rules) {
    const clients = gone.filter((client) => match.clients?.has(client));
    if (clients.length === 0) continue;
    log.warn("clients.names no longer has clients that a rule names", undefined, {
      rule: name,
      clients: clients.join(),
    });
  }
}

const RULES_BEFORE = "the rules before it stay in force";
/** Such a rule takes no request of the client, in silence. */
export function warnOfMissedNames(missed: readonly MissedName[], log: Log): void {
  for (const one of missed)
    log.warn("a rule names a client otherwise than the ledger", undefined, { warning: missedText(one) });
}

interface RulesReaders {
  readonly rollout: Rollout;
  readonly identity: ClientIdentity;
  readonly lastRules: LastRules | undefined;
}

interface RulesHooks {
  readonly log: Log;
  readonly history: EventHistory;
  readonly wall: () => number;
  readonly later: Timer;
  /** Milliseconds between two looks at the file. */
  readonly reloadMs: number;
}

export function watchedRulesFile(
  config: Config,
  catalogue: Catalogue,
  { rollout, identity, lastRules }: RulesReaders,
  { log, wall, later, reloadMs, history }: RulesHooks,
  reloaded: (successful: boolean) => void,
): RulesFile | undefined {
  const { rulesFile: path } = config.cutover;
  if (path === undefined) return undefined;
  const native = config.upstream.v1 !== undefined;
  /** Those before, where the file cannot be used. */
  let inForce = RULES_BEFORE;
  let isRefused = false;
  const recovered = (reason: string): string => {
    isRefused = false;
    inForce = RULES_BEFORE;
    return history.record({ kind: "rules-recovered", reason });
  };
  return createRulesFile({
    path,
    last: lastRules,
    read: readBounded,
    parse: (bytes, first) =>
      readRules(
        bytes,
        rulesContext(catalogue, {
          name: path,
          native,
          fallback: config.fallback,
          clients: identity.names,
          shared: config.state.url !== undefined,
          now: wall(),
          expired: first ? "warn" : "refuse",
          inForce: new Set(rollout.rules()?.rules.map(({ identity }) => identity)),
        }),
      ),
    everyMs: reloadMs,
    later,
    wall,
    apply: (rules, warnings, isSpare) => {
      rollout.replace(rules);
      if (isSpare) inForce = "the rules that were saved before the restart are in force";
      else reloaded(true);
      if (isRefused) {
        const event = recovered("the rules file can be used again: its rules are in force");
        log.info("the rules file can be used again", { digest: rules.digest, event });
      }
      for (const warning of warnings) log.warn("the rules file", undefined, { warning });
    },
    failed: (error, faults) => {
      reloaded(false);
      const what = faults.length > 0 ? faults.map(faultText).join(" | ") : error.message;
      isRefused = true;
      const event = history.record({ kind: "rules-refused", reason: `${inForce}: ${what}` });
      log.error(`the rules file cannot be used; ${inForce}`, undefined, { faults: what, event });
    },
    recovered: () => {
      reloaded(true);
      const event = recovered("the rules file holds the rules in force again");
      log.info("the rules file holds the rules in force again", { digest: rollout.rules()?.digest ?? "none", event });
    },
  });
}

/** Longest text about a rules file in `GET /progress`. */
const LONGEST_FAULT = 500;

export function rulesFaultOf(file: RulesFile | undefined): Progress["rulesFault"] {
  const { failing } = file?.state() ?? {};
  if (failing === undefined) return undefined;
  const [first] = failing.faults;
  return { at: failing.at, says: (first === undefined ? failing.message : faultText(first)).slice(0, LONGEST_FAULT) };
}
