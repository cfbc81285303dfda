/** What of an answer does the published v1 not have? (Option `v1.recordTimes`.) */
import type { Operation, Resource, Row, Shape } from "./resource.ts";

/** Which times records show: all that the specification speaks of, or those of the published v1 messages alone. */
export type RecordTimes = "all" | "published";

/** `shape` without its unpublished rows, at every depth: their v2 members are cut like any that v1 never showed. */
export function publishedShape({ rows, v2Only }: Shape): Shape {
  const cut = rows.flatMap((row) => (isUnpublished(row) && row.v2 !== null ? [row.v2] : []));
  return { rows: rows.filter((row) => !isUnpublished(row)).map(within), v2Only: [...v2Only, ...cut] };
}

/** `resource` with such answers. */
export function publishedResource(resource: Resource): Resource {
  const operations = resource.operations.map((operation) =>
    "answer" in operation ? { ...operation, answer: publishedShape(operation.answer) } : operation,
  );
  return { ...resource, operations };
}

function within(row: Row): Row {
  return row.kind === "message" ? { ...row, ...publishedShape({ rows: row.rows, v2Only: row.v2Only ?? [] }) } : row;
}

/** Paths of such rows in the answers of `operation`, as those of differences. */
export function unpublishedPaths(operation: Operation): readonly string[] {
  if (!("answer" in operation)) return [];
  return pathsIn(operation.answer.rows, operation.kind === "list" ? "items[]." : "");
}

function pathsIn(rows: readonly Row[], prefix: string): readonly string[] {
  return rows.flatMap((row) => {
    if (isUnpublished(row)) return [prefix + row.v1];
    return row.kind === "message" ? pathsIn(row.rows, `${prefix}${row.v1}${row.list === true ? "[]" : ""}.`) : [];
  });
}

/** Whether only the specification speaks of it. */
export function isUnpublished(row: Row): boolean {
  return row.access === "output" && row.unpublished === true;
}
