/** Which tables make up a report for people? (The same for a terminal and in Markdown.) */

import { isUnknown } from "../../ledger/difficulty.ts";
import { CLOCKS_MAY_DIFFER, sayBehind } from "./merge.ts";
import { oneLine } from "./one-line.ts";
import type { BoundLine, BreakLine, InstanceLine, MigrationReport } from "./report.ts";

export interface ReportColumn {
  readonly name: string;
  /** Numbers stand to the right. */
  readonly right?: true;
}

export interface ReportSection {
  readonly title: string;
  readonly columns: readonly ReportColumn[];
  readonly rows: readonly (readonly string[])[];
  /** Sentences below the table, or instead of one without rows. */
  readonly notes: readonly string[];
}

/** The first line: what this is about, and whether it is whole. */
export function headline({ at, instances, complete }: MigrationReport): string {
  if (at === null) {
    const asked = instances.length === 1 ? "1 address" : `any of ${amount(instances.length)} addresses`;
    return `INCOMPLETE carryover report: nothing was heard from ${asked}`;
  }
  const distinct = instances.filter(({ fault, sameAs }) => fault === null && sameAs === null).length;
  const many = `${amount(distinct)} ${distinct === 1 ? "instance" : "instances"}`;
  if (complete) return `carryover report of ${many}, ${when(at)}`;
  const silent = instances.filter(({ fault }) => fault !== null).length;
  return `INCOMPLETE carryover report of ${many}, ${when(at)}: nothing was heard from ${silent} of ${instances.length} addresses`;
}

/** The last line. */
export function lastLine({ v1Left, why, window, ledger }: MigrationReport): string {
  // Nobody can say what was not called while nobody looked.
  const first = window.from ?? (v1Left === "no" ? window.watchedSince : ledger.since);
  const since = first === null ? "" : ` since ${when(first)}`;
  const word = { yes: "v1 is still in use", no: "v1 was not used", unknown: "NOT KNOWN whether v1 is in use" }[v1Left];
  return `${word}: ${why}${v1Left === "unknown" ? "" : since}`;
}

/** `most`: rows of a table; what is beyond them is said. When nobody was heard there is nothing to tell but why. */
export function sectionsOf(report: MigrationReport, most: number): readonly ReportSection[] {
  if (report.at === null) return [shortened(instanceSection(report), most)];
  return [
    instanceSection(report),
    requestSection(report),
    clientSection(report),
    comparisonSection(report),
    ruleSection(report),
    breakSection(report),
  ].map((section) => shortened(section, most));
}

function shortened(section: ReportSection, most: number): ReportSection {
  const more = section.rows.length - most;
  if (more <= 0) return section;
  const note = `and ${amount(more)} more: --json has them all`;
  return { ...section, rows: section.rows.slice(0, most), notes: [note, ...section.notes] };
}

function instanceSection(report: MigrationReport): ReportSection {
  const state = ({ fault, sameAs, lastReloadSuccessful, clockBehind }: InstanceLine): string => {
    if (fault !== null) return fault;
    if (sameAs !== null) return `the same instance as ${sameAs}`;
    const isBad = lastReloadSuccessful === false;
    const isBehind = clockBehind !== null && clockBehind > CLOCKS_MAY_DIFFER;
    return [
      "heard",
      ...(isBad ? ["its rules file is BAD, older rules are in force"] : []),
      ...(isBehind ? [`its clock is ${sayBehind(clockBehind)} behind the latest`] : []),
    ].join("; ");
  };
  return {
    title: "Instances",
    columns: [{ name: "address" }, { name: "since" }, { name: "without a rule" }, { name: "force" }, { name: "state" }],
    rows: report.instances.map((line) => [
      line.address,
      when(line.since),
      line.mode ?? "",
      line.force ?? "",
      state(line),
    ]),
    notes: [],
  };
}

