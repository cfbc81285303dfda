/** Times of RFC 3339 as moments, to the last digit of the fraction. */

export interface Instant {
  /** Whole seconds since 1970; below zero before. */
  readonly seconds: number;
  /** Decimals of the second, without zeros at the end. */
  readonly fraction: string;
}

const TIME = /^(\d{4}-\d\d-(\d\d)T\d\d:\d\d:\d\d)(?:\.(\d{1,100}))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** The moment that `text` names, in either case and any offset; undefined for any other text. */
export function instantOf(text: string): Instant | undefined {
  const [, local = "", day, fraction = "", zone] = TIME.exec(text) ?? [];
  const at = Date.parse(`${local}${zone}`.toUpperCase());
  // V8 parses 30 February as 2 March, and 24:00 as the next day.
  if (Number.isNaN(at) || new Date(`${local}Z`.toUpperCase()).getUTCDate() !== Number(day)) return undefined;
  return { seconds: at / 1000, fraction: fraction.replace(/0+$/, "") };
}

/** The same text for the same moment. */
export function instantText({ seconds, fraction }: Instant): string {
  return `${seconds}.${fraction}`;
}

/**
 * True when `rounded` is `exact`, or what is left of it after cutting or rounding it to the decimals of `rounded`. Zeros at the end are
 * no decimals: some clients write six digits of a time that they hold in milliseconds. `least`: decimals that count in any case.
 */
export function isRounded(rounded: Instant, exact: Instant, least = 0): boolean {
  const decimals = Math.max(rounded.fraction.length, least);
  const digits = Math.max(decimals, exact.fraction.length);
  const gap = unitsOf(exact, digits) - unitsOf(rounded, digits);
  const unit = 10n ** BigInt(digits - decimals);
  return gap < unit && -gap < unit;
}

function unitsOf({ seconds, fraction }: Instant, digits: number): bigint {
  return BigInt(seconds) * 10n ** BigInt(digits) + BigInt(fraction.padEnd(digits, "0") || "0");
}
