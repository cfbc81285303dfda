/** In which words does a rule say what it matches, until when it holds, and when it moves by itself? */
import type { PromoteSettings, Rule, RuleMatch, Selector, StepBackSettings, TimeWindow } from "../model/rules.ts";
import { shownName } from "./finding.ts";

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
 * `10 % of clients`; of a rule that names some, that none of them is divided; `all clients`; of a rule with header or cookie
 * but no percentage: `who is selected`.
 */
export function shareWords({ percent, header, cookie, clients }: RuleMatch): string {
  if (percent !== undefined)
    return `${percent} % of ${clients === undefined ? "clients" : "those, each whole or not at all"}`;
  return header === undefined && cookie === undefined ? "all clients" : "who is selected";
}

/** `in 41 days`; empty for a rule without an end. `now`: milliseconds since 1970. */
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

/** Null for a rule that never steps back by itself. */
export function stepBackWords(settings: StepBackSettings | undefined): string | null {
  if (settings === undefined) return null;
  const { failures, differences, minRequests, minClients, window, returnAfter } = settings;
  const limits = [
    ...(failures === undefined ? [] : [`${shareOf(failures)} failures`]),
    ...(differences === undefined ? [] : [`${shareOf(differences)} differences`]),
  ].join(" or ");
  const since = `of at least ${minRequests} in ${durationWords(window)} from ${counted(minClients, "client")}`;
  const back = returnAfter === undefined ? "until an operator brings it back" : `for ${durationWords(returnAfter)}`;
  return `steps back at ${limits} ${since}, ${back}`;
}

/** Null for a rule that never moves on. */
export function promoteWords(settings: PromoteSettings | undefined): string | null {
  if (settings === undefined) return null;
  const { differencesBelow, minClients, automatic } = settings;
  const when = `with differences surely below ${shareOf(differencesBelow)} from ${counted(minClients, "client")}`;
  return automatic ? `moves to translate ${when}` : `says when it could move to translate: ${when}`;
}

function selectorWords(kind: string, { name, value }: Selector): string {
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

function clock(minutes: number): string {
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

/** `0.1 %`. */
function shareOf(share: number): string {
  return `${Number((share * 100).toPrecision(6))} %`;
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** Empty for undefined. */
function anyOf(names: ReadonlySet<string> | undefined): string {
  return [...(names ?? [])].map(shownName).join(" or ");
}
