/** A report as tables for a terminal or in Markdown, and the warnings on standard error. */

import type { BreakLine } from "../../fleet/breaks.ts";
import { outcomeText } from "../../fleet/brownouts.ts";
import { changeLines } from "../../fleet/change.ts";
import { CLOCKS_MAY_DIFFER, durationText } from "../../fleet/merge.ts";
import { errorsOf } from "../../fleet/report.ts";
import type { BoundLine, InstanceLine, MigrationReport } from "../../fleet/report-lines.ts";
import { movedText, shareText } from "../../fleet/standing.ts";
import { ownerText } from "../../ledger/clients-view.ts";
import { isUnknown } from "../../ledger/difficulty.ts";
import { FAULT_ORIGINS } from "../../model/problem.ts";
import { boundWords, counted, plural } from "../../rules/words.ts";
import { cutLine, oneLine } from "../terminal.ts";

interface ReportColumn {
  readonly name: string;
  /** Aligned to the right, as numbers are. */
  readonly right?: true;
  /** The last column, with sentences. */
  readonly reason?: true;
}

const left = (...names: readonly string[]): ReportColumn[] => names.map((name) => ({ name }));
const right = (...names: readonly string[]): ReportColumn[] => names.map((name) => ({ name, right: true }));

interface ReportSection {
  readonly title: string;
  readonly columns: readonly ReportColumn[];
  readonly rows: readonly (readonly string[])[];
  /** Sentences below the table, or instead of an empty one. */
  readonly notes: readonly string[];
}

/** The first lines: where the migration stands, then what is reported, over which window, and whether it is complete. */
function headlines(report: MigrationReport): readonly string[] {
  const { standing, at, instances, complete } = report;
  if (at === null || standing === null) {
    const asked = `${instances.length === 1 ? "" : "any of "}${amount(instances.length)} ${plural(instances.length, "address", "addresses")}`;
    return [`INCOMPLETE carryover report: nothing was heard from ${asked}`];
  }
  const silent = instances.filter(({ fault }) => fault !== null).length;
  const missing = `; nothing was heard from ${silent} of ${counted(instances.length, "address", "addresses")}`;
  const what = `carryover report of ${counted(distinctInstances(instances), "instance")}${goneText(instances)}${scopeText(report)}, ${when(at)}`;
  return [
    `${complete ? "" : "INCOMPLETE: "}${movedText(standing, report.window, report.scope.client !== null)}`,
    `next: ${standing.next}`,
    ...changeLines(standing.change),
    `${what}${complete ? "" : missing}`,
    windowText(report),
  ];
}

/** ` on tag, ci-*`; empty for a report on everything. */
function scopeText({ scope }: MigrationReport): string {
  const parts = [scope.resource, scope.client].filter((part) => part !== null);
  return parts.length === 0 ? "" : ` on ${parts.join(", ")}`;
}

/** Since when all numbers count, and the whole beside the window. */
function windowText({ window, allTime, scope }: MigrationReport): string {
  const since = `Requests are counted since ${when(window.countsSince)}`;
  if (isAllTimes(window)) return `${since}.`;
  const { v1, v2 } = allTime.requests;
  const share = scope.client === null && allTime.served !== null ? `, ${shareText(allTime)}` : "";
  const all = v1 === null ? "" : `, in all ${amount(v1)} v1${v2 === null ? "" : ` and ${amount(v2)} v2`}${share}`;
  return `${since}${all}. What was not called ${window.says} is left out.`;
}

function isAllTimes({ from, to }: MigrationReport["window"]): boolean {
  return from === null && to === null;
}

/** How many instances responded. */
function distinctInstances(instances: readonly InstanceLine[]): number {
  return instances.filter(({ fault, sameAs, goneSince }) => fault === null && sameAs === null && goneSince === null)
    .length;
}

function goneText(instances: readonly InstanceLine[]): string {
  const gone = instances.filter(({ goneSince }) => goneSince !== null).length;
  return gone === 0 ? "" : ` and ${gone} that ${plural(gone, "is", "are")} gone`;
}

/** The last line. */
function lastLine({ v1Left, why, window, ledger, scope }: MigrationReport): string {
  // "Not used" holds only for the time in which every instance was watching.
  const first = window.from ?? (v1Left === "no" ? window.watchedSince : ledger.since);
  const until = window.to === null ? "" : ` until ${when(window.to)}`;
  const since = first === null ? until : ` since ${when(first)}${until}`;
  const v1 = scope.resource === null ? "v1" : `v1 ${scope.resource}`;
  const word = { yes: `${v1} is still in use`, no: `${v1} was not used`, unknown: `NOT KNOWN whether ${v1} is in use` };
  return `${word[v1Left]}: ${why}${v1Left === "unknown" ? "" : since}`;
}

