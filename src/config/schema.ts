/** The schema of the configuration: every option with type, default, limits and description. */
import * as z from "zod";
import { plainName } from "../model/text.ts";
import { form } from "../rules/leaves.ts";
import { DefaultMode } from "../rules/status.ts";
import {
  bytes,
  days,
  directory,
  file,
  isNetwork,
  isPathPrefix,
  listOf,
  oneOf,
  onOff,
  portOrNone,
  seconds,
  storeUrl,
  text,
  url,
  whole,
} from "./values.ts";

const MiB = 1024 ** 2;

/** Marks an option that most operators set or look at: help, pages and the chart list these first. All others are advanced. */
const USUAL = { "x-usual": true };

const IDENTITY = "expected user-agent, header:NAME, or claim:NAME (several claims joined by +)";
const CLIENT = "expected a client's name, or the beginning of one and *";
const CLIENT_NAME = "expected NAME=IDENTITY, such as ci-bot=ci@example.com";
const NAMED_CLIENT = `${CLIENT_NAME}, or a map of name, identity, owner and contact`;
/** Identities may be credentials, so the entry is not shown. */
const NO_NAMED_CLIENT = `this cannot be read; ${NAMED_CLIENT}`;
const NAME = "expected a name of lower-case letters, digits and hyphens, such as ci-bot";
const ONE_IDENTITY = "expected the text by which clients.identify finds the client, or a list of them";
const PERSON = "expected a printable text of 1 to 128 characters, without blanks around it";
const identity = z
  .string({ error: ONE_IDENTITY })
  .regex(/\S/, { error: ONE_IDENTITY })
  .max(4096, { error: ONE_IDENTITY });
const person = z
  .string({ error: PERSON })
  .min(1, { error: PERSON })
  .max(128, { error: PERSON })
  .refine((given) => given === "" || plainName(given) === given, { error: PERSON });
/** A client by name: `NAME=IDENTITY`, or a map with who answers for it. */
const namedClient = z.union(
  [
    z.string({ error: NO_NAMED_CLIENT }).regex(/^[a-z0-9][a-z0-9-]{0,62}=.+$/, { error: CLIENT_NAME }),
    z.strictObject(
      {
        name: z.string({ error: NAME }).regex(/^[a-z0-9][a-z0-9-]{0,62}$/, { error: NAME }),
        identity: z
          .union(
            [
              identity,
              z
                .array(identity, { error: ONE_IDENTITY })
                .min(1, { error: ONE_IDENTITY })
                .max(100, { error: "expected at most 100 identities" }),
            ],
            { error: ONE_IDENTITY },
          )
          .describe("The identity, or a list of identities, that clients.identify finds"),
        owner: person.optional().describe("The team or person that owns the client, for reports"),
        contact: person.optional().describe("How to reach the owner: an address, a channel or a link"),
      },
      { error: ({ code }) => (code === "unrecognized_keys" ? "use name, identity, owner and contact" : undefined) },
    ),
  ],
  { error: NO_NAMED_CLIENT },
);
export const clients = z.strictObject({
  identify: listOf(
    z.string({ error: IDENTITY }).regex(/^(user-agent|header:[A-Za-z0-9-]{1,64}|claim:[A-Za-z0-9_.:/+-]{1,128})$/, {
      error: IDENTITY,
    }),
    IDENTITY.slice(9),
  )
    .default(["user-agent"])
    .describe(
      "How a client is identified; the first source with a value counts. Of a user agent the product counts, without its version: ci-bot of ci-bot/1.4 (linux). Tokens are read for this, never trusted for access",
    )
    .meta(USUAL),
  names: listOf(namedClient, NAMED_CLIENT.slice(9))
    .default([])
    .describe("Names of clients for rules, reports and metrics, each with its owner and contact where that is known")
    .meta(USUAL),
  hash: onOff().prefault("false").describe("Keep clients without a configured name as keyed hashes only"),
  max: whole(10, 20_000)
    .default(1000)
    .describe(
      "Clients remembered at most. Beyond that, v2-only clients and rare v1 callers are dropped first, and counts state their error",
    ),
  metricSeries: whole(0, 2000)
    .default(200)
    .describe("Clients without a configured name that get their own metric series; all further ones share `other`"),
  forgetAfter: days(1, 3650)
    .prefault("180d")
    .describe(
      "How long a client that no longer calls is remembered, with its counts; carryover forget does it at once",
    ),
  exclude: listOf(z.string({ error: CLIENT }).regex(/^[\x20-\x7e]{1,128}$/, { error: CLIENT }), CLIENT.slice(9))
    .default([])
    .describe("Clients outside the migration, such as health checks and scanners"),
});

