/** Which header fields go on to an upstream, and which of its answer go back? */

import { BlockList, isIP } from "node:net";
import { givenRequestId, type HeaderFields, HeaderHandling, hasTrace, newTrace, single } from "./request-head.ts";

/** What carryover adds to a request. */
export interface ForwardingFacts {
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
export function requestHeaders(head: HeaderFields, hop: ForwardingFacts): string[] {
  const flat: string[] = [];
  const keepId = givenRequestId(head) !== undefined;
  const keepTrace = hasTrace(head);
  for (let i = 0; i < head.names.length; i++) {
    const fate = head.handling[i];
    const kept =
      fate === HeaderHandling.KEEP ||
      (fate === HeaderHandling.REQUEST_ID && keepId) ||
      (fate === HeaderHandling.TRACE && keepTrace) ||
      (fate === HeaderHandling.FORWARDED && hop.trusted && !REBUILT.has(head.names[i] ?? ""));
    if (kept) flat.push(head.raw[2 * i] ?? "", head.raw[2 * i + 1] ?? "");
  }
  addForwarded(flat, head, hop);
  flat.push("via", VIA);
  if (!isForwarded(head, "x-request-id", keepId)) flat.push("x-request-id", hop.requestId);
  // Our own id is random enough for both, and whoever knows one of them finds the other.
  if (!isForwarded(head, "traceparent", keepTrace)) {
    flat.push("traceparent", newTrace(keepId ? hop.newId() : hop.requestId));
  }
  return flat;
}

/**
 * The fields of an upstream's answer for the client: as they came, and `Via`; the request id when it has none; places
 * inside the platform with our base path in front. Changes and returns `flat`.
 */
export function responseHeaders(flat: string[], requestId: string, basePath: string): string[] {
  let hasId = false;
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const length = flat[i]?.length;
    if (length === 12 && flat[i]?.toLowerCase() === "x-request-id") hasId = true;
    else if (basePath !== "" && (length === 8 || length === 4)) {
      flat[i + 1] = withBasePath((flat[i] ?? "").toLowerCase(), flat[i + 1] ?? "", basePath);
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
export function withBasePath(name: string, value: string, basePath: string): string {
  if (name === "location") return value.startsWith("/") && !value.startsWith("//") ? basePath + value : value;
  return name === "link" ? value.replaceAll(/<(?=\/(?!\/))/g, `<${basePath}`) : value;
}

const REBUILT: ReadonlySet<string> = new Set(["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"]);

function addForwarded(flat: string[], head: HeaderFields, hop: ForwardingFacts): void {
  const { watched } = head;
  const before = hop.trusted ? (watched.get("x-forwarded-for") ?? []) : [];
  const chain = hop.peer === "" ? before : [...before, hop.peer];
  if (chain.length > 0) flat.push("x-forwarded-for", chain.join(", "));
  flat.push("x-forwarded-proto", (hop.trusted ? watched.get("x-forwarded-proto")?.[0] : undefined) ?? "http");
  const host = (hop.trusted ? watched.get("x-forwarded-host")?.[0] : undefined) ?? single(head, "host");
  if (host !== undefined) flat.push("x-forwarded-host", host);
}

/** A field that is valid may still have been named by Connection, and so be gone. */
function isForwarded(head: HeaderFields, name: string, valid: boolean): boolean {
  return valid && head.handling[head.names.indexOf(name)] !== HeaderHandling.DROP;
}

/** Who may say for whom a request is made? */

/** True for an address (as a socket gives it) whose `X-Forwarded-*` are believed. */
export type TrustedProxy = (address: string) => boolean;

/** From networks in CIDR form or single addresses. Throws RangeError for one that is neither. */
export function createTrustedProxies(networks: readonly string[]): TrustedProxy {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const network of networks) addNetwork(list, network);
  return (address) => {
    const plain = plainAddress(address);
    return isIP(plain) !== 0 && list.check(plain, familyOf(plain));
  };
}

/** An address without the IPv6 wrapping of IPv4 peers. */
export function plainAddress(address: string): string {
  return address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
}

function addNetwork(list: BlockList, network: string): void {
  const [address = "", bits, rest] = network.split("/");
  const longest = isIP(address) === 6 ? 128 : 32;
  const prefix = bits === undefined ? longest : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (isIP(address) === 0 || rest !== undefined || !(prefix <= longest)) {
    throw new RangeError(`not a network: ${network}`);
  }
  list.addSubnet(address, prefix, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