/** `most`: rows of a table; a note counts the others. If no instance responded, only the reasons are shown. */
function sectionsOf(report: MigrationReport, most: number): readonly ReportSection[] {
  if (report.at === null) return [shortened(instanceSection(report), most)];
  return [
    instanceSection(report),
    requestSection(report),
    clientSection(report),
    ...errorSection(report),
    comparisonSection(report),
    // Nobody tells which resources and clients a rule is about.
    ...(report.scope.resource === null && report.scope.client === null ? [ruleSection(report)] : []),
    ...brownoutSection(report),
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
  const state = ({ fault, sameAs, lastReloadSuccessful, clockBehind, goneSince }: InstanceLine): string => {
    if (fault !== null) return fault;
    if (goneSince !== null) return `gone since ${when(goneSince)}; what it counted is in this report`;
    if (sameAs !== null) return `the same instance as ${sameAs}`;
    const isBehind = clockBehind !== null && clockBehind > CLOCKS_MAY_DIFFER;
    return [
      "heard",
      ...(lastReloadSuccessful === false ? ["its rules file is BAD, older rules are in force"] : []),
      ...(isBehind ? [`its clock is ${durationText(clockBehind)} behind the latest`] : []),
    ].join("; ");
  };
  return {
    title: "Instances",
    columns: left("address", "counts since", "without a rule", "force", "state"),
    rows: report.instances.map((line) => {
      return [line.address, when(line.countsSince), line.mode ?? "", line.force ?? "", state(line)];
    }),
    notes: report.lost.map(lostText),
  };
}

function lostText({ name, seen }: MigrationReport["lost"][number]): string {
  return `What ${name} counted was lost with the store, last seen ${when(seen)}`;
}

/** What served v1 requests. */
const SERVED = ["native", "shadow", "translate", "refused"] as const;

function requestSection(report: MigrationReport): ReportSection {
  const { resources, requests, allTime, clients, scope, window } = report;
  const isAll = isAllTimes(window);
  const byLedger = resources.some(({ native }) => native === null);
  const served = byLedger ? [] : SERVED;
  const line = (name: string, all: typeof requests, lines: typeof resources): readonly string[] => [
    name,
    amountOf(all.v1),
    amountOf(all.v2),
    all.v1Share === null ? "" : percent(all.v1Share),
    ...served.map((mode) => amountOf(sumOf(lines, mode))),
    "",
  ];
  const rows = resources.map((one) => [
    one.resource,
    amountOf(one.v1),
    amountOf(one.v2),
    one.v1Share === null ? "" : percent(one.v1Share),
    ...served.map((mode) => amountOf(one[mode])),
    when(one.lastV1),
  ]);
  const others = (requests.v1 ?? 0) - clients.reduce((sum, { v1 }) => sum + (v1 ?? 0), 0);
  const isWhole = !byLedger && scope.client === null && isAll;
  const what = isAll ? "" : ` ${window.says}`;
  return {
    title: byLedger
      ? `Requests${what} by the ledger, which does not tell what served them`
      : `Requests${what}, and what served those to v1`,
    columns: [...left("resource"), ...right("v1", "v2", "v1 share", ...served), ...left("last v1")],
    rows: [
      ...(rows.length === 0 ? [] : [line("all", requests, resources), ...rows]),
      ...(isAll || allTime.resources.length === 0
        ? []
        : [line(`all since ${when(window.countsSince)}`, allTime.requests, allTime.resources)]),
    ],
    notes: [
      ...(window.tooOld.length > 0 ? [`Unknown: ${TOO_OLD} (${window.tooOld.join(", ")}).`] : []),
      ...(rows.length === 0 && window.tooOld.length === 0
        ? [isAll ? "There were none." : `There were none ${window.says}.`]
        : []),
      ...(isWhole && others > 0
        ? [`${amount(others)} of the v1 requests ${plural(others, "is", "are")} of no client below: ${OTHERS}.`]
        : []),
    ],
  };
}

const TOO_OLD = "an instance is an older version, without counts over time";

function amountOf(value: number | null): string {
  return value === null ? "" : amount(value);
}

/** Null where one of them is unknown. */
function sumOf(lines: MigrationReport["resources"], mode: (typeof SERVED)[number]): number | null {
  return lines.reduce<number | null>((sum, line) => {
    const count = line[mode];
    return sum === null || count === null ? null : sum + count;
  }, 0);
}

/** Requests that the ledger gives to no client. */
const OTHERS = "refused, not let in by the platform, or of clients.exclude";

function clientSection({ clients: all, ledger, window, scope }: MigrationReport): ReportSection {
  const onV1 = all.filter((client) => client.onV1);
  const isAll = isAllTimes(window);
  const others = all.length - onV1.length;
  const notes = [
    ...(onV1.length === 0 ? ["None."] : []),
    ...(others === 0 ? [] : [`${amountIn(others, "more client")} did not.`]),
    ...(isAll || window.clientDays === null || onV1.length === 0 ? [] : [`${window.clientDays.says}.`]),
    ...(ledger.bound === 0
      ? []
      : [
          `${isAll ? "v1 counts" : "v1 counts in all"} may be too high by ${amount(ledger.bound)}, and clients with no more v1 requests may be missing (clients.max).`,
        ]),
  ];
  const v1 = scope.resource === null ? "v1" : `v1 ${scope.resource}`;
  const hasOwners = onV1.some(({ owner, contact }) => owner !== null || contact !== null);
  return {
    title: isAll ? `Clients that called ${v1}` : `Clients that called ${v1} ${window.says}`,
    columns: [
      ...left("client", ...(hasOwners ? ["owner"] : [])),
      ...right("v1", "v2", ...(isAll ? [] : ["v1 in all"])),
      ...left("hardest need", "last v1", "v1 errors"),
    ],
    rows: onV1.map((client) => [
      client.name,
      ...(hasOwners ? [ownerText({ owner: client.owner ?? undefined, contact: client.contact ?? undefined })] : []),
      amountOf(client.v1),
      amountOf(client.v2),
      ...(isAll ? [] : [amount(client.allTime.v1)]),
      client.difficulty,
      when(client.lastV1),
      FAULT_ORIGINS.flatMap((fault) => {
        const count = errorsOf(client, fault);
        return count === 0 ? [] : [`${amount(count)} ${fault}`];
      }).join(", "),
    ]),
    notes,
  };
}

/** Which client fails where. Absent without errors. */
function errorSection({ clients, window }: MigrationReport): readonly ReportSection[] {
  const rows = clients.flatMap(({ name, operations }) =>
    operations
      .filter(({ errors }) => FAULT_ORIGINS.some((fault) => errors[fault] > 0))
      .map(({ resource, operation, requests, errors }) => [
        name,
        `${resource} ${operation}`,
        amount(requests),
        ...FAULT_ORIGINS.map((fault) => amount(errors[fault])),
      ]),
  );
  if (rows.length === 0) return [];
  const columns = [...left("client", "v1 operation"), ...right("requests", ...FAULT_ORIGINS)];
  const since = isAllTimes(window) ? "" : ` since ${when(window.countsSince)}`;
  return [{ title: `Errors of v1 requests${since}, by who is at fault`, columns, rows, notes: [] }];
}

function comparisonSection({ bounds, scope, comparedSince }: MigrationReport): ReportSection {
  const ofAll = scope.client === null;
  const rows = bounds
    .filter(({ client }) => (client === null) === ofAll)
    .map((bound) => [bound.resource, bound.operation, ...(ofAll ? [] : [bound.client ?? ""]), sayBound(bound)]);
  return {
    title: `Comparisons of native and translated responses since ${when(comparedSince)}`,
    columns: left("resource", "operation", ...(ofAll ? [] : ["client"]), "result"),
    rows,
    notes: rows.length === 0 ? ["There were none."] : [],
  };
}

function ruleSection({ rules: all, instances }: MigrationReport): ReportSection {
  const responding = distinctInstances(instances);
  const moved = all.filter(({ state }) => state !== "as-written");
  const others = new Set(all.map(({ name }) => name)).size - new Set(moved.map(({ name }) => name)).size;
  return {
    title: "Rules that moved, or could",
    columns: [...left("rule", "written", "does", "state", "on"), { name: "why", reason: true }],
    rows: moved.map(({ name, mode, doing, state, on, detail }) => [
      name,
      mode,
      doing,
      state,
      on.length === responding ? "all" : `${on.length} of ${responding}`,
      detail,
    ]),
    notes: [
      ...(moved.length === 0 ? ["None."] : []),
      ...(others === 0 ? [] : [`${amount(others)} more ${plural(others, "does", "do")} what the file says.`]),
    ],
  };
}

/** Who came back after a brownout, and how. Absent before the first. */
function brownoutSection({ brownouts }: MigrationReport): readonly ReportSection[] {
  if (brownouts.length === 0) return [];
  const rows = brownouts.map(({ owner, contact, client, rule, from, refused, outcome }) => [
    ownerText({ owner: owner ?? undefined, contact: contact ?? undefined }),
    client,
    `${rule}, ${when(from)}`,
    amount(refused),
    outcomeText({ outcome }),
  ]);
  const columns = [
    ...left("owner", "client", "brownout"),
    ...right("refused"),
    { name: "since then", reason: true as const },
  ];
  return [{ title: "Clients that brownouts refused, each by its last one", columns, rows, notes: [] }];
}

function breakSection({ breaks: all, complete, window }: MigrationReport): ReportSection {
  const none = complete ? "Nothing that was seen." : "Nothing that was heard of; not every instance was heard.";
  return {
    title: "What would break if carryover were removed now",
    columns: [...left("what", "where"), ...right("how much"), ...left("clients")],
    rows: breakRows(all),
    notes: [
      ...(all.length === 0 ? [none] : []),
      ...(isAllTimes(window) ? [] : [`Only what was called ${window.says}.`]),
    ],
  };
}

/** Clients named in one row. */
const MOST_NAMES = 4;

const BREAK_WORDS: Readonly<Record<BreakLine["kind"], string>> = {
  lacking: "operation that v2 lacks",
  native: "served by native v1",
  "full-replace": "PUT zeroes what it leaves out",
  "long-list": "list longer than a v2 page",
  "unknown-field": "field that v2 refuses",
  unseen: "not looked into",
  operation: "v1 call",
  v2: "passed through to v2",
};

/** What, where, how much, whose. */
function breakRows(lines: readonly BreakLine[]): readonly (readonly string[])[] {
  return lines.map((line) => [BREAK_WORDS[line.kind], breakLocation(line), sizeOf(line), namesOf(line.clients)]);
}

function breakLocation({ resource, operation, field }: BreakLine): string {
  if (isUnknown({ resource })) return "paths that carryover does not know";
  if (operation !== null) return `${resource} ${operation}`;
  return field === null ? resource : `${resource}: ${field}`;
}

function sizeOf({ records, requests }: BreakLine): string {
  if (records !== null) return amountIn(records, "record");
  return requests === null ? "" : amountIn(requests, "request");
}

function namesOf(clients: readonly string[]): string {
  const more = clients.length - MOST_NAMES;
  const named = clients.slice(0, MOST_NAMES).join(", ");
  return more > 0 ? `${named} and ${amount(more)} more` : named;
}

/** `12,345`. */
export function amount(count: number): string {
  return String(Math.round(count)).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}

/** `12,345 requests`. */
function amountIn(count: number, noun: string): string {
  return `${amount(count)} ${plural(count, noun)}`;
}

/** `35.7 %`; only nothing reads as 0, and only all as 100. */
export function percent(share: number): string {
  if (share > 0 && share < 0.001) return "< 0.1 %";
  if (share < 1 && share > 0.999) return "> 99.9 %";
  return `${(share * 100).toFixed(1)} %`;
}

/** `2026-11-21 21:33Z`; empty for never. */
export function when(time: string | null): string {
  return time === null ? "" : `${time.slice(0, 10)} ${time.slice(11, 16)}Z`;
}

/** `0 differences in 5,000 comparisons: at most 0.06 % differ (95 %)`. */
function sayBound({ comparisons, differences, upper }: BoundLine): string {
  const many = `${amountIn(differences, "difference")} in ${amountIn(comparisons, "comparison")}`;
  return `${many}: ${boundWords({ bad: differences, all: comparisons, upper }, atMost)}`;
}

/** Two significant digits, rounded up, because it is an upper bound. */
export function atMost(share: number): string {
  const value = share * 100;
  if (value <= 0) return "0 %";
  const digits = Math.max(0, 1 - Math.floor(Math.log10(value)));
  const scale = 10 ** digits;
  // A binary rounding error must not round up.
  return `${Number((Math.ceil(value * scale - 1e-9) / scale).toFixed(digits))} %`;
}

/**
 * Warnings that must be seen even if only a program reads the report: addresses without a response, bad rules files, ledgers
 * from one file, clocks that differ, and (`reason`) why --fail-if-v1 failed.
 */
export function warningsOf(report: MigrationReport, reason: boolean): readonly string[] {
  const { instances } = report;
  const warnings = (textOf: (line: InstanceLine) => string | undefined) =>
    instances.flatMap((line) => {
      const text = textOf(line);
      return text === undefined ? [] : [`${line.address} ${text}`];
    });
  return [
    ...warnings(({ fault }) => fault ?? undefined),
    ...warnings(({ address, lastReloadSuccessful, goneSince }) =>
      lastReloadSuccessful === false && goneSince === null
        ? `runs on older rules: its rules file is bad (GET ${address}/rules)`
        : undefined,
    ),
    ...warnings(({ sharesLedgerWith }) =>
      sharesLedgerWith === null
        ? undefined
        : `began with the same saved ledger as ${sharesLedgerWith}: what it held is counted for both (give each replica a state.dir of its own)`,
    ),
    ...warnings(({ sameAs, clockBehind }) =>
      sameAs !== null || clockBehind === null || clockBehind <= CLOCKS_MAY_DIFFER
        ? undefined
        : `has a clock that is ${durationText(clockBehind)} behind the latest: set the clocks (times in the report are by the latest)`,
    ),
    ...report.lost.map(lostText),
    ...report.window.tooOld.map((address) => `${address} is an older version: requests of a window are unknown`),
    ...(reason && report.v1Left !== "no" ? [lastLine(report)] : []),
  ].map(oneLine);
}

/** Rows of one table on a terminal. */
const MOST_TEXT_ROWS = 50;
/** Characters of one cell; the last column may be longer. */
const WIDEST_TEXT_CELL = 40;
const WIDEST_LAST = 120;
/** A reason that is cut says nothing. */
const WIDEST_REASON = 1_000;
const WIDEST_HEADLINE = 400;
const GAP = "  ";

export function reportText(report: MigrationReport): string {
  const sections = sectionsOf(report, MOST_TEXT_ROWS).map(sectionLines);
  const first = headlines(report).map((line) => cutLine(line, WIDEST_HEADLINE));
  return [first.join("\n"), ...sections, lastLine(report)].map((part) => part.trimEnd()).join("\n\n");
}

function sectionLines({ title, columns, rows, notes }: ReportSection): string {
  return [title, ...textTable(columns, rows), ...notes.map((note) => `${GAP}${oneLine(note)}`)].join("\n");
}

function textTable(columns: readonly ReportColumn[], rows: ReportSection["rows"]): readonly string[] {
  if (rows.length === 0) return [];
  const names = columns.map(({ name }) => name);
  const widest = (at: number) => {
    if (columns[at]?.reason === true) return WIDEST_REASON;
    return at === columns.length - 1 ? WIDEST_LAST : WIDEST_TEXT_CELL;
  };
  const lines = [names, ...rows].map((row) => row.map((cell, at) => cutLine(cell, widest(at))));
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => lengthOf(line[at] ?? ""))));
  return lines.map((line) => {
    const cells = line.map((cell, at) => {
      const blanks = " ".repeat((widths[at] ?? 0) - lengthOf(cell));
      return columns[at]?.right === true ? blanks + cell : cell + blanks;
    });
    return `${GAP}${cells.join(GAP)}`.trimEnd();
  });
}

