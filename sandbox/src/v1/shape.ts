/** How are members carried between the v1 and the stored shape of a record? */
import { type Json, type JsonObject, member } from "../json.ts";

/** Members under new names: `[from, to]`; what is absent stays absent. */
export function pick(source: Json | undefined, names: readonly (readonly [from: string, to: string])[]): JsonObject {
  const out: JsonObject = {};
  for (const [from, to] of names) {
    const value = member(source, from);
    if (value !== undefined && value !== null) out[to] = value;
  }
  return out;
}

/** When a record was made and last changed, as v1 named it (specification section 9). What is shown of it, the schema says. */
export function times(source: Json | undefined): JsonObject {
  return pick(source, [
    ["createTime", "createdAt"],
    ["updateTime", "updatedAt"],
  ]);
}

/** Members under their own names. */
export function keep(source: Json | undefined, names: readonly string[]): JsonObject {
  return pick(
    source,
    names.map((name) => [name, name] as const),
  );
}
