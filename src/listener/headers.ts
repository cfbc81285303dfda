/** Which header fields go on to an upstream, and which of its answer go back? */
import { Fate, type Head, single } from "./head.ts";
import { givenRequestId, hasTrace, newTrace } from "./trace.ts";

/** What carryover adds to a request. */
export interface Hop {
  /** The client's own or a fresh one. */
  readonly requestId: string;
  /** The peer's address; empty when it is not known. */
  readonly peer: string;
  /** What the peer says of others is believed. */
  readonly trusted: boolean;
  readonly newId: () => string;
}

/** How carryover names itself in `Via` (RFC 9110 section 7.6.3). */
const VIA = "1.1 carryover";

/**
 * The fields for an upstream, flat (name, value, name, value): the client's own in their order and spelling, without
 * those of the connection and those that could pass for somebody else's; then ours (design: pass-through).
 */
export function forwarded(head: Head, hop: Hop): string[] {
  const flat: string[] = [];
  const keepId = givenRequestId(head) !== undefined;
  const keepTrace = hasTrace(head);
  for (let i = 0; i < head.names.length; i++) {
    const fate = head.fates[i];
    const kept =
      fate === Fate.KEEP ||
      (fate === Fate.REQUEST_ID && keepId) ||
      (fate === Fate.TRACE && keepTrace) ||
      (fate === Fate.FORWARDED && hop.trusted && !REBUILT.has(head.names[i] ?? ""));
    if (kept) flat.push(head.raw[2 * i] ?? "", head.raw[2 * i + 1] ?? "");
  }
  addForwarded(flat, head, hop);
  flat.push("via", VIA);
  if (!isThere(head, "x-request-id", keepId)) flat.push("x-request-id", hop.requestId);
  // Our own id is random enough for both, and whoever knows one of them finds the other.
  if (!isThere(head, "traceparent", keepTrace)) {
    flat.push("traceparent", newTrace(keepId ? hop.newId() : hop.requestId));
  }
  return flat;
}

/**
 * The fields of an upstream's answer for the client: as they came, and `Via`; the request id when it has none; places
 * inside the platform with our base path in front. Changes and returns `flat`.
 */
export function returned(flat: string[], requestId: string, basePath: string): string[] {
  let hasId = false;
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const length = flat[i]?.length;
    if (length === 12 && flat[i]?.toLowerCase() === "x-request-id") hasId = true;
    else if (basePath !== "" && (length === 8 || length === 4)) {
      flat[i + 1] = placed((flat[i] ?? "").toLowerCase(), flat[i + 1] ?? "", basePath);
    }
  }
  flat.push("via", VIA);
  if (!hasId) flat.push("x-request-id", requestId);
  return flat;
}

/**
 * The value of field `name` (lower case) with the paths of the platform as clients have to call them: in `Location`, and
 * in the targets of `Link` (RFC 8288). Any other field, and any other place, is left as it is.
 */
export function placed(name: string, value: string, basePath: string): string {
  if (name === "location") return value.startsWith("/") && !value.startsWith("//") ? basePath + value : value;
  return name === "link" ? value.replaceAll(/<(?=\/(?!\/))/g, `<${basePath}`) : value;
}

const REBUILT: ReadonlySet<string> = new Set(["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"]);

function addForwarded(flat: string[], head: Head, hop: Hop): void {
  const { watched } = head;
  const before = hop.trusted ? (watched.get("x-forwarded-for") ?? []) : [];
  const chain = hop.peer === "" ? before : [...before, hop.peer];
  if (chain.length > 0) flat.push("x-forwarded-for", chain.join(", "));
  flat.push("x-forwarded-proto", (hop.trusted ? watched.get("x-forwarded-proto")?.[0] : undefined) ?? "http");
  const host = (hop.trusted ? watched.get("x-forwarded-host")?.[0] : undefined) ?? single(head, "host");
  if (host !== undefined) flat.push("x-forwarded-host", host);
}

/** A field that is valid may still have been named by Connection, and so be gone. */
function isThere(head: Head, name: string, valid: boolean): boolean {
  return valid && head.fates[head.names.indexOf(name)] !== Fate.DROP;
}
