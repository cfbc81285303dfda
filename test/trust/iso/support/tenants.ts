/** The tenants of a test, and how to find one tenant's data in another's response. */

/** One tenant: everything that is its own holds its marker, and its token stands nowhere but in its requests. */
export interface Tenant {
  readonly marker: string;
  readonly token: string;
}

const MARKER = "mk-";
const TOKEN = "tok-";
const DIGITS = 4;

/** `count` tenants. */
export function tenants(count: number): readonly Tenant[] {
  return Array.from({ length: count }, (_, at) => {
    const id = at.toString(16).padStart(DIGITS, "0");
    return { marker: `${MARKER}${id}`, token: `${TOKEN}${id}-0123456789abcdef` };
  });
}

/** The marker of the tenant whose token stands in `head` (latin1). */
export function markerOf(head: string): string {
  const at = head.indexOf(` ${TOKEN}`);
  return at < 0 ? "nobody" : `${MARKER}${head.slice(at + 1 + TOKEN.length, at + 1 + TOKEN.length + DIGITS)}`;
}

export interface Seen {
  /** Markers of `own`. */
  readonly own: number;
  /** Markers of others, and tokens of anybody. */
  readonly foreign: readonly string[];
}

/** Looks through all of `text` (latin1). */
export function lookThrough(text: string, own: string): Seen {
  let mine = 0;
  const foreign: string[] = [];
  for (let at = text.indexOf(MARKER); at >= 0; at = text.indexOf(MARKER, at + MARKER.length)) {
    if (text.startsWith(own, at)) mine++;
    else foreign.push(text.slice(at, at + MARKER.length + DIGITS));
  }
  if (text.includes(TOKEN)) foreign.push("a token");
  return { own: mine, foreign };
}

/** The seed of this run: the same each time, unless TRUST_SEED is another number, or `random` for a new one. */
export function seedOf(what: string): number {
  const given = process.env["TRUST_SEED"] ?? "20261122";
  const seed = given === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(given);
  console.info(`${what}: TRUST_SEED=${seed}`);
  return seed;
}