const tls = z
  .strictObject({
    caFile: file.optional().describe("PEM file of the trusted authorities, instead of the system's"),
    certFile: file.optional().describe("PEM file of the client certificate; needs keyFile"),
    keyFile: file.optional().describe("PEM file of the client certificate's private key"),
  })
  .prefault({});

const PREFIX_OF_KEYS = "expected 1 to 64 letters, digits, dots, hyphens and underscores";
export const state = z.strictObject({
  dir: directory
    .optional()
    .meta(USUAL)
    .describe(
      "Directory that keeps rule states, evidence, the ledger, events and the last good rules across restarts; each process needs its own",
    ),
  url: storeUrl
    .optional()
    .meta(USUAL)
    .describe(
      "Valkey or Redis (7 or later) that replicas share: they then decide together, and carryover force holds for all of them. Without it each replica decides alone",
    ),
  username: text("expected the name of an account")
    .meta(form("name"))
    .optional()
    .describe("Account at state.url; default: the server's default account"),
  passwordFile: file
    .optional()
    .describe(
      "File with the password for state.url; read again for each connection, so it can be replaced at any time",
    ),
  prefix: z
    .string({ error: PREFIX_OF_KEYS })
    .regex(/^[A-Za-z0-9._-]{1,64}$/, { error: PREFIX_OF_KEYS })
    .meta(form("prefix"))
    .default("carryover")
    .describe("First part of all keys at state.url. Deployments that share a server need different ones"),
  tls,
});

const IGNORED = "expected RESOURCE.PATH, such as group.description or repo.syncConfig.source";
export const shadow = z.strictObject({
  concurrent: whole(1, 1000)
    .default(4)
    .describe("Comparisons at a time, half of them for one credential; twice as many wait, further ones are skipped"),
  seconds: seconds(0.1, 58).prefault("20s").describe("Time limit of one comparison"),
  ignore: listOf(
    z.string({ error: IGNORED }).regex(/^[a-z][a-z-]{0,63}\.[\x21-\x7e]{1,256}$/, { error: IGNORED }),
    IGNORED.slice(9),
  )
    .default([])
    .describe("Members of records that are known to differ harmlessly, and are not compared"),
  matchersFile: file
    .optional()
    .describe(
      "YAML file that says how members are compared that may differ: ignore, set, unordered, or times within a duration. carryover replay uses it as well",
    ),
  samples: whole(0, 1000).default(20).describe("Differences kept per operation for /samples"),
  values: oneOf("redact", "show").default("redact").describe("Whether samples show values, or only types and lengths"),
});

const record = z.strictObject({
  file: file
    .optional()
    .meta(USUAL)
    .describe(
      "File that gets one JSON line for each v1 request, for carryover replay. Nothing is recorded without it. Each process needs its own",
    ),
  values: oneOf("redact", "show")
    .default("redact")
    .describe(
      "Whether filters keep values that may be personal, such as names and addresses. A request with a redacted value cannot be replayed",
    ),
  bodies: onOff().prefault("false").describe("Record the bodies of writes as well, without secrets in them"),
  perSecond: whole(1, 100_000).default(100).describe("Requests recorded per second at most; others are only counted"),
  fileBytes: bytes(64 * 1024, 4096 * MiB)
    .prefault("64MiB")
    .describe("Size at which the file is closed and compressed, and a new one begins"),
  files: whole(1, 1000).default(10).describe("Compressed files that are kept; older ones are deleted"),
});

