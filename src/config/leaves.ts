/** How is one option described, so that a value is read, a fault explained and the documentation written from it? */
import * as z from "zod";
import { DURATION_PATTERN, readBytes, readSeconds, SIZE_PATTERN, showBytes, urlFault } from "./values.ts";

/** Every leaf says in `x-form` how it is written, and in `error` what is expected: nothing else states either. */
export const form = (name: string) => ({ "x-form": name });

export const text = (expected: string) => z.string({ error: expected }).min(1, { error: expected });

export const file = text("expected the path of a file").meta(form("file"));

export function whole(min: number, max: number) {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error }).meta(form("number"));
}

export function seconds(min: number, max: number) {
  const error = `expected a duration from ${min} to ${max} seconds, such as ${max}, ${max}s or 1500ms`;
  return z
    .union([z.number().min(min, { error }).max(max, { error }), z.string().regex(DURATION_PATTERN, { error })], {
      error,
    })
    .transform((value) => readSeconds(value) ?? Number.NaN)
    .refine((value) => value >= min && value <= max, { error })
    .meta(form("seconds"));
}

export function bytes(min: number, max: number) {
  const error = `expected a size from ${showBytes(min)} to ${showBytes(max)}, such as ${max}, 64KiB or 1MiB`;
  return z
    .union([z.int({ error }).min(min, { error }).max(max, { error }), z.string().regex(SIZE_PATTERN, { error })], {
      error,
    })
    .transform((value) => readBytes(value) ?? Number.NaN)
    .refine((value) => value >= min && value <= max, { error })
    .meta(form("bytes"));
}

export function oneOf<const Names extends readonly string[]>(...names: Names) {
  return z.enum(names, { error: `expected one of ${names.join(", ")}` }).meta(form(names.join("|")));
}

/** Flags and variables can only say it as text. */
export function onOff() {
  const error = "expected true or false";
  return z
    .union([z.boolean(), z.enum(["true", "false"])], { error })
    .transform((value) => value === true || value === "true")
    .meta(form("true|false"));
}

export function listOf(item: z.ZodString, expected: string) {
  return z.array(item, { error: `expected a list, each ${expected}` }).meta(form("list"));
}

export const url = text("expected an http or https URL")
  .superRefine((value, context) => {
    const fault = urlFault(value);
    if (fault === undefined) return;
    context.addIssue({
      code: "custom",
      message: `${fault}; expected http(s)://host[:port][/path] without credentials`,
    });
  })
  .meta({ ...form("url"), format: "uri" });
