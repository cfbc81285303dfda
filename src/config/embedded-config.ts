/** The configuration of an embedded carryover. Generated from the schema by `npm run docs`. */

// biome-ignore format: a test compares it with the schema's output.
/**
 * The same tree as a configuration file. Only `upstream.v2.url` is required, and `cutover.mode` with a native v1 or rules; what is left out, or `undefined`, has its
 * default. Durations are seconds or text such as `"1500ms"`, `"45s"`, `"1m"`; sizes are bytes or text such as `"64KiB"`;
 * files are paths from the working directory.
 */
export interface CarryoverConfig {
  readonly upstream: {
    readonly v2: {
      /** Base URL of the v2 API; its path is put before every v2 path. Required. */
      readonly url: string;
      /** Version segment of v2 paths. Default: `v2beta1`. */
      readonly version?: string | undefined;
      /** How updateMask spells fields; auto learns it from the first rejected mask. Default: `auto`. */
      readonly maskSpelling?: "auto" | "camelCase" | "snake_case" | undefined;
      /** Whether v2 omits zero values, so that v1's are inserted. auto inserts whatever is missing. A page without its list is an empty list: unproved with auto, proved with yes, an error with no. Default: `auto`. */
      readonly omitsZeros?: "auto" | "yes" | "no" | undefined;
      /** What page tokens hold: a record (keyset) or a row number (offset); carryover check --write-under finds out. Default: `unknown`. */
      readonly pageTokens?: "keyset" | "offset" | "unknown" | undefined;
      /** Whether a list shorter than its totalCount is an error (verify). Use ignore where totals count records that the caller may not see. Default: `verify`. */
      readonly totals?: "verify" | "ignore" | undefined;
      /** Audience of tokens for v2; default: upstream.v2.url. */
      readonly audience?: string | undefined;
      /** Where v2 serves gRPC, if not at the host of upstream.v2.url; a path in it is not used. */
      readonly grpcUrl?: string | undefined;
      /** Ping gRPC connections that were silent for so long, so that a dead one is found before a call meets it. Off by default: a grpc-go server closes connections that are pinged more often than it allows (every two hours without calls, unless told otherwise). */
      readonly grpcPingSeconds?: number | string | undefined;
      readonly tls?: {
        /** PEM file of the trusted authorities, instead of the system's. */
        readonly caFile?: string | undefined;
        /** PEM file of the client certificate; needs keyFile. */
        readonly certFile?: string | undefined;
        /** PEM file of the client certificate's private key. */
        readonly keyFile?: string | undefined;
      } | undefined;
      readonly timeouts?: {
        /** Time limit for connecting, TLS included. Default: `3s`. */
        readonly connectSeconds?: number | string | undefined;
        /** Time limit from the end of the request to the response head. Default: `15s`. */
        readonly headersSeconds?: number | string | undefined;
        /** Time limit between two chunks of a response body. Default: `15s`. */
        readonly bodySeconds?: number | string | undefined;
      } | undefined;
      /** Most connections to this upstream, counted separately for HTTP and gRPC; further calls wait in the queue. Default: `128`. */
      readonly connections?: number | undefined;
      /** Circuit breaker: fail calls at once while this upstream does not respond, and probe it every few seconds. Default: `true`. */
      readonly breaker?: boolean | undefined;
    };
    readonly v1?: {
      /** Base URL of the platform's own v1. Without it, operations that v2 lacks are refused. */
      readonly url: string;
      /** Where v1 serves gRPC, if not at the host of upstream.v1.url; a path in it is not used. */
      readonly grpcUrl?: string | undefined;
      /** Ping gRPC connections that were silent for so long, so that a dead one is found before a call meets it. Off by default: a grpc-go server closes connections that are pinged more often than it allows (every two hours without calls, unless told otherwise). */
      readonly grpcPingSeconds?: number | string | undefined;
      readonly tls?: {
        /** PEM file of the trusted authorities, instead of the system's. */
        readonly caFile?: string | undefined;
        /** PEM file of the client certificate; needs keyFile. */
        readonly certFile?: string | undefined;
        /** PEM file of the client certificate's private key. */
        readonly keyFile?: string | undefined;
      } | undefined;
      readonly timeouts?: {
        /** Time limit for connecting, TLS included. Default: `3s`. */
        readonly connectSeconds?: number | string | undefined;
        /** Time limit from the end of the request to the response head. Default: `15s`. */
        readonly headersSeconds?: number | string | undefined;
        /** Time limit between two chunks of a response body. Default: `15s`. */
        readonly bodySeconds?: number | string | undefined;
      } | undefined;
      /** Most connections to this upstream, counted separately for HTTP and gRPC; further calls wait in the queue. Default: `128`. */
      readonly connections?: number | undefined;
      /** Circuit breaker: fail calls at once while this upstream does not respond, and probe it every few seconds. Default: `true`. */
      readonly breaker?: boolean | undefined;
    } | undefined;
    readonly sts?: {
      /** Base URL of the token exchange; /sts/exchange and /sts/exchange_refresh_token pass through to it. */
      readonly url: string;
      /** Where sts serves gRPC, if not at the host of upstream.sts.url; a path in it is not used. */
      readonly grpcUrl?: string | undefined;
      readonly tls?: {
        /** PEM file of the trusted authorities, instead of the system's. */
        readonly caFile?: string | undefined;
        /** PEM file of the client certificate; needs keyFile. */
        readonly certFile?: string | undefined;
        /** PEM file of the client certificate's private key. */
        readonly keyFile?: string | undefined;
      } | undefined;
    } | undefined;
  };
  readonly listen?: {
    /** Address to listen on. Default: `0.0.0.0`. */
    readonly host?: string | undefined;
    /** Port to listen on; 0 picks a free one. none: only listen.socket. Default: `8080`. */
    readonly port?: number | "none" | undefined;
    /** Share listen.port and listen.grpc.port with other carryover processes of this user on this host. The system spreads connections over them. Each process needs its own admin.port and state.dir. Needs Node 22.12 or newer. Default: `false`. */
    readonly reusePort?: boolean | undefined;
    /** Path of a Unix socket to listen on as well, for this user alone: it has mode 0600, and its folder must be 0700 (carryover creates the last one). X-Forwarded-* that arrive there are trusted. */
    readonly socket?: string | undefined;
    /** Path prefix of all client requests. */
    readonly basePath?: string | undefined;
    /** The URL by which clients reach carryover, with or without listen.basePath; used for aud and Link. */
    readonly publicUrl?: string | undefined;
    /** Networks whose X-Forwarded-* headers are trusted. */
    readonly trustedProxies?: readonly string[] | undefined;
    /** Further path prefixes: /PATH passes through to v2, v1:/PATH to native v1, whatever fallback is. */
    readonly extraPrefixes?: readonly string[] | undefined;
    /** How long an idle connection of a client stays open. Use more than the idle timeout of the load balancer in front. Default: `75s`. */
    readonly keepAliveSeconds?: number | string | undefined;
    /** How long carryover still takes requests after the stop signal. /readyz says 503 meanwhile. Use the time that the load balancer needs to notice. Default: `5s`. */
    readonly shutdownDelaySeconds?: number | string | undefined;
    readonly grpc?: {
      /** Port for gRPC (HTTP/2 without TLS), at listen.host; 0 picks a free one. Without it gRPC is refused. */
      readonly port?: number | undefined;
      /** As listen.keepAliveSeconds, for connections of gRPC clients without a call. Default: `300s`. */
      readonly keepAliveSeconds?: number | string | undefined;
      /** Packages and services of other domains: NAME passes through to v2, v1:NAME to native v1, whatever fallback is. Unlisted ones go to native v1 if fallback is native, unless their package names v2. */
      readonly extraServices?: readonly string[] | undefined;
    } | undefined;
  } | undefined;
  readonly admin?: {
    /** Address of the admin port. Default: `127.0.0.1`. */
    readonly host?: string | undefined;
    /** Port for health, metrics and views; 0 picks a free one. none: no such port. Default: `8081`. */
    readonly port?: number | "none" | undefined;
    /** File with the token for the views; without it they answer this machine only. */
    readonly tokenFile?: string | undefined;
  } | undefined;
  readonly lists?: {
    /** What a list must prove to be served (none, count or cover), for all or per resource. Default: `none`. */
    readonly require?: "none" | "count" | "cover" | Readonly<Record<string, "none" | "count" | "cover">> | undefined;
    /** Pages of one list at most. Default: `600`. */
    readonly maxPages?: number | undefined;
    /** Records of one list at most. Default: `120000`. */
    readonly maxRecords?: number | undefined;
    /** Bytes of one list's records at most. Default: `256MiB`. */
    readonly maxBytes?: number | string | undefined;
    /** Time limit of one list; below limits.requestSeconds. Default: `45s`. */
    readonly maxSeconds?: number | string | undefined;
    /** Lists up to this size are sent whole, longer ones are streamed; default: 2MiB, or lists.maxBytes if lower. */
    readonly bufferBytes?: number | string | undefined;
    /** Pages of one list read in parallel. Default: `4`. */
    readonly readers?: number | undefined;
    /** Pages of all lists read in parallel; fewer while the platform is slow or refuses calls. Default: `32`. */
    readonly readersPerUpstream?: number | undefined;
    /** order_by of every page, for platforms that do not list by uid by default. */
    readonly orderBy?: string | undefined;
    /** Lists of several pages read at a time; further ones wait. Default: `16`. */
    readonly maxConcurrent?: number | undefined;
  } | undefined;
  readonly updates?: {
    /** Which fields that v2 did not store as asked make a PUT fail: cleared ones (zeros), none (report), any (fail). Default: `zeros`. */
    readonly mismatch?: "zeros" | "report" | "fail" | undefined;
  } | undefined;
  readonly unknownFields?: {
    /** Request fields that v1 does not know. Default: `drop`. */
    readonly request?: "drop" | "pass" | "refuse" | undefined;
    /** Response fields that the catalogue does not know. Default: `drop`. */
    readonly response?: "drop" | "pass" | undefined;
  } | undefined;
  readonly v1?: {
    /** Which v1 records have createdAt and updatedAt: all, or only those whose published v1 messages have them. Default: `all`. */
    readonly recordTimes?: "all" | "published" | undefined;
  } | undefined;
  /** Operations that v2 lacks: served by native v1, or refused. Default: native when upstream.v1.url is set. */
  readonly fallback?: "native" | "refuse" | undefined;
  readonly cutover?: {
    /** YAML file with rules for v1 requests; reloaded when it changes. */
    readonly rulesFile?: string | undefined;
    /** What serves v1 requests that no rule matches. Required with upstream.v1.url or cutover.rulesFile; without both it is translate. */
    readonly mode?: "native" | "shadow" | "translate" | undefined;
    /** Selects the clients of a percentage, and keys their hashes; equal on every replica. */
    readonly salt?: string | undefined;
    /** File with the salt, instead of cutover.salt; read at start. */
    readonly saltFile?: string | undefined;
  } | undefined;
  readonly shadow?: {
    /** Comparisons at a time, half of them for one credential; twice as many wait, further ones are skipped. Default: `4`. */
    readonly concurrent?: number | undefined;
    /** Time limit of one comparison. Default: `20s`. */
    readonly seconds?: number | string | undefined;
    /** Members of records that are known to differ harmlessly, and are not compared. */
    readonly ignore?: readonly string[] | undefined;
    /** YAML file that says how members are compared that may differ: ignore, set, unordered, or times within a duration. carryover replay uses it as well. */
    readonly matchersFile?: string | undefined;
    /** Differences kept per operation for /samples. Default: `20`. */
    readonly samples?: number | undefined;
    /** Whether samples show values, or only types and lengths. Default: `redact`. */
    readonly values?: "redact" | "show" | undefined;
  } | undefined;
  readonly record?: {
    /** File that gets one JSON line for each v1 request, for carryover replay. Nothing is recorded without it. Each process needs its own. */
    readonly file?: string | undefined;
    /** Whether filters keep values that may be personal, such as names and addresses. A request with a redacted value cannot be replayed. Default: `redact`. */
    readonly values?: "redact" | "show" | undefined;
    /** Record the bodies of writes as well, without secrets in them. Default: `false`. */
    readonly bodies?: boolean | undefined;
    /** Requests recorded per second at most; others are only counted. Default: `100`. */
    readonly perSecond?: number | undefined;
    /** Size at which the file is closed and compressed, and a new one begins. Default: `64MiB`. */
    readonly fileBytes?: number | string | undefined;
    /** Compressed files that are kept; older ones are deleted. Default: `10`. */
    readonly files?: number | undefined;
  } | undefined;
  readonly clients?: {
    /** How a client is identified; the first source with a value counts. Of a user agent the product counts, without its version: ci-bot of ci-bot/1.4 (linux). Tokens are read for this, never trusted for access. Default: `user-agent`. */
    readonly identify?: readonly string[] | undefined;
    /** Names of clients for rules, reports and metrics, each with its owner and contact where that is known. */
    readonly names?: readonly (string | { readonly name: string; readonly identity: string | readonly string[]; readonly owner?: string | undefined; readonly contact?: string | undefined })[] | undefined;
    /** Keep clients without a configured name as keyed hashes only. Default: `false`. */
    readonly hash?: boolean | undefined;
    /** Clients remembered at most. Beyond that, v2-only clients and rare v1 callers are dropped first, and counts state their error. Default: `1000`. */
    readonly max?: number | undefined;
    /** Clients without a configured name that get their own metric series; all further ones share `other`. Default: `200`. */
    readonly metricSeries?: number | undefined;
    /** How long a client that no longer calls is remembered, with its counts; carryover forget does it at once. Default: `180d`. */
    readonly forgetAfter?: number | string | undefined;
    /** Clients outside the migration, such as health checks and scanners. */
    readonly exclude?: readonly string[] | undefined;
  } | undefined;
  readonly state?: {
    /** Directory that keeps rule states, evidence, the ledger, events and the last good rules across restarts; each process needs its own. */
    readonly dir?: string | undefined;
    /** Valkey or Redis (7 or later) that replicas share: they then decide together, and carryover force holds for all of them. Without it each replica decides alone. */
    readonly url?: string | undefined;
    /** Account at state.url; default: the server's default account. */
    readonly username?: string | undefined;
    /** File with the password for state.url; read again for each connection, so it can be replaced at any time. */
    readonly passwordFile?: string | undefined;
    /** First part of all keys at state.url. Deployments that share a server need different ones. Default: `carryover`. */
    readonly prefix?: string | undefined;
    readonly tls?: {
      /** PEM file of the trusted authorities, instead of the system's. */
      readonly caFile?: string | undefined;
      /** PEM file of the client certificate; needs keyFile. */
      readonly certFile?: string | undefined;
      /** PEM file of the client certificate's private key. */
      readonly keyFile?: string | undefined;
    } | undefined;
  } | undefined;
  readonly limits?: {
    /** Largest request body. Default: `1MiB`. */
    readonly bodyBytes?: number | string | undefined;
    /** Largest request head: request line and headers. Default: `16KiB`. */
    readonly headerBytes?: number | string | undefined;
    /** Largest head of an upstream's response. A larger one is 502, after a write, too. Default: `64KiB`. */
    readonly responseHeaderBytes?: number | string | undefined;
    /** Longest request target; below limits.headerBytes. Default: `8KiB`. */
    readonly uriBytes?: number | string | undefined;
    /** Requests in flight at most, waiting ones included; further ones get 503. It bounds memory. Default: `2000`. */
    readonly inFlight?: number | undefined;
    /** Lowest rate of a request body in bytes per second, after the first 10 s. Slower clients get 408. 0 disables it. Default: `1KiB`. */
    readonly minBodyRate?: number | string | undefined;
    /** Bytes of bodies held for clients at most, half for one credential; beyond that, reading waits. Comparisons may hold as much again. An eighth of the container's memory is a good value. Default: `64MiB`. */
    readonly memoryBytes?: number | string | undefined;
    /** Time limit of one request; below the ingress's 60 s. Default: `50s`. */
    readonly requestSeconds?: number | string | undefined;
  } | undefined;
  readonly grpc?: {
    /** FileDescriptorSet of the API with its imports, as buf build or protoc writes it. Without it v1 gRPC is not translated. */
    readonly descriptors?: string | undefined;
    /** Largest request message that carryover reads: of calls that may be translated, and of token exchange. Default: `4MiB`. */
    readonly maxRequestBytes?: number | string | undefined;
    /** Largest response message of a translated call. It counts as half of limits.memoryBytes at most. Clients have limits of their own, often 4 MiB. Default: `100MiB`. */
    readonly maxResponseBytes?: number | string | undefined;
    /** How long a gRPC stream may go on while nothing of it moves; default limits.requestSeconds. 0: until its client's own deadline. */
    readonly streamIdleSeconds?: number | string | undefined;
  } | undefined;
  readonly log?: {
    /** Lowest level to log; requests are logged at info. Default: `info`. */
    readonly level?: "debug" | "info" | "warn" | "error" | "silent" | undefined;
  } | undefined;
}
