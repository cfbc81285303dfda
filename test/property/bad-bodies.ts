/**
 * Wrong v1 bodies for each member of each operation. They are made from the rows; the expected results are written by
 * hand.
 */
import {
  type EnumTable,
  isUnpublished,
  type Operation,
  type Resource,
  type Row,
  type Value,
} from "../../src/model/resource.ts";
import { BROKEN, OWN_NAMES } from "../support/hostile/json.ts";

/** A row and where it stands: what is written around it, and how the client's own path to it reads. */
export interface Place {
  readonly row: Row;
  readonly siblings: readonly Row[];
  /** The whole body around the members of the message that holds the row. */
  readonly around: (members: string) => string;
  /** Dotted, empty at the top. */
  readonly path: string;
}

/** An operation that takes a body, and one place in it. */
export interface Target {
  readonly resource: Resource;
  readonly operation: Operation;
  readonly rows: readonly Row[];
}

/** What is to become of a body. */
export type Fate =
  /** 400 that names the field; nothing reaches v2. `v1Takes`: v1 would have taken it, but v2 cannot express it. */
  | { readonly kind: "refused"; readonly field: string; readonly v1Takes?: true }
  /** As if this other body had been sent. */
  | { readonly kind: "same-as"; readonly body: string }
  /** It reaches v2, this text in it. */
  | { readonly kind: "sent"; readonly holds: string };

export interface Case {
  readonly what: string;
  readonly body: string;
  readonly fate: Fate;
}

/** In every value that is refused, and so in no error. */
export const SECRET = "hunter2";

export function targetsOf(resources: readonly Resource[]): readonly Target[] {
  return resources.flatMap((resource) =>
    resource.operations.flatMap((operation) => {
      const body = "body" in operation ? operation.body : undefined;
      // What v1's published message lacks is ignored, whatever it is.
      return body === undefined ? [] : [{ resource, operation, rows: body.rows.filter((row) => !isUnpublished(row)) }];
    }),
  );
}

/** Every place of the bodies of an operation. */
export function placesIn(target: Target): readonly Place[] {
  return target.rows.flatMap((row) => {
    const around = (members: string) => `{${members}}`;
    return placesOf([row], around).map((place) => (place.row === row ? { ...place, siblings: target.rows } : place));
  });
}

/** Every row at every depth: members of messages, of elements of lists, of values of maps. */
function placesOf(rows: readonly Row[], around: Place["around"], path = ""): readonly Place[] {
  return rows.flatMap((row) => {
    const here: Place = { row, siblings: rows, around, path };
    const name = join(path, row.v1);
    const within = (text: (inner: string) => string) => (members: string) =>
      around(`${JSON.stringify(row.v1)}:${text(`{${members}}`)}`);
    if (row.kind === "message") {
      const below =
        row.list === true
          ? placesOf(
              row.rows,
              within((inner) => `[{},${inner}]`),
              `${name}[1]`,
            )
          : placesOf(
              row.rows,
              within((inner) => inner),
              name,
            );
      return [here, ...below];
    }
    if (row.kind === "map" && typeof row.of === "object") {
      return [
        here,
        ...placesOf(
          row.of.rows,
          within((inner) => `{"1":${inner}}`),
          `${name}.1`,
        ),
      ];
    }
    return [here];
  });
}

const join = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
/** Both names under which v1 knows the row. */
const spellings = (row: Row): readonly string[] => [...new Set([row.v1, row.v1Proto ?? snake(row.v1)])];

/** JSON texts of one element of a kind: good ones, and such as v1's decoder refuses. */
function elements(value: Value): { readonly good: readonly string[]; readonly bad: readonly string[] } {
  const text = `"${SECRET}"`;
  switch (value.kind) {
    case "string":
      return {
        good: ['"a"', '""', '"\\u0041"'],
        bad: ["1", "1e400", "9007199254740993", "true", "[]", "{}", `[${text}]`, `{"a":${text}}`],
      };
    case "bool":
      return { good: ["true", "false"], bad: ["1", "0", '"true"', text, "[]", "{}"] };
    case "int32":
      return {
        good: ["0", "-1", '"7"', "1.0", "1e2", "2147483647"],
        bad: [...NO_INTEGERS, "2147483648", "-2147483649"],
      };
    case "uint32":
      return { good: ["0", '"7"', "2147483647"], bad: [...NO_INTEGERS, "-1", "4294967296"] };
    case "int64":
      return {
        good: ['"0"', "-1", '"9223372036854775807"', "9007199254740993"],
        bad: [...NO_INTEGERS, '"9223372036854775808"', "-9223372036854775809"],
      };
    case "timestamp":
      return {
        good: ['"2026-03-01T09:30:00Z"', '"2026-03-01T09:30:00.000000001+01:00"'],
        bad: [text, '""', "0", "true", '"2026-03-01"', '"2026-13-01T00:00:00Z"', '"2026-03-01 09:30:00Z"', "{}", "[]"],
      };
    case "duration":
      return {
        good: ['"60s"', '"-1.5s"', '"315576000000s"'],
        bad: [text, '""', "60", '"60"', '"1h"', '"s"', '"315576000001s"', '"1.0000000001s"', "{}", "[]"],
      };
    case "bytes":
      return { good: ['"aGk="', '"aGk"', '""'], bad: [`"${SECRET}!"`, "1", '"a"', "true", "[]", "{}"] };
    case "enum":
      return { good: goodNames(value.values), bad: ["true", "[]", "{}", `[${text}]`] };
    case "message":
      return { good: ["{}"], bad: [text, "1", "true", "[]", "[{}]"] };
    case "map":
      return {
        good: ["{}"],
        bad: [
          text,
          "1",
          "true",
          "[]",
          '{"1":[]}',
          '{"1":null}',
          `{"1":${inMap(value.of)},"1":${inMap(value.of)}}`,
          ...(value.of === "string" ? ['{"1":1}'] : ['{"1":"x"}']),
        ],
      };
    default:
      return value satisfies never;
  }
}

