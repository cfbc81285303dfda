/** Words for people about rules, counts, shares and times. */
import type { OnFailureSettings, PromoteSettings, RuleSettings, StepBackSettings } from "../model/rules.ts";

/** `client` of one, `clients` of any other number. */
export function plural(count: number, noun: string, many = `${noun}s`): string {
  return count === 1 ? noun : many;
}

/** `1 client`, `2 clients`. */
export function counted(count: number, noun: string, many?: string): string {
  return `${count} ${plural(count, noun, many)}`;
}

/** `2 of 3 clients needed`; `5 clients, 3 needed` once there are enough. */
export function neededWords(count: number, needed: number, noun: string): string {
  return count < needed ? `${count} of ${counted(needed, noun)} needed` : `${counted(count, noun)}, ${needed} needed`;
}

/**
 * What `bad` of `all` show of the whole, with the bound `upper` of the share: `at most 3 % differ (95 %)`. Where most of them are bad, the bound
 * says less than the share itself.
 */
export function boundWords(
  { bad, all, upper }: { readonly bad: number; readonly all: number; readonly upper: number },
  shown: (share: number) => string = percent,
  verb = "differ",
): string {
  if (all > 0 && bad === all) return `all of them ${verb}`;
  if (bad * 2 > all) return `${percent(bad / all, 3)} of them ${verb}`;
  return upper >= 1 ? "too few to say anything" : `at most ${shown(upper)} ${verb} (95 %)`;
}

/** `0.02` as `2 %`. */
export function percent(share: number, digits = 4): string {
  return `${Number((share * 100).toPrecision(digits))} %`;
}

/** A share of a file or an option, with all its digits: `0.1 %`. */
export function shareOf(share: number): string {
  return percent(share, 6);
}

/** Milliseconds in a unit for people. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Number((ms / 1_000).toFixed(1))} s`;
  return ms < 7_200_000 ? `${Number((ms / 60_000).toFixed(1))} min` : `${Number((ms / 3_600_000).toFixed(1))} h`;
}

/** A name that the platform sent, safe for a terminal: anything but an identifier is quoted, anything long is cut. */
export function shownName(name: string): string {
  const short = name.length > 60 ? `${name.slice(0, 60)}…` : name;
  return /^[\w.@$-]+…?$/.test(short) ? short : JSON.stringify(short.replaceAll(/[^\x20-\x7e…]/g, "?"));
}

/** In the order of the calendar's numbers: 0 is Sunday. */
export const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;

/** `Sun` of 0. */
export function shortDay(day: number): string {
  const name = DAYS[day] ?? "";
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `expires in 41 days`; empty for a rule without an end. `now`: milliseconds since 1970. */
export function expiryWords(expires: number | undefined, now: number): string {
  if (expires === undefined) return "";
  const left = expires - now;
  if (left <= 0) return "expired";
  if (left >= 2 * DAY) return `expires in ${Math.floor(left / DAY)} days`;
  if (left >= 2 * HOUR) return `expires in ${Math.floor(left / HOUR)} hours`;
  return `expires in ${counted(Math.ceil(left / MINUTE), "minute")}`;
}

/** `translate`; with what is compared: `shadow, 10 % compared`. */
export function modeWords({ mode, shadow }: Pick<RuleSettings, "mode" | "shadow">): string {
  const compares = mode !== "native" && shadow.sample > 0;
  return compares ? `${mode}, ${shareOf(shadow.sample)} compared` : mode;
}

/** Null for a rule that never rolls back by itself. */
export function stepBackWords(settings: StepBackSettings | undefined): string | null {
  if (settings === undefined) return null;
  const { failures, differences, minRequests, minComparisons, minClients, window, returnAfter } = settings;
  const limits = [
    ...(failures === undefined ? [] : [`${shareOf(failures)} failures in at least ${counted(minRequests, "request")}`]),
    ...(differences === undefined
      ? []
      : [`${shareOf(differences)} differences in at least ${counted(minComparisons, "comparison")}`]),
  ].join(" or ");
  const since = `within ${durationWords(window)} from ${counted(minClients, "client")}`;
  const back = returnAfter === undefined ? "until an operator brings it back" : `for ${durationWords(returnAfter)}`;
  return `steps back at ${limits} ${since}, ${back}`;
}

/** Its reaction when v2 fails clients that native v1 would have served; null for a rule that never translates by itself. */
export function guardWords(rule: Pick<RuleSettings, "mode" | "promoteWhen" | "guard">): string | null {
  const { mode, promoteWhen, guard } = rule;
  if (mode !== "translate" && promoteWhen?.automatic !== true) return null;
  if (guard.action === "off") return "does not watch whether v2 fails clients (guard: off)";
  if (guard.action === "warn") return "warns when v2 fails clients, and goes on (guard: warn)";
  return `steps back when v2 fails clients that native v1 would serve, for ${durationWords(guard.returnAfter)} (guard: stepBack)`;
}

/** Null for a rule that is not a rehearsal. */
export function fallbackWords(rehearsal: { readonly client: string } | undefined): string | null {
  if (rehearsal === undefined) return null;
  return `a rehearsal: refuses what it cannot translate for ${shownName(rehearsal.client)} (fallback: refuse); carryover exam says how much that is`;
}

/** Null for a rule whose clients get v2's failures. */
export function onFailureWords(settings: OnFailureSettings | undefined): string | null {
  if (settings === undefined) return null;
  const listed = settings.statuses.length === 0 ? "" : `, also with ${settings.statuses.join(", ")},`;
  return `serves reads that v2 fails${listed} from native v1 in the same request (onFailure: native)`;
}

/** Null for a rule that never promotes itself. */
export function promoteWords(settings: PromoteSettings | undefined): string | null {
  if (settings === undefined) return null;
  const { differencesBelow, minClients, automatic } = settings;
  const when = `with differences surely below ${shareOf(differencesBelow)} from ${counted(minClients, "client")}`;
  return automatic ? `moves to translate ${when}` : `says when it could move to translate: ${when}`;
}

/** `09:30` of minutes since midnight. */
export function clock(minutes: number): string {
  const two = (number: number) => String(number).padStart(2, "0");
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** ISO 8601. A number beyond the dates of JavaScript is shown as it is. */
export function instant(ms: number | undefined): string | number | undefined {
  if (ms === undefined) return undefined;
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? ms : date.toISOString();
}

/** ISO 8601 without what is zero. */
export function shortInstant(at: number): string {
  return new Date(at).toISOString().replace(/(?:T00:00)?(?::00)?\.000Z$/, (end) => (end.startsWith("T") ? "" : "Z"));
}

/** `90s`, `5m`, `2h`, `3d`: the largest unit that says it exactly. */
export function durationWords(ms: number): string {
  const units = [
    [DAY, "d"],
    [HOUR, "h"],
    [MINUTE, "m"],
    [SECOND, "s"],
  ] as const;
  const [size, unit] = units.find(([length]) => ms % length === 0) ?? [1, "ms"];
  return `${ms / size}${unit}`;
}

/** `group or repo`. */
export function anyOf(names: Iterable<string>): string {
  return [...names].join(" or ");
}
