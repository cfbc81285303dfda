/** The schema: the fields of messages and their names in JSON, parsed from a short notation. */
import { CAPABILITIES } from "../data/capabilities.ts";
import { V1_MESSAGES } from "../data/v1-messages.ts";
import { V2_MESSAGES } from "../data/v2-messages.ts";
import { VENDOR_KEY } from "../data/vendor.ts";
import type { RecordTimes } from "../options.ts";

export type ScalarKind = "string" | "bool" | "int32" | "uint32" | "int64" | "bytes" | "timestamp" | "duration" | "mask";

/** The type of one value. Messages and enums are named; names are looked up in the same schema. */
export interface FieldType {
  readonly kind: ScalarKind | "enum" | "message";
  readonly ref: string;
}

export interface Field {
  /** Its number in binary messages; undefined for what only JSON has. */
  readonly number: number | undefined;
  /** The snake_case spelling, used in masks and accepted in JSON. */
  readonly proto: string;
  /** The JSON key, and the same with quotes and colon as it is written. */
  readonly json: string;
  readonly keyText: string;
  readonly type: FieldType;
  readonly label: "one" | "list" | "map";
  /** True when the keys of a map are 64-bit integers. */
  readonly integerKeys: boolean;
  /** Members of one oneof exclude each other. */
  readonly oneof: string | undefined;
  /** True when "absent" differs from zero: messages, oneof members, optional fields. */
  readonly presence: boolean;
  /** True when an absent value is written as `null` (a plain message), false when it is left out (oneof, optional). */
  readonly nullable: boolean;
  readonly readonly: boolean;
  /** Immutable after creation. */
  readonly fixed: boolean;
  /** True for what only responses show: the decoder ignores it like any key that no message has. */
  readonly shownOnly: boolean;
}

/** Where a message, an enum or a service is declared for gRPC. */
export interface Home {
  readonly package: string;
  /** The .proto file. */
  readonly file: string;
}

export interface Message extends Home {
  readonly name: string;
  /** The message that it is in binary; mostly its own name. */
  readonly binary: string;
  readonly fields: readonly Field[];
  /** By JSON key and by snake_case name. */
  readonly byKey: ReadonlyMap<string, Field>;
}

export interface EnumTable extends Home {
  readonly byName: ReadonlyMap<string, number>;
  readonly byNumber: ReadonlyMap<number, string>;
}

/** One operation of a service. */
export interface Rpc {
  readonly name: string;
  readonly request: string;
  readonly response: string;
  /** True when there may be several requests, or responses. */
  readonly streams: { readonly requests: boolean; readonly responses: boolean };
  /** The method, the path template and the body (a field, `*`, or empty) of its HTTP rule, when it has one. */
  readonly http: { readonly method: string; readonly path: string; readonly body: string } | undefined;
}

export interface Service extends Home {
  readonly name: string;
  readonly rpcs: readonly Rpc[];
}

/** All messages and enums of one face of the platform. */
export interface Schema {
  readonly messages: readonly Message[];
  readonly enums: ReadonlyMap<string, EnumTable>;
  readonly services: readonly Service[];
  /** Throws when there is no such message: a mistake in the sandbox. */
  message(name: string): Message;
  enumTable(name: string): EnumTable;
}

const SCALARS: ReadonlySet<string> = new Set([
  "string",
  "bool",
  "int32",
  "uint32",
  "int64",
  "bytes",
  "timestamp",
  "duration",
  "mask",
]);

/**
 * Reads the notation of the data files: `package NAME [FILE]`, `message NAME [as BINARY]`, `enum NAME` or `service NAME`, then indented lines.
 * A field is `[NUMBER] proto_name[=jsonName] TYPE [optional] [in ONEOF] [readonly] [fixed]`, its type a scalar, a message,
 * `enum NAME`, `[]TYPE` or `map<KEY,TYPE>`; an enum value is `NAME NUMBER`; an rpc is `NAME REQUEST RESPONSE [METHOD PATH [BODY]]`,
 * where `stream:` stands before what there may be several of.
 * Presence follows proto3: messages, timestamps, durations and masks have it, scalars only as `optional` or in a oneof.
 */
export function parseSchema(text: string, extraEnums: ReadonlyMap<string, EnumTable> = new Map()): Schema {
  const messages = new Map<string, Message>();
  const enums = new Map(extraEnums);
  const services: Service[] = [];
  let home: Home = { package: "", file: "" };
  for (const block of text.split(/\n(?=package |message |enum |service )/)) {
    const [head = "", ...lines] = block.trim().split(/\n\s+/);
    const [kind, name = "", third, binary = name] = head.split(" ");
    if (kind === "package") home = homeOf(name, third);
    if (kind === "message") messages.set(name, parseMessage({ ...home, name, binary }, lines));
    if (kind === "enum") enums.set(name, enumTable(home, lines.map(parseEnumLine)));
    if (kind === "service") services.push({ ...home, name, rpcs: lines.map(parseRpc) });
  }
  return {
    messages: [...messages.values()],
    enums,
    services,
    message: (name) => known(messages, name),
    enumTable: (name) => known(enums, name),
  };
}

