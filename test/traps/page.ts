/** How is the table of traps shown to a reader of the documentation? */
import { traps, type Verdict } from "./traps.ts";

/** The page, in markdown. `files`: by id, the test files that show the trap. */
export function trapsPage(files: ReadonlyMap<string, readonly string[]>): string {
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