function requestSection({ resources, requests: all }: MigrationReport): ReportSection {
  const names = ["v1", "v2", "v1 share", "native", "shadow", "translate", "refused"];
  const total = (read: (line: MigrationReport["resources"][number]) => number) =>
    amount(resources.reduce((sum, line) => sum + read(line), 0));
  const rows = resources.map((line) => [
    line.resource,
    amount(line.v1),
    amount(line.v2),
    percent(line.v1Share),
    amount(line.native),
    amount(line.shadow),
    amount(line.translate),
    amount(line.refused),
    when(line.lastV1),
  ]);
  const sum = [
    "all",
    amount(all.v1),
    amount(all.v2),
    all.v1Share === null ? "" : percent(all.v1Share),
    ...[total(({ native }) => native), total(({ shadow }) => shadow)],
    ...[total(({ translate }) => translate), total(({ refused }) => refused), ""],
  ];
  return {
    title: "Requests since the instances began, and what served those to v1",
    columns: [{ name: "resource" }, ...names.map((name) => ({ name, right: true as const })), { name: "last v1" }],
    rows: rows.length === 0 ? [] : [sum, ...rows],
    notes: rows.length === 0 ? ["There were none."] : [],
  };
}

function clientSection({ clients: all, ledger, window }: MigrationReport): ReportSection {
  const onV1 = all.filter((client) => client.onV1);
  const others = all.length - onV1.length;
  const notes = [
    ...(onV1.length === 0 ? ["None."] : []),
    ...(others === 0 ? [] : [`${amount(others)} more ${others === 1 ? "client" : "clients"} did not.`]),
    ...(ledger.bound === 0
      ? []
      : [
          `v1 counts may be too high by ${amount(ledger.bound)}, and clients with no more v1 requests may be missing (clients.max).`,
        ]),
  ];
  return {
    title: window.from === null ? "Clients that call v1" : `Clients that called v1 since ${when(window.from)}`,
    columns: [
      { name: "client" },
      { name: "v1", right: true },
      { name: "v2", right: true },
      { name: "hardest need" },
      { name: "last v1" },
    ],
    rows: onV1.map((client) => [
      client.name,
      amount(client.v1),
      amount(client.v2),
      client.difficulty,
      when(client.lastV1),
    ]),
    notes,
  };
}

function comparisonSection({ bounds }: MigrationReport): ReportSection {
  const rows = bounds
    .filter(({ client }) => client === null)
    .map((bound) => [bound.resource, bound.operation, sayBound(bound)]);
  return {
    title: "Comparisons of native and translated answers",
    columns: [{ name: "resource" }, { name: "operation" }, { name: "result" }],
    rows,
    notes: rows.length === 0 ? ["There were none."] : [],
  };
}

function ruleSection({ rules: all, instances: everybody }: MigrationReport): ReportSection {
  const heard = everybody.filter(({ fault, sameAs }) => fault === null && sameAs === null).length;
  const moved = all.filter(({ state }) => state !== "as-written");
  const others = new Set(all.map(({ name }) => name)).size - new Set(moved.map(({ name }) => name)).size;
  return {
    title: "Rules that moved, or could",
    columns: [
      { name: "rule" },
      { name: "written" },
      { name: "does" },
      { name: "state" },
      { name: "on" },
      { name: "why" },
    ],
    rows: moved.map(({ name, mode, doing, state, on, detail }) => [
      name,
      mode,
      doing,
      state,
      on.length === heard ? "all" : `${on.length} of ${heard}`,
      detail,
    ]),
    notes: [
      ...(moved.length === 0 ? ["None."] : []),
      ...(others === 0 ? [] : [`${amount(others)} more ${others === 1 ? "does" : "do"} what the file says.`]),
    ],
  };
}

function breakSection({ breaks: all, complete }: MigrationReport): ReportSection {
  const known = complete ? "Nothing that was seen." : "Nothing that was heard of; not every instance was heard.";
  return {
    title: "What would break if carryover were removed now",
    columns: [{ name: "what" }, { name: "where" }, { name: "how much", right: true }, { name: "clients" }],
    rows: breakRows(all),
    notes: all.length === 0 ? [known] : [],
  };
}

/** How does each thing that would break read in a table? */

/** Clients named in one line. */
const MOST_NAMES = 4;

