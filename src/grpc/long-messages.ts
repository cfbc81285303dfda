/** Messages of any length to and from JSON, a slice at a time: a list of thousands of records would hold the event loop. */
import {
  type DescField,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Registry,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { load, type PaddedText, skipColon, skipComma, skipEnd, skipKey, skipSpace, skipValue } from "../json/scan.ts";
import { decodeString } from "../json/text.ts";

/** Lets others have their turn. */
type Turn = () => Promise<void>;

/** Bytes that are converted at once. */
const SLICE_BYTES = 64 * 1024;
/** Nesting of the JSON that is read. */
const MOST_DEPTH = 100;

const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/**
 * The message of `type` whose JSON is `text`; members that it does not have are left out. `prepare` may change the JSON of each slice.
 * Throws Error for any other JSON.
 */
export async function bytesOfLong(
  type: DescMessage,
  text: Uint8Array,
  registry: Registry,
  turn: Turn,
  prepare: (json: JsonValue) => void = () => {},
): Promise<Uint8Array> {
  const convert = (json: JsonValue): Uint8Array => {
    prepare(json);
    return toBinary(type, fromJson(type, json, { registry, ignoreUnknownFields: true }));
  };
  if (text.length <= SLICE_BYTES) return convert(JSON.parse(Buffer.from(text).toString()) as JsonValue);
  const parts: Uint8Array[] = [];
  for (const slice of slicesOf(type, load(text), text.length)) {
    parts.push(convert(slice));
    await turn();
  }
  // A message may have its fields in any order, and the elements of one list in several places.
  return Buffer.concat(parts);
}

/** The members of one object in objects with a part of its members, or a part of the elements of one. */
function* slicesOf(type: DescMessage, { bytes, view }: PaddedText, length: number): Generator<JsonObject> {
  const parse = (open: string, start: number, end: number, close: string): JsonValue =>
    JSON.parse(`${open}${bytes.toString("utf8", start, end)}${close}`) as JsonValue;
  const lists = new Set<DescField>();
  const rest: JsonObject = {};
  let at = skipSpace(view, 0);
  if (bytes[at] !== OPEN_OBJECT) throw new Error("expected an object");
  at = skipSpace(view, at + 1);
  while (bytes[at] !== CLOSE_OBJECT) {
    const keyEnd = skipKey(view, at);
    const name = decodeString(bytes, at, keyEnd);
    const from = skipSpace(view, skipColon(view, keyEnd));
    const list = bytes[from] === OPEN_ARRAY ? listNamed(type, name) : undefined;
    if (list === undefined) {
      at = skipValue(view, from, MOST_DEPTH);
      Object.defineProperty(rest, name, { value: parse("", from, at, ""), enumerable: true, configurable: true });
    } else {
      if (lists.has(list)) throw new Error(`${name} is there twice`);
      lists.add(list);
      let begin = skipSpace(view, from + 1);
      at = begin;
      while (bytes[at] !== CLOSE_ARRAY) {
        const end = skipValue(view, at, MOST_DEPTH);
        at = skipComma(view, end, CLOSE_ARRAY);
        if (end - begin < SLICE_BYTES && bytes[at] !== CLOSE_ARRAY) continue;
        yield { [list.jsonName]: parse("[", begin, end, "]") };
        begin = at;
      }
      at += 1;
    }
    at = skipComma(view, at, CLOSE_OBJECT);
  }
  skipEnd(view, at + 1, length);
  yield rest;
}

function listNamed({ fields }: DescMessage, name: string): DescField | undefined {
  return fields.find((field) => field.fieldKind === "list" && (field.jsonName === name || field.name === name));
}

/** The members of a message in JSON, empty ones included. Throws Error for bytes that `type` cannot have. */
export async function jsonOfLong(
  type: DescMessage,
  message: Uint8Array,
  registry: Registry,
  turn: Turn,
): Promise<ReadonlyMap<string, string>> {
  const convert = (bytes: Uint8Array): JsonObject =>
    toJson(type, fromBinary(type, bytes), { registry, alwaysEmitImplicit: true }) as JsonObject;
  if (message.length <= SLICE_BYTES) return texts(convert(message));
  const lists = new Map<string, string[]>();
  const others: Uint8Array[] = [];
  for (const { list, bytes } of fieldsOf(type, message)) {
    if (list === undefined) {
      others.push(bytes);
      continue;
    }
    const elements = convert(bytes)[list.jsonName];
    const parts = lists.get(list.jsonName) ?? [];
    lists.set(list.jsonName, parts);
    // Without its brackets.
    parts.push(JSON.stringify(elements).slice(1, -1));
    await turn();
  }
  const members = new Map(texts(convert(Buffer.concat(others))));
  for (const [name, parts] of lists) members.set(name, `[${parts.join(",")}]`);
  return members;
}

function texts(json: JsonObject): Map<string, string> {
  return new Map(Object.entries(json).map(([name, value]) => [name, JSON.stringify(value)]));
}

/** The fields of a message in their order: the elements of one list together, up to `SLICE_BYTES`. */
function* fieldsOf(
  type: DescMessage,
  message: Uint8Array,
): Generator<{ readonly list: DescField | undefined; readonly bytes: Uint8Array }> {
  const reader = new BinaryReader(message);
  const lists = new Map(
    type.fields.flatMap((field): [number, DescField][] =>
      field.fieldKind === "list" && field.message !== undefined && !field.delimitedEncoding
        ? [[field.number, field]]
        : [],
    ),
  );
  let begin = 0;
  let list: DescField | undefined;
  while (reader.pos < message.length) {
    const at = reader.pos;
    const [number, wireType] = reader.tag();
    const own = wireType === WireType.LengthDelimited ? lists.get(number) : undefined;
    if (at > begin && (own !== list || at - begin >= SLICE_BYTES)) {
      yield { list, bytes: message.subarray(begin, at) };
      begin = at;
    }
    list = own;
    reader.skip(wireType, number);
  }
  if (message.length > begin) yield { list, bytes: message.subarray(begin) };
}
