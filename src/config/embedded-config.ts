/** Which configuration does a program give that embeds carryover? (Made from the schema: `npm run docs`.) */

// biome-ignore format: a test compares it with what the schema gives.
/**
 * The same tree as a configuration file. Only `upstream.v2.url` is required; what is left out, or `undefined`, has its
 * default. Durations are seconds or text such as `"1500ms"`, `"45s"`, `"1m"`; sizes are bytes or text such as `"64KiB"`;
 * files are paths from the working directory.
 */
export interface CarryoverConfig {
  readonly listen?: {
    /** Address to listen on. Default: `0.0.0.0`. */
    readonly host?: string | undefined;
    /** Port to listen on; 0 takes a free one. Default: `8080`. */
    readonly port?: number | undefined;
    /** Path that stands before every path clients ask for. */
    readonly basePath?: string | undefined;
    /** What clients call carryover, with or without listen.basePath at its end; used for aud and Link. */
    readonly publicUrl?: string | undefined;
    /** Networks whose X-Forwarded-* headers are believed. */
    readonly trustedProxies?: readonly string[] | undefined;
    /** Further path prefixes to pass on to v2 untouched. */
    readonly extraPrefixes?: readonly string[] | undefined;
    /** Time from the signal to stop, with /readyz at 503, in which requests are still taken: as long as a load balancer needs to notice. Default: `5s`. */
    readonly shutdownDelaySeconds?: number | string | undefined;
  } | undefined;
  readonly admin?: {
    /** Address of the admin port. Default: `127.0.0.1`. */
    readonly host?: string | undefined;
    /** Port for health, metrics and views; 0 takes a free one. Default: `8081`. */
    readonly port?: number | undefined;
    /** File with the token that views ask for; without one they answer to this machine only. */
    readonly tokenFile?: string | undefined;
  } | undefined;
  readonly upstream: {
    readonly v2: {
      /** Where the v2 API is; a path in it stands before every v2 path. Required. */
      readonly url: string;
      /** Version segment of v2 paths. Default: `v2beta1`. */
      readonly version?: string | undefined;
      /** How updateMask names fields; auto learns it from the first refusal. Default: `auto`. */
      readonly maskSpelling?: "auto" | "camelCase" | "snake_case" | undefined;
      /** Whether v2 leaves zero values out; then v1's are inserted. auto inserts what is missing. Default: `auto`. */
      readonly omitsZeros?: "auto" | "yes" | "no" | undefined;
      /** What page tokens remember: a record (keyset) or a row number (offset); carryover check --write-under finds out. Default: `unknown`. */
      readonly pageTokens?: "keyset" | "offset" | "unknown" | undefined;
      /** Whether a list that falls short of its totalCount is an error (verify); ignore where totals count records that the caller may not see. Default: `verify`. */
      readonly totals?: "verify" | "ignore" | undefined;
      /** Audience that tokens for v2 carry; default: upstream.v2.url. */
      readonly audience?: string | undefined;
      readonly tls?: {
        /** PEM file of the authorities to trust instead of the system's. */
        readonly caFile?: string | undefined;
        /** PEM file of the client certificate to show; needs keyFile. */
        readonly certFile?: string | undefined;
        /** PEM file of that certificate's private key. */
        readonly keyFile?: string | undefined;
      } | undefined;
      readonly timeouts?: {
        /** For TCP and TLS together. Default: `3s`. */
        readonly connectSeconds?: number | string | undefined;
        /** From the end of a request to the head of its answer. Default: `15s`. */
        readonly headersSeconds?: number | string | undefined;
        /** Between two pieces of an answer's body. Default: `15s`. */
        readonly bodySeconds?: number | string | undefined;
      } | undefined;
      /** Most connections to this upstream at a time; further calls wait in line. Default: `128`. */
      readonly connections?: number | undefined;
      /** Whether calls fail at once while this upstream answers nobody; carryover asks every few seconds whether it is back. Default: `true`. */
      readonly breaker?: boolean | undefined;
    };
    readonly v1?: {
      /** Where the platform's own v1 is; without it, operations that v2 lacks are refused. */
      readonly url: string;
      readonly tls?: {
        /** PEM file of the authorities to trust instead of the system's. */
        readonly caFile?: string | undefined;
        /** PEM file of the client certificate to show; needs keyFile. */
        readonly certFile?: string | undefined;
        /** PEM file of that certificate's private key. */
        readonly keyFile?: string | undefined;
      } | undefined;
      readonly timeouts?: {
        /** For TCP and TLS together. Default: `3s`. */
        readonly connectSeconds?: number | string | undefined;
        /** From the end of a request to the head of its answer. Default: `15s`. */
        readonly headersSeconds?: number | string | undefined;
        /** Between two pieces of an answer's body. Default: `15s`. */
        readonly bodySeconds?: number | string | undefined;
      } | undefined;
      /** Most connections to this upstream at a time; further calls wait in line. Default: `128`. */
      readonly connections?: number | undefined;
      /** Whether calls fail at once while this upstream answers nobody; carryover asks every few seconds whether it is back. Default: `true`. */
      readonly breaker?: boolean | undefined;
    } | undefined;
    readonly sts?: {
      /** Where tokens are exchanged; /sts/exchange goes there untouched. */
      readonly url: string;
      readonly tls?: {
        /** PEM file of the authorities to trust instead of the system's. */
        readonly caFile?: string | undefined;
        /** PEM file of the client certificate to show; needs keyFile. */
        readonly certFile?: string | undefined;
        /** PEM file of that certificate's private key. */
        readonly keyFile?: string | undefined;
      } | undefined;
      readonly timeouts?: {
        /** For TCP and TLS together. Default: `3s`. */
        readonly connectSeconds?: number | string | undefined;
        /** From the end of a request to the head of its answer. Default: `15s`. */
        readonly headersSeconds?: number | string | undefined;
        /** Between two pieces of an answer's body. Default: `15s`. */
        readonly bodySeconds?: number | string | undefined;
      } | undefined;
      /** Most connections to this upstream at a time; further calls wait in line. Default: `128`. */
      readonly connections?: number | undefined;
      /** Whether calls fail at once while this upstream answers nobody; carryover asks every few seconds whether it is back. Default: `true`. */
      readonly breaker?: boolean | undefined;
    } | undefined;
  };
  readonly lists?: {
    /** What a list must prove to be answered (none, count or cover), for all or per resource. Default: `none`. */
    readonly require?: "none" | "count" | "cover" | Readonly<Record<string, "none" | "count" | "cover">> | undefined;
    /** Most pages of one list. Default: `600`. */
    readonly maxPages?: number | undefined;
    /** Most records of one list. Default: `120000`. */
    readonly maxRecords?: number | undefined;
    /** Most bytes of one list's records. Default: `256MiB`. */
    readonly maxBytes?: number | string | undefined;
    /** Longest time for one list; below limits.requestSeconds. Default: `45s`. */
    readonly maxSeconds?: number | string | undefined;
    /** Lists up to this size are answered whole, longer ones page by page; default: 2MiB, or lists.maxBytes where that is less. */
    readonly bufferBytes?: number | string | undefined;
    /** Pages of one list read at a time. Default: `4`. */
    readonly readers?: number | undefined;
    /** Pages read at a time in all; fewer while the platform is slow or refuses. Default: `32`. */
    readonly readersPerUpstream?: number | undefined;
    /** Sent as order_by with every page, where a platform does not list by uid unasked. */
    readonly orderBy?: string | undefined;
    /** Lists of several pages read at a time; further ones wait. Default: `16`. */
    readonly maxConcurrent?: number | undefined;
    /** Of these, how many are kept for credentials that read fewer; one alone may have all others. Default: `4`. */
    readonly maxConcurrentPerCredential?: number | undefined;
    readonly share?: {
      /** Whether equal lists of one credential under way at a time are read once. Default: `false`. */
      readonly collapse?: boolean | undefined;
      /** How long a finished list is given again to the same credential; 0 never. Default: `0s`. */
      readonly seconds?: number | string | undefined;
      /** Most bytes of finished lists kept for that. Default: `32MiB`. */
      readonly bytes?: number | string | undefined;
    } | undefined;
  } | undefined;
  readonly updates?: {
    /** Which fields must be stored as a PUT asked: those to become zero, none (only reported), or all. Default: `zeros`. */
    readonly mismatch?: "zeros" | "report" | "fail" | undefined;
  } | undefined;
  readonly unknownFields?: {
    /** Fields of a request that v1 does not know. Default: `drop`. */
    readonly request?: "drop" | "pass" | "refuse" | undefined;
    /** Fields of an answer that neither version is known to have. Default: `pass`. */
    readonly response?: "pass" | "drop" | undefined;
  } | undefined;
  readonly v1?: {
    /** Which v1 records show createdAt and updatedAt: all, or those whose published v1 messages have them. Default: `all`. */
    readonly recordTimes?: "all" | "published" | undefined;
  } | undefined;
  /** Operations that v2 lacks: served by native v1, or refused; default: native when upstream.v1.url is set. */
  readonly fallback?: "native" | "refuse" | undefined;
  readonly cutover?: {
    /** YAML file of rules: what serves which v1 requests; read again when it changes. */
    readonly rulesFile?: string | undefined;
    /** What serves v1 requests that no rule matches. Default: `translate`. */
    readonly mode?: "native" | "shadow" | "translate" | undefined;
    /** Decides which clients a percentage takes, and keys their hashes; the same on every replica. */
    readonly salt?: string | undefined;
    /** File with the salt, in place of cutover.salt: so it stands on no command line; read at the start. */
    readonly saltFile?: string | undefined;
    /** How often the rules file is looked at. Default: `2s`. */
    readonly reloadSeconds?: number | string | undefined;
  } | undefined;
  readonly shadow?: {
    /** Comparisons under way at a time, half of them for one credential; further ones wait, few of them. Default: `4`. */
    readonly concurrent?: number | undefined;
    /** Longest answer that is compared. Default: `8MiB`. */
    readonly answerBytes?: number | string | undefined;
    /** Most bytes held for comparisons, waiting ones included, half of them for one credential. Default: `64MiB`. */
    readonly memoryBytes?: number | string | undefined;
    /** Longest time for one comparison. Default: `20s`. */
    readonly seconds?: number | string | undefined;
    /** Differing answers shown per operation at /samples. Default: `20`. */
    readonly samples?: number | undefined;
    /** Whether samples show values, or their types and lengths only. Default: `redact`. */
    readonly values?: "redact" | "show" | undefined;
  } | undefined;
  readonly clients?: {
    /** How a client is known, the first that says something counts; tokens are read for it, never believed for access. Default: `user-agent`. */
    readonly identify?: readonly string[] | undefined;
    /** Names for identities, for rules, reports and metrics. */
    readonly names?: readonly string[] | undefined;
    /** Whether identities without a name are kept as keyed hashes only. Default: `false`. */
    readonly hash?: boolean | undefined;
    /** Most clients remembered; beyond them those make room that call v1 least, users of v2 first, and v1 counts say how far they may be off. Default: `1000`. */
    readonly max?: number | undefined;
    /** Clients without a configured name that have metrics of their own; the rest are other. Default: `200`. */
    readonly metricSeries?: number | undefined;
    /** Clients that are no part of the migration: health checkers, scanners. */
    readonly exclude?: readonly string[] | undefined;
    /** File in which the ledger outlives a restart. */
    readonly file?: string | undefined;
  } | undefined;
  readonly limits?: {
    /** Largest request body. Default: `1MiB`. */
    readonly bodyBytes?: number | string | undefined;
    /** Largest request head: request line and headers. Default: `16KiB`. */
    readonly headerBytes?: number | string | undefined;
    /** Longest request target; below limits.headerBytes. Default: `8KiB`. */
    readonly uriBytes?: number | string | undefined;
    /** Requests under way at a time, waiting ones included: the bound of their memory; further ones get 503. Default: `2000`. */
    readonly inFlight?: number | undefined;
    /** Bytes a second that a client must send of a request body, after the first 10 s; slower ones get 408; 0: any. Default: `1KiB`. */
    readonly minBodyRate?: number | string | undefined;
    /** Bytes of bodies held for clients at a time, half of them for one credential; beyond them reading waits. An eighth of the memory of the container suits it. Default: `64MiB`. */
    readonly memoryBytes?: number | string | undefined;
    /** Longest time for one request; below the 60 s of an ingress. Default: `50s`. */
    readonly requestSeconds?: number | string | undefined;
  } | undefined;
  readonly log?: {
    /** Least severity to log; requests are logged at info. Default: `info`. */
    readonly level?: "debug" | "info" | "warn" | "error" | "silent" | undefined;
  } | undefined;
}
