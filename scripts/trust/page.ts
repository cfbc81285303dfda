/** docs/trust.md, from the promises and the results of the runs. */
import type { Recorded } from "../docs/speed.ts";
import type { Goal, Take } from "./goals.ts";

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly by: readonly string[];
  /** Of a row that was run by itself, after the others. */
  readonly date?: string;
  readonly commit?: string;
}

export interface Summed {
  readonly id: string;
  readonly what: string;
  readonly unit: string;
  readonly times: number;
  readonly sum: number;
  readonly least: number;
  readonly greatest: number;
}

/** test/trust/result.json. */
export interface Result {
  readonly date: string;
  readonly commit: string;
  readonly node: string;
  readonly machine: string;
  readonly seed: string;
  readonly runs: readonly {
    readonly command: string;
    readonly passed: number;
    readonly failed: number;
    readonly seconds: number;
    readonly date?: string;
    readonly commit?: string;
  }[];
  readonly tests: Readonly<Record<string, Counts>>;
  readonly figures: readonly Summed[];
}

export interface PlannedRow {
  readonly id: string;
  readonly what: string;
  readonly notApplicable?: string;
}

export interface Planned {
  readonly title: string;
  readonly says: string;
  readonly rows: readonly PlannedRow[];
}

/** Amounts of these are of one moment or one run: they are not added up. */
const MEASURED = /^(?:ms|s|seconds?|effects|ratio|share|%|x|MB|MiB|GiB|°)$|\/|^$/;

/** The whole page. */
export function trustPage(promises: readonly Planned[], goals: readonly Goal[], result: Result): string {
  return [
    opening(promises, goals, result),
    "## Figures",
    goalTable(goals, result),
    ...promises.flatMap((promise) => [`## ${promise.title}`, promise.says, rowTable(promise, goals, result)]),
    ...absent(promises),
    "## How to run these tests",
    runTable(result),
    CLOSING,
  ]
    .join("\n\n")
    .concat("\n");
}

/** A figure that does not reach its goal, and the rows to which it belongs. */
export interface Missed {
  readonly what: string;
  readonly measured: string;
  readonly goal: string;
  readonly by: readonly string[];
}

/** Of a goal that several rows share, those rows have missed it whose own figures do. */
export function missedGoals(goals: readonly Goal[], { figures }: Result): readonly Missed[] {
  return goals.flatMap((goal) => {
    const found = figuresFor(goal, figures);
    if (found.length === 0 || isMet(goal, found)) return [];
    const own = found.filter((one) => !isMet(goal, [one])).map(({ id }) => id);
    return [{ what: goal.what, measured: measured(goal, found), goal: goal.goal, by: [...new Set(own)] }];
  });
}

/**
 * The result of the last run for README.md and docs/coverage.md. `page`: the address of docs/trust.md there; `whole`: with each missed
 * figure, otherwise only the ids of the rows.
 */
export function missedWords(goals: readonly Goal[], result: Result, page: string, whole: boolean): string {
  const known = goals.filter((goal) => goal.met !== undefined && figuresFor(goal, result.figures).length > 0);
  const missed = missedGoals(goals, result);
  const run = `The full test run of ${result.date} (commit ${result.commit}) met ${known.length - missed.length} of ${known.length} goals`;
  const link = `([trust](${page}))`;
  if (missed.length === 0) return `${run} ${link}.`;
  if (!whole) return `${run}; ${[...new Set(missed.flatMap(({ by }) => by))].join(", ")} missed theirs ${link}.`;
  const lines = missed.map(({ what, measured: value, goal }) => `- ${what}: ${value}; goal: ${goal}`);
  return [`${run}, and missed these ${link}:`, "", ...lines].join("\n");
}

/** Figures that the bench owns, by row: keys of bench/recorded.json. Pages show its record, so that no two of them differ. */
const OF_BENCH: ReadonlyMap<string, readonly string[]> = new Map([["T-LOD-06", ["busy-pass", "busy-get"]]]);

/** `result` with the recorded figures of the bench, on the run's version of Node, in place of its own. */
export function withRecorded(result: Result, recorded: Recorded): Result {
  const rows = recorded[/\d+/.exec(result.node)?.[0] ?? ""]?.rows ?? {};
  const figures = [...OF_BENCH].flatMap(([id, keys]) =>
    keys.flatMap((key): Summed[] => {
      const { what, text, commit, date } = rows[key] ?? {};
      if (what === undefined || text === undefined) return [];
      const value = Number.parseFloat(text);
      const named = `${what}, compared with idle (bench of ${date}, commit ${commit})`;
      return [{ id, what: named, unit: "ratio", times: 1, sum: value, least: value, greatest: value }];
    }),
  );
  const replaced = new Set(figures.map(({ id }) => id));
  return { ...result, figures: [...result.figures.filter(({ id }) => !replaced.has(id)), ...figures] };
}

function opening(promises: readonly Planned[], goals: readonly Goal[], result: Result): string {
  const rows = promises.flatMap(({ rows: all }) => all).filter(({ notApplicable }) => notApplicable === undefined);
  const missed = new Set(missedGoals(goals, result).flatMap(({ by }) => by));
  const missing = rows.filter(({ id }) => result.tests[id] === undefined).map(({ id }) => id);
  const failed = rows.flatMap(({ id }) => {
    if (missed.has(id)) return [`${id} missed its goal`];
    return (result.tests[id]?.failed ?? 0) > 0 ? [id] : [];
  });
  const passed = rows.filter(({ id }) => {
    return result.tests[id] !== undefined && result.tests[id].failed === 0 && !missed.has(id);
  }).length;
  return `# Trust

This page lists what carryover promises, the tests that try to break each promise, and their results. \`npm run trust\` generates the page.
[security.md](security.md) describes the threat model.

Of ${rows.length} rows ${passed} passed, ${failed.length} failed${listed(failed)}, and ${missing.length} were not run${listed(missing)}.
A row fails when one of its tests fails, or when one of its figures misses its goal.

- ${result.machine}; Node ${result.node}
- commit ${result.commit}, ${result.date}; random seed ${result.seed}`;
}

