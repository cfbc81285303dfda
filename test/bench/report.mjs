import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { machine } from "./machine.mjs";
import { memoryPicture } from "./picture.mjs";
import { table } from "./tables.mjs";

const HERE = import.meta.dirname;
const PICTURE = "docs/list-memory.svg";

/** Prints every table. */
export function printReport(results, bench) {
  console.log(body(results, bench));
}

/** Writes them to RESULTS.md, and the picture of a long list's memory to docs. */
export async function writeReport(results, bench) {
  const title = "# How fast is carryover beside its alternatives?";
  const note =
    "Written by `npm run bench`. Everything ran on one machine, the sides in turns, and ratios are what counts: absolute numbers are the machine's.";
  await writeFile(join(HERE, "RESULTS.md"), `${title}\n\n${note}\n\n${body(results, bench)}\n`);
  const { memory } = results.find((result) => result.memory !== undefined) ?? {};
  if (memory !== undefined) await writeFile(join(HERE, "../..", PICTURE), memoryPicture(memory));
}

function body(results, bench) {
  const parts = results.map(({ title, text, memory }) => [`## ${title}`, text, ...(memory ? [drawn()] : [])]);
  return [goalTable(results), machine(bench), ...parts.flat()].join("\n\n");
}

function drawn() {
  return `![Memory while a long list is read](../../${PICTURE})`;
}

function goalTable(results) {
  const rows = results.flatMap(({ goals }) =>
    goals.map(({ what, against, asked, text, reached }) => [what, against, asked, text, reached]),
  );
  return table(["what", "compared with", "to reach, then", "measured: median (least to most)", "reached"], rows);
}
