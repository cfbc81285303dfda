/** What do the header fields of a request say, read once in the order of the wire? */

import { createHash } from "node:crypto";
import { HOP_BY_HOP, METHOD_OVERRIDES, namedByConnection } from "../model/http.ts";

/** What becomes of a field on its way to an upstream. */
export const HeaderHandling = { KEEP: 0, DROP: 1, FORWARDED: 2, REQUEST_ID: 3, TRACE: 4 } as const;
export type HeaderHandling = (typeof HeaderHandling)[keyof typeof HeaderHandling];

/** The fields of one request, and what carryover itself wants to know of them. */
export interface HeaderFields {
  /** As Node gives them: name, value, name, value; names as the client spelled them. */
  readonly raw: readonly string[];
  /** Lower-case names, one per field. */
  readonly names: readonly string[];
  /** What becomes of each field; those that the client's Connection names are DROP. */
  readonly handling: readonly HeaderHandling[];
  /** Values by lower-case name, of the fields listed in `WATCHED` only; repeats in order. */
  readonly watched: ReadonlyMap<string, readonly string[]>;
  /** Fields with a name that carryover does not let through (underscores and other marks). */
  readonly oddNames: number;
}

const DROPPED: ReadonlyMap<string, HeaderHandling> = new Map(
  [...HOP_BY_HOP, ...METHOD_OVERRIDES, "host", "forwarded"].map((name) => [name, HeaderHandling.DROP]),
);

/** Fields that only a trusted proxy may set; the whole family `x-forwarded-` belongs to them. */
const HANDLING: ReadonlyMap<string, HeaderHandling> = new Map<string, HeaderHandling>([
  ...DROPPED,
  ["x-real-ip", HeaderHandling.FORWARDED],
  ["x-request-id", HeaderHandling.REQUEST_ID],
  ["traceparent", HeaderHandling.TRACE],
  ["tracestate", HeaderHandling.TRACE],
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
export function readHeaderFields(raw: readonly string[]): HeaderFields {
  const names: string[] = [];
  const fates: HeaderHandling[] = [];
  const watched = new Map<string, string[]>();
  let oddNames = 0;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] ?? "").toLowerCase();
    let fate = HANDLING.get(name) ?? familyHandling(name);
    if ((fate === HeaderHandling.KEEP || fate === HeaderHandling.FORWARDED) && !PLAIN_NAME.test(name)) {
      fate = HeaderHandling.DROP;
      oddNames++;
    }
    names.push(name);
    fates.push(fate);
    if (WATCHED.has(name)) addWatched(watched, name, raw[i + 1] ?? "");
  }
  dropNamed(names, fates, watched.get("connection"));
  return { raw, names, handling: fates, watched, oddNames };
}

/** The only value of a watched field, or undefined when there is none or more than one. */
export function single(head: HeaderFields, name: string): string | undefined {
  const values = head.watched.get(name);
  return values?.length === 1 ? values[0] : undefined;
}

function familyHandling(name: string): HeaderHandling {
  if (name.startsWith("x-forwarded-")) return HeaderHandling.FORWARDED;
  return name.startsWith("grpc-") ? HeaderHandling.DROP : HeaderHandling.KEEP;
}

function addWatched(watched: Map<string, string[]>, name: string, value: string): void {
  const values = watched.get(name);
  if (values === undefined) watched.set(name, [value]);
  else values.push(value);
}

/** What the client calls a matter of its connection does not go on, before any field of ours is added. */
function dropNamed(names: readonly string[], fates: HeaderHandling[], connection: readonly string[] | undefined): void {
  if (connection === undefined) return;
  const named = namedByConnection(connection);
  if (named.size === 0) return;
  names.forEach((name, i) => {
    if (named.has(name)) fates[i] = HeaderHandling.DROP;
  });
}

/** Under which names is a request known to others: its id, and its place in a trace? */

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The client's own request id when it is one, of at most 128 visible characters. */
export function givenRequestId(head: HeaderFields): string | undefined {
  const id = single(head, "x-request-id");
  return id !== undefined && isRequestId(id) ? id : undefined;
}

/** True for at most 128 visible characters. */
export function isRequestId(id: string): boolean {
  return REQUEST_ID.test(id);
}

/** True when the client is part of a trace (W3C Trace Context section 3.2). */
export function hasTrace(head: HeaderFields): boolean {
  const parent = single(head, "traceparent");
  return parent !== undefined && TRACEPARENT.test(parent);
}

/** A `traceparent` that begins a trace, not sampled; `id`: fresh and random (a UUID is used as it is). */
export function newTrace(id: string): string {
  const trace = traceIdOf(id);
  // One span in a fresh trace: any part of the trace's own random digits tells it apart.
  return `00-${trace}-${trace.slice(16)}-00`;
}

function traceIdOf(id: string): string {
  if (UUID.test(id)) return id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24);
  return createHash("sha256").update(id).digest("hex").slice(0, 32);
}

/** Until when does a request matter? */

const GRPC_TIMEOUT_UNITS: ReadonlyMap<string, number> = new Map([
  ["H", 3_600_000],
  ["M", 60_000],
  ["S", 1_000],
  ["m", 1],
  ["u", 1e-3],
  ["n", 1e-6],
]);

/** Milliseconds a client gives in `Grpc-Timeout` (`250m`, `1S`); undefined when there is none or it cannot be read. */
export function clientTimeout(value: string | undefined): number | undefined {
  const match = value === undefined ? null : /^(\d{1,8})([HMSmun])$/.exec(value);
  const unit = GRPC_TIMEOUT_UNITS.get(match?.[2] ?? "");
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}
