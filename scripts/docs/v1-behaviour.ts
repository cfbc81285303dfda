/** Writes docs/v1-behaviour.md: each difference, and the tests that are named after it. */
import { type DifferenceGroup, differences } from "../../test/traps/differences.ts";
import { testsNamed } from "./named-tests.ts";

const HEAD = [
  "# What v1 clients see",
  "",
  "This page is made from `test/traps/differences.ts`; `npm run docs` regenerates it.",
  "",
  "**A v1 request that carryover translates is answered as native v1 answered it, but for the rows below.** A client that needs nothing of the column",
  "*what v1 did* is not affected. Rows hold with the default options; *option* names the one that changes a row. Requests that native v1 serves behind",
  "carryover ([cutover.md](cutover.md)) meet only the rows marked with \\*, as far as they apply to them.",
  "",
  "*Not documented* means: v1's own documentation does not say. What becomes of one request of yours, without sending it: `carryover explain` ([explain.md](explain.md)).",
  "",
];

/** `docs/v1-behaviour.md`. */
export function v1BehaviourPage(): string {
  const files = testsNamed("V");
  return `${[...HEAD, ...differences.flatMap((group) => section(group, files))].join("\n").trimEnd()}\n`;
}

function section({ title, rows }: DifferenceGroup, files: ReadonlyMap<string, readonly string[]>): readonly string[] {
  if (rows.length === 0) return [`## ${title}`, "", "No difference.", ""];
  const lines = rows.map(({ id, v1, carryover, why, option, native }) => {
    const tests = (files.get(id) ?? []).map((file) => `\`test/${file}\``).join(", ");
    const mark = native === true ? " \\*" : "";
    return `| <a id="${id.toLowerCase()}"></a>${id}${mark} | ${v1} | ${carryover} | ${why} | ${option} | ${tests} |`;
  });
  return [
    `## ${title}`,
    "",
    "| | what v1 did | what carryover does | why | option | shown by |",
    "|---|---|---|---|---|---|",
    ...lines,
    "",
  ];
}
