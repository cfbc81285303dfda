/** How is one value in a rules file written? (Beside the leaves that the configuration has.) */
import * as z from "zod";
import { form } from "../leaves.ts";
import { INSTANT_PATTERN, readInstant } from "../values.ts";

/** Milliseconds since 1970. */
export const instant = (() => {
  const error =
    "expected a date such as 2027-03-01 (it begins at 00:00 UTC), or an instant such as 2027-03-01T08:00:00Z";
  return z
    .string({ error })
    .regex(INSTANT_PATTERN, { error })
    .transform((text) => readInstant(text) ?? Number.NaN)
    .refine((at) => !Number.isNaN(at), { error })
    .meta(form("date"));
})();

/** Part of a whole. */
export const share = (() => {
  const error = "expected a share from 0 to 1, such as 0.1 for every tenth";
  return z.number({ error }).min(0, { error }).max(1, { error }).meta(form("share"));
})();

export const positiveShare = (() => {
  const error = "expected a share above 0 and up to 1, such as 0.001";
  return z.number({ error }).gt(0, { error }).max(1, { error }).meta(form("share"));
})();

export const percentage = (() => {
  const error = "expected a percentage from 0 to 100";
  return z.number({ error }).min(0, { error }).max(100, { error }).meta(form("percentage"));
})();

export function yesNo() {
  return z.boolean({ error: "expected true or false" }).meta(form("true|false"));
}

/** One text or a list of them; always a list afterwards. */
export function oneOrMany<Item extends z.ZodType<string, string>>(
  item: (error: string) => Item,
  expected: string,
  name: string,
) {
  const error = `expected ${expected}, or a list of them with something in it`;
  const one = item(error);
  return z
    .union([one, z.array(one, { error }).min(1, { error })], { error })
    .transform((given): readonly z.output<Item>[] => (Array.isArray(given) ? given : [given as z.output<Item>]))
    .meta(form(name));
}

/** Text of a form. */
export function textLike(pattern: RegExp) {
  return (error: string) => z.string({ error }).regex(pattern, { error });
}

/** Minutes of the day. */
export const hours = (() => {
  const error = "expected hours such as 08:00-18:00, or 22:00-06:00 over midnight";
  return z
    .string({ error })
    .regex(/^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$/, { error })
    .transform((text) => {
      const [begin = 0, end = 0] = text.split("-").map((time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3)));
      return { begin, end };
    })
    .meta(form("HH:MM-HH:MM"));
})();

/** A map of one entry: a name and the value that selects. */
export function selector(value: RegExp, example: string) {
  const error = `expected one name with a text as its value, such as ${example} (quote numbers, and words like true)`;
  return z
    .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/), z.string({ error }).regex(value, { error }), {
      error,
    })
    .superRefine((entries, context) => {
      if (Object.keys(entries).length !== 1) context.addIssue({ code: "custom", message: error });
    })
    .transform((entries) => Object.entries(entries).map(([name, text]) => ({ name, value: text }))[0])
    .meta({ ...form(example), minProperties: 1, maxProperties: 1 });
}

/** An address that goes into a Link field (RFC 8288). */
export const link = (() => {
  const error = "expected an http or https URL without credentials, blanks and angle brackets";
  return z
    .string({ error })
    .regex(/^https?:\/\/[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]{1,2000}$/, { error })
    .refine((text) => URL.canParse(text) && new URL(text).username === "" && new URL(text).password === "", { error })
    .meta(form("url"));
})();
