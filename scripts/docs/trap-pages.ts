/** Writes docs/traps.md and docs/v1-behaviour.md: each trap and each difference, with the tests that are named after it. */
import { readdirSync, readFileSync } from "node:fs";
import { type DifferenceGroup, differences } from "./differences.ts";
import { type Trap, traps, type Verdict } from "./traps.ts";

/** `docs/traps.md`. */
export function trapsPage(): string {
  const files = testsNamed("TRAP");
  const count = (verdict: Verdict) => traps.filter((trap) => trap.verdict === verdict).length;
  const verdicts: readonly Verdict[] = ["handled", "handled, refused in part", "refused", "does not apply"];
  const rows = traps.map((each) => {
    const { id, trap, answer } = each;
    const shown = (files.get(id) ?? []).map((file) => `\`test/${file}\``).join(", ");
    return `| ${id} | ${trap} | ${verdictOf(each)} | ${answer} | ${shown} |`;
  });
  return `${[
    "# Traps between v1 and v2",
    "",
    "This page lists where v1 and v2 look alike but differ, or differ in a way that a client would not expect. Each trap that affects one of the",
    "ten resources has tests named after it; those in `test/end-to-end/traps` compare carryover with native v1. A refused request is a",
    "difference for clients: its verdict links to the row of [v1-behaviour.md](v1-behaviour.md).",
    "",
    `${verdicts.map((verdict) => `${count(verdict)} ${verdict === "does not apply" ? "do not apply" : `are ${verdict}`}`).join("; ")}.`,
    "",
    "| trap | what is easy to get wrong | verdict | what carryover does, or why there is nothing to do | shown by |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n")}\n`;
}

function verdictOf({ verdict, differences = [] }: Trap): string {
  if (differences.length === 0) return verdict;
  return `${verdict}: ${differences.map((id) => `[${id}](v1-behaviour.md#${id.toLowerCase()})`).join(", ")}`;
}

const HEAD = [
  "# What v1 clients see",
  "",
  "`npm run docs` generates this page from `scripts/docs/differences.ts`.",
  "",
  "**carryover answers a translated v1 request as native v1 did, except for the rows below.** A client that does not depend on",
  "*what v1 did* is not affected. The rows describe the default options; *option* names the option that changes a row. Requests that native v1 serves through",
  "carryover ([cutover.md](cutover.md)) are affected only by the rows marked with \\*, and only as far as they apply.",
  "",
  "*Not documented* means that v1's own documentation does not say. To see what happens to a request without sending it, use `carryover explain` ([explain.md](explain.md)).",
  "",
];

/** `docs/v1-behaviour.md`. */
export function v1BehaviourPage(): string {
  const files = testsNamed("DIFF");
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

const TESTS = new URL("../../test/", import.meta.url);
/** The ids that a title begins with, where a title can stand. */
const TITLE =
  /(?:^|\b(?:test|it|describe)\(|\]\)\(|\)\()\s*["'`]((?:(?:T-[A-Z]{3}|TRAP|DIFF)-\d{2,3}(?:, |(?=: )))+): /gm;
const LEFT_OUT = /\b(?:test|it|describe)\.(?:skip|todo|only|fails)\b/;

/** By id, such as `TRAP-07` or `DIFF-107`: the files with such tests, by their paths from `test/`, in order. */
export function testsNamed(word: "TRAP" | "DIFF"): ReadonlyMap<string, readonly string[]> {
  const files = readdirSync(TESTS, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.(?:test|all)\.ts$/.test(name),
  );
  const found = new Map<string, string[]>();
  for (const file of files.toSorted()) {
    const text = readFileSync(new URL(file, TESTS), "utf8");
    const titles = [...text.matchAll(TITLE)].flatMap(([, names = ""]) => names.split(", "));
    const ids = new Set(titles.filter((id) => id.startsWith(word)));
    if (ids.size > 0 && LEFT_OUT.test(text)) throw new Error(`${file} leaves tests out`);
    for (const id of ids) found.set(id, [...(found.get(id) ?? []), file]);
  }
  return found;
}
