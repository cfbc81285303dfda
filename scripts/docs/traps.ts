/** Writes docs/traps.md: each trap, and the tests that are named after it. */
import { type Trap, traps, type Verdict } from "../../test/traps/traps.ts";
import { testsNamed } from "./named-tests.ts";

/** `docs/traps.md`. */
export function trapsPage(): string {
  const files = testsNamed("T", "traps/");
  const count = (verdict: Verdict) => traps.filter((trap) => trap.verdict === verdict).length;
  const verdicts: readonly Verdict[] = ["handled", "handled, refused in part", "refused", "does not apply"];
  const rows = traps.map((each) => {
    const { id, trap, answer } = each;
    const shown = (files.get(id) ?? []).map((file) => `\`${file}\``).join(", ");
    return `| ${id} | ${trap} | ${verdictOf(each)} | ${answer} | ${shown} |`;
  });
  return `${[
    "# Traps between v1 and v2",
    "",
    "Where the two versions look alike and are not, or differ where a client would not expect it. Each that touches one of the ten",
    "resources is met by tests that are named after it (`test/traps`), most of them against native v1 beside carryover. What is refused is a",
    "difference for clients: the verdict links to its row of [v1-behaviour.md](v1-behaviour.md).",
    "",
    `${verdicts.map((verdict) => `${count(verdict)} ${verdict === "does not apply" ? "do not apply" : `are ${verdict}`}`).join("; ")}.`,
    "",
    "| trap | what is easily got wrong | verdict | what carryover does, or why there is nothing to do | shown by |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n")}\n`;
}

function verdictOf({ verdict, differences = [] }: Trap): string {
  if (differences.length === 0) return verdict;
  return `${verdict}: ${differences.map((id) => `[${id}](v1-behaviour.md#${id.toLowerCase()})`).join(", ")}`;
}
