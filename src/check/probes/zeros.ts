/** Does v2 leave zero values out of its answers? */
import { type Finding, listed, sayFor } from "../finding.ts";
import { byLength, type Probe, type Subject } from "../first-pages.ts";
import { look, rowsOf, tellsZeros } from "../known.ts";

const say = sayFor("zeros");
const PATH = "upstream.v2.omitsZeros";
const EXAMPLES = 4;

export const zeros: Probe = {
  id: "zeros",
  asks: "Does v2 leave zero values out?",
  run: (subject) => Promise.resolve([judge(subject)]),
};

function judge(subject: Subject): Finding {
  const configured = subject.config.upstream.v2.omitsZeros;
  const { left, shown } = evidence(subject);
  if (left.length > 0) {
    const what = `v2 leaves zero values out (sometimes there, sometimes not: ${listed(left, EXAMPLES)})`;
    if (configured === "no")
      return say.fail(what, "v1 clients miss them: let carryover insert them", { path: PATH, value: "yes" });
    return configured === "yes"
      ? say.ok(what)
      : say.note(what, "auto does this already; yes says so", { path: PATH, value: "yes" });
  }
  if (shown.length === 0)
    return say.skipped("no record has a zero value, none lacks a member", "auto is right whatever v2 does");
  // A handful of records does not prove that no zero is ever left out: `no` is for the operator to decide.
  return say.ok(`v2 sends zero values (${listed(shown, EXAMPLES)}); ${configured} is right`);
}

/** Members that some records of a list have and others lack, and members that were there as zeros. */
function evidence(subject: Subject): { readonly left: string[]; readonly shown: string[] } {
  const left: string[] = [];
  const shown: string[] = [];
  for (const { resource, operation, page } of byLength(subject)) {
    const seen = look(page.records, operation);
    for (const { row, path } of rowsOf(operation.answer.rows)) {
      const present = seen.present.get(path) ?? 0;
      if (!tellsZeros(row) || present === 0) continue;
      if (present < (seen.possible.get(path) ?? 0)) left.push(`${resource.name}.${path}`);
      else if (seen.zeros.has(path)) shown.push(`${resource.name}.${path}`);
    }
  }
  return { left, shown };
}
