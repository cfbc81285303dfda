/** Is what an admin port answered the progress of an instance? (Every member is checked: a report must not guess.) */
import type { Json, JsonObject } from "../model/json.ts";
import type { ClientEntry, LedgerSnapshot } from "../model/ledger.ts";
import {
  type Bound,
  PROGRESS_VERSION,
  type Progress,
  RULE_STATES,
  type RuleProgress,
  type Totals,
  type TotalsRow,
} from "../model/progress.ts";
import { booleanAt, countAt, listAt, objectAt, optional, shareAt, textAt, timeAt, wordAt, wordsAt } from "./members.ts";

/**
 * What another process told, checked member by member; members that it does not know are left out. Throws `Error` with the
 * place that is wrong.
 */
export function readProgress(value: unknown): Progress {
  const top = objectAt(value as Json | undefined, "the answer");
  const version = top["version"];
  if (version !== PROGRESS_VERSION) {
    throw new Error(
      typeof version === "number" && version > PROGRESS_VERSION
        ? "the instance is newer than this report: run the report of its release"
        : "it is no progress of carryover",
    );
  }
  return {
    version,
    instance: textAt(top, "instance"),
    since: timeAt(top, "since"),
    at: timeAt(top, "at"),
    mode: wordAt(top, "mode", MODES),
    force: wordAt(top, "force", FORCES),
    lastReloadSuccessful: booleanAt(top, "lastReloadSuccessful"),
    totals: readTotals(objectAt(top["totals"], "totals")),
    ledger: readLedger(objectAt(top["ledger"], "ledger")),
    bounds: listAt(top, "bounds", readBound),
    rules: listAt(top, "rules", readRule),
  };
}

const MODES = ["native", "shadow", "translate"] as const;
const DOING = [...MODES, "nothing"] as const;
const FORCES = ["none", "native", "translate"] as const;

function readTotals(from: JsonObject): Totals {
  return { since: timeAt(from, "since"), at: timeAt(from, "at"), rows: listAt(from, "rows", readRow) };
}

function readRow(from: JsonObject): TotalsRow {
  return {
    apiVersion: textAt(from, "apiVersion"),
    resource: textAt(from, "resource"),
    operation: textAt(from, "operation"),
    mode: textAt(from, "mode"),
    codes: textAt(from, "codes"),
    requests: countAt(from, "requests"),
    lastSeen: timeAt(from, "lastSeen"),
  };
}

function readBound(from: JsonObject): Bound {
  return {
    resource: textAt(from, "resource"),
    operation: textAt(from, "operation"),
    client: optional(from, "client", textAt),
    comparisons: countAt(from, "comparisons"),
    differences: countAt(from, "differences"),
    upper: shareAt(from, "upper"),
  };
}

function readRule(from: JsonObject): RuleProgress {
  return {
    name: textAt(from, "name"),
    mode: wordAt(from, "mode", MODES),
    doing: wordAt(from, "doing", DOING),
    state: wordAt(from, "state", RULE_STATES),
    since: optional(from, "since", timeAt),
    detail: textAt(from, "detail"),
  };
}

function readLedger(from: JsonObject): LedgerSnapshot {
  if (from["version"] !== 1) throw new Error("ledger.version is not 1");
  return {
    version: 1,
    instances: wordsAt(from, "instances"),
    since: timeAt(from, "since"),
    watchedSince: optional(from, "watchedSince", timeAt),
    at: timeAt(from, "at"),
    requests: readCounts(from),
    bound: countAt(from, "bound"),
    clients: listAt(from, "clients", readClient),
  };
}

function readClient(from: JsonObject): ClientEntry {
  const needs = objectAt(from["needs"], "needs");
  const pair = (one: JsonObject) => ({ resource: textAt(one, "resource"), operation: textAt(one, "operation") });
  const field = (one: JsonObject) => ({ resource: textAt(one, "resource"), field: textAt(one, "field") });
  return {
    name: textAt(from, "name"),
    label: textAt(from, "label"),
    firstSeen: timeAt(from, "firstSeen"),
    lastSeen: timeAt(from, "lastSeen"),
    lastV1: optional(from, "lastV1", timeAt),
    requests: readCounts(from),
    over: countAt(from, "over"),
    operations: listAt(from, "operations", (one) => ({
      ...pair(one),
      requests: countAt(one, "requests"),
      lastSeen: timeAt(one, "lastSeen"),
    })),
    needs: {
      longLists: listAt(needs, "longLists", (one) => ({
        resource: textAt(one, "resource"),
        records: countAt(one, "records"),
      })),
      zeroedFields: listAt(needs, "zeroedFields", field),
      lacking: listAt(needs, "lacking", pair),
      unknownFields: listAt(needs, "unknownFields", field),
      unseen: listAt(needs, "unseen", pair),
    },
  };
}

function readCounts(from: JsonObject): { readonly v1: number; readonly v2: number } {
  const counts = objectAt(from["requests"], "requests");
  return { v1: countAt(counts, "v1"), v2: countAt(counts, "v2") };
}