const BREAK_WORDS: Readonly<Record<BreakLine["kind"], string>> = {
  lacking: "operation that v2 lacks",
  native: "served by native v1",
  "full-replace": "PUT zeroes what it leaves out",
  "long-list": "list longer than a v2 page",
  "unknown-field": "field that v2 refuses",
  unseen: "not looked into",
  operation: "v1 call",
};

/** What, where, how much, whose. */
export function breakRows(lines: readonly BreakLine[]): readonly (readonly string[])[] {
  return lines.map((line) => [BREAK_WORDS[line.kind], breakLocation(line), sizeOf(line), namesOf(line.clients)]);
}

function breakLocation({ resource, operation, field }: BreakLine): string {
  if (isUnknown({ resource })) return "paths that carryover does not know";
  if (operation !== null) return `${resource} ${operation}`;
  return field === null ? resource : `${resource}: ${field}`;
}

function sizeOf({ records, requests }: BreakLine): string {
  if (records !== null) return `${amount(records)} records`;
  return requests === null ? "" : `${amount(requests)} ${requests === 1 ? "request" : "requests"}`;
}

function namesOf(clients: readonly string[]): string {
  const more = clients.length - MOST_NAMES;
  const named = clients.slice(0, MOST_NAMES).join(", ");
  return more > 0 ? `${named} and ${amount(more)} more` : named;
}

/** How are numbers, shares and times written for people? (The same in every place and time zone.) */

/** `12,345`. */
export function amount(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}

/** `35.7 %`; a share that is not nothing never reads as 0, one that is not all never as 100. */
export function percent(share: number): string {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  if (share < 1 && share > 0.999) return "> 99.9 %";
  return `${(share * 100).toFixed(1)} %`;
}

/** `2026-11-21 21:33Z`; empty for never. */
export function when(time: string | null): string {
  return time === null ? "" : `${time.slice(0, 10)} ${time.slice(11, 16)}Z`;
}

/** `0 differences in 5,000: at most 0.06 % differ (95 %)`. */
export function sayBound({ comparisons, differences, upper }: BoundLine): string {
  const many = `${amount(differences)} ${differences === 1 ? "difference" : "differences"} in ${amount(comparisons)}`;
  return upper >= 1 ? `${many}: too few to say anything` : `${many}: at most ${atMost(upper)} differ (95 %)`;
}

/** Two digits that count, rounded up: a bound must stay one. */
export function atMost(share: number): string {
  const value = share * 100;
  if (value <= 0) return "0 %";
  const digits = Math.max(0, 1 - Math.floor(Math.log10(value)));
  const scale = 10 ** digits;
  // What only counting in binary has added is no reason to round up.
  return `${Number((Math.ceil(value * scale - 1e-9) / scale).toFixed(digits))} %`;
}

/** What must be seen even where only a program reads the report? (On standard error.) */

/** Each address that was not heard, bad rules files, ledgers from one file, clocks that differ, and (`reason`) why --fail-if-v1 failed. */
export function warningsOf(report: MigrationReport, reason: boolean): readonly string[] {
  const silent = report.instances.flatMap(({ address, fault }) => (fault === null ? [] : [`${address} ${fault}`]));
  const bad = report.instances.flatMap(({ address, lastReloadSuccessful }) =>
    lastReloadSuccessful === false
      ? [`${address} runs on older rules: its rules file is bad (GET ${address}/rules)`]
      : [],
  );
  const shared = report.instances.flatMap(({ address, sharesLedgerWith }) =>
    sharesLedgerWith === null
      ? []
      : [
          `${address} began with the same ledger file as ${sharesLedgerWith}: what it held is counted for both (give each replica a clients.file of its own)`,
        ],
  );
  const slow = report.instances.flatMap(({ address, sameAs, clockBehind }) =>
    sameAs !== null || clockBehind === null || clockBehind <= CLOCKS_MAY_DIFFER
      ? []
      : [
          `${address} has a clock that is ${sayBehind(clockBehind)} behind the latest: set the clocks (times in the report are by the latest)`,
        ],
  );
  const failed = reason && report.v1Left !== "no" ? [lastLine(report)] : [];
  return [...silent, ...bad, ...shared, ...slow, ...failed].map(oneLine);
}
