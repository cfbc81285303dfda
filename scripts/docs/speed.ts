/** Writes the figures of the last bench (test/bench/recorded.json) into pages. */

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

/** A table of all rows, or of `some` without their targets. */
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
  ];
  return [
    line(head),
    line(head.map(() => "---")),
    ...keys.map((key) => {
      const { what = "", against = "", asked = "" } = rows[key] ?? {};
      return line([what, against, ...(some ? [] : [asked]), ...runs.map((run) => run.rows[key]?.text ?? "–")]);
    }),
  ].join("\n");
}

/** Three rows, with what they are and where the rest is. */
export function readmeSpeed(recorded: Recorded, page: string): string {
  const rows = Object.values(recorded).flatMap(({ rows: all }) => FIRST.flatMap((key) => all[key] ?? []));
  const of = [...new Set(rows.map(({ date, commit }) => `${date}, commit ${commit}`))].join("; ");
  return [
    `Ratios (above 1: carryover is faster) of ${of}: median (least to most) of interleaved rounds on two cores, with carryover's metrics and logs on. [RESULTS.md](${page}) has all rows of the last whole run, and the method.`,
    "",
    speedTable(recorded, (key) => FIRST.includes(key)),
  ].join("\n");
}

/** The rows of the Fastify plugin. */
export function fastifySpeed(recorded: Recorded): string {
  const isRow = (key: string): boolean => key.startsWith("fastify-");
  const isMeasured = Object.values(recorded).some(({ rows }) => Object.keys(rows).some(isRow));
  return isMeasured ? speedTable(recorded, isRow) : "No run is recorded yet.";
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
