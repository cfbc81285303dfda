/**
 * Counts what a message holds before it is decoded: a decoder makes an object of every field, however short. Takes fields out whose wire
 * type is another than declared: to Go they are unknown fields, and our decoder would read their bytes as declared.
 */
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Problem } from "../model/problem.ts";

/** How much a message may hold. */
export interface WireLimits {
  /** Fields at all levels, elements of packed lists and entries of maps included. */
  readonly values: number;
  /** Messages and groups inside of each other. */
  readonly depth: number;
  /** Numbers of unknown fields that are remembered. */
  readonly unknown: number;
}

/** The contents of one message, in numbers. */
export interface WireCount {
  readonly values: number;
  /** Numbers of fields that the descriptors do not know so, each once, in their order: the first `WireLimits.unknown`. */
  readonly unknown: readonly number[];
  /** The message to decode, without fields of another wire type than declared. */
  readonly bytes: Uint8Array;
}

/** Returns undefined for more than `WireLimits.values`. Throws Problem for more than `WireLimits.depth`, and Error for bytes that `type` cannot have. */
export type CountWire = (type: DescMessage, bytes: Uint8Array) => WireCount | undefined;

/** How the bytes of a field are read. */
interface FieldShape {
  readonly wireType: WireType;
  /** Of a message, and of an entry of a map. */
  readonly fields?: () => Shape;
  /** Bytes of an element that may be packed; 0: a varint. */
  readonly packed?: number;
  /** A message of a type that its own bytes name: each byte counts, as a value takes one or more. */
  readonly isAny?: boolean;
}
type Shape = ReadonlyMap<number, FieldShape>;

interface WireScan extends Pick<WireLimits, "values" | "unknown"> {
  readonly reader: BinaryReader;
  readonly unknownNumbers: Set<number>;
  count: number;
  /** Fields of another wire type than declared were met. */
  hasMisfits: boolean;
}

/** Ends a scan early. */
class TooMany extends Error {}

const NO_FIELDS: Shape = new Map();
const ANY = "google.protobuf.Any";

export function createWireCounter(limits: WireLimits): CountWire {
  const shapes = new Map<DescMessage, Shape>();
  const shapeOf = (type: DescMessage): Shape => {
    const known = shapes.get(type);
    if (known !== undefined) return known;
    const made = new Map(type.fields.map((field) => [field.number, fieldShape(field, shapeOf)]));
    if (type.typeName === ANY) made.set(2, { wireType: WireType.LengthDelimited, isAny: true });
    shapes.set(type, made);
    return made;
  };
  return (type, bytes) => {
    // The decoder's own reader, so that both find the same fields.
    const scan: WireScan = {
      // No spread: V8 would give each scan a hidden class of its own.
      values: limits.values,
      unknown: limits.unknown,
      reader: new BinaryReader(bytes),
      unknownNumbers: new Set(),
      count: 0,
      hasMisfits: false,
    };
    try {
      countMessage(scan, shapeOf(type), bytes.length, limits.depth);
    } catch (error) {
      if (error instanceof TooMany) return undefined;
      throw error;
    }
    const fitting = scan.hasMisfits ? withoutMisfits(bytes, shapeOf(type)) : bytes;
    return { values: scan.count, unknown: [...scan.unknownNumbers], bytes: fitting };
  };
}

function fieldShape(field: DescField, shapeOf: (type: DescMessage) => Shape): FieldShape {
  const { message } = field;
  if (field.fieldKind === "map") {
    const value: FieldShape =
      message === undefined
        ? { wireType: wireTypeOf(field.scalar) }
        : { wireType: WireType.LengthDelimited, fields: () => shapeOf(message) };
    const entry: Shape = new Map([
      [1, { wireType: wireTypeOf(field.mapKey) }],
      [2, value],
    ]);
    return { wireType: WireType.LengthDelimited, fields: () => entry };
  }
  if (message !== undefined) {
    const isGroup = (field.fieldKind === "message" || field.fieldKind === "list") && field.delimitedEncoding;
    return { wireType: isGroup ? WireType.StartGroup : WireType.LengthDelimited, fields: () => shapeOf(message) };
  }
  const wireType = wireTypeOf(field.scalar);
  const isPackable = field.fieldKind === "list" && wireType !== WireType.LengthDelimited;
  return isPackable ? { wireType, packed: WIDTHS.get(wireType) ?? 0 } : { wireType };
}

const WIDTHS: ReadonlyMap<WireType, number> = new Map([
  [WireType.Bit32, 4],
  [WireType.Bit64, 8],
]);

