/** carryover's own errors and the platform's in docs/errors.md; a test keeps the page up to date. */
import {
  PROBLEMS,
  Problem,
  type ProblemReason,
  problemBody,
  RPC_OF_HTTP,
  RpcCode,
  rpcOfHttp,
} from "../../src/model/problem.ts";
import { optionCell, wordSections } from "./notes.ts";

interface Words {
  readonly means: string;
  /** Who should do what. */
  readonly act: string;
  /** Whether the same request may be sent again as it is. */
  readonly again: string;
}

const NO = "no";
const BY_STATE = "a read: yes, later; a write: look at `state` first";

const WORDS: Readonly<Record<ProblemReason, Words>> = {
  INVALID_REQUEST: {
    means:
      "the request is not valid HTTP/1.1, or another program could read it otherwise: framing, `Host`, an odd target. With an `Expect` other than `100-continue` the status is 417",
    act: "client: fix the request, or the proxy that changes it",
    again: NO,
  },
  INVALID_PATH: {
    means:
      "the path has dot segments, `//`, `%25`, `;`, control bytes, or a uid with other characters than it may have",
    act: "client: send the path that the message expects",
    again: NO,
  },
  INVALID_BODY: {
    means:
      "the body is not a JSON object, a field has a wrong type or value, or v2 cannot hold what it asks for; `fieldViolations` names fields in v1's words. Also: a GET with a body. Over gRPC a message that cannot be read has code 13",
    act: "client: fix the body; where v2 is the limit, [updates.md](updates.md) and [coverage.md](coverage.md) say so",
    again: NO,
  },
  INVALID_FILTER: {
    means: "a parameter of the query cannot be read, or v2 cannot filter by it and carryover cannot do it either",
    act: "client: send the filter that the message expects",
    again: NO,
  },
  UPGRADE_REFUSED: {
    means: "`Connection: upgrade` to something other than `h2c`",
    act: "client: speak plain HTTP/1.1; WebSockets are not served",
    again: NO,
  },
  BROWNOUT: {
    means:
      "v1 is refused for a short time to find the clients that still need it: a rule with `mode: brownout` ([brownouts.md](brownouts.md)). The metadata names the rule, the window and whom to ask. 410 if the rule says so",
    act: "client's team: move to v2; operator, to end it: `carryover force native`, or another `mode` for the rule",
    again: "yes, after `Retry-After`",
  },
  UNAUTHENTICATED: {
    means:
      "`Authorization` came twice, or holds bytes that no header may hold. Any other one, or none, is passed on, so the platform's own 401 comes without domain `carryover`. On the admin port: no or a wrong token",
    act: "client: send one `Authorization`; operator, on the admin port: `admin.tokenFile`",
    again: NO,
  },
  UNKNOWN_PATH: {
    means:
      "the path begins with none of the API's prefixes (a new domain of v1 goes to native v1 where there is one) or is not below `listen.basePath`; or `/sts/exchange` without `upstream.sts.url`",
    act: "client: check the address; operator: `listen.basePath`, `listen.extraPrefixes`, `upstream.sts.url`",
    again: NO,
  },
  NOT_FOUND: {
    means:
      "carryover knows no such v1 path, and there is no native v1 (`upstream.v1.url`) to ask. `details` is empty, as in v1's gateway",
    act: "client: check the path",
    again: NO,
  },
  REQUEST_TIMEOUT: {
    means:
      "the request itself came too slowly, its body below `limits.minBodyRate`; or, in the log only, the client stopped reading its response",
    act: "client: send it faster; operator: look at the proxy in front",
    again: "yes",
  },
  ALREADY_EXISTS: {
    means: "a repo of that name is there already, and the create said `preventExisting`",
    act: "client: as with native v1",
    again: NO,
  },
  CONDITION_UNSUPPORTED: {
    means: "`If-Match` or `If-Unmodified-Since` on a write that takes several calls to v2",
    act: "client: leave the condition out; `carryover explain` shows which writes take several calls",
    again: NO,
  },
  BODY_TOO_LARGE: {
    means:
      "the body is longer than `limits.bodyBytes` or has more than 20,000 JSON values, or a gRPC message more than 20,000 fields (`limit` in the metadata), or its chunks carry long extensions",
    act: "client: send less; operator: raise `limits.bodyBytes`",
    again: NO,
  },
  MESSAGE_TOO_LARGE: {
    means:
      "over gRPC: a request is longer than `grpc.maxRequestBytes` or, if it is translated, `limits.bodyBytes`; or a response than `grpc.maxResponseBytes` (`limit`, `count`, `unit`, and `records` of a list in the metadata)",
    act: "client: narrow the list with a filter, or page through it with v2; operator: raise the option, and for responses first the clients' own limit",
    again: NO,
  },
  URI_TOO_LONG: {
    means: "the target is longer than `limits.uriBytes`",
    act: "client: send less; operator: raise `limits.uriBytes`",
    again: NO,
  },
  GRPC_UNSUPPORTED: {
    means:
      "`Content-Type: application/grpc` on the port for HTTP; or, on the port for gRPC, a compressed message in another encoding than gzip",
    act: "operator: open `listen.grpc.port` and send gRPC there ([grpc.md](grpc.md)); client: compress with gzip",
    again: NO,
  },
  DRAIN_TOO_LARGE: {
    means:
      "the list is over `lists.maxRecords`, `lists.maxBytes` or `lists.maxPages` (`limit`, `count`, `unit` in the metadata); or too long for a client that speaks HTTP/1.0",
    act: "client: narrow it with a filter, or page through it with v2; operator: raise the limit",
    again: NO,
  },
  HEADERS_TOO_LARGE: {
    means: "the head is longer than `limits.headerBytes`, or has more than 100 fields",
    act: "client: send less; operator: raise `limits.headerBytes`",
    again: NO,
  },
  INTERNAL: {
    means: "a bug in carryover",
    act: "operator: the log has the cause, under the response's `x-request-id`; [tell us](troubleshooting.md#tell-us). `force: native` sends everything to native v1 meanwhile",
    again: "a read: once; a write: read the record first",
  },
  METHOD_NOT_ALLOWED: {
    means: "v1 has no such method on that path. `details` is empty, as in v1's gateway",
    act: "client: as with native v1",
    again: NO,
  },
  NOT_TRANSLATABLE: {
    means:
      "v2 has no counterpart for the operation (named in the message and the metadata), and native v1 is not served: no `upstream.v1.url`, `fallback: refuse`, or a rehearsal of this client ([exam.md](exam.md#a-rehearsal))",
    act: "operator: set `upstream.v1.url` while the platform has native v1; client: move to v2 ([coverage.md](coverage.md))",
    again: NO,
  },
  LIST_UNPROVEN: {
    means: "the list proved less than `lists.require` asks for (`required`, `witness` in the metadata)",
    act: "client: retry where `count` is required, since a concurrent write can be the cause; operator: [lists.md](lists.md), what to set",
    again: "where `count` is required: yes",
  },
  DRAIN_INCOMPLETE: {
    means:
      "the platform's pages contradict each other in two readings, hold fewer records than the last one counts (`read`, `total` in the metadata), or a record that belongs to the list could not be read",
    act: "client: retry later; operator: `carryover check`, and the notes in the log. Where totals count records that the caller may not see: `upstream.v2.totals: ignore`",
    again: "yes, later",
  },
  UPDATE_INCOMPLETE: {
    means:
      "v2 accepted the update or create but did not store it as asked; `fieldViolations` names each field, as `updates.mismatch` judges it",
    act: "client: read the record, and retry; operator: if it happens every time, [updates.md](updates.md)",
    again: "after reading the record",
  },
  UPSTREAM_UNREACHABLE: {
    means: "the platform could not be reached, or the connection broke before the response was complete",
    act: "operator: network, DNS, TLS, the platform; the log has the cause",
    again: BY_STATE,
  },
  UPSTREAM_INVALID: {
    means:
      "the platform's response is not valid HTTP, has a head that is too long, is longer than 8 MiB (one page of a list, or one record), is a redirect, or not what was asked for (another record, a list without its records)",
    act: "operator: `carryover check`; the address, a gateway in between, the platform's version",
    again: BY_STATE,
  },
  OVERLOADED: {
    means:
      "too many requests at a time (`limits.inFlight`), more are waiting than can be served in time, or all gRPC streams to the platform are taken: the message says which. Or this process is stopping",
    act: "client: wait for `Retry-After`; operator: more replicas, or a higher bound where the platform can take it",
    again: "yes, after `Retry-After`",
  },
  UPSTREAM_UNAVAILABLE: {
    means:
      "the circuit breaker is open: no call got a response for a while, so this one was not sent. carryover probes the platform every few seconds, and the first response closes the breaker (`upstream.*.breaker`)",
    act: "client: wait for `Retry-After`; operator: network, DNS, TLS, the platform; the log says since when",
    again: "yes, after `Retry-After`: nothing was sent",
  },
  UPSTREAM_TIMEOUT: {
    means:
      "the platform did not respond within `upstream.*.timeouts`, the list took longer than `lists.maxSeconds`, or the request longer than `limits.requestSeconds` or the client's own `Grpc-Timeout`",
    act: "client: narrow a list with a filter; operator: check whether the platform is slow; otherwise raise the option that was reached",
    again: BY_STATE,
  },
  LOOP_DETECTED: {
    means:
      "the request's `Via` says that it has passed through carryover before: an `upstream.*.url` leads to the ingress in front, and from there back",
    act: "operator: give upstreams addresses that do not lead to carryover ([ingress.md](ingress.md#upstreams-behind-it))",
    again: NO,
  },
};

