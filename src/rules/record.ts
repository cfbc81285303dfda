/** Reads records that other instances sent, or earlier processes saved, also of other releases. */
import * as z from "zod";
import { LAST_TIME } from "../model/clock.ts";

/** At most a million per second for 30 years. */
export const Count = z.int().min(0).max(1e15);
/** Milliseconds since 1970. */
export const Time = z.int().min(0).max(LAST_TIME);
export const Share = z.number().min(0).max(1);

/** A member that older releases do not write. JSON has no undefined, so null counts as absent. */
export const optional = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => value ?? undefined, schema.optional());

/** The type of a record that `Schema` reads. It is never changed. */
export type Read<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;

type DeepReadonly<T> = T extends readonly (infer One)[]
  ? readonly DeepReadonly<One>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** Reads `value`, without members that `schema` does not know. Throws `Error` with the path of what is wrong, below `place`. */
export function readRecord<Schema extends z.ZodType>(schema: Schema, value: unknown, place = ""): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new Error(faultIn(result.error, place));
}

/** The first fault, with its path below `place`. */
export function faultIn({ issues: [issue] }: z.ZodError, place = ""): string {
  const path = z.core.toDotPath([...(place === "" ? [] : [place]), ...(issue?.path ?? [])]);
  return `${path === "" ? "" : `${path}: `}${issue?.message ?? "it is invalid"}`;
}
