/** Which v2 members each member of the v1 response comes from, read from the rows that make the edits. */
import {
  type Join,
  type Operation,
  publishedShape,
  type RecordTimes,
  type Resource,
  type Row,
  type Shape,
} from "../../model/resource.ts";
import { V2_KEY } from "../../translate/pages.ts";
import { v1ZeroText } from "../../translate/response-plan.ts";
import { joinsOf } from "./assumed-records.ts";
import type { AnswerMember } from "./explanation.ts";

interface AnswerSettings {
  /** `upstream.v2.omitsZeros` is not `no`. */
  readonly insertZeros: boolean;
  readonly recordTimes: RecordTimes;
}

interface MemberOptions {
  readonly insertZeros: boolean;
  readonly joins: readonly Join[];
  /** Inside a message that v2 does not have: its members are around it. */
  readonly apart?: true;
}

/** The members of the response of `operation`; none for one that responds with `{}`, or is not translated. */
export function explainAnswer(
  resource: Resource,
  operation: Operation,
  { insertZeros, recordTimes }: AnswerSettings,
): AnswerMember[] {
  if (!("answer" in operation)) return [];
  const answer = recordTimes === "published" ? publishedShape(operation.answer) : operation.answer;
  const joins = joinsOf(operation);
  const by = "by" in operation ? operation.by : undefined;
  if (by === "summarise") return summaryMembers(resource, answer, insertZeros);
  const members = shapeMembers(answer, "", "", { insertZeros, joins });
  if (by === "create-batch") return batchMembers(resource, members);
  const envelope = operation.kind === "list" ? (operation.envelope ?? []) : [];
  return [
    ...members,
    ...envelope.map((row): AnswerMember => {
      const v2 = row.v2 === null ? [] : [row.v2];
      const why = row.v2 === null ? `beside items; repeats ${(row.fromQuery ?? []).join(" or ")}` : "beside items";
      const becomes = row.v2 === null ? "inserted" : row.v1 === row.v2 ? "same" : "renamed";
      return { v1: row.v1, v2, becomes, why, absent: row.presence === "explicit" ? null : v1ZeroText(row) };
    }),
  ];
}

/** The envelope of a batch, and the members of each record. */
function batchMembers({ items }: Resource, members: readonly AnswerMember[]): AnswerMember[] {
  const why = "one record for each that was sent, in their order; anything else is an error";
  const envelope: AnswerMember = { v1: items, v2: [items], becomes: "same", why, absent: null };
  return [envelope, ...members.map((member) => below(member, `${items}[].`, `${items}[].`))];
}

function below(member: AnswerMember, v1: string, v2: string): AnswerMember {
  return { ...member, v1: member.v1 === null ? null : v1 + member.v1, v2: member.v2.map((path) => v2 + path) };
}

/** What is computed from all records of v2's list: v2 has no members for it. */
function summaryMembers(resource: Resource, { rows }: Shape, insertZeros: boolean): AnswerMember[] {
  return rows.flatMap((row) => {
    const fact = row.from?.[0] ?? row.v2 ?? "";
    const why = SUMMARY_FACTS.get(fact) ?? "from all records of the list";
    const member: AnswerMember = { v1: row.v1, v2: [], becomes: "worked-out", why, absent: v1ZeroText(row) };
    if (row.kind !== "message") return fact === V2_KEY ? [{ ...member, absent: null }] : [member];
    const inner = shapeMembers({ rows: row.rows, v2Only: [] }, "", "", { insertZeros, joins: [] });
    const changed = inner.filter(({ becomes }) => becomes !== "same");
    return [member, ...changed.map((each) => below(each, `${row.v1}.`, `${resource.items}[].`))];
  });
}

/** The names are those of `translate/composites/summarise.ts`. */
const SUMMARY_FACTS: ReadonlyMap<string, string> = new Map([
  [V2_KEY, "the uid in the path"],
  ["count", "how many records the whole list has"],
  ["updated", "when the record was updated that was updated last"],
  ["latest", "the record that was updated last"],
  ["version", "the greatest name that is a version (numbers and dots)"],
]);

function shapeMembers({ rows, v2Only }: Shape, v1: string, v2: string, options: MemberOptions): AnswerMember[] {
  const shown = rows.flatMap((row) => rowMembers(row, v1, v2, options));
  const paths = shown.flatMap((member) => member.v2);
  const cut = v2Only.map((name) => v2 + name).filter((name) => !paths.some((path) => isAt(path, name)));
  return [
    ...shown,
    ...cut.map((name): AnswerMember => {
      return { v1: null, v2: [name], becomes: "cut", why: "v1 never showed it", absent: null };
    }),
  ];
}

