/** Where a migration stands and what comes next, in one line: for `carryover report` and `carryover status`. */
import { difficultyOf } from "../ledger/difficulty.ts";
import { type ClientEntry, DIFFICULTIES } from "../ledger/entry.ts";
import type { Rules } from "../rules/rule.ts";
import type { RuleStatus } from "../rules/status.ts";
import type { RequestTotalsRow } from "../telemetry/progress.ts";

/** The progress of one instance, or of several merged. */
export interface StandingSource {
  /** Requests of the window by kind; undefined: unknown. */
  readonly counts: readonly RequestTotalsRow[] | undefined;
  readonly clients: readonly ClientEntry[];
  readonly rules: readonly Pick<RuleStatus, "name" | "doing" | "state" | "unknown">[];
  readonly force: Rules["force"];
}

export interface Standing {
  /** Of the v1 requests that native v1 or the translation served, the share that was translated; null if none is known. */
  readonly translatedShare: number | null;
  /** The number of these requests; null: unknown. */
  readonly served: number | null;
  /** Clients that did not call v1 in the window, of all that are known. */
  readonly moved: number;
  readonly clients: number;
  /** The next step, without a full stop. */
  readonly next: string;
}

/** `isLeft`: the client called v1 in the window. */
export function standingOf(source: StandingSource, isLeft: (client: ClientEntry) => boolean): Standing {
  const { counts, clients } = source;
  const left = clients.filter(isLeft);
  const v1 = (counts ?? []).filter(({ apiVersion }) => apiVersion === "v1");
  const { translatedShare, served } = sharesOf(counts);
  return {
    translatedShare,
    served,
    moved: clients.length - left.length,
    clients: clients.length,
    next: nextForRules(source) ?? nextForNative(v1, clients) ?? nextForClients(left, clients.length),
  };
}

/** How many v1 requests native v1 or the translation served, and the share of the translation. */
export function sharesOf(counts: StandingSource["counts"]): Pick<Standing, "translatedShare" | "served"> {
  if (counts === undefined) return { translatedShare: null, served: null };
  const requestsOf = (...modes: readonly string[]) =>
    counts.reduce((sum, row) => sum + (row.apiVersion === "v1" && modes.includes(row.mode) ? row.requests : 0), 0);
  const served = requestsOf("native", "shadow", "translate");
  return { translatedShare: served === 0 ? null : requestsOf("translate") / served, served };
}

/** `says`: `in the last 24 h`; `limits`: `counted for 2 h only`. */
export interface StandingWindow {
  readonly says: string | null;
  readonly limits: string | null;
}

/** `31 % of v1 requests translated in the last 24 h; 12 of 44 clients moved; next: …` */
export function standingText(standing: Standing, window: StandingWindow): string {
  return `${movedText(standing, window)}; next: ${standing.next}`;
}

/** The same without the next step. */
export function movedText(
  { moved, clients, ...shares }: Omit<Standing, "next">,
  { says, limits }: StandingWindow,
): string {
  const share = `${shareText(shares)} ${says ?? ""}${limits === null ? "" : ` (${limits})`}`;
  if (shares.served === 0 && clients === 0) return share;
  // Requests of excluded clients, or refused ones, make no entry: that no client is known says nothing about who moved.
  if (clients === 0) return `${share}; no client is known`;
  return `${share}; ${moved} of ${clients} ${clients === 1 ? "client" : "clients"} moved`;
}

/** `31 % of v1 requests translated`. */
export function shareText({ translatedShare, served }: Pick<Standing, "translatedShare" | "served">): string {
  if (served === 0) return "no v1 requests";
  return translatedShare === null
    ? "unknown how many v1 requests are translated"
    : `${wholePercent(translatedShare)} of v1 requests translated`;
}

/** Only nothing reads as 0 %, and only all as 100 %. */
function wholePercent(share: number): string {
  if (share > 0 && share < 0.01) return "< 1 %";
  if (share < 1 && share > 0.99) return "> 99 %";
  return `${Math.round(share * 100)} %`;
}

/** Names in one sentence. */
const MOST_NAMES = 3;