const METADATA: readonly (readonly [key: string, says: string])[] = [
  [
    "state",
    "`unknown`: bytes of a write had been sent, so it may have taken effect; read the record before you send it again. Without it in `UPSTREAM_UNREACHABLE` or `UPSTREAM_TIMEOUT`, the failed call wrote nothing",
  ],
  [
    "created",
    "the v2 uid of a record that was created without values which v2 dropped; it exists, so update or delete it and do not create it again",
  ],
  [
    "partial",
    "what a write of several calls had written before it failed (as the header `carryover-partial`); repeating the request writes the rest",
  ],
  ["read, total", "how many records carryover read, and how many the last page counts"],
  [
    "limit, count, unit",
    "the limit, the size that exceeded it (at least), and the unit: `records`, `bytes`, `pages`, `seconds`",
  ],
  ["records", "how many records had arrived when the time was over"],
  ["option", "the options that change this refusal; `*` stands for an upstream (`v1`, `v2`, `sts`)"],
  ["required, witness", "the witness that was required, and the one reached"],
  ["resource, operation", "the operation of `NOT_TRANSLATABLE`"],
  ["rule, from, until, successor, contact", "of `BROWNOUT`: its rule, its window, what replaces v1, and whom to ask"],
  ["status", "the platform's status for a page of a list that had begun (in the log only: the response is cut off)"],
];

