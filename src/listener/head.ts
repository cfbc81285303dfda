/** What do the header fields of a request say, read once in the order of the wire? */
import { HOP_BY_HOP, METHOD_OVERRIDES, namedByConnection } from "../model/http.ts";

/** What becomes of a field on its way to an upstream. */
export const Fate = { KEEP: 0, DROP: 1, FORWARDED: 2, REQUEST_ID: 3, TRACE: 4 } as const;
export type Fate = (typeof Fate)[keyof typeof Fate];

/** The fields of one request, and what carryover itself wants to know of them. */
export interface Head {
  /** As Node gives them: name, value, name, value; names as the client spelled them. */
  readonly raw: readonly string[];
  /** Lower-case names, one per field. */
  readonly names: readonly string[];
  /** What becomes of each field; those that the client's Connection names are DROP. */
  readonly fates: readonly Fate[];
  /** Values by lower-case name, of the fields listed in `WATCHED` only; repeats in order. */
  readonly watched: ReadonlyMap<string, readonly string[]>;
  /** Fields with a name that carryover does not let through (underscores and other marks). */
  readonly oddNames: number;
}

const DROPPED: ReadonlyMap<string, Fate> = new Map(
  [...HOP_BY_HOP, ...METHOD_OVERRIDES, "host", "forwarded"].map((name) => [name, Fate.DROP]),
);

/** Fields that only a trusted proxy may set; the whole family `x-forwarded-` belongs to them. */
const FATES: ReadonlyMap<string, Fate> = new Map<string, Fate>([
  ...DROPPED,
  ["x-real-ip", Fate.FORWARDED],
  ["x-request-id", Fate.REQUEST_ID],
  ["traceparent", Fate.TRACE],
  ["tracestate", Fate.TRACE],
]);

const WATCHED: ReadonlySet<string> = new Set([
  "accept-encoding",
  "authorization",
  "connection",
  "content-length",
  "content-type",
  "grpc-timeout",
  "host",
  "traceparent",
  "transfer-encoding",
  "upgrade",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-request-id",
]);

/** Letters, digits and hyphens: what carryover lets through. Others could be taken for one of these further on. */
const PLAIN_NAME = /^[a-z0-9-]+$/;

/** Reads `raw` once. Never throws; what is wrong with it is for the gate to say. */
export function readHead(raw: readonly string[]): Head {
  const names: string[] = [];
  const fates: Fate[] = [];
  const watched = new Map<string, string[]>();
  let oddNames = 0;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] ?? "").toLowerCase();
    let fate = FATES.get(name) ?? familyFate(name);
    if ((fate === Fate.KEEP || fate === Fate.FORWARDED) && !PLAIN_NAME.test(name)) {
      fate = Fate.DROP;
      oddNames++;
    }
    names.push(name);
    fates.push(fate);
    if (WATCHED.has(name)) remember(watched, name, raw[i + 1] ?? "");
  }
  dropNamed(names, fates, watched.get("connection"));
  return { raw, names, fates, watched, oddNames };
}

/** The only value of a watched field, or undefined when there is none or more than one. */
export function single(head: Head, name: string): string | undefined {
  const values = head.watched.get(name);
  return values?.length === 1 ? values[0] : undefined;
}

function familyFate(name: string): Fate {
  if (name.startsWith("x-forwarded-")) return Fate.FORWARDED;
  return name.startsWith("grpc-") ? Fate.DROP : Fate.KEEP;
}

function remember(watched: Map<string, string[]>, name: string, value: string): void {
  const values = watched.get(name);
  if (values === undefined) watched.set(name, [value]);
  else values.push(value);
}

/** What the client calls a matter of its connection does not go on, before any field of ours is added. */
function dropNamed(names: readonly string[], fates: Fate[], connection: readonly string[] | undefined): void {
  if (connection === undefined) return;
  const named = namedByConnection(connection);
  if (named.size === 0) return;
  names.forEach((name, i) => {
    if (named.has(name)) fates[i] = Fate.DROP;
  });
}
