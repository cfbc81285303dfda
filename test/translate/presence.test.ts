/** Does a v1 client see the same record whether v2 sends its zeros or leaves them out? (Design: the rewriter; trap T63.) */
import { describe, expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue.ts";
import { createValueRewriter } from "../../src/json/rewrite.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";
import type { Join, Operation, Row, Shape } from "../../src/model/resource.ts";
import { answerPlan } from "../../src/translate/answer-plan.ts";

const { resources } = await loadCatalogue("v2beta1");

/** How v2 writes a record of nothing but zeros. */
interface Style {
  readonly zeros: "sent" | "left out";
  /** Whether messages, and elements of lists of them, are there (with nothing in them but zeros). */
  readonly messages: boolean;
  /** Which member of each oneof is there; undefined: none. */
  readonly chosen?: number;
}

interface Told {
  readonly shape: Shape;
  readonly joins: readonly Join[];
}

function shapes(): readonly (readonly [name: string, told: Told])[] {
  return resources.flatMap((resource) =>
    resource.operations.flatMap((operation) =>
      "answer" in operation
        ? [[`${resource.name} ${operation.name}`, { shape: operation.answer, joins: joinsOf(operation) }] as const]
        : [],
    ),
  );
}

function joinsOf(operation: Operation): readonly Join[] {
  return "joins" in operation && operation.joins !== undefined ? operation.joins : [];
}

/** The members that are unset unless they are there; of each oneof the chosen one, where it is a message, is there. */
function isThere(row: Row, rows: readonly Row[], { chosen }: Style): boolean {
  if (row.presence !== "explicit" && row.oneof === undefined) return true;
  if (chosen === undefined || row.kind !== "message") return false;
  const rivals = rows.filter(({ kind, oneof }) => kind === "message" && oneof === row.oneof);
  return row.oneof === undefined || rivals.indexOf(row) === chosen % rivals.length;
}

function zeroRecord(rows: readonly Row[], style: Style): JsonObject {
  const record: JsonObject = {};
  for (const row of rows) {
    if (row.v2 === null || !isThere(row, rows, style)) continue;
    const value = zeroOf(row, style);
    if (value !== undefined) record[row.v2] = value;
  }
  return record;
}

/** The value as v2 writes it; undefined: it leaves it out. */
function zeroOf(row: Row, style: Style): Json | undefined {
  const sent = style.zeros === "sent";
  if (row.kind === "message") {
    const deep = style.messages || row.presence === "explicit";
    if (deep) return row.list === true ? [zeroRecord(row.rows, style)] : zeroRecord(row.rows, style);
    return sent ? (row.list === true ? [] : null) : undefined;
  }
  if (row.kind === "map") {
    if (style.messages && typeof row.of === "object") return { "a key": zeroRecord(row.of.rows, style) };
    return sent ? {} : undefined;
  }
  if (!sent) return undefined;
  return row.list === true ? [] : scalarZero(row);
}

function scalarZero(row: Row): Json {
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
      return row.values.values.find(([, , name, number]) => name !== null && number === 0)?.[2] ?? null;
    default:
      return null;
  }
}

/** No other record can be read: of what lies there, v1 shows the zero. */
function shown({ shape, joins }: Told, style: Style, insertZeros = true): JsonObject {
  const record = { ...zeroRecord(shape.rows, style), ...(keyed(shape) ? { uid: "u" } : {}) };
  const rewrite = createValueRewriter(answerPlan(shape, { unknown: "pass", insertZeros }, joins));
  return JSON.parse(Buffer.from(rewrite(Buffer.from(JSON.stringify(record))).bytes).toString());
}

function keyed(shape: Shape): boolean {
  return shape.rows.some(({ v2 }) => v2 === "uid");
}

/** Every member of `record` is one that native v1 would show there, and none is missing. */
function expectPresence(record: Json | undefined, rows: readonly Row[], style: Style, at: string): void {
  const value = record as JsonObject;
  for (const row of rows) {
    const path = `${at}.${row.v1}`;
    expect([path, Object.hasOwn(value, row.v1)]).toEqual([path, isThere(row, rows, style)]);
    const inner = value[row.v1];
    if (row.kind !== "message" || inner === undefined || inner === null) continue;
    for (const one of Array.isArray(inner) ? inner : [inner]) expectPresence(one, row.rows, style, path);
  }
}

const STYLES = [
  { name: "with nothing in it", messages: false },
  { name: "with empty messages", messages: true },
  ...[0, 1, 2, 3].map((chosen) => ({
    name: `with the members number ${chosen} of its oneofs`,
    messages: true,
    chosen,
  })),
];

describe.each(shapes())("%s", (_, told) => {
  const { rows } = told.shape;

  test.each(STYLES)("T25, T63: a record $name is the same when v2 omits its zeros, and has what v1 shows", (style) => {
    const omitted = shown(told, { ...style, zeros: "left out" });
    expect(omitted).toEqual(shown(told, { ...style, zeros: "sent" }));
    expectPresence(omitted, rows, { ...style, zeros: "left out" }, "");
  });

  test("where v2 is known to send its zeros, none is made up for a member that it has, and the rest is as ever", () => {
    const style = { zeros: "sent", messages: true } as const;
    expect(shown(told, style, false)).toEqual(shown(told, style, true));
    const inPlace = rows.filter((row) => row.v2 !== null && row.v2 !== "uid" && isInPlace(row, told));
    const record = shown(told, { zeros: "left out", messages: false }, false);
    expect(inPlace.map(({ v1 }) => v1).filter((name) => Object.hasOwn(record, name))).toEqual([]);
  });
});

/** True for a member of v1 that is one member of v2, and nothing else of v1 is made of that. */
function isInPlace(row: Row, { shape, joins }: Told): boolean {
  const sources = (one: Row) => one.from ?? (one.v2 === null ? [] : [one.v2]);
  const inner = row.kind === "message" ? row.rows.some(({ from }) => from !== undefined) : false;
  const shared = shape.rows.some((other) => other !== row && sources(other).includes(row.v2 ?? ""));
  return row.from === undefined && !inner && !shared && !joins.some(({ v1 }) => v1 === row.v1);
}

test("there are shapes to look at", () => {
  expect(shapes().length).toBeGreaterThan(20);
});
