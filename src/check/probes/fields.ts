/** Do v2's records hold what the catalogue says, no more and no less? */
import { type Finding, listed, sayFor } from "../finding.ts";
import { byLength, type ListOperation, type Page, type Probe, type Subject } from "../first-pages.ts";
import { look, rowsOf, type Seen } from "../known.ts";

const say = sayFor("fields");
/** Members of every list envelope (specification section 2). */
const PAGING: ReadonlySet<string> = new Set(["nextPageToken", "totalCount", "skipped"]);

export const fields: Probe = {
  id: "fields",
  asks: "Which names does v2 send that the catalogue does not know, and the reverse? (names only, never values)",
  run: (subject) => {
    const empty: string[] = [];
    const findings: Finding[] = [];
    let records = 0;
    for (const { resource, operation, page } of byLength(subject)) {
      if (page.records.length === 0) {
        empty.push(resource.name);
        continue;
      }
      const seen = look(page.records, operation);
      records += seen.records;
      findings.push(...judge(resource.name, operation, page, seen, subject));
    }
    const unknown = findings.some(({ level }) => level === "warn");
    if (records > 0 && !unknown) findings.unshift(say.ok(`every name in ${records} records is known`));
    if (empty.length > 0) {
      findings.push(say.skipped(`no record to look at: ${listed(empty)}`, "check with a token that can read some"));
    }
    return Promise.resolve(findings);
  },
};

function judge(
  name: string,
  operation: ListOperation,
  page: Page,
  seen: Seen,
  { config }: Subject,
): readonly Finding[] {
  const findings: Finding[] = [];
  const envelope = new Set(operation.envelope?.map(({ v2 }) => v2));
  const extra = Object.keys(page.envelope).filter((member) => !PAGING.has(member) && !envelope.has(member));
  const unknown = [...seen.unknown, ...extra.map((member) => `page.${member}`)];
  const update = "update carryover";
  if (unknown.length > 0) {
    const passed = config.unknownFields.response === "pass";
    findings.push(
      say.warn(
        `${name}: v2 sends what the catalogue does not know: ${listed(unknown)}`,
        passed
          ? `${update}; v1 clients are shown them: where one refuses names that it does not know, set unknownFields.response: drop`
          : `${update}; v1 clients are not shown them`,
      ),
    );
  }
  if (seen.unknownValues.size > 0) {
    findings.push(
      say.warn(
        `${name}: enum names that the catalogue does not know: ${[...seen.unknownValues].slice(0, 12).join(", ")}`,
        `${update}; v1 clients are shown v2's names`,
      ),
    );
  }
  const never = neverSeen(operation, seen);
  if (never.length > 0) findings.push(say.note(`${name}: never seen in ${seen.records} records: ${listed(never)}`));
  return findings;
}

/** Rows that could have been there and never were; of a oneof most members never are. */
function neverSeen(operation: ListOperation, seen: Seen): readonly string[] {
  return rowsOf(operation.answer.rows)
    .filter(({ row, path }) => row.oneof === undefined && seen.possible.has(path) && !seen.present.has(path))
    .map(({ path }) => path);
}
