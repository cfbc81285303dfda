/** Forms of values that several keys of a rule share: dates, names, one or many. */
import * as z from "zod";

const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})(?:T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/;

/** Milliseconds since 1970 of `2027-03-01` (when that day begins in UTC) or of an RFC 3339 instant; undefined for anything else. */
export function readInstant(text: string): number | undefined {
  const [, year, month, day] = INSTANT.exec(text) ?? [];
  if (year === undefined) return undefined;
  // The standard library takes February 30 for March 2.
  const midnight = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return midnight.toISOString().startsWith(`${year}-${month}-${day}`) ? Date.parse(text) : undefined;
}

/** Every leaf states its form in `x-form` and the expected value in `error`. */
export const form = (name: string) => ({ "x-form": name });

/** Milliseconds since 1970. */
export const instantLeaf = (() => {
  const error =
    "expected a date such as 2027-03-01 (it begins at 00:00 UTC), or an instant such as 2027-03-01T08:00:00Z";
  return z
    .string({ error })
    .regex(INSTANT, { error })
    .transform((text) => readInstant(text) ?? Number.NaN)
    .refine((at) => !Number.isNaN(at), { error })
    .meta(form("date"));
})();

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
