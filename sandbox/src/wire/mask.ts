/** Update masks: parsing them, deriving them from a body, applying them. */

import { type Json, type JsonObject, member } from "../json.ts";
import type { MaskSpelling } from "../options.ts";
import { gatewayRefusal, invalid, RpcCode } from "../refusal.ts";
import type { JsonNode } from "./parse.ts";
import type { Field, Message, Schema } from "./schema.ts";

/** Fields from the outside in: `[oidc, client_id]`. */
export type MaskPath = readonly Field[];

/**
 * The paths that the keys of a body stand for: down to leaves inside messages, stopping at maps and arrays;
 * `{}` and `null` are leaves. Throws 400 for an unknown key and for a body without keys.
 */
export function deriveMask(schema: Schema, message: Message, body: JsonNode | undefined): readonly MaskPath[] {
  const paths = body?.kind === "object" ? walk(schema, message, body, []) : [];
  if (paths.length === 0) throw invalid("update_mask", "the mask has an empty path");
  return paths;
}

function walk(schema: Schema, message: Message, node: JsonNode, above: MaskPath): MaskPath[] {
  if (node.kind !== "object") return [];
  return node.members.flatMap(([key, value]) => {
    const field = message.byKey.get(key);
    if (field === undefined) {
      const where = [...above.map((part) => part.proto), key].join(".");
      throw gatewayRefusal(
        RpcCode.INVALID_ARGUMENT,
        `could not find field ${JSON.stringify(where)} in ${message.name}`,
      );
    }
    const path = [...above, field];
    const deeper = field.label === "one" && field.type.kind === "message" && value.kind === "object";
    if (!deeper || value.members.length === 0) return [path];
    return walk(schema, schema.message(field.type.ref), value, path);
  });
}

/** The paths that an `updateMask` parameter names; `*` stands for every field that may be written. */
export function parseMask(schema: Schema, message: Message, text: string, spelling: MaskSpelling): readonly MaskPath[] {
  if (text === "*") return message.fields.filter((field) => !field.readonly && !field.fixed).map((field) => [field]);
  return text.split(",").map((path) => parsePath(schema, message, path, spelling));
}

function parsePath(schema: Schema, root: Message, path: string, spelling: MaskSpelling): MaskPath {
  const found: Field[] = [];
  let message: Message | undefined = root;
  for (const name of path.split(".")) {
    const field: Field | undefined = message?.fields.find((one) => spellings(one, spelling).includes(name));
    if (field === undefined) throw invalid("update_mask", `${JSON.stringify(path)} is no path of ${root.name}`);
    found.push(field);
    const inside: boolean = field.label === "one" && field.type.kind === "message";
    message = inside ? schema.message(field.type.ref) : undefined;
  }
  return found;
}

function spellings(field: Field, spelling: MaskSpelling): readonly string[] {
  if (spelling === "both") return [field.proto, field.json];
  return [spelling === "snake_case" ? field.proto : field.json];
}

/** `stored` with every field that `paths` name taken from `given` (absent there means zero). Both stay untouched. */
export function applyMask(
  schema: Schema,
  message: Message,
  stored: JsonObject,
  given: JsonObject,
  paths: readonly MaskPath[],
): JsonObject {
  const out = structuredClone(stored);
  for (const path of paths) applyPath(schema, message, out, given, path);
  return out;
}

function applyPath(schema: Schema, message: Message, target: JsonObject, given: JsonObject, path: MaskPath): void {
  const [field, ...rest] = path;
  if (field === undefined) return;
  const value = member(given, field.json);
  if (rest.length === 0) {
    if (value === undefined) delete target[field.json];
    else setField(message, target, field, structuredClone(value));
    return;
  }
  const before = member(target, field.json);
  const inner = (before ?? {}) as JsonObject;
  applyPath(schema, schema.message(field.type.ref), inner, (value ?? {}) as JsonObject, rest);
  // Clearing a leaf of a message that is not there does not bring the message into being.
  if (before !== undefined || Object.keys(inner).length > 0) setField(message, target, field, inner);
}

/** Sets a field; of a oneof only its newest member stays. */
function setField(message: Message, target: JsonObject, field: Field, value: Json): void {
  for (const other of message.fields) {
    if (field.oneof !== undefined && other.oneof === field.oneof) delete target[other.json];
  }
  target[field.json] = value;
}
