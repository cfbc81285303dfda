/** Writes the figures of the last bench (bench/recorded.json) into pages. */

interface Row {
  readonly what: string;
  readonly against: string;
  readonly asked: string;
  readonly text: string;
  readonly reached: string;
  /** When and of what it was measured. */
  readonly commit: string;
  readonly date: string;
}

/** By Node's major version, then by key. */
export type Recorded = Readonly<
  Record<string, { readonly node: string; readonly rows: Readonly<Record<string, Row>> }>
>;

/** Rows of the README: a race against a plain proxy, one that carryover wins, and one that it loses. */
const FIRST = ["get", "list", "lua-get"];

/** A table of all rows, each with its target, dates and commits; or of `some` with neither. */
export function speedTable(recorded: Recorded, some?: (key: string) => boolean): string {
  const runs = Object.values(recorded);
  const rows: Record<string, Row> = Object.assign({}, ...runs.toReversed().map((run) => run.rows));
  const keys = Object.keys(rows).filter(some ?? (() => true));
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const head = [
    "what",
    "compared with",
    ...(some ? [] : ["target"]),
    ...runs.map(({ node }) => `Node ${node.slice(1)}`),
    ...(some ? [] : ["measured"]),
  ];
  return [
    line(head),
    line(head.map(() => "---")),
    ...keys.map((key) => {
      const { what = "", against = "", asked = "" } = rows[key] ?? {};
      const texts = runs.map((run) => run.rows[key]?.text ?? "–");
      const measured = measuredOn(runs.flatMap((run) => run.rows[key] ?? []));
      return line(some ? [what, against, ...texts] : [what, against, asked, ...texts, measured]);
    }),
  ].join("\n");
}

/** `2026-11-27, commit aff3c8c2`, each once. */
function measuredOn(rows: readonly Row[]): string {
  return [...new Set(rows.map(({ date, commit }) => `${date}, commit ${commit}`))].join("; ");
}

/** Three rows, with what they are and where the rest is. */
export function readmeSpeed(recorded: Recorded, page: string): string {
  const rows = Object.values(recorded).flatMap(({ rows: all }) => FIRST.flatMap((key) => all[key] ?? []));
  return [
    `Ratios (above 1: carryover is faster) of ${measuredOn(rows)}: median (least to most) of interleaved rounds on two cores, with carryover's metrics and logs on. [RESULTS.md](${page}) has all rows of the last whole run, and the method.`,
    "",
    speedTable(recorded, (key) => FIRST.includes(key)),
  ].join("\n");
}

/** The rows of the Fastify plugin. */
export function fastifySpeed(recorded: Recorded): string {
  const isRow = (key: string): boolean => key.startsWith("fastify-");
  const rows = Object.values(recorded).flatMap((run) =>
    Object.entries(run.rows).flatMap(([key, row]) => (isRow(key) ? row : [])),
  );
  if (rows.length === 0) return "No run is recorded yet.";
  return [`Measured on ${measuredOn(rows)}; median (least to most).`, "", speedTable(recorded, isRow)].join("\n");
}

/** Which targets the recorded bench reached and missed. `page`: the address of RESULTS.md there; `whole`: names each miss. */
export function benchWords(recorded: Recorded, page: string, whole: boolean): string {
  const runs = Object.values(recorded);
  const all = runs.flatMap(({ rows }) => Object.values(rows));
  const one = (texts: readonly string[]): string => [...new Set(texts)].join(", ");
  const verdicts = runs.map(({ node, rows }) => {
    const judged = Object.values(rows).filter(({ reached }) => reached === "yes" || reached === "no");
    return { node, judged, missed: judged.filter(({ reached }) => reached === "no") };
  });
  const counts = verdicts.map(
    ({ node, judged, missed }) => `${missed.length} of ${judged.length} targets on Node ${node.slice(1)}`,
  );
  const run = `The benchmark of ${one(all.map(({ date }) => date))} (commit ${one(all.map(({ commit }) => commit))}) missed ${counts.join(" and ")} ([results](${page}))`;
  if (!whole) return `${run}.`;
  const lines = verdicts.flatMap(({ node, missed }) =>
    missed.map(({ what, text, asked }) => `- ${what}: ${text}; target: ${asked} (Node ${node.slice(1)})`),
  );
  return [`${run}${lines.length === 0 ? "." : ":"}`, ...(lines.length === 0 ? [] : ["", ...lines])].join("\n");
}
