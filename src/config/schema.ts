/** Which options are there, of what type, with which default and limits? (The only home of an option; design section 10.) */
import * as z from "zod";
import { clients, cutover, shadow } from "./cutover.ts";
import { bytes, file, form, listOf, oneOf, onOff, seconds, text, url, whole } from "./leaves.ts";
import { isNetwork, isPathPrefix } from "./values.ts";

const NETWORK = "expected a network such as 10.0.0.0/8, or an address";
const PREFIX = "expected a path such as /gateway, without a slash at its end";
const port = whole(0, 65535);
const MiB = 1024 ** 2;

const tls = z
  .strictObject({
    caFile: file.optional().describe("PEM file of the authorities to trust instead of the system's"),
    certFile: file.optional().describe("PEM file of the client certificate to show; needs keyFile"),
    keyFile: file.optional().describe("PEM file of that certificate's private key"),
  })
  .prefault({});

const timeouts = z
  .strictObject({
    connectSeconds: seconds(0.01, 59).prefault("3s").describe("For TCP and TLS together"),
    headersSeconds: seconds(0.01, 59).prefault("15s").describe("From the end of a request to the head of its answer"),
    bodySeconds: seconds(0.01, 59).prefault("15s").describe("Between two pieces of an answer's body"),
  })
  .prefault({});

const connections = whole(1, 10_000)
  .default(128)
  .describe("Most connections to this upstream at a time; further calls wait in line");

const breaker = onOff()
  .prefault("true")
  .describe(
    "Whether calls fail at once while this upstream answers nobody; carryover asks every few seconds whether it is back",
  );

const v2 = z.strictObject({
  url: url.describe("Where the v2 API is; a path in it stands before every v2 path. Required"),
  version: z
    .string({ error: "expected a version such as v2beta1" })
    .regex(/^v2[a-z0-9]{0,16}$/, { error: "expected a version such as v2beta1" })
    .meta(form("version"))
    .default("v2beta1")
    .describe("Version segment of v2 paths"),
  maskSpelling: oneOf("auto", "camelCase", "snake_case")
    .default("auto")
    .describe("How updateMask names fields; auto learns it from the first refusal"),
  omitsZeros: oneOf("auto", "yes", "no")
    .default("auto")
    .describe("Whether v2 leaves zero values out; then v1's are inserted. auto inserts what is missing"),
  tokens: oneOf("keyset", "offset", "unknown")
    .default("unknown")
    .describe(
      "What page tokens remember: a record (keyset) or a row number (offset); carryover check --write-under finds out",
    ),
  totals: oneOf("verify", "ignore")
    .default("verify")
    .describe(
      "Whether a list that falls short of its totalCount is an error (verify); ignore where totals count records that the caller may not see",
    ),
  audience: text("expected an audience")
    .meta(form("audience"))
    .optional()
    .describe("Audience that tokens for v2 carry; default: upstream.v2.url"),
  tls,
  timeouts,
  connections,
  breaker,
});

const v1 = z.strictObject({
  url: url.describe("Where the platform's own v1 is; without it, operations that v2 lacks are refused"),
  tls,
  timeouts,
  connections,
  breaker,
});

const sts = z.strictObject({
  url: url.describe("Where tokens are exchanged; /sts/exchange goes there untouched"),
  tls,
  timeouts,
  connections,
  breaker,
});

const listen = z.strictObject({
  host: text("expected an address or a host name")
    .meta(form("host"))
    .default("0.0.0.0")
    .describe("Address to listen on"),
  port: port.default(8080).describe("Port to listen on; 0 takes a free one"),
  basePath: z
    .string({ error: `${PREFIX}, or nothing` })
    .refine((value) => value === "" || isPathPrefix(value), { error: `${PREFIX}, or nothing` })
    .meta(form("path"))
    .default("")
    .describe("Path that stands before every path clients ask for"),
  publicUrl: url
    .optional()
    .describe("What clients call carryover, with or without listen.basePath at its end; used for aud and Link"),
  trustedProxies: listOf(z.string({ error: NETWORK }).refine(isNetwork, { error: NETWORK }), NETWORK.slice(9))
    .default([])
    .describe("Networks whose X-Forwarded-* headers are believed"),
  extraPrefixes: listOf(z.string({ error: PREFIX }).refine(isPathPrefix, { error: PREFIX }), PREFIX.slice(9))
    .default([])
    .describe("Further path prefixes to pass on to v2 untouched"),
  drainSeconds: seconds(0, 300)
    .prefault("5s")
    .describe(
      "Time from the signal to stop, with /readyz at 503, in which requests are still taken: as long as a load balancer needs to notice",
    ),
});

const admin = z.strictObject({
  host: text("expected an address or a host name")
    .meta(form("host"))
    .default("127.0.0.1")
    .describe("Address of the admin port"),
  port: port.default(8081).describe("Port for health, metrics and views; 0 takes a free one"),
  tokenFile: file
    .optional()
    .describe("File with the token that views ask for; without one they answer to this machine only"),
});

const share = z.strictObject({
  collapse: onOff()
    .prefault("false")
    .describe("Whether equal lists of one credential under way at a time are read once"),
  seconds: seconds(0, 5)
    .prefault("0s")
    .describe("How long a finished list is given again to the same credential; 0 never"),
  bytes: bytes(1024, 4096 * MiB)
    .prefault("32MiB")
    .describe("Most bytes of finished lists kept for that"),
});

