/** Which header fields of a request go on to an upstream, which of a response go back, and what those of a request say. */
import { BlockList, isIP } from "node:net";
import {
  type HeaderField,
  type HeaderList,
  HOP_BY_HOP,
  header,
  headerValues,
  METADATA_PREFIX,
  METHOD_OVERRIDES,
  namedByConnection,
  onlyValue,
  withValue,
} from "../model/http.ts";

/** What carryover adds to a request. */
interface ForwardingFacts {
  /** The client's own (`isOwnId`) or a fresh one. */
  readonly requestId: string;
  readonly isOwnId: boolean;
  /** The client's address, as its socket reports it; empty when it is not known. */
  readonly peer: string;
  /** What the client says of others is believed. */
  readonly trusted: boolean;
}

/** How carryover names itself in `Via` (RFC 9110 section 7.6.3). */
const VIA: HeaderField = ["via", "1.1 carryover"];
const DROPPED: ReadonlySet<string> = new Set([...HOP_BY_HOP, ...METHOD_OVERRIDES, "host", "forwarded"]);
const REBUILT: ReadonlySet<string> = new Set(["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"]);
const PLAIN_NAME = /^[a-z0-9-]+$/;
/** Names that must have one meaning everywhere: of those below, without hyphens. */
const PROTECTED: ReadonlySet<string> = new Set(
  [...DROPPED, "authorization", "content-length", "cookie", "via", "x-real-ip", "x-request-id"].map(lettersOf),
);

/** Names that say who calls, or where a message ends: a gateway would merge them with the fields of that meaning. */
const NOT_METADATA: ReadonlySet<string> = new Set(["authorization", "content-length", "content-type", "cookie"]);

/** How a client's field of this name (lower case) is handled: `forwarded` ones may be set by trusted proxies only. */
export function handlingOf(name: string): "keep" | "drop" | "forwarded" | "odd" {
  if (name.startsWith("grpc-")) {
    return name.startsWith(METADATA_PREFIX) ? handlingOfMetadata(name.slice(METADATA_PREFIX.length)) : "drop";
  }
  if (DROPPED.has(name)) return "drop";
  if (!PLAIN_NAME.test(name)) return isLookAlike(lettersOf(name)) ? "odd" : "keep";
  return name.startsWith("x-forwarded-") || name === "x-real-ip" ? "forwarded" : "keep";
}

/** How metadata of this name (lower case) is handled, which a gateway hands to the platform's servers. Names with "grpc" in front are the gateway's own. */
export function handlingOfMetadata(name: string): "keep" | "drop" | "odd" {
  if (name === "" || NOT_METADATA.has(name) || name.startsWith("grpc")) return "drop";
  const handling = handlingOf(name);
  return handling === "forwarded" ? "drop" : handling;
}

/** Some programs replace signs in names (CGI: RFC 3875 section 4.1.18): to them `X_Forwarded_For` is X-Forwarded-For. */
function isLookAlike(letters: string): boolean {
  return PROTECTED.has(letters) || letters.startsWith("xforwarded") || letters.startsWith("grpc");
}

function lettersOf(name: string): string {
  return name.replaceAll(/[^a-z0-9]/g, "");
}

/**
 * The fields for an upstream: the client's own in their order and spelling, then ours. Fields of the connection are left out, and those
 * that a client could forge. A trace context goes on as it came, and none is made: programs behind carryover would believe its `sampled`
 * flag. `odd`: how many look like a field that carryover controls.
 */
export function requestHeaders(received: HeaderList, facts: ForwardingFacts): { headers: HeaderList; odd: number } {
  const headers: HeaderField[] = [];
  const named = namedByConnection(headerValues(received, "connection"));
  let odd = 0;
  for (const field of received) {
    const [name] = field;
    const handling = handlingOf(name);
    if (handling === "odd") odd += 1;
    if (handling === "odd" || handling === "drop" || named.has(name)) continue;
    if (handling === "forwarded" && !(facts.trusted && !REBUILT.has(name))) continue;
    if (name === "x-request-id" && !facts.isOwnId) continue;
    headers.push(field);
  }
  addForwarded(headers, received, facts);
  headers.push(VIA);
  // A field that is valid may still have been named by Connection, and so be gone.
  if (!facts.isOwnId || named.has("x-request-id")) headers.push(["x-request-id", facts.requestId]);
  return { headers, odd };
}

function addForwarded(headers: HeaderField[], received: HeaderList, { trusted, peer }: ForwardingFacts): void {
  const chain = trusted ? headerValues(received, "x-forwarded-for") : [];
  if (peer !== "") chain.push(plainAddress(peer));
  if (chain.length > 0) headers.push(["x-forwarded-for", chain.join(", ")]);
  headers.push(["x-forwarded-proto", (trusted ? header(received, "x-forwarded-proto") : undefined) ?? "http"]);
  const host = (trusted ? header(received, "x-forwarded-host") : undefined) ?? onlyValue(received, "host");
  if (host !== undefined) headers.push(["x-forwarded-host", host]);
}

/**
 * Makes the fields of an upstream's response those for the client: `Via`, the request id when it has none, and paths inside the platform
 * with our base path in front.
 */
export function addResponseHeaders(headers: HeaderField[], requestId: string, basePath: string): void {
  if (basePath !== "") {
    headers.forEach((field, i) => {
      const [name, value] = field;
      if (name === "location" || name === "link") headers[i] = withValue(field, withBasePath(name, value, basePath));
    });
  }
  const hasId = header(headers, "x-request-id") !== undefined;
  headers.push(VIA);
  if (!hasId) headers.push(["x-request-id", requestId]);
}

/**
 * The value of field `name` (lower case) with the paths of the platform as clients have to call them: in `Location`, and
 * in the targets of `Link` (RFC 8288). Any other field, and any other place, is left as it is.
 */
export function withBasePath(name: string, value: string, basePath: string): string {
  if (name === "location") return value.startsWith("/") && !value.startsWith("//") ? basePath + value : value;
  return name === "link" ? value.replaceAll(/<(?=\/(?!\/))/g, `<${basePath}`) : value;
}

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** The client's own request id when it is one, of at most 128 visible characters. */
export function givenRequestId(headers: HeaderList): string | undefined {
  const id = onlyValue(headers, "x-request-id");
  return id !== undefined && isRequestId(id) ? id : undefined;
}

export function isRequestId(id: string): boolean {
  return REQUEST_ID.test(id);
}

const GRPC_TIMEOUT_UNITS: ReadonlyMap<string, number> = new Map([
  ["H", 3_600_000],
  ["M", 60_000],
  ["S", 1_000],
  ["m", 1],
  ["u", 1e-3],
  ["n", 1e-6],
]);

/** Milliseconds that a client sends in `Grpc-Timeout` (`250m`, `1S`); undefined when there is none or it cannot be read. */
export function clientTimeout(value: string | undefined): number | undefined {
  const match = value === undefined ? null : /^(\d{1,8})([HMSmun])$/.exec(value);
  const unit = GRPC_TIMEOUT_UNITS.get(match?.[2] ?? "");
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}

/** The shortest time that a client leaves in `Grpc-Timeout` fields; Infinity when none can be read. */
export function shortestTimeout(headers: HeaderList): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (const [name, value] of headers) {
    if (name === "grpc-timeout") shortest = Math.min(shortest, clientTimeout(value) ?? shortest);
  }
  return shortest;
}

/** True for an address (as a socket reports it) whose `X-Forwarded-*` are believed. */
type TrustedProxy = (address: string) => boolean;

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