/** Whether `path` is the member `name`, or leads through it. */
function isAt(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`) || path.startsWith(`${name}/`);
}

/** One line for a row, and more for the members of its message that differ between the versions. */
function rowMembers(row: Row, v1: string, v2: string, options: MemberOptions): AnswerMember[] {
  const join = v1 === "" ? options.joins.find((one) => one.v1 === row.v1) : undefined;
  const sources = row.from ?? (row.v2 === null ? [] : [v2 + row.v2]);
  const member: AnswerMember = {
    v1: v1 + row.v1,
    v2: join === undefined ? sources : [join.by],
    ...(join === undefined ? ownOutcome(row, sources, options) : joinOutcome(join)),
    absent: whenAbsent(row, v1, sources, join, options),
  };
  if (row.kind !== "message" || join !== undefined) return [member];
  const inner = shapeMembers(
    { rows: row.rows, v2Only: row.v2Only ?? [] },
    `${v1}${row.v1}${row.list === true ? "[]" : ""}.`,
    row.v2 === null ? v2 : `${v2}${row.v2}${row.list === true ? "[]" : ""}.`,
    { insertZeros: options.insertZeros, joins: [], ...(isPutTogether(row) ? { apart: true } : {}) },
  );
  return [member, ...inner.filter(({ becomes }) => becomes !== "same")];
}

/** JSON text of what v1 shows then; null for nothing. */
function whenAbsent(
  row: Row,
  prefix: string,
  sources: readonly string[],
  join: Join | undefined,
  { insertZeros, apart }: MemberOptions,
): string | null {
  if (isNeverMadeUp(row, prefix) || (join !== undefined && join.missing !== "zero")) return null;
  if (isPutTogether(row)) return emptyText(row.rows);
  return insertZeros || apart === true || sources.length === 0 ? v1ZeroText(row) : null;
}

/** A response without its own uid is an error. `prefix`: of the message that holds the row. */
function isNeverMadeUp(row: Row, prefix: string): boolean {
  return row.presence === "explicit" || (prefix === "" && row.v2 === V2_KEY);
}

/** A message that v2 does not have, made of members that v2 has elsewhere: it is always shown. */
function isPutTogether(row: Row): row is Row & { readonly kind: "message" } {
  return (
    row.kind === "message" &&
    row.v2 === null &&
    row.from === undefined &&
    row.rows.some(({ from }) => from !== undefined)
  );
}

function emptyText(rows: readonly Row[]): string {
  const shown = rows.filter(({ presence }) => presence !== "explicit");
  return `{${shown.map((row) => `${JSON.stringify(row.v1)}:${v1ZeroText(row)}`).join(",")}}`;
}

/** The end of a row's path that means the parent of a uid. */
const PARENT = "/..";
const PARENT_WORDS = `uid${PARENT} is the uid without its last segment`;

function ownOutcome(
  row: Row,
  sources: readonly string[],
  { apart }: MemberOptions,
): Pick<AnswerMember, "becomes" | "why"> {
  if (sources.length === 0) {
    if (isPutTogether(row)) return { becomes: "moved", why: "put together from members that v2 holds apart" };
    return { becomes: "inserted", why: "v2 has no such member: always empty" };
  }
  const first = sources.length > 1 ? "the first that is there" : "";
  const why = sources.some((path) => path.endsWith(PARENT)) ? `${first}; ${PARENT_WORDS}`.replace(/^; /, "") : first;
  if (row.v2 === null || apart === true) return { becomes: "moved", why };
  if (row.kind === "enum" && row.values.values.some(([one, , other]) => one !== other)) {
    return { becomes: "converted", why: "v1's names of the values" };
  }
  return { becomes: row.v1 === row.v2 ? "same" : "renamed", why };
}

function joinOutcome(join: Join): Pick<AnswerMember, "becomes" | "why"> {
  const part = join.take === "record" ? `the whole ${join.resource}` : `${join.take.member} of the ${join.resource}`;
  const when = join.when === undefined ? "" : `, when there is ${join.when}`;
  return { becomes: "joined", why: `${part} with this uid${when}; ${whenMissing(join)}` };
}

function whenMissing({ missing }: Join): string {
  if (typeof missing === "object") return `if it cannot be read, what ${missing.reduced} says of it`;
  if (missing === "error") return "if it cannot be read, the request fails";
  return missing === "zero" ? "if it cannot be read, empty" : "if it cannot be read, the record's own";
}