export const cutover = z.strictObject({
  rulesFile: file.optional().describe("YAML file with rules for v1 requests; reloaded when it changes").meta(USUAL),
  mode: oneOf(...DefaultMode.options)
    .optional()
    .describe(
      "What serves v1 requests that no rule matches. Required with upstream.v1.url or cutover.rulesFile; without both it is translate",
    )
    .meta(USUAL),
  // Errors never repeat the salt: with it anybody can find the identity of a hash.
  salt: z
    .string({ error: "the salt is no text; expected a text" })
    .max(256, { error: "the salt is longer than 256 characters; expected at most that" })
    .meta(form("salt"))
    .default("")
    .describe("Selects the clients of a percentage, and keys their hashes; equal on every replica"),
  saltFile: file.optional().describe("File with the salt, instead of cutover.salt; read at start"),
});

const NETWORK = "expected a network such as 10.0.0.0/8, or an address";
const PREFIX = "expected a path such as /gateway, without a slash at its end";
const EXTRA = "expected a path such as /gateway, or v1:/gateway, without a slash at its end";
const SERVICES = "expected a package or a service such as acme.billing, or v1:acme.billing";
const port = whole(0, 65535);

const timeouts = z
  .strictObject({
    connectSeconds: seconds(0.01, 59).prefault("3s").describe("Time limit for connecting, TLS included"),
    headersSeconds: seconds(0.01, 59)
      .prefault("15s")
      .describe("Time limit from the end of the request to the response head"),
    bodySeconds: seconds(0.01, 59).prefault("15s").describe("Time limit between two chunks of a response body"),
  })
  .prefault({});

const connections = whole(1, 10_000)
  .default(128)
  .describe("Most connections to this upstream, counted separately for HTTP and gRPC; further calls wait in the queue");

const breaker = onOff()
  .prefault("true")
  .describe("Circuit breaker: fail calls at once while this upstream does not respond, and probe it every few seconds");

const grpcUrl = (upstream: string) =>
  url
    .optional()
    .describe(
      `Where ${upstream} serves gRPC, if not at the host of upstream.${upstream}.url; a path in it is not used`,
    );

const grpcPingSeconds = seconds(10, 7_200)
  .optional()
  .describe(
    "Ping gRPC connections that were silent for so long, so that a dead one is found before a call meets it. Off by default: a grpc-go server closes connections that are pinged more often than it allows (every two hours without calls, unless told otherwise)",
  );

const v2 = z.strictObject({
  url: url.describe("Base URL of the v2 API; its path is put before every v2 path. Required").meta(USUAL),
  version: z
    .string({ error: "expected a version such as v2beta1" })
    .regex(/^v2[a-z0-9]{0,16}$/, { error: "expected a version such as v2beta1" })
    .meta(form("version"))
    .default("v2beta1")
    .describe("Version segment of v2 paths"),
  maskSpelling: oneOf("auto", "camelCase", "snake_case")
    .default("auto")
    .describe("How updateMask spells fields; auto learns it from the first rejected mask"),
  omitsZeros: oneOf("auto", "yes", "no")
    .default("auto")
    .describe(
      "Whether v2 omits zero values, so that v1's are inserted. auto inserts whatever is missing. A page without its list is an empty list: unproved with auto, proved with yes, an error with no",
    ),
  pageTokens: oneOf("keyset", "offset", "unknown")
    .default("unknown")
    .describe(
      "What page tokens hold: a record (keyset) or a row number (offset); carryover check --write-under finds out",
    )
    .meta(USUAL),
  totals: oneOf("verify", "ignore")
    .default("verify")
    .describe(
      "Whether a list shorter than its totalCount is an error (verify). Use ignore where totals count records that the caller may not see",
    ),
  audience: text("expected an audience")
    .meta(form("audience"))
    .optional()
    .describe("Audience of tokens for v2; default: upstream.v2.url"),
  grpcUrl: grpcUrl("v2"),
  grpcPingSeconds,
  tls,
  timeouts,
  connections,
  breaker,
});

