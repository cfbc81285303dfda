/** Brings the decisions about rules that replicas keep in the store and those of this process together. */
import { member, parsedJson } from "../model/json.ts";
import { scrub } from "../model/secrets.ts";
import { replaceUnprintable } from "../model/text.ts";
import type { Rollout } from "../rollout/rollout.ts";
import type { Promotes } from "../rollout/rule-state.ts";
import { readCause } from "../rollout/saved-rollout.ts";
import type { Rule } from "../rules/rule.ts";
import { ForceCommands, LONGEST_BY, LONGEST_REASON } from "../rules/status.ts";
import type { RuleRow } from "../state/shared/protocol.ts";
import type { Replica } from "../state/shared/replica.ts";
import type { Log } from "../telemetry/log.ts";
import { createRuleKeys } from "./rule-keys.ts";

export const LONGEST_NAME = 128;
const MOST_OPERATIONS = 300;

interface AdoptionParts {
  readonly rollout: Pick<Rollout, "rules" | "adopt" | "promote" | "stepBackOf" | "forceByHand" | "force">;
  /** Digest of what responses depend on besides the rules: a promotion holds for replicas with the same one. */
  readonly basis: string;
  readonly log: Pick<Log, "warn">;
  /** Random, one per process. */
  readonly instance: string;
  /** What other replicas call this one. */
  readonly name: string;
}

export type Adoption = ReturnType<typeof createAdoption>;

