/** Which tables make up a report for people? (The same for a terminal and in Markdown.) */
import { amount, percent, sayBound, when } from "./amounts.ts";
import { breakRows } from "./break-rows.ts";
import { CLOCKS_MAY_DIFFER, sayBehind } from "./clocks.ts";
import type { InstanceLine, Report } from "./shape.ts";

export interface Column {
  readonly name: string;
  /** Numbers stand to the right. */
  readonly right?: true;
}

export interface Section {
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
  /** Sentences below the table, or instead of one without rows. */
  readonly notes: readonly string[];
}

/** The first line: what this is about, and whether it is whole. */
export function headline({ at, instances, complete }: Report): string {
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
export function lastLine({ v1Left, why, window, ledger }: Report): string {
  // Nobody can say what was not called while nobody looked.
  const first = window.from ?? (v1Left === "no" ? window.watchedSince : ledger.since);
  const since = first === null ? "" : ` since ${when(first)}`;
  const word = { yes: "v1 is still in use", no: "v1 was not used", unknown: "NOT KNOWN whether v1 is in use" }[v1Left];
  return `${word}: ${why}${v1Left === "unknown" ? "" : since}`;
}

/** `most`: rows of a table; what is beyond them is said. When nobody was heard there is nothing to tell but why. */
export function sectionsOf(report: Report, most: number): readonly Section[] {
  if (report.at === null) return [shortened(instances(report), most)];
  return [instances(report), requests(report), clients(report), comparisons(report), rules(report), breaks(report)].map(
    (section) => shortened(section, most),
  );
}

function shortened(section: Section, most: number): Section {
  const more = section.rows.length - most;
  if (more <= 0) return section;
  const note = `and ${amount(more)} more: --json has them all`;
  return { ...section, rows: section.rows.slice(0, most), notes: [note, ...section.notes] };
}

function instances(report: Report): Section {
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

function requests({ resources, requests: all }: Report): Section {
  const names = ["v1", "v2", "v1 share", "native", "shadow", "translate", "refused"];
  const total = (read: (line: Report["resources"][number]) => number) =>
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

function clients({ clients: all, ledger, window }: Report): Section {
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

function comparisons({ bounds }: Report): Section {
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

function rules({ rules: all, instances: everybody }: Report): Section {
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

function breaks({ breaks: all, complete }: Report): Section {
  const known = complete ? "Nothing that was seen." : "Nothing that was heard of; not every instance was heard.";
  return {
    title: "What would break if carryover were removed now",
    columns: [{ name: "what" }, { name: "where" }, { name: "how much", right: true }, { name: "clients" }],
    rows: breakRows(all),
    notes: all.length === 0 ? [known] : [],
  };
}