const v1 = z.strictObject({
  url: url.describe("Base URL of the platform's own v1. Without it, operations that v2 lacks are refused").meta(USUAL),
  grpcUrl: grpcUrl("v1"),
  grpcPingSeconds,
  tls,
  timeouts,
  connections,
  breaker,
});

const sts = z.strictObject({
  url: url
    .describe("Base URL of the token exchange; /sts/exchange and /sts/exchange_refresh_token pass through to it")
    .meta(USUAL),
  grpcUrl: grpcUrl("sts"),
  tls,
});

const listen = z.strictObject({
  host: text("expected an address or a host name")
    .meta(form("host"))
    .default("0.0.0.0")
    .describe("Address to listen on"),
  port: portOrNone()
    .prefault(8080)
    .describe("Port to listen on; 0 picks a free one. none: only listen.socket")
    .meta(USUAL),
  reusePort: onOff()
    .prefault("false")
    .describe(
      "Share listen.port and listen.grpc.port with other carryover processes of this user on this host. The system spreads connections over them. Each process needs its own admin.port and state.dir. Needs Node 22.12 or newer",
    ),
  socket: file
    .optional()
    .describe(
      "Path of a Unix socket to listen on as well, for this user alone: it has mode 0600, and its folder must be 0700 (carryover creates the last one). X-Forwarded-* that arrive there are trusted",
    ),
  basePath: z
    .string({ error: `${PREFIX}, or nothing` })
    .refine((value) => value === "" || isPathPrefix(value), { error: `${PREFIX}, or nothing` })
    .meta(form("path"))
    .default("")
    .describe("Path prefix of all client requests"),
  publicUrl: url
    .optional()
    .describe("The URL by which clients reach carryover, with or without listen.basePath; used for aud and Link")
    .meta(USUAL),
  trustedProxies: listOf(z.string({ error: NETWORK }).refine(isNetwork, { error: NETWORK }), NETWORK.slice(9))
    .default([])
    .describe("Networks whose X-Forwarded-* headers are trusted"),
  extraPrefixes: listOf(
    z.string({ error: EXTRA }).refine((value) => isPathPrefix(value.replace(/^v1:/, "")), { error: EXTRA }),
    EXTRA.slice(9),
  )
    .default([])
    .describe("Further path prefixes: /PATH passes through to v2, v1:/PATH to native v1, whatever fallback is"),
  keepAliveSeconds: seconds(1, 3600)
    .prefault("75s")
    .describe(
      "How long an idle connection of a client stays open. Use more than the idle timeout of the load balancer in front",
    ),
  shutdownDelaySeconds: seconds(0, 300)
    .prefault("5s")
    .describe(
      "How long carryover still takes requests after the stop signal. /readyz says 503 meanwhile. Use the time that the load balancer needs to notice",
    ),
  grpc: z
    .strictObject({
      port: port
        .optional()
        .describe("Port for gRPC (HTTP/2 without TLS), at listen.host; 0 picks a free one. Without it gRPC is refused"),
      keepAliveSeconds: seconds(1, 3600)
        .prefault("300s")
        .describe("As listen.keepAliveSeconds, for connections of gRPC clients without a call"),
      extraServices: listOf(
        z.string({ error: SERVICES }).regex(/^(?:v1:)?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/, { error: SERVICES }),
        SERVICES.slice(9),
      )
        .default([])
        .describe(
          "Packages and services of other domains: NAME passes through to v2, v1:NAME to native v1, whatever fallback is. Unlisted ones go to native v1 if fallback is native, unless their package names v2",
        ),
    })
    .prefault({}),
});