/** A good value of a map. */
const inMap = (of: (Value & { kind: "map" })["of"]): string => (of === "string" ? '"v"' : of === "int32" ? "1" : "{}");

const NO_INTEGERS = [`"${SECRET}"`, '""', "true", "1.5", '" 1"', '"0x1"', "1e99", "[]", "{}", `${"9".repeat(5000)}`];

function goodNames(table: EnumTable): readonly string[] {
  const known = table.values.filter(([v1, , v2]) => v1 !== null && v2 !== null);
  const names = known.slice(0, 4).map(([v1]) => JSON.stringify(v1));
  const numbers = known
    .filter(([, number]) => number >= 0)
    .slice(0, 2)
    .map(([, number]) => String(number));
  return table.unknown === "refuse" ? names : [...names, ...numbers];
}

export const goodValue = (row: Row): string => {
  const [good = "{}"] = elements(row).good;
  return row.kind !== "map" && row.list === true ? `[${good}]` : good;
};

/** Every way in which this place can be wrong or odd. */
export function casesOf(place: Place): readonly Case[] {
  const { row, around, path } = place;
  const field = join(path, row.v1);
  const member = (value: string, name = row.v1): string => `${JSON.stringify(name)}:${value}`;
  const refused = (what: string, members: string, at = field): Case => ({
    what: `${field} ${what}`,
    body: around(members),
    fate: { kind: "refused", field: at },
  });
  const same = (what: string, members: string, as: string): Case => ({
    what: `${field} ${what}`,
    body: around(members),
    fate: { kind: "same-as", body: around(as) },
  });
  const good = goodValue(row);
  const isList = row.kind !== "map" && row.list === true;
  const { bad } = elements(row);
  const [first, second] = spellings(row);
  return [
    ...bad.map((value) => refused(`is ${shown(value)}`, member(isList ? `[${value}]` : value))),
    ...(isList
      ? ["{}", '"x"', "1", "true", "[null]", `[${elements(row).good[0]},null]`].map((value) =>
          refused(`is ${value}`, member(value)),
        )
      : []),
    same("is null", member("null"), ""),
    refused("is there twice", `${member(good)},${member(good)}`),
    refused("is there twice, once as null", `${member("null")},${member(good)}`),
    ...(first === undefined || second === undefined
      ? []
      : [
          refused("is there in both spellings", `${member(good, first)},${member(good, second)}`, join(path, second)),
          same("is in the other spelling", member(good, second), member(good, first)),
        ]),
    ...enumCases(row, field, around, isList, isSent(place)),
    ...oneofCases(place, member, good),
    ...(row.kind === "uint32"
      ? [
          {
            ...refused("is more than v2 holds", member("2147483648")),
            fate: { kind: "refused", field, v1Takes: true } as const,
          },
        ]
      : []),
    ...neighbours(place).map((name) =>
      same(`stands beside ${name}`, `${member(`{"a":1,"${SECRET}":2}`, name)},${member(good)}`, member(good)),
    ),
    ...(isSent(place) ? carried(row, field, around, isList) : []),
  ];
}

const shown = (value: string): string => (value.length > 30 ? `${value.slice(0, 30)}… (${value.length})` : value);

/**
 * Names that v1 does not know: sent on where reads show them, else dropped, or of capabilities refused. What v1 knows and v2 does not:
 * refused.
 */