const ORDER = "expected the name of a field such as uid, and desc behind a space where the order is descending";
const witness = oneOf("none", "count", "cover");
const lists = z.strictObject({
  require: z
    .union([witness, z.record(z.string(), witness)], {
      error: "expected none, count or cover, or a map of resource names (and default) to one of them",
    })
    .transform(readRequirement)
    .meta(form("none|count|cover|resource=...,default=..."))
    .prefault("none")
    .describe("What a list must prove to be answered (none, count or cover), for all or per resource"),
  maxPages: whole(1, 100_000).default(600).describe("Most pages of one list"),
  maxRecords: whole(1, 10_000_000).default(120_000).describe("Most records of one list"),
  maxBytes: bytes(1024, 4096 * MiB)
    .prefault("256MiB")
    .describe("Most bytes of one list's records"),
  maxSeconds: seconds(1, 58).prefault("45s").describe("Longest time for one list; below limits.requestSeconds"),
  bufferBytes: bytes(1024, 4096 * MiB)
    .optional()
    .describe(
      "Lists up to this size are answered whole, longer ones page by page; default: 2MiB, or lists.maxBytes where that is less",
    ),
  readers: whole(1, 100).default(4).describe("Pages of one list read at a time"),
  readersPerUpstream: whole(1, 10_000)
    .default(32)
    .describe("Pages read at a time in all; fewer while the platform is slow or refuses"),
  orderBy: z
    .string({ error: ORDER })
    .regex(/^[A-Za-z][A-Za-z0-9_.]{0,63}( (asc|desc))?$/, { error: ORDER })
    .meta(form("order"))
    .optional()
    .describe("Sent as order_by with every page, where a platform does not list by uid unasked"),
  maxConcurrent: whole(1, 10_000).default(16).describe("Lists of several pages read at a time; further ones wait"),
  maxConcurrentPerCredential: whole(1, 10_000)
    .default(4)
    .describe("Of these, how many are kept for credentials that read fewer; one alone may have all others"),
  share: share.prefault({}),
});

const limits = z.strictObject({
  bodyBytes: bytes(1024, 64 * MiB)
    .prefault("1MiB")
    .describe("Largest request body"),
  headerBytes: bytes(1024, MiB).prefault("16KiB").describe("Largest request head: request line and headers"),
  uriBytes: bytes(256, MiB).prefault("8KiB").describe("Longest request target; below limits.headerBytes"),
  inFlight: whole(1, 1_000_000)
    .default(2000)
    .describe("Requests under way at a time, waiting ones included: the bound of their memory; further ones get 503"),
  minBodyRate: bytes(0, MiB)
    .prefault("1KiB")
    .describe(
      "Bytes a second that a client must send of a request body, after the first 10 s; slower ones get 408; 0: any",
    ),
  memoryBytes: bytes(16 * MiB, 4096 * MiB)
    .prefault("64MiB")
    .describe(
      "Bytes of bodies held for clients at a time, half of them for one credential; beyond them reading waits. An eighth of the memory of the container suits it",
    ),
  requestSeconds: seconds(1, 59).prefault("50s").describe("Longest time for one request; below the 60 s of an ingress"),
});

/** The schema of the whole configuration file; flags and variables are merged into the same tree. */
export const SettingsSchema = z.strictObject({
  listen: listen.prefault({}),
  admin: admin.prefault({}),
  upstream: z.strictObject({ v2, v1: v1.optional(), sts: sts.optional() }),
  lists: lists.prefault({}),
  updates: z
    .strictObject({
      mismatch: oneOf("zeros", "report", "fail")
        .default("zeros")
        .describe("Which fields must be stored as a PUT asked: those to become zero, none (only reported), or all"),
    })
    .prefault({}),
  unknownFields: z
    .strictObject({
      request: oneOf("drop", "pass", "refuse").default("drop").describe("Fields of a request that v1 does not know"),
      response: oneOf("pass", "drop")
        .default("pass")
        .describe("Fields of an answer that neither version is known to have"),
    })
    .prefault({}),
  v1: z
    .strictObject({
      recordTimes: oneOf("all", "published")
        .default("all")
        .describe("Which v1 records show createdAt and updatedAt: all, or those whose published v1 messages have them"),
    })
    .prefault({}),
  fallback: oneOf("native", "refuse")
    .optional()
    .describe("Operations that v2 lacks: served by native v1, or refused; default: native when upstream.v1.url is set"),
  cutover: cutover.prefault({}),
  shadow: shadow.prefault({}),
  clients: clients.prefault({}),
  limits: limits.prefault({}),
  log: z
    .strictObject({
      level: oneOf("debug", "info", "warn", "error", "silent")
        .default("info")
        .describe("Least severity to log; requests are logged at info"),
    })
    .prefault({}),
});

/** What the schema gives: every default filled in, units in the names, files still as paths. */
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
 * The schema as JSON Schema (draft 2020-12) of a configuration file. Nothing is required in it: what a file lacks may
 * come from a variable or a flag.
 */
export function settingsJsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(SettingsSchema, {
    io: "input",
    reused: "inline",
    override: ({ jsonSchema }) => {
      delete jsonSchema.required;
      if (jsonSchema.type === "object") delete jsonSchema.default;
    },
  });
}
