/** The status of a migration on one screen of a terminal. */

import { changeLines } from "../../fleet/change.ts";
import { replicasText } from "../../fleet/replicas.ts";
import { movedText, shareText } from "../../fleet/standing.ts";
import type { MigrationStatus, RuleLineStatus } from "../../fleet/status.ts";
import { counted } from "../../rules/words.ts";
import { cutLine } from "../terminal.ts";

const WIDTH = 80;
const HEIGHT = 24;
const MOST_TROUBLES = 5;
const MOST_LATELY = 3;
const MOST_AHEAD = 2;
/** Lines for them, as long as each has one. */
const MOST_TROUBLE_LINES = 8;

/** One screen of a terminal: what does not fit is counted. */
export function statusText(status: MigrationStatus): string {
  const { standing, window, next, change, attention } = status;
  const troubles = troublesText(attention);
  if (standing === null) return ["No instance responded", ...troubles].join("\n");
  const moved = movedText(standing, window);
  const first = `${moved}; next: ${next}`;
  const head = [
    ...(first.length <= WIDTH ? [first] : [...partsOf(`${moved};`), ...wrapped(`next: ${next}`, 0, 3)]),
    ...changeLines(change).map((line) => cutLine(`  ${line}`, WIDTH)),
    ...allTimeText(status),
    ...wrapped(settingsText(status), 0, 2),
  ];
  const tail = [
    attention.length === 0 ? "Nothing needs attention" : "Needs attention",
    ...troubles,
    ...latelyText(status.lately),
    ...aheadText(status.ahead),
  ];
  const rules = rulesText(status, HEIGHT - head.length - tail.length - 2);
  return [...head, "", ...rules, "", ...tail].join("\n");
}

/** In one line, or a line for the share and one for the clients. */
function partsOf(moved: string): readonly string[] {
  const parts = moved.length <= WIDTH ? [moved] : moved.split(/(?<=;) /);
  return parts.map((part) => cutLine(part, WIDTH));
}

/** Counts of a window say little about how far the migration came. */
function allTimeText({ allTime, countsSince, window }: MigrationStatus): readonly string[] {
  const isAll = window.from === null && window.to === null;
  if (isAll || countsSince === null || allTime.served === 0) return [];
  return [`in all since ${countsSince.slice(0, 10)}: ${shareText(allTime)}`];
}

function settingsText({ instances, replicas, at }: MigrationStatus): string {
  const all = replicasText(replicas);
  const [known, isEach] = [counted(instances.length, "instance"), all === counted(instances.length, "replica")];
  const one = (texts: readonly string[]) => (new Set(texts).size === 1 ? texts[0] : "they differ");
  return [
    `${isEach ? all : all === undefined ? known : `${known} of ${all}`}, ${at?.slice(0, 16).replace("T", " ")}Z`,
    `without a rule: ${one(instances.map(({ mode }) => mode))}`,
    `force: ${one(instances.map((instance) => instance.forceText))}`,
  ].join("; ");
}

/** What is over still matters to who looks in the morning. */
function latelyText(lately: MigrationStatus["lately"]): readonly string[] {
  if (lately.length === 0) return [];
  const lines = lately.slice(0, MOST_LATELY).map(({ at, kind, rule, says }) => {
    const what = `${at.slice(11, 16)}Z ${kind}${rule === null ? "" : ` ${rule}`}: ${says}`;
    return cutLine(`  ${what}`, WIDTH);
  });
  return [
    `In the last 24 h${lately.length > MOST_LATELY ? ` (${lately.length}, see carryover events)` : ""}`,
    ...lines,
  ];
}

function aheadText(ahead: readonly string[]): readonly string[] {
  if (ahead.length === 0) return [];
  return [
    "Takes long: begin early",
    ...ahead.slice(0, MOST_AHEAD).flatMap((text) => wrapped(text, 2, 2)),
    ...moreText(ahead.length - MOST_AHEAD),
  ];
}

/** With whole sentences where the room allows it. */
function troublesText(attention: readonly string[]): readonly string[] {
  for (const most of [4, 3, 2, 1]) {
    const lines = attention.slice(0, MOST_TROUBLES).flatMap((text) => wrapped(text, 2, most));
    if (lines.length <= MOST_TROUBLE_LINES || most === 1)
      return [...lines, ...moreText(attention.length - MOST_TROUBLES), ...cutText(lines)];
  }
  return [];
}

/** Says where the rest of what was cut is. */
function cutText(lines: readonly string[]): readonly string[] {
  return lines.some((line) => line.endsWith("…")) ? ["  … is cut: --json has all of it"] : [];
}

/** The rules in at most `room` lines: with all that there is to say, in short, or the first ones. */
function rulesText({ rules }: MigrationStatus, room: number): readonly string[] {
  if (rules.length === 0) return ["No rules"];
  for (const most of [4, 3, 2, 1]) {
    const lines = rules.flatMap((rule) => ruleLines(rule, most));
    if (lines.length < room) return ["Rules", ...lines, ...(lines.length + 1 < room ? cutText(lines) : [])];
  }
  const shown = rules.slice(0, Math.max(1, Math.floor((room - 2) / 2)));
  return ["Rules", ...shown.flatMap((rule) => ruleLines(rule, 1)), ...moreText(rules.length - shown.length)];
}

function ruleLines(rule: RuleLineStatus, most: number): readonly string[] {
  const { name, mode, doing, state, whom, says, missing, mayGoFurther, evidence, windows } = rule;
  const isForced = state === "as-written" && doing !== mode;
  const ready = isForced || mode === "native" || !mayGoFurther ? [] : ["may go further"];
  const texts = [says, ...(missing.length > 0 ? missing : [...ready, ...(mode === "native" ? [] : evidence)])];
  const next = windows.slice(0, most).map((window) => cutLine(`    next: ${window}`, WIDTH));
  return [
    cutLine(`  ${name.padEnd(16)} ${doing.padEnd(9)} ${whom}`, WIDTH),
    ...wrapped(texts.join("; "), 4, most),
    ...next,
  ];
}

function moreText(more: number): readonly string[] {
  return more > 0 ? [`  and ${more} more: --json has them all`] : [];
}

/** `text` in at most `most` lines that are indented by `indent`. */
function wrapped(text: string, indent: number, most: number): readonly string[] {
  const lines: string[] = [];
  const width = WIDTH - indent;
  let rest = text;
  while (rest.length > width && lines.length < most - 1) {
    let end = width;
    // A number stays with its unit.
    while (end > 0 && (rest[end] !== " " || rest[end + 1] === "%")) end--;
    if (end === 0) end = width;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, cutLine(rest, width)].map((line) => " ".repeat(indent) + line);
}
