/** Writes the figures of the last bench (test/bench/recorded.json) into pages. */

interface Row {
  readonly what: string;
  readonly against: string;
  readonly asked: string;
  readonly text: string;
}

/** By Node's major version, then by key. */
export type Recorded = Readonly<
  Record<string, { readonly node: string; readonly rows: Readonly<Record<string, Row>> }>
>;

/** Rows of the README: enough to see whether speed is a question. */
const FIRST = ["pass", "get", "list", "zeros", "lua-list", "readers-4", "long-cpu"];

/** A table of all rows, or of the `first` ones without their targets. */
export function speedTable(recorded: Recorded, first = false): string {
  const runs = Object.values(recorded);
  const rows: Record<string, Row> = Object.assign({}, ...runs.toReversed().map((run) => run.rows));
  const keys = Object.keys(rows).filter((key) => !first || FIRST.includes(key));
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const head = [
    "what",
    "compared with",
    ...(first ? [] : ["target"]),
    ...runs.map(({ node }) => `Node ${node.slice(1)}`),
  ];
  return [
    line(head),
    line(head.map(() => "---")),
    ...keys.map((key) => {
      const { what = "", against = "", asked = "" } = rows[key] ?? {};
      return line([what, against, ...(first ? [] : [asked]), ...runs.map((run) => run.rows[key]?.text ?? "–")]);
    }),
  ].join("\n");
}
