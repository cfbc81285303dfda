/** Is a text a time as the platform's decoder takes it? (RFC 3339; specification section 2.) */

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** True for an RFC 3339 time that exists, with at most nine digits behind the second; `T` and `Z` are capital, as Go reads them. */
export function isTimestamp(text: string): boolean {
  return TIMESTAMP.test(text) && !Number.isNaN(Date.parse(text));
}
