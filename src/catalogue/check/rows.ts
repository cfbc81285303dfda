/** Is every row of a shape sound: can it have an effect, and is its zero what a full replace would make of it? */
import type { Json } from "../../model/json.ts";
import type { EnumTable, EnvelopeRow, Row, Shape, WritableRow } from "../../model/resource.ts";

/** What is wrong, at which row, and what to do about it. */
export type Report = (row: string, fault: string) => void;

function isWritable(row: Row): row is Row & WritableRow {
  return row.access !== "output";
}

/** The rows of the message or the messages that `row` holds; undefined when it holds something else. */
export function nestedRows(row: Row): readonly Row[] | undefined {
  if (row.kind === "message") return row.rows;
  return row.kind === "map" && typeof row.of === "object" ? row.of.rows : undefined;
}

/** The v1 zero of `row`: what an unset member is, as the wire format has it. Null: unset. */
export function zeroOf(row: Row): Json | undefined {
  if (row.presence === "explicit") return null;
  if (row.kind === "map") return {};
  if (row.list === true) return [];
  switch (row.kind) {
    case "string":
    case "bytes":
      return "";
    case "bool":
      return false;
    case "int32":
    case "uint32":
      return 0;
    case "int64":
      return "0";
    case "enum":
      return row.values.values.find(([v1, number]) => v1 !== null && number === 0)?.[0];
    case "timestamp":
    case "duration":
    case "message":
      return null;
    default:
      return row satisfies never;
  }
}

/** Reports every name that is there twice. */
export function checkUnique(names: readonly string[], report: Report, fault: string): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) report(name, fault);
    seen.add(name);
  }
}

function checkWrite(row: Row & WritableRow, at: string, report: Report): void {
  const zero = zeroOf(row);
  if (JSON.stringify(row.zero) !== JSON.stringify(zero)) {
    report(at, `its zero is ${JSON.stringify(row.zero)}; for this kind and presence write ${JSON.stringify(zero)}`);
  }
  const sent = row.v2 !== null && row.mask !== "never";
  if (row.v2 === null && row.mask !== undefined && row.mask !== "never") {
    report(at, "dead mask: v2 has no such member; remove `mask`");
  }
  if (!sent && row.echo !== undefined) report(at, "dead echo: the member is never sent; remove `echo`");
  if (row.mask === "members" && (row.kind !== "message" || row.list === true)) {
    report(at, "`members` needs one message; use another mask class");
  }
}

function checkRow(row: Row, at: string, joined: ReadonlySet<string>, report: Report): void {
  if (row.oneof !== undefined && row.presence !== "explicit") {
    report(at, 'a member of a oneof is absent when unset; add `presence: "explicit"`');
  }
  if (row.from?.length === 0) report(at, "dead `from`: it names no path; remove it or name one");
  if (isWritable(row)) checkWrite(row, at, report);
  else if (row.v2 === null && row.from === undefined && !joined.has(at)) {
    report(at, "dead row: nothing fills it and nothing sends it; name `v2`, `from` or a join, or remove it");
  }
  if (row.kind === "enum") checkEnum(row.values, at, report);
  // What a join fills follows from the other resource, which has checked its rows itself.
  if (!joined.has(at)) checkNested(row, at, joined, report);
}

function checkNested(row: Row, at: string, joined: ReadonlySet<string>, report: Report): void {
  const nested = nestedRows(row);
  if (nested === undefined) return;
  checkNames(nested, row.kind === "message" ? (row.v2Only ?? []) : [], `${at}.`, report);
  for (const inner of nested) {
    const path = `${at}.${inner.v1}`;
    checkRow(inner, path, joined, report);
    const named = isWritable(inner) && inner.mask !== undefined && inner.mask !== "never";
    if (named && !(isWritable(row) && row.mask === "members")) {
      report(
        path,
        'dead mask: the message around it is named as a whole; remove it or give that one `mask: "members"`',
      );
    }
  }
}

function checkNames(rows: readonly Row[], v2Only: readonly string[], prefix: string, report: Report): void {
  const v2 = rows.flatMap((row) => (row.v2 === null ? [] : [row.v2]));
  const prefixed: Report = (row, fault) => report(`${prefix}${row}`, fault);
  checkUnique(
    rows.map((row) => row.v1),
    prefixed,
    "two rows have this v1 name; remove one",
  );
  checkUnique(v2, prefixed, "two rows have this v2 name; read the second through `from`");
  checkUnique(
    [...new Set(v2), ...v2Only],
    prefixed,
    "dead `v2Only`: a row carries this member, or it is there twice; remove it there",
  );
}

function pathsRead(rows: readonly Row[], prefix: string): readonly (readonly [row: string, path: string])[] {
  return rows.flatMap((row) => [
    ...(row.from ?? []).map((path) => [`${prefix}${row.v1}`, path] as const),
    ...pathsRead(nestedRows(row) ?? [], `${prefix}${row.v1}.`),
  ]);
}

/** Reports what is wrong with `shape`. `joined`: v1 names of its members that joins fill. */
export function checkShape(shape: Shape, joined: ReadonlySet<string>, report: Report): void {
  checkNames(shape.rows, shape.v2Only, "", report);
  for (const row of shape.rows) checkRow(row, row.v1, joined, report);
  const known = new Set([...shape.v2Only, ...shape.rows.map((row) => row.v2)]);
  const own = shape.rows.filter((row) => !joined.has(row.v1));
  for (const [row, path] of pathsRead(own, "")) {
    const head = path.split(/[./]/)[0] ?? "";
    if (!known.has(head)) report(row, `\`from\` reads ${head}, which would reach v1 as well; add it to \`v2Only\``);
  }
}

/** Reports what is wrong with the members of a list envelope. */
export function checkEnvelope(rows: readonly EnvelopeRow[], report: Report): void {
  const repeated = new Set(rows.filter((row) => row.fromQuery !== undefined).map((row) => row.v1));
  checkNames(rows, [], "envelope.", report);
  const inEnvelope: Report = (row, fault) => report(`envelope.${row}`, fault);
  for (const row of rows) checkRow(row, row.v1, repeated, inEnvelope);
}

/** Reports what is wrong with `table`: both directions must be functions. */
export function checkEnum(table: EnumTable, at: string, report: Report): void {
  const fault = (name: string | number, what: string): void => report(at, `enum ${table.name}: ${name} ${what}`);
  const once: Report = (name) => fault(name, "is there twice; a value is one value in the other version");
  const names = (side: 0 | 2): string[] => table.values.flatMap((value) => value[side] ?? []);
  const numbers = (side: 1 | 3): string[] =>
    table.values.map((value) => value[side]).flatMap((n) => (n < 0 ? [] : `${n}`));
  for (const list of [names(0), names(2), numbers(1), numbers(3)]) checkUnique(list, once, "");
  for (const [v1, v1Number, v2, v2Number] of table.values) {
    if (v1 === null && v2 === null) fault(v1Number, "has no name in either version; remove it");
    if (v1 === null && v1Number >= 0) fault(v2 ?? "", "has a v1 number without a v1 name; write -1");
    if (v2 === null && v2Number >= 0) fault(v1 ?? "", "has a v2 number without a v2 name; write -1");
  }
}
