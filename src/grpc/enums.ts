/** Values of enums that v1 never had: in JSON they keep v2's name, in a message they need a number. */
import type { DescEnum, DescField, DescMessage, JsonObject, JsonValue, Registry } from "@bufbuild/protobuf";
import { isJsonObject } from "../model/json.ts";

/** Replaces such names by v2's numbers, in the JSON of a message. Calls `lost` with the name of each field whose value becomes zero. */
export type NumberEnums = (type: DescMessage, json: JsonValue, lost: (field: string) => void) => void;

/** The fields of a message that hold enums, at any depth. */
type EnumFields = readonly DescField[];

/** `registry`: v1's messages and v2's. */
export function createEnumNumbers(registry: Registry): NumberEnums {
  const holders = new Map<string, DescEnum[]>();
  for (const type of registry) {
    if (type.kind !== "enum") continue;
    for (const { name } of type.values) holders.set(name, [...(holders.get(name) ?? []), type]);
  }
  const bearing = new Map<DescMessage, EnumFields>();
  const fieldsOf = (type: DescMessage): EnumFields => {
    const known = bearing.get(type);
    if (known !== undefined) return known;
    const found = type.fields.filter((field) => holdsEnum(field, new Set()));
    bearing.set(type, found);
    return found;
  };
  const value = (field: DescField, json: JsonValue, lost: (field: string) => void): JsonValue => {
    if (field.message !== undefined) visit(field.message, json, lost);
    if (field.enum === undefined || typeof json !== "string") return json;
    const known = holders.get(json) ?? [];
    if (known.includes(field.enum)) return json;
    const number = freeNumber(known, field.enum, json);
    if (number === undefined) lost(field.jsonName);
    return number ?? json;
  };
  const visit: NumberEnums = (type, json, lost) => {
    if (!isJsonObject(json)) return;
    const object = json as JsonObject;
    for (const field of fieldsOf(type)) {
      for (const name of new Set([field.jsonName, field.name])) {
        const found = Object.hasOwn(object, name) ? object[name] : undefined;
        if (found === undefined || found === null) continue;
        if (field.fieldKind === "list" && Array.isArray(found)) {
          object[name] = found.map((one) => value(field, one, lost));
        } else if (field.fieldKind === "map" && isJsonObject(found)) {
          const entries = Object.entries(found as JsonObject);
          object[name] = Object.fromEntries(entries.map(([key, one]) => [key, value(field, one, lost)]));
        } else object[name] = value(field, found, lost);
      }
    }
  };
  return visit;
}

function holdsEnum({ enum: own, message }: DescField, seen: Set<DescMessage>): boolean {
  if (own !== undefined) return true;
  if (message === undefined || seen.has(message)) return false;
  seen.add(message);
  return message.fields.some((field) => holdsEnum(field, seen));
}

/** The number of `value` in its `holders`, where they agree and `type` leaves it free. Enums of the same name decide first. */
function freeNumber(holders: readonly DescEnum[], type: DescEnum, value: string): number | undefined {
  const named = holders.filter(({ name }) => name === type.name);
  const deciding = named.length > 0 ? named : holders;
  const numbers = new Set(deciding.map(({ values }) => values.find(({ name }) => name === value)?.number));
  const [number] = numbers;
  return numbers.size === 1 && number !== undefined && type.value[number] === undefined ? number : undefined;
}