const admin = z.strictObject({
  host: text("expected an address or a host name")
    .meta(form("host"))
    .default("127.0.0.1")
    .describe("Address of the admin port")
    .meta(USUAL),
  port: portOrNone()
    .prefault(8081)
    .describe("Port for health, metrics and views; 0 picks a free one. none: no such port"),
  tokenFile: file
    .optional()
    .describe("File with the token for the views; without it they answer this machine only")
    .meta(USUAL),
});

const ORDER = "expected the name of a field such as uid, followed by a space and desc for a descending order";
const witness = oneOf("none", "count", "cover");
const lists = z.strictObject({
  require: z
    .union([witness, z.record(z.string(), witness)], {
      error: "expected none, count or cover, or a map of resource names (and default) to one of them",
    })
    .transform(readRequirement)
    .meta(form("none|count|cover|resource=...,default=..."))
    .prefault("none")
    .describe("What a list must prove to be served (none, count or cover), for all or per resource")
    .meta(USUAL),
  maxPages: whole(1, 100_000).default(600).describe("Pages of one list at most"),
  maxRecords: whole(1, 10_000_000).default(120_000).describe("Records of one list at most"),
  maxBytes: bytes(1024, 4096 * MiB)
    .prefault("256MiB")
    .describe("Bytes of one list's records at most"),
  maxSeconds: seconds(1, 58).prefault("45s").describe("Time limit of one list; below limits.requestSeconds"),
  bufferBytes: bytes(1024, 4096 * MiB)
    .optional()
    .describe(
      "Lists up to this size are sent whole, longer ones are streamed; default: 2MiB, or lists.maxBytes if lower",
    ),
  readers: whole(1, 100).default(4).describe("Pages of one list read in parallel"),
  readersPerUpstream: whole(1, 10_000)
    .default(32)
    .describe("Pages of all lists read in parallel; fewer while the platform is slow or refuses calls"),
  orderBy: z
    .string({ error: ORDER })
    .regex(/^[A-Za-z][A-Za-z0-9_.]{0,63}( (asc|desc))?$/, { error: ORDER })
    .meta(form("order"))
    .optional()
    .describe("order_by of every page, for platforms that do not list by uid by default"),
  maxConcurrent: whole(1, 10_000).default(16).describe("Lists of several pages read at a time; further ones wait"),
});

const grpc = z.strictObject({
  descriptors: file
    .optional()
    .describe(
      "FileDescriptorSet of the API with its imports, as buf build or protoc writes it. Without it v1 gRPC is not translated",
    ),
  maxRequestBytes: bytes(1024, 64 * MiB)
    .prefault("4MiB")
    .describe("Largest request message that carryover reads: of calls that may be translated, and of token exchange"),
  maxResponseBytes: bytes(1024, 256 * MiB)
    .prefault("100MiB")
    .describe(
      "Largest response message of a translated call. It counts as half of limits.memoryBytes at most. Clients have limits of their own, often 4 MiB",
    ),
  streamIdleSeconds: seconds(0, 86_400)
    .optional()
    .describe(
      "How long a gRPC stream may go on while nothing of it moves; default limits.requestSeconds. 0: until its client's own deadline",
    ),
});