export function createAdoption({ rollout, basis, instance, log, name }: AdoptionParts) {
  /** By key: the latest generation that was looked at. */
  const handled = new Map<string, number>();
  let forceNumber = 0;
  let digest: string | undefined;
  const keyOf = createRuleKeys();
  /** What a replica that starts from now on must know to do the same. */
  const detailOf = (rule: Rule, more: object): string => {
    const operations = rollout.stepBackOf(rule.name)?.promoted ?? [];
    return JSON.stringify({
      rule: rule.name,
      name,
      ...(operations.length === 0 ? {} : { basis, operations }),
      ...more,
    });
  };
  const publish = (replica: Replica, rule: Rule, reason: string): void => {
    const cause = rollout.stepBackOf(rule.name)?.cause;
    if (cause === undefined) return;
    const { replica: from = name, ...found } = cause;
    const rateLimit = cause.what === "guard" ? { rateLimit: shared(cause.rateLimit, LONGEST_NAME) } : {};
    const more = { reason: shared(reason, LONGEST_REASON), cause: { ...found, ...rateLimit }, name: from };
    void replica.decide({
      kind: "rule",
      key: keyOf(rule),
      what: "back",
      generation: 0,
      detail: detailOf(rule, more),
    });
  };
  /** The operations that the row promotes, if this replica makes the same responses. */
  const followPromotion = (rule: Rule, row: RuleRow): void => {
    const detail = parsedJson(row.detail);
    const found = member(detail, "operations");
    if (!Array.isArray(found) || member(detail, "basis") !== basis) return;
    const operations = found.flatMap((one) => foreignText(one, LONGEST_NAME) ?? []).slice(0, MOST_OPERATIONS);
    const from = foreignText(member(detail, "name"), LONGEST_NAME) ?? row.replica;
    const why = foreignText(member(detail, "reason"), LONGEST_REASON) ?? "no reason was given";
    rollout.promote(rule.name, { operations, reason: `all replicas, by ${from}: ${why}` });
  };
  const follow = (replica: Replica, rule: Rule, row: RuleRow | undefined): void => {
    const own = rollout.stepBackOf(rule.name);
    const key = keyOf(rule);
    // A rule that never steps back follows no other.
    if (own === undefined || replica.isDeciding(key)) return;
    if (row === undefined) {
      // It happened before the store knew of it: in an earlier process, or before the store was emptied.
      const reason = "it was so before the store knew of it";
      if (own.phase !== "forward") publish(replica, rule, reason);
      else if (own.promoted.length > 0)
        void replica.decide({ kind: "rule", key, what: "promote", generation: 0, detail: detailOf(rule, { reason }) });
      return;
    }
    const isNew = row.generation > (handled.get(key) ?? 0);
    handled.set(key, row.generation);
    if (isNew && row.replica !== instance) followPromotion(rule, row);
    if (row.what !== "back") return;
    if (isNew && row.replica !== instance && own.phase !== "back") {
      const detail = parsedJson(row.detail);
      const cause = readCause(member(detail, "cause"));
      if (cause === undefined) {
        log.warn("a step back of another replica cannot be read, and is not followed", undefined, { rule: rule.name });
        return;
      }
      const from = foreignText(member(detail, "name"), LONGEST_NAME) ?? row.replica;
      rollout.adopt(rule.name, { ...cause, replica: from });
      return;
    }
    // It returned here: a replica that starts from now on need not step back.
    if (!isNew && own.phase === "forward") {
      const { generation } = row;
      void replica.decide({ kind: "rule", key, what: "forward", generation, detail: detailOf(rule, {}) });
    }
  };
  /** A rule of this key that comes later is a new one, as it is without a store. Replicas that still have the old one stay as they are. */
  const removed = (replica: Replica, key: string): void => {
    handled.delete(key);
    const generation = replica.rules().get(key)?.generation;
    if (generation === undefined) return;
    void replica.decide({ kind: "rule", key, what: "forward", generation, detail: JSON.stringify({ name }) });
  };
  const followForce = (replica: Replica): void => {
    const row = replica.force();
    if (row === undefined || row.number <= forceNumber || replica.isDeciding("force")) return;
    forceNumber = row.number;
    if (row.replica === instance) return;
    const detail = parsedJson(row.detail);
    const command = ForceCommands.safeParse(member(detail, "command")).data;
    if (command === undefined) {
      log.warn("a command of carryover force on another replica cannot be read, and is not followed", undefined, {});
      return;
    }
    const reason = foreignText(member(detail, "reason"), LONGEST_REASON);
    const by = foreignText(member(detail, "by"), LONGEST_BY);
    const before = rollout.force();
    const isKnown = before.command === command && before.reason === reason && before.by === by && before.lost !== true;
    if (isKnown) return;
    const note = { replica: foreignText(member(detail, "name"), LONGEST_NAME) ?? row.replica };
    const said = { ...(reason === undefined ? {} : { reason }), ...(by === undefined ? {} : { by }) };
    rollout.forceByHand(command, row.at, { ...said, ...note });
  };
  return {
    /** The rule stepped back here. */
    own: (replica: Replica, ruleName: string, reason: string): void => {
      // Another replica's step back is in the store already.
      if (rollout.stepBackOf(ruleName)?.cause?.replica !== undefined) return;
      const rule = rollout.rules()?.rules.find((one) => one.name === ruleName);
      if (rule !== undefined) publish(replica, rule, reason);
    },
    /** All replicas together know enough to promote operations of the rule. It happens only if nobody decided otherwise by then. */
    promote: async (replica: Replica, rule: Rule, { operations, reason }: Promotes): Promise<void> => {
      const key = keyOf(rule);
      if (replica.isDeciding(key)) return;
      const generation = replica.rules().get(key)?.generation ?? 0;
      const all = [...new Set([...(rollout.stepBackOf(rule.name)?.promoted ?? []), ...operations])];
      const detail = detailOf(rule, { basis, operations: all, reason });
      const outcome = await replica.decide({ kind: "rule", key, what: "promote", generation, detail });
      if (outcome === "applied") rollout.promote(rule.name, { operations, reason });
    },
    all: (replica: Replica): void => {
      // Before the first response nothing is known of the others.
      if (replica.view().at === undefined) return;
      followForce(replica);
      const rules = rollout.rules();
      if (rules?.digest !== digest) {
        digest = rules?.digest;
        const present = new Set(rules?.rules.map(keyOf));
        for (const key of handled.keys()) if (!present.has(key)) removed(replica, key);
      }
      const rows = replica.rules();
      for (const rule of rules?.rules ?? []) follow(replica, rule, rows.get(keyOf(rule)));
    },
  };
}

/** A text for the store. */
export function shared(text: string | undefined, most: number): string | undefined {
  return text === undefined ? undefined : scrub(text).slice(0, most);
}

/** A text from the store, to which others can write. */
export function foreignText(value: unknown, most: number): string | undefined {
  return typeof value === "string" ? replaceUnprintable(value).slice(0, most) : undefined;
}