/** Undefined: an enum. */
function wireTypeOf(scalar: ScalarType | undefined): WireType {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WireType.LengthDelimited;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return WireType.Bit64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return WireType.Bit32;
    default:
      return WireType.Varint;
  }
}

function add(scan: WireScan, values: number): void {
  scan.count += values;
  if (scan.count > scan.values) throw new TooMany();
}

function countMessage(scan: WireScan, shape: Shape, end: number, depth: number): void {
  const { reader } = scan;
  enter(depth);
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    if (wireType === WireType.EndGroup) throw new Error("a group ends that has not begun");
    countField(scan, shape, number, wireType, depth);
  }
  if (reader.pos > end) throw new Error("a field is longer than its message");
}

function countGroup(scan: WireScan, shape: Shape, group: number, depth: number): void {
  const { reader } = scan;
  enter(depth);
  for (;;) {
    const [number, wireType] = reader.tag();
    if (wireType === WireType.EndGroup) {
      if (number !== group) throw new Error("a group ends with another number");
      return;
    }
    countField(scan, shape, number, wireType, depth);
  }
}

function enter(depth: number): void {
  if (depth <= 0) throw new Problem("INVALID_BODY", "messages are nested too deeply", { options: [] });
}

function countField(scan: WireScan, shape: Shape, number: number, wireType: WireType, depth: number): void {
  const { reader, unknownNumbers } = scan;
  add(scan, 1);
  const field = shape.get(number);
  if (field === undefined || isMisfit(field, wireType)) {
    if (field !== undefined) scan.hasMisfits = true;
    if (shape !== NO_FIELDS && unknownNumbers.size < scan.unknown) unknownNumbers.add(number);
    if (wireType === WireType.StartGroup) countGroup(scan, NO_FIELDS, number, depth - 1);
    else reader.skip(wireType, number);
    return;
  }
  const isPacked = field.packed !== undefined && wireType === WireType.LengthDelimited;
  if (wireType === WireType.StartGroup) countGroup(scan, field.fields?.() ?? NO_FIELDS, number, depth - 1);
  else if (isPacked) countPacked(scan, endOf(reader), field.packed ?? 0);
  else if (field.isAny) {
    const end = endOf(reader);
    add(scan, end - reader.pos);
    reader.pos = end;
  } else if (field.fields !== undefined) countMessage(scan, field.fields(), endOf(reader), depth - 1);
  else reader.skip(wireType, number);
}

function isMisfit(field: FieldShape, wireType: WireType): boolean {
  return wireType !== field.wireType && !(field.packed !== undefined && wireType === WireType.LengthDelimited);
}

/** The message, which has been counted, without fields of another wire type than declared. */
function withoutMisfits(bytes: Uint8Array, shape: Shape): Uint8Array {
  const reader = new BinaryReader(bytes);
  const writer = new BinaryWriter();
  copyFields(reader, writer, shape, undefined);
  return writer.finish();
}

function copyFields(reader: BinaryReader, writer: BinaryWriter, shape: Shape, group: number | undefined): void {
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (wireType === WireType.EndGroup && number === group) return;
    const field = shape.get(number);
    if (field === undefined || isMisfit(field, wireType)) {
      reader.skip(wireType, number);
      continue;
    }
    writer.tag(number, wireType);
    const inner = field.fields?.();
    if (wireType === WireType.StartGroup) {
      copyFields(reader, writer, inner ?? NO_FIELDS, number);
      writer.tag(number, WireType.EndGroup);
    } else if (wireType === WireType.LengthDelimited) {
      const value = reader.bytes();
      writer.bytes(inner === undefined || field.packed !== undefined ? value : withoutMisfits(value, inner));
    } else writer.raw(reader.skip(wireType, number));
  }
}

/** Where the bytes end whose length comes next. */
function endOf(reader: BinaryReader): number {
  const end = reader.uint32() + reader.pos;
  if (end > reader.len) throw new Error("a field is longer than its message");
  return end;
}

function countPacked(scan: WireScan, end: number, width: number): void {
  const { reader } = scan;
  if (width > 0) {
    if ((end - reader.pos) % width !== 0) throw new Error("a packed list is cut off");
    add(scan, (end - reader.pos) / width);
    reader.pos = end;
    return;
  }
  while (reader.pos < end) {
    reader.uint32();
    add(scan, 1);
  }
  if (reader.pos > end) throw new Error("a packed list is cut off");
}