/** `docs/errors.md`. */
export function errorsPage(): string {
  return [
    ...HEAD,
    ...OWN.map(ownRow),
    ...MIDDLE,
    ...METADATA.map(metadataRow),
    ...PLATFORM,
    ...bareRows(),
    ...wordSections(),
    ...TAIL,
  ].join("\n");
}

const OWN = Object.keys(PROBLEMS) as readonly ProblemReason[];

function ownRow(reason: ProblemReason): string {
  const { http, code, fault, options } = PROBLEMS[reason];
  const { means, act, again } = WORDS[reason];
  const cells = [http, code, `\`${reason}\``, means, act, again, fault, optionCell(options)];
  return `| ${cells.join(" | ")} |`;
}

function metadataRow([keys, says]: (typeof METADATA)[number]): string {
  const names = keys.split(", ").map((key) => `\`${key}\``);
  return `| ${names.join(", ")} | ${says} |`;
}

function bareRows(): readonly string[] {
  return [...RPC_OF_HTTP].map(([status, code]) => `| ${status} | ${code} | ${nameOf(code)} |`);
}

function nameOf(code: RpcCode): string {
  return Object.entries(RpcCode).find(([, value]) => value === code)?.[0] ?? "";
}

const EXAMPLE = new Problem(
  "NOT_TRANSLATABLE",
  "tag list-history is not translated, and native v1 is not served here",
  {
    metadata: { resource: "tag", operation: "list-history" },
    options: ["upstream.v1.url"],
  },
);

