/** Words for people about rules, counts, shares and times. */
import type { PromoteSettings, StepBackSettings } from "../model/rules.ts";
import type { CanarySelector, Rule, RuleMatch, TimeWindow } from "./rule.ts";

/** `1 client`, `2 clients`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
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

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `reads of group or repo, client ci-bot, header x-canary: always`; `everything` for a rule that asks for nothing. */
export function matchWords({ resources, operations, clients, time, header, cookie }: RuleMatch): string {
  const what =
    operations === undefined
      ? anyOf(resources)
      : [anyOf(operations), ...(resources === undefined ? [] : [`of ${anyOf(resources)}`])].join(" ");
  const parts = [
    ...(what === "" ? [] : [what]),
    ...(clients === undefined ? [] : [`client ${anyOf(clients)}`]),
    ...(header === undefined ? [] : [selectorWords("header", header)]),
    ...(cookie === undefined ? [] : [selectorWords("cookie", cookie)]),
    ...(time === undefined ? [] : timeWords(time)),
  ];
  return parts.length === 0 ? "everything" : parts.join(", ");
}

/**
 * `10 % of clients`, `10 % of those, each whole or not at all` of a rule that names some, `all clients`, or
 * `who is selected` of a rule with header or cookie but no percentage.
 */
export function shareWords({ percent, header, cookie, clients }: RuleMatch): string {
  if (percent !== undefined)
    return `${percent} % of ${clients === undefined ? "clients" : "those, each whole or not at all"}`;
  return header === undefined && cookie === undefined ? "all clients" : "who is selected";
}

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
export function modeWords({ mode, shadow }: Pick<Rule, "mode" | "shadow">): string {
  const compares = mode !== "native" && shadow.sample > 0;
  return compares ? `${mode}, ${shareOf(shadow.sample)} compared` : mode;
}

/** Null for a rule that never rolls back by itself. */
export function stepBackWords(settings: StepBackSettings | undefined): string | null {
  if (settings === undefined) return null;
  const { failures, differences, minRequests, minComparisons, minClients, window, returnAfter } = settings;
  const limits = [
    ...(failures === undefined ? [] : [`${shareOf(failures)} failures in at least ${minRequests} requests`]),
    ...(differences === undefined
      ? []
      : [`${shareOf(differences)} differences in at least ${minComparisons} comparisons`]),
  ].join(" or ");
  const since = `within ${durationWords(window)} from ${counted(minClients, "client")}`;
  const back = returnAfter === undefined ? "until an operator brings it back" : `for ${durationWords(returnAfter)}`;
  return `steps back at ${limits} ${since}, ${back}`;
}

/** Null for a rule that never promotes itself. */
export function promoteWords(settings: PromoteSettings | undefined): string | null {
  if (settings === undefined) return null;
  const { differencesBelow, minClients, automatic } = settings;
  const when = `with differences surely below ${shareOf(differencesBelow)} from ${counted(minClients, "client")}`;
  return automatic ? `moves to translate ${when}` : `says when it could move to translate: ${when}`;
}

function selectorWords(kind: string, { name, value }: CanarySelector): string {
  return `${kind} ${name}: ${shownName(value)}`;
}

function timeWords({ from, until, days, hours }: TimeWindow): string[] {
  return [
    ...(days === undefined ? [] : [[...days].map((day) => DAYS[day]).join(" ")]),
    ...(hours === undefined ? [] : [`${clock(hours.begin)} to ${clock(hours.end)} UTC`]),
    ...(from === undefined ? [] : [`from ${instantWords(from)}`]),
    ...(until === undefined ? [] : [`until ${instantWords(until)}`]),
  ];
}

/** `09:30` of minutes since midnight. */
export function clock(minutes: number): string {
  const two = (number: number) => String(number).padStart(2, "0");
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** Without what is zero. */
function instantWords(at: number): string {
  return new Date(at).toISOString().replace(/(?:T00:00)?(?::00)?\.000Z$/, (end) => (end.startsWith("T") ? "" : "Z"));
}

/** `90s`, `5m`, `2h`, `3d`: the largest unit that says it exactly. */
function durationWords(ms: number): string {
  const units = [
    [DAY, "d"],
    [HOUR, "h"],
    [MINUTE, "m"],
    [SECOND, "s"],
  ] as const;
  const [size, unit] = units.find(([length]) => ms % length === 0) ?? [1, "ms"];
  return `${ms / size}${unit}`;
}

/** Empty for undefined. */
function anyOf(names: ReadonlySet<string> | undefined): string {
  return [...(names ?? [])].map(shownName).join(" or ");
}