function homeOf(name: string, file = `${name.replaceAll(".", "/")}.proto`): Home {
  return { package: name, file };
}

/** A table of an enum's values. */
export function enumTable(home: Home, values: readonly (readonly [string, number])[]): EnumTable {
  return {
    ...home,
    byName: new Map(values),
    byNumber: new Map(values.map(([name, number]) => [number, name])),
  };
}

function known<T>(table: ReadonlyMap<string, T>, name: string): T {
  const found = table.get(name);
  if (found === undefined) throw new Error(`the sandbox has no schema for ${name}`);
  return found;
}

function parseEnumLine(line: string): readonly [string, number] {
  const [name = "", number] = line.split(" ");
  return [name, Number(number)];
}

function parseRpc(line: string): Rpc {
  const [name = "", request = "", response = "", method, path = "", body = ""] = line.split(" ");
  return {
    name,
    request: request.replace("stream:", ""),
    response: response.replace("stream:", ""),
    streams: { requests: request.startsWith("stream:"), responses: response.startsWith("stream:") },
    http: method === undefined ? undefined : { method, path, body },
  };
}

function parseMessage(head: Home & Pick<Message, "name" | "binary">, lines: readonly string[]): Message {
  const fields = lines.map(parseField);
  const byKey = new Map<string, Field>();
  for (const field of fields) byKey.set(field.proto, field).set(field.json, field);
  return { ...head, fields, byKey };
}

function parseField(line: string): Field {
  const [, number, rest = ""] = /^(?:(\d+) )?(.+)$/.exec(line) ?? [];
  const words = rest.replace("enum ", "enum:").split(" ");
  const [spelt = "", typeText = ""] = words;
  const [proto = "", json = camelCase(proto)] = spelt.split("=");
  const map = /^map<(\w+),(.+)>$/.exec(typeText);
  const label = map !== null ? "map" : typeText.startsWith("[]") ? "list" : "one";
  const type = parseType(map?.[2] ?? typeText.replace("[]", ""));
  const oneof = words.includes("in") ? words[words.indexOf("in") + 1] : undefined;
  const explicit = oneof !== undefined || words.includes("optional");
  const messageLike = label === "one" && ["message", "timestamp", "duration", "mask"].includes(type.kind);
  return {
    number: number === undefined ? undefined : Number(number),
    proto,
    json,
    keyText: `${JSON.stringify(json)}:`,
    type,
    label,
    integerKeys: map?.[1] === "int64",
    oneof,
    presence: explicit || messageLike,
    nullable: messageLike && !explicit,
    readonly: words.includes("readonly"),
    fixed: words.includes("fixed"),
    shownOnly: words.includes("unpublished"),
  };
}

function parseType(text: string): FieldType {
  if (SCALARS.has(text)) return { kind: text as ScalarKind, ref: "" };
  if (text.startsWith("enum:")) return { kind: "enum", ref: text.slice(5) };
  return { kind: "message", ref: text };
}

/** `create_time` as `createTime`. */
function camelCase(snake: string): string {
  return snake.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

// The schemas of v1 and v2.

const CAPABILITY_ENUM = enumTable(
  homeOf(`${VENDOR_KEY}.capabilities`),
  CAPABILITIES.map(([, name, number]) => [name, number] as const),
);

/** Native v1, by the times that its records show. */
export const V1: Readonly<Record<RecordTimes, Schema>> = {
  all: parseSchema(V1_MESSAGES),
  published: parseSchema(V1_MESSAGES.replace(/\n.* unpublished$/gm, "")),
};
/** v2. */
export const V2 = parseSchema(V2_MESSAGES, new Map([["Capability", CAPABILITY_ENUM]]));

/** No published enum has numbers like these. */
const FIRST_NEWER_NUMBER = 1_000_001;

/** `schema` with further names in some of its enums. Throws for an enum that it does not have. */
export function withNewerNames(schema: Schema, newer: Readonly<Record<string, readonly string[]>>): Schema {
  const tables = new Map(
    Object.entries(newer).map(([name, names]) => {
      const { package: ofPackage, file, byName } = schema.enumTable(name);
      const added = names.map((each, index) => [each, FIRST_NEWER_NUMBER + index] as const);
      return [name, enumTable({ package: ofPackage, file }, [...byName, ...added])];
    }),
  );
  return { ...schema, enumTable: (name) => tables.get(name) ?? schema.enumTable(name) };
}
