/** Is a text a time as the platform's decoder takes it? (RFC 3339; specification section 2.) */

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
/** Years 1 to 9999, in milliseconds: what a timestamp of the platform can hold. */
const FIRST = Date.parse("0001-01-01T00:00:00Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");

/** True for an RFC 3339 time that exists, with at most nine digits behind the second; `T` and `Z` are capital, as Go reads them. */
export function isTimestamp(text: string): boolean {
  if (!TIMESTAMP.test(text)) return false;
  const instant = Date.parse(text);
  return instant >= FIRST && instant <= LAST && isOnCalendar(text.slice(0, "yyyy-mm-ddThh:mm:ss".length));
}

/** `Date` takes 30 February for 2 March and 24:00 for the next day; the platform takes neither. */
function isOnCalendar(local: string): boolean {
  return new Date(`${local}Z`).toISOString().startsWith(local);
}