const HEAD = [
  "# Errors",
  "",
  "Every reason of an error, and every other word that carryover uses for what happened, with the option that changes it. This page is generated from the code by `npm run docs`.",
  "",
  "A v1 client sees two kinds of errors in one shape: `code`, `message`, `details`. carryover's own have an `ErrorInfo` of domain `carryover` in their details. (The exceptions are `NOT_FOUND` and `METHOD_NOT_ALLOWED`, which look like those of v1's gateway.) All others are",
  "the platform's. Look a client's error up by its `reason`: in the response, in the log line, or in",
  "`carryover_problems_total{reason}`.",
  "",
  "```json",
  problemBody(EXAMPLE),
  "```",
  "",
  "An error never holds an upstream address, a token or a cause. Causes are in the log, under the `x-request-id` of the response.",
  "",
  "## carryover's own",
  "",
  "*again*: whether the same request may be sent again. *whose*: who is usually at fault; only `translation` counts against a rule that translates ([cutover.md](cutover.md)). *option*: which option changes the refusal; the error itself names the one that applies (`option` in its metadata, `options` in the log).",
  "",
  "| HTTP | code | reason | means | who does what | again | whose | option |",
  "|---|---|---|---|---|---|---|---|",
];

const MIDDLE = ["", "| metadata | says |", "|---|---|"];

const PLATFORM = [
  "",
  "After a response has begun (a long list), an error can have no status. carryover then breaks the connection, so that no client",
  "takes the response for complete ([lists.md](lists.md)). The log line has the status that was sent and the `reason`.",
  "",
  "In the log each of these has a `fault` as well: who was at fault in that case. A list too long for HTTP/1.0 is the `client`'s, although the reason is usually the `translation`'s. The platform's own 5xx",
  "has the reason `UPSTREAM_ERROR` there, which is in no response and in no metric ([operations.md](operations.md#log)).",
  "",
  "## The platform's, as v1 clients see them",
  "",
  "- Status, `code`, `message` and `details` go through as v2 sent them. Only names become v1's again: in `fieldViolations[].field`, nested paths",
  "  included, and in a message that begins with `Invalid argument: NAME:`. Free text and unknown details stay byte for byte.",
  "- A list by `id` whose record is missing or not allowed is empty, with 200, as v1's was. This needs a 404 with code 5 or a 403 with",
  "  code 7 and an `ErrorInfo` or `ResourceInfo` in its details. Such an error from anything else (a gateway, a wrong address) stays an",
  "  error.",
  "- carryover retries a read once after 502, 503 or 504 (after its `Retry-After`, up to 5 s). It never retries a write once a byte of",
  "  it may have been sent. Retries are at most a fifth of the calls; three at a time are always allowed.",
  "- Circuit breaker: after ten calls in a row without any response, over at least two seconds, carryover sends a probe (`HEAD /` below",
  "  the upstream's path, over a connection of its own, without a credential). If the probe gets no response either, calls fail at once:",
  "  503 `UPSTREAM_UNAVAILABLE`. The probe is repeated after one second, after two, then every four. Any response, even an error, closes",
  "  the breaker. A share of failures never opens it, nor does a gateway that sends 503: the platform has one address, and requests that",
  "  it could serve must not be refused.",
  "  `upstream.*.breaker: false` switches the breaker off.",
  "- A redirect is an error: 502 `UPSTREAM_INVALID`.",
  "- v2 and native v1 pass through: their errors arrive as they are.",
  "",
  "An error without a body in the API's shape (from a load balancer, say) keeps its status, and gets a body: `the platform answered 503 without an error body`, with",
  `the code below (any other status: ${rpcOfHttp(599)} from 500 on, else ${rpcOfHttp(418)}).`,
  "",
  "| HTTP | code | |",
  "|---|---|---|",
];

const TAIL = [
  "",
  "`carryover explain` says for a request what can go wrong ([explain.md](explain.md)). [troubleshooting.md](troubleshooting.md) starts from symptoms.",
  "",
];