function enumCases(
  row: Row,
  field: string,
  around: Place["around"],
  isList: boolean,
  isSentOn: boolean,
): readonly Case[] {
  if (row.kind !== "enum") return [];
  const table = row.values;
  const member = (value: string) => around(`${JSON.stringify(row.v1)}:${isList ? `[${value}]` : value}`);
  const without = around(isList ? `${JSON.stringify(row.v1)}:[]` : "");
  const known = new Set(table.values.map(([v1]) => v1));
  const foreign = table.values.flatMap(([v1, , v2, number]) =>
    v2 === null || known.has(v2) ? [] : [{ name: v2, isShown: v1 === null && number !== 0 }],
  );
  // Reads show v1's own name of any other value, and leave out a zero: no client has read these.
  const unread = foreign.flatMap(({ name, isShown }) => (isShown ? [] : [name])).slice(0, 3);
  const onlyInV2 = foreign.flatMap(({ name, isShown }) => (isShown ? [name] : [])).slice(0, 3);
  const drops = table.unknown === "drop";
  const unknown = [SECRET, "", "__proto__", "constructor", ...unread];
  const lost = table.values.flatMap(([v1, , v2]) => (v1 !== null && v2 === null ? [JSON.stringify(v1)] : []));
  // v1's strings take no number at all; its open enums took any, which v2 cannot express.
  const numbers = drops ? ["-99999"] : ["1", "0"];
  const refused = (value: string, v1Takes: boolean): Case => ({
    what: `${field} is ${value}`,
    body: member(value),
    fate: { kind: "refused", field: `${field}${isList ? "[0]" : ""}`, ...(v1Takes ? { v1Takes } : {}) },
  });
  return [
    ...unknown.map(
      (name): Case =>
        drops
          ? {
              what: `${field} is ${name}, a name that v1 does not know`,
              body: member(JSON.stringify(name)),
              fate: { kind: "same-as", body: without },
            }
          : refused(JSON.stringify(name), true),
    ),
    ...lost.map((name) => refused(name, true)),
    ...numbers.map((number) => refused(number, drops)),
    ...(isSentOn
      ? [...onlyInV2.map((name) => JSON.stringify(name)), ...(drops ? ["99999"] : [])].map(
          (value): Case => ({
            what: `${field} is ${value}, which only v2 can know`,
            body: member(value),
            fate: { kind: "sent", holds: value },
          }),
        )
      : []),
  ];
}

function oneofCases(
  { row, siblings, around, path }: Place,
  member: (value: string, name?: string) => string,
  good: string,
): readonly Case[] {
  const others = siblings.filter((each) => row.oneof !== undefined && each.oneof === row.oneof && each !== row);
  return others.flatMap((other): Case[] => [
    {
      what: `${join(path, row.v1)} stands beside ${other.v1}`,
      body: around(`${member(good)},${member(goodValue(other), other.v1)}`),
      fate: { kind: "refused", field: join(path, other.v1) },
    },
    {
      what: `${join(path, row.v1)} stands beside ${other.v1}, which is null`,
      body: around(`${member("null", other.v1)},${member(good)}`),
      fate: { kind: "same-as", body: around(member(good)) },
    },
  ]);
}

/** Names that mean nothing in v1: those of every object, and what v2 calls the row. */
function neighbours({ row, siblings }: Place): readonly string[] {
  const known = new Set(siblings.flatMap(spellings));
  return [...OWN_NAMES, "uid", "updateMask", row.v2 ?? "", snake(row.v2 ?? "")].filter(
    (name) => name !== "" && !known.has(name),
  );
}

/** Server-set and v1-only rows are read and then dropped; so is everything in them. */
function isSent({ row, path }: Place): boolean {
  return (
    path === "" && row.access !== "output" && row.v2 !== null && row.mask !== "never" && row.mask !== "when-changed"
  );
}

/** Long texts and odd keys are the platform's to judge: they arrive as they came. */
function carried(row: Row, field: string, around: Place["around"], isList: boolean): readonly Case[] {
  const sent = (what: string, value: string): Case => ({
    what: `${field} ${what}`,
    body: around(`${JSON.stringify(row.v1)}:${isList ? `[${value}]` : value}`),
    fate: { kind: "sent", holds: value },
  });
  if (row.kind === "string")
    return [sent("is 100 kB", `"${"n".repeat(100_000)}"`), sent("is odd", '"../a b\\u0000\\"%2e"')];
  if (row.kind !== "map" || row.of !== "string") return [];
  return ["__proto__", "constructor", "uid", "a.b", "", "k".repeat(10_000)].map((key) =>
    sent(`has the key ${shown(key)}`, `{${JSON.stringify(key)}:"v"}`),
  );
}

/** Bodies that are wrong as a whole. `v1Takes`: a deviation on purpose. */
export const WHOLE: readonly { readonly what: string; readonly body: Uint8Array; readonly v1Takes?: true }[] = [
  ...["null", `["${SECRET}"]`, `"${SECRET}"`, "1", "true", `{"a":"${SECRET}`].map((body) => ({
    what: body,
    body: Buffer.from(body),
  })),
  ...Object.entries(BROKEN).map(([what, body]) => ({ what, body: Buffer.from(body, "latin1") })),
  { what: "something behind it", body: Buffer.from(`{} ${SECRET}`), v1Takes: true },
  { what: "a NUL behind it", body: Buffer.from("{}\0"), v1Takes: true },
];