/** Characters, not UTF-16 units. */
function lengthOf(text: string): number {
  return [...text].length;
}

const MOST_MARKDOWN_ROWS = 500;
const WIDEST_MARKDOWN_CELL = 400;

export function reportMarkdown(report: MigrationReport): string {
  const sections = sectionsOf(report, MOST_MARKDOWN_ROWS).map(sectionMarkdown);
  const [first = "", ...more] = headlines(report).map(escapeMarkdown);
  return [`# ${first}`, ...more, ...sections, `**${escapeMarkdown(lastLine(report))}**`].join("\n\n");
}

function sectionMarkdown({ title, columns, rows, notes }: ReportSection): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const table = [
    line(columns.map(({ name }) => escapeMarkdown(name))),
    line(columns.map(({ right }) => (right === true ? "---:" : "---"))),
    ...rows.map((row) => line(row.map((cell) => escapeMarkdown(cutLine(cell, WIDEST_MARKDOWN_CELL))))),
  ].join("\n");
  return [`## ${escapeMarkdown(title)}`, ...(rows.length === 0 ? [] : [table]), ...notes.map(escapeMarkdown)].join(
    "\n\n",
  );
}

/** Escapes everything that Markdown or HTML interprets; `www.` and `@name` would become links and mentions. */
export function escapeMarkdown(text: string): string {
  return oneLine(text)
    .replaceAll(/[\\`*_{}[\]<>|~#!]/g, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("@", "&#64;")
    .replaceAll(/\b(www)\./gi, "$1&#46;")
    .replaceAll(/\b(https?|ftp):/gi, "$1&#58;");
}