const limits = z.strictObject({
  bodyBytes: bytes(1024, 64 * MiB)
    .prefault("1MiB")
    .describe("Largest request body"),
  headerBytes: bytes(1024, MiB).prefault("16KiB").describe("Largest request head: request line and headers"),
  responseHeaderBytes: bytes(1024, MiB)
    .prefault("64KiB")
    .describe("Largest head of an upstream's response. A larger one is 502, after a write, too"),
  uriBytes: bytes(256, MiB).prefault("8KiB").describe("Longest request target; below limits.headerBytes"),
  inFlight: whole(1, 1_000_000)
    .default(2000)
    .describe("Requests in flight at most, waiting ones included; further ones get 503. It bounds memory"),
  minBodyRate: bytes(0, MiB)
    .prefault("1KiB")
    .describe(
      "Lowest rate of a request body in bytes per second, after the first 10 s. Slower clients get 408. 0 disables it",
    ),
  memoryBytes: bytes(16 * MiB, 4096 * MiB)
    .prefault("64MiB")
    .describe(
      "Bytes of bodies held for clients at most, half for one credential; beyond that, reading waits. Comparisons may hold as much again. An eighth of the container's memory is a good value",
    ),
  requestSeconds: seconds(1, 59).prefault("50s").describe("Time limit of one request; below the ingress's 60 s"),
});

/** The schema of the whole configuration file; flags and variables are merged into the same tree. */
export const SettingsSchema = z.strictObject({
  upstream: z.strictObject({ v2, v1: v1.optional(), sts: sts.optional() }),
  listen: listen.prefault({}),
  admin: admin.prefault({}),
  lists: lists.prefault({}),
  updates: z
    .strictObject({
      mismatch: oneOf("zeros", "report", "fail")
        .default("zeros")
        .describe(
          "Which fields that v2 did not store as asked make a PUT fail: cleared ones (zeros), none (report), any (fail)",
        ),
    })
    .prefault({}),
  unknownFields: z
    .strictObject({
      request: oneOf("drop", "pass", "refuse").default("drop").describe("Request fields that v1 does not know"),
      response: oneOf("drop", "pass").default("drop").describe("Response fields that the catalogue does not know"),
    })
    .prefault({}),
  v1: z
    .strictObject({
      recordTimes: oneOf("all", "published")
        .default("all")
        .describe(
          "Which v1 records have createdAt and updatedAt: all, or only those whose published v1 messages have them",
        ),
    })
    .prefault({}),
  fallback: oneOf("native", "refuse")
    .optional()
    .describe("Operations that v2 lacks: served by native v1, or refused. Default: native when upstream.v1.url is set"),
  cutover: cutover.prefault({}),
  shadow: shadow.prefault({}),
  record: record.prefault({}),
  clients: clients.prefault({}),
  state: state.prefault({}),
  limits: limits.prefault({}),
  grpc: grpc.prefault({}),
  log: z
    .strictObject({
      level: oneOf("debug", "info", "warn", "error", "silent")
        .default("info")
        .describe("Lowest level to log; requests are logged at info")
        .meta(USUAL),
    })
    .prefault({}),
});

/** The schema's output: every default filled in, units in the names, files still as paths. */
export type Settings = z.output<typeof SettingsSchema>;

/** What a list must prove: for one resource, or for all others. */
export interface ListRequirement {
  readonly default: "none" | "count" | "cover";
  readonly resources: ReadonlyMap<string, "none" | "count" | "cover">;
}

function readRequirement(given: string | Record<string, string>): ListRequirement {
  const level = (value: string | undefined) => (value === "count" || value === "cover" ? value : "none");
  if (typeof given === "string") return { default: level(given), resources: new Map() };
  const rows = Object.entries(given).map(([name, value]) => [name, level(value)] as const);
  const named = new Map(rows);
  const others = named.get("default");
  named.delete("default");
  return { default: others ?? "none", resources: named };
}

/**
 * The schema as JSON Schema (draft 2020-12) of a configuration file. No option is required in it: what a file lacks may
 * come from a variable or a flag. An item of a list is whole.
 */
export function settingsJsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(SettingsSchema, {
    io: "input",
    reused: "inline",
    override: ({ jsonSchema, path }) => {
      if (!path.includes("items")) delete jsonSchema.required;
      if (jsonSchema.type === "object") delete jsonSchema.default;
    },
  });
}