/** What overrides or stops rules comes first, then what could go on, then what needs time. */
function nextForRules({ rules, force }: StandingSource): string | undefined {
  const named = (is: (rule: StandingSource["rules"][number]) => boolean): string | undefined => {
    const names = [...new Set(rules.filter(is).map(({ name }) => name))];
    const more = names.length - MOST_NAMES;
    if (names.length === 0) return undefined;
    return `${names.length === 1 ? "rule" : "rules"} ${names.slice(0, MOST_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  };
  const unknown = named((rule) => rule.unknown === true);
  if (unknown !== undefined) return `confirm ${unknown}, whose saved state cannot be read (/rules, carryover confirm)`;
  if (force !== "none") return `lift force: ${force}, which overrides every rule`;
  const back = named(({ state }) => state === "stepped-back");
  if (back !== undefined) return `find out what made ${back} step back (/rules, /samples)`;
  const ready = named(({ state }) => state === "could-move");
  if (ready !== undefined) return `set ${ready} to translate: the comparisons allow it`;
  const returning = named(({ state }) => state === "returning");
  if (returning !== undefined)
    return `wait until ${returning} ${isOne(returning) ? "translates for all of its" : "translate for all of their"} clients again`;
  const comparing = named(({ state, doing }) => state === "as-written" && doing === "shadow");
  return comparing && `see whether ${comparing} may go further: carryover gate`;
}

function isOne(rules: string): boolean {
  return rules.startsWith("rule ");
}

/** An operation that native served this long before its last translated request is still served by native, at least in part. */
const RECENT_MS = 3_600_000;

/** The resource with most v1 requests that v2 could serve and native v1 still does. */
function nextForNative(v1: readonly RequestTotalsRow[], clients: readonly ClientEntry[]): string | undefined {
  const nameOf = ({ resource, operation }: { resource: string; operation: string }) => `${resource} ${operation}`;
  const lacking = new Set(clients.flatMap(({ needs }) => needs.lacking.map(nameOf)));
  const translated = new Map<string, number>();
  for (const row of v1) {
    if (row.mode !== "translate") continue;
    translated.set(nameOf(row), Math.max(translated.get(nameOf(row)) ?? 0, row.lastSeen));
  }
  const byResource = new Map<string, { native: number; shadow: number }>();
  for (const row of v1) {
    const { resource, mode, requests, lastSeen } = row;
    if ((mode !== "native" && mode !== "shadow") || resource === "unknown" || lacking.has(nameOf(row))) continue;
    if (lastSeen < (translated.get(nameOf(row)) ?? 0) - RECENT_MS) continue;
    const sum = byResource.get(resource) ?? { native: 0, shadow: 0 };
    byResource.set(resource, { ...sum, [mode]: sum[mode] + requests });
  }
  const [most] = [...byResource].sort(([, a], [, b]) => b.native + b.shadow - (a.native + a.shadow));
  if (most === undefined) return undefined;
  const [resource, { native, shadow }] = most;
  if (shadow > native) return `translate ${resource} by a rule, once its comparisons show no difference`;
  return `compare ${resource} by a rule with mode: shadow, since native v1 serves it`;
}

/** The client that is easiest to move; of equal ones that with most v1 requests. */
function nextForClients(left: readonly ClientEntry[], known: number): string {
  const efforts = left.map((client) => DIFFICULTIES.indexOf(difficultyOf(client)));
  const least = efforts.reduce((one, other) => Math.min(one, other), DIFFICULTIES.length);
  const [easiest] = left
    .filter((_, at) => efforts[at] === least)
    .sort((one, other) => other.requests.v1 - one.requests.v1);
  if (easiest !== undefined) {
    const need = difficultyOf(easiest);
    if (need === "unknown")
      return `compare what ${easiest.name} calls by a rule with mode: shadow, since nobody knows its needs`;
    return `move ${easiest.name} to v2 (hardest need: ${need})`;
  }
  if (known === 0) return "send clients to carryover: none has called yet";
  return "remove carryover, once carryover report --fail-if-v1 --since 14d ends with 0";
}
