/** Which v2 members does each member of the v1 answer come from? (Read off the rows that make the edits.) */
import type { Join, Operation, Row, Shape } from "../model/resource.ts";
import { zeroText } from "../translate/answer-plan.ts";
import { V2_KEY } from "../translate/pages.ts";
import type { AnswerMember } from "./explanation.ts";

interface Options {
  /** `upstream.v2.omitsZeros` is not `no`. */
  readonly insertZeros: boolean;
  readonly joins: readonly Join[];
}

/** The members of `operation`'s answer; none for what answers `{}`, or is not translated. */
export function explainAnswer(operation: Operation, insertZeros: boolean): AnswerMember[] {
  if (!("answer" in operation)) return [];
  const joins = "joins" in operation ? (operation.joins ?? []) : [];
  const members = shapeMembers(operation.answer, "", "", { insertZeros, joins });
  const envelope = operation.kind === "list" ? (operation.envelope ?? []) : [];
  return [
    ...members,
    ...envelope.map((row): AnswerMember => {
      const v2 = row.v2 === null ? [] : [row.v2];
      const why = row.v2 === null ? `beside items; repeats ${(row.fromQuery ?? []).join(" or ")}` : "beside items";
      const becomes = row.v2 === null ? "inserted" : row.v1 === row.v2 ? "same" : "renamed";
      return { v1: row.v1, v2, becomes, why, absent: row.presence === "explicit" ? null : zeroText(row) };
    }),
  ];
}

function shapeMembers({ rows, v2Only }: Shape, v1: string, v2: string, options: Options): AnswerMember[] {
  const shown = rows.flatMap((row) => rowMembers(row, v1, v2, options));
  const read = new Set(shown.flatMap((member) => member.v2.map((path) => path.slice(v2.length).split(".")[0])));
  const cut = v2Only.filter((name) => !read.has(name));
  return [
    ...shown,
    ...cut.map((name): AnswerMember => {
      return { v1: null, v2: [v2 + name], becomes: "cut", why: "v1 never showed it", absent: null };
    }),
  ];
}

/** One line for a row, and more for the members of its message that are not the same in both versions. */
function rowMembers(row: Row, v1: string, v2: string, options: Options): AnswerMember[] {
  const join = v1 === "" ? options.joins.find((one) => one.v1 === row.v1) : undefined;
  const sources = row.from ?? (row.v2 === null ? [] : [v2 + row.v2]);
  const member: AnswerMember = {
    v1: v1 + row.v1,
    v2: join === undefined ? sources : [join.by],
    ...(join === undefined ? ownFate(row, sources) : joinFate(join)),
    absent:
      isNeverMadeUp(row, v1) ||
      (join !== undefined && join.missing !== "zero") ||
      !(options.insertZeros || sources.length === 0)
        ? null
        : zeroText(row),
  };
  if (row.kind !== "message" || join !== undefined) return [member];
  const inner = shapeMembers(
    { rows: row.rows, v2Only: row.v2Only ?? [] },
    `${v1}${row.v1}${row.list === true ? "[]" : ""}.`,
    row.v2 === null ? v2 : `${v2}${row.v2}${row.list === true ? "[]" : ""}.`,
    { ...options, joins: [] },
  );
  return [member, ...inner.filter(({ becomes }) => becomes !== "same")];
}

/** Without its own uid an answer is no record, and an error. `prefix`: of the message that holds the row. */
function isNeverMadeUp(row: Row, prefix: string): boolean {
  return row.presence === "explicit" || (prefix === "" && row.v2 === V2_KEY);
}

function ownFate(row: Row, sources: readonly string[]): Pick<AnswerMember, "becomes" | "why"> {
  const isPut = row.kind === "message" && row.rows.some(({ from }) => from !== undefined);
  if (sources.length === 0) {
    if (isPut) return { becomes: "moved", why: "put together from what v2 holds apart" };
    return { becomes: "inserted", why: "v2 has no such member: always empty" };
  }
  const why = sources.length > 1 ? "the first that is there" : "";
  if (row.v2 === null) return { becomes: "moved", why };
  if (row.kind === "enum" && row.values.values.some(([one, , other]) => one !== other)) {
    return { becomes: "converted", why: "v1's names of the values" };
  }
  return { becomes: row.v1 === row.v2 ? "same" : "renamed", why };
}

function joinFate(join: Join): Pick<AnswerMember, "becomes" | "why"> {
  const part = join.take === "record" ? `the whole ${join.resource}` : `${join.take.member} of the ${join.resource}`;
  const when = join.when === undefined ? "" : `, when there is ${join.when}`;
  return { becomes: "joined", why: `${part} with this uid${when}; ${whenMissing(join)}` };
}

function whenMissing({ missing }: Join): string {
  if (typeof missing === "object") return `if it cannot be read, what ${missing.reduced} says of it`;
  if (missing === "error") return "if it cannot be read, the request fails";
  return missing === "zero" ? "if it cannot be read, empty" : "if it cannot be read, the record's own";
}
