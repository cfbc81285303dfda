/** Writes docs/traps.md: each trap, and the tests that are named after it. */
import { readdirSync, readFileSync } from "node:fs";
import { traps, type Verdict } from "../../test/traps/traps.ts";

const TITLE = /(?:^|\btest\(|\]\)\(|\)\()\s*(["'`])(?:T-[A-Z]{3}-\d\d, )?(T\d\d): (.+?)\1,? ?(?:async |\(|$)/gm;

/** By id: the files of test/traps with tests that are named after it. */
export function testsOfTraps(): ReadonlyMap<string, readonly string[]> {
  const folder = new URL("../../test/traps/", import.meta.url);
  const found = new Map<string, string[]>();
  for (const file of readdirSync(folder).filter((name) => /\.(?:test|all)\.ts$/.test(name))) {
    const text = readFileSync(new URL(file, folder), "utf8");
    if (/\b(?:test|it|describe)\.(?:skip|todo|only|fails)\b/.test(text)) throw new Error(`${file} leaves tests out`);
    for (const [, , id = ""] of text.matchAll(TITLE)) {
      const files = found.get(id) ?? [];
      if (!files.includes(file)) found.set(id, [...files, file]);
    }
  }
  return found;
}

/** `docs/traps.md`. */
export function trapsPage(): string {
  const files = testsOfTraps();
  const count = (verdict: Verdict) => traps.filter((trap) => trap.verdict === verdict).length;
  const verdicts: readonly Verdict[] = ["handled", "handled, refused in part", "refused", "does not apply"];
  const rows = traps.map(({ id, trap, verdict, answer }) => {
    const shown = (files.get(id) ?? []).map((file) => `\`${file}\``).join(", ");
    return `| ${id} | ${trap} | ${verdict} | ${answer} | ${shown} |`;
  });
  return `${[
    "# Traps between v1 and v2",
    "",
    "Where the two versions look alike and are not, or differ where a client would not expect it. Each that touches one of the ten",
    "resources is met by tests that are named after it (`test/traps`), most of them against native v1 beside carryover.",
    "",
    `${verdicts.map((verdict) => `${count(verdict)} ${verdict === "does not apply" ? "do not apply" : `are ${verdict}`}`).join("; ")}.`,
    "",
    "| trap | what is easily got wrong | verdict | what carryover does, or why there is nothing to do | shown by |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n")}\n`;
}