function listed(ids: readonly string[]): string {
  return ids.length === 0 ? "" : ` (${ids.join(", ")})`;
}

function goalTable(goals: readonly Goal[], { figures }: Result): string {
  const rows = goals.map((goal) => {
    const found = figuresFor(goal, figures);
    const value = found.length === 0 ? "not measured" : measured(goal, found);
    const verdict = found.length === 0 || goal.met === undefined ? "" : isMet(goal, found) ? "met" : "**missed**";
    return `| ${cell(goal.what)} | ${value} | ${goal.goal} | ${verdict} | ${goal.of.join(", ")} |`;
  });
  return ["| | measured | goal | | by |", "|---|---|---|---|---|", ...rows].join("\n");
}

function figuresFor(goal: Goal, figures: readonly Summed[]): readonly Summed[] {
  return figures.filter(({ id, what }) => goal.of.includes(id) && goal.figure.test(what));
}

function isMet(goal: Goal, found: readonly Summed[]): boolean {
  return goal.met === undefined || goal.met(together(goal.take, found));
}

function measured(goal: Goal, found: readonly Summed[]): string {
  const value = shown(together(goal.take, found));
  const unit = found[0]?.unit ?? "";
  return unit === "ratio" ? value : `${value} ${unit}`.trim();
}

function together(take: Take, found: readonly Summed[]): number {
  if (take === "sum") return found.reduce((total, { sum }) => total + sum, 0);
  return take === "least"
    ? Math.min(...found.map(({ least }) => least))
    : Math.max(...found.map(({ greatest }) => greatest));
}

function rowTable({ rows }: Planned, goals: readonly Goal[], result: Result): string {
  const missed = new Set(missedGoals(goals, result).flatMap(({ by }) => by));
  const lines = rows
    .filter(({ notApplicable }) => notApplicable === undefined)
    .map(({ id, what }) => {
      const figures = result.figures.filter((figure) => figure.id === id).map(figureText);
      return `| ${id} | ${cell(what)} | ${countText(result.tests[id])}${missed.has(id) ? ", **goal missed**" : ""} | ${figures.map(cell).join("; ")} |`;
    });
  return ["| | | tests | figures |", "|---|---|---|---|", ...lines].join("\n");
}

function countText(counts: Counts | undefined): string {
  if (counts === undefined) return "**not run**";
  const failed = counts.failed > 0 ? `, **${counts.failed} failed**` : "";
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
  return `${counts.passed} passed${failed}${skipped}${whenText(counts)}`;
}

/** Of what was run by itself. */
function whenText({ date, commit }: { readonly date?: string; readonly commit?: string }): string {
  return date === undefined ? "" : ` (${date}, commit ${commit})`;
}

function figureText({ what, unit, times, sum, least, greatest }: Summed): string {
  const measured = MEASURED.test(unit);
  const value = !measured
    ? shown(sum)
    : times === 1 || least === greatest
      ? shown(greatest)
      : `${shown(least)} to ${shown(greatest)}`;
  // What is counted mostly says its unit.
  const said = unit === "" || unit === "ratio" || (!measured && what.includes(unit)) ? "" : ` ${unit}`;
  return `${what}: ${value}${said}`;
}

function shown(value: number): string {
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

function absent(promises: readonly Planned[]): readonly string[] {
  const rows = promises.flatMap(({ rows: all }) => all).filter(({ notApplicable }) => notApplicable !== undefined);
  if (rows.length === 0) return [];
  const lines = rows.map(({ id, what, notApplicable = "" }) => `| ${id} | ${cell(what)} | ${cell(notApplicable)} |`);
  return ["## Not applicable", ["| | | why |", "|---|---|---|", ...lines].join("\n")];
}

function runTable({ runs, tests }: Result): string {
  const lines = runs.map((run) => {
    const { command, passed, failed, seconds } = run;
    const ids = Object.entries(tests).filter(([, { by }]) => by.includes(command));
    return `| \`${command}\` | ${ids.length === 1 ? "1 id" : `${ids.length} ids`} | ${passed} passed, ${failed} failed${whenText(run)} | ${Math.ceil(seconds / 60)} min |`;
  });
  return ["| run | covers | result | time |", "|---|---|---|---|", ...lines].join("\n");
}

const CLOSING = `A test belongs to a row when its title contains the row's id. \`test/trust/plan.all.ts\` checks that each row has a test.

\`npm run trust\` runs all parts except \`peers\` and \`image\`, which need other programs.
\`npm run trust -- long\` runs one part and writes this page from the last results of all parts. The parts are \`long\`, \`guards\`, \`peers\`, \`image\`, \`bench\`, \`overload\`, \`crowd\`, \`soak\` and \`soak-ports\`.
\`npm run trust -- --only T-RPC\` runs the rows whose ids begin so, and leaves the results of the others as they are. Such rows have a date and a commit of their own.
The tests of \`long\` also run, with fewer rounds, in \`npm test\` or \`npm run test:all\`.

Clients, carryover and platform shared the cores of the machine named above. Load and time figures hold for that machine only.`;
