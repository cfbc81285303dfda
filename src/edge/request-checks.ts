/** What makes a request too malformed to be looked at. */
import { type HeaderList, header, headerValues, METADATA_PREFIX, onlyValue, pathOf } from "../model/http.ts";
import { Problem } from "../model/problem.ts";

/** What the gate judges, all of it before anything is routed or read. */
export interface UncheckedRequest {
  readonly method: string;
  /** The request target as it came. */
  readonly target: string;
  /** As Node says it: `1.1`; `2` on the port for gRPC. */
  readonly httpVersion: string;
  /** The fields as they came. */
  readonly received: HeaderList;
}

export interface RequestCheckLimits {
  readonly uriBytes: number;
}

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const MAX_FIELDS = 100;
/** The port may be empty (RFC 9110 section 7.2, RFC 3986 section 3.2.3). */
const HOST = /^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;
/** A byte that no field value may hold (RFC 9110 section 5.5). Node's parsers refuse or drop most of them. */
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
/** One of the proxies that `Via` lists is carryover (RFC 9110 section 7.6.3). */
const VIA_CARRYOVER = /(?:^|,)\s*(?:HTTP\/)?[0-9.]+\s+carryover\s*(?:[,(]|$)/i;
/** `.` or `..` as a whole segment, however it is spelled: encoded, after a backslash, with path parameters. */
const DOT_SEGMENT = /(?:\/|\\|%2f|%5c)(?:\.|%2e){1,2}(?:;(?:(?!\/|\\|%2f|%5c).)*)?(?=\/|\\|%2f|%5c|$)/i;

/**
 * What must be refused for everyone, pass-through included: bad framing, ambiguous credentials, targets that another
 * parser could read differently. Undefined: it may go on.
 */
export function checkRequest(arrival: UncheckedRequest, limits: RequestCheckLimits): Problem | undefined {
  const { method, received, target, httpVersion } = arrival;
  return (
    checkFieldCount(received) ??
    checkFraming(arrival) ??
    checkTargetLength(target, limits) ??
    checkTarget(target) ??
    checkLoop(received) ??
    (METHODS.has(method) ? undefined : new Problem("METHOD_NOT_ALLOWED", "Method Not Allowed")) ??
    checkUpgrade(received) ??
    checkAuthorization(received) ??
    (httpVersion === "2" ? undefined : checkGrpc(received))
  );
}

function invalid(message: string): Problem {
  return new Problem("INVALID_REQUEST", message);
}

function checkFraming({ httpVersion, received }: UncheckedRequest): Problem | undefined {
  if (httpVersion !== "1.1" && httpVersion !== "1.0" && httpVersion !== "2")
    return invalid("HTTP version: expected 1.1 or 1.0");
  const hosts = headerValues(received, "host");
  if (hosts.length === 0) {
    if (httpVersion !== "1.0") return invalid("Host: missing");
  } else if (hosts.length > 1 || !HOST.test(hosts[0] ?? "")) return invalid("Host: expected one host name");
  const transfer = headerValues(received, "transfer-encoding");
  const lengths = headerValues(received, "content-length");
  if (transfer.length > 0) {
    if (transfer.length > 1 || transfer[0]?.toLowerCase() !== "chunked" || httpVersion === "1.0") {
      return invalid("Transfer-Encoding: expected only chunked");
    }
    if (lengths.length > 0) return invalid("Content-Length beside Transfer-Encoding");
  }
  if (lengths.length === 0) return undefined;
  if (lengths.length > 1) return invalid("Content-Length: more than one");
  // Beyond 2^53 the length would be rounded.
  return Number.isSafeInteger(Number(lengths[0])) ? undefined : invalid("Content-Length: expected less than 2^53");
}

/** Before anything is looked for among them: Node does not tell of all when there are thousands. (Their bytes are counted by the parser.) */
function checkFieldCount(received: HeaderList): Problem | undefined {
  if (received.length <= MAX_FIELDS) return undefined;
  return new Problem("HEADERS_TOO_LARGE", `more than ${MAX_FIELDS} header fields`, { options: [] });
}

function checkTargetLength(target: string, { uriBytes }: RequestCheckLimits): Problem | undefined {
  if (target.length <= uriBytes) return undefined;
  return new Problem("URI_TOO_LONG", `the request target is longer than ${uriBytes} bytes`);
}

function checkTarget(target: string): Problem | undefined {
  if (!target.startsWith("/") || target.startsWith("//")) return invalid("request target: expected a path");
  if (target.includes("#")) return invalid("request target: a fragment is not part of it");
  const path = pathOf(target);
  if (path.includes("\\")) return invalid("request target: backslash in the path");
  if ((path.includes("/.") || path.includes("%")) && DOT_SEGMENT.test(path)) {
    return new Problem("INVALID_PATH", "request target: dot segments are not resolved");
  }
  return undefined;
}

/**
 * A request that has come through carryover before would go round until its head is too long: an upstream leads to the
 * ingress in front, and from there back here.
 */
function checkLoop(received: HeaderList): Problem | undefined {
  if (!headerValues(received, "via").some((value) => VIA_CARRYOVER.test(value))) return undefined;
  const remedy = "upstreams must be addresses that do not lead to carryover";
  return new Problem("LOOP_DETECTED", `this request has come through carryover before: ${remedy}`);
}

/** An offer to speak HTTP/2 may be left alone (RFC 9110 section 7.8), and some clients always make it. */
function checkUpgrade(received: HeaderList): Problem | undefined {
  const protocols = headerValues(received, "upgrade");
  if (protocols.length === 0) return undefined;
  const wantsUpgrade = headerValues(received, "connection").some((value) =>
    /(?:^|[,\s])upgrade(?:[,\s]|$)/i.test(value),
  );
  if (!wantsUpgrade || protocols.every((value) => value.toLowerCase() === "h2c")) return undefined;
  return new Problem("UPGRADE_REFUSED", "protocol upgrades are not supported");
}

/** Metadata of that name becomes a second credential at the platform's gateway, which takes either of the two. */
const AUTHORIZATION_METADATA = `${METADATA_PREFIX}authorization`;

function checkAuthorization(received: HeaderList): Problem | undefined {
  if (header(received, AUTHORIZATION_METADATA) !== undefined) {
    return new Problem("UNAUTHENTICATED", "Grpc-Metadata-Authorization: send Authorization alone", { options: [] });
  }
  const values = headerValues(received, "authorization");
  if (values.length === 0) return undefined;
  if (values.length > 1) return new Problem("UNAUTHENTICATED", "Authorization: more than one", { options: [] });
  if (!NOT_IN_VALUE.test(values[0] ?? "")) return undefined;
  return new Problem("UNAUTHENTICATED", "Authorization: it holds bytes that no header field may hold", { options: [] });
}

function checkGrpc(received: HeaderList): Problem | undefined {
  return isGrpc(onlyValue(received, "content-type")) ? grpcUnsupported() : undefined;
}

/** True for a media type of gRPC. */
export function isGrpc(media: string | undefined): boolean {
  return media !== undefined && /^application\/grpc(?:[-+;\s]|$)/i.test(media);
}

/** The response to gRPC on the port for HTTP. */
export function grpcUnsupported(): Problem {
  return new Problem("GRPC_UNSUPPORTED", "this port serves JSON over HTTP/1.1; gRPC is served on listen.grpc.port");
}
