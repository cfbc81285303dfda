/** The options of a sandbox. */
import type { SendLayer } from "./http.ts";

/** `snake_case`: the names of fields; `camelCase`: their JSON names (that of `sync_config` is `sync_config`); `both`: either. */
export type MaskSpelling = "snake_case" | "camelCase" | "both";

/** Which v1 records show `createdAt` and `updatedAt`: all, or only those whose published messages have them. */
export type RecordTimes = "all" | "published";

/** Every option has a default. Without options the sandbox behaves as the platform does by its specification. */
export interface SandboxOptions {
  /** All generated names, uids and tokens follow from it. Default `sandbox`. */
  readonly seed?: string;
  /** The clock of all times, token lifetimes and rate limits. Default: the real one. */
  readonly clock?: () => Date;
  /** Further groups below the seeded organisation, for long lists. Default 0; 100,000 is fine. */
  readonly size?: number;
  /** False seeds only two root groups, the built-in roles, and one identity with its binding. Default true. */
  readonly organisation?: boolean;
  /** The version segment of v2 paths. Default `v2beta1`. */
  readonly version?: string;
  /** Default `all`. */
  readonly recordTimes?: RecordTimes;
  /** Milliseconds before every response. Default 0. */
  readonly latencyMs?: number;
  /** What a page token remembers: the last record (`keyset`) or a row number (`offset`). Default `keyset`. */
  readonly tokens?: "keyset" | "offset";
  /** Milliseconds after which a page token silently restarts its list. Default 3 days. */
  readonly tokenLifetimeMs?: number;
  /** Share of calls, 0 to 1, that get a 503 before anything is done. Default 0. */
  readonly errorRate?: number;
  /** Treats `skip` as 0, and reports 0 in `skipped`. Default false. */
  readonly ignoreSkip?: boolean;
  /** Leaves `totalCount` out of v2 lists. Default false. */
  readonly omitTotalCount?: boolean;
  /** v2 leaves zero values out of its responses; v1 never does. Default false. */
  readonly omitZeros?: boolean;
  /** v2 role bindings name their identity and role in the joined objects only; the flat uids are empty. Default false. */
  readonly nestedUidsOnly?: boolean;
  /** v2 responds to a delete with an empty body instead of `{}`. Default false. */
  readonly emptyDeletes?: boolean;
  /** What v2 does with a page size above 200: treats it as 200 (`clamp`), or responds with 400 (`refuse`). Default `clamp`. */
  readonly largePages?: "clamp" | "refuse";
  /** The default order of v2 lists, in the words of `order_by`. Default: each resource's own, mostly `uid`. */
  readonly order?: string;
  /**
   * What a v2 caller without `repo.internal.admin` (everybody but staff) may not change. `readme`: the readme of a repo.
   * `forbid`: also its tier, bundles, aliases, active tags and sync settings; a real change of one is 403, like the readme.
   * `refuse`: the same fields, but a change is 400 and names the mask path. Default `readme`.
   */
  readonly repoGuard?: "readme" | "forbid" | "refuse";
  /** Calls a second and credential before 429. Default: no limit. */
  readonly rateLimit?: number;
  /** How a mask in a query names fields: `snake_case` is the public gateway's habit. Default `both`. */
  readonly maskSpelling?: MaskSpelling;
  /** How a mask in a JSON body (identity metadata) names fields. Default `camelCase`: protobuf JSON takes nothing else. */
  readonly bodyMaskSpelling?: MaskSpelling;
  /** GET on the bare collection of v2 identity providers reaches Get with an empty uid. Default false. */
  readonly shadowedProviderList?: boolean;
  /** Concurrent writers: after every n-th v2 list page they make a group below the root and delete one they made before. Default 0: never. */
  readonly churnEveryPages?: number;
  /** The audience that token exchange insists on. Default: any. */
  readonly audience?: string;
  /** Largest request body in bytes. Default 4 MiB. */
  readonly maxBodyBytes?: number;
  /** True for a call (method, path without query) that is refused until the terms are accepted, which is never. Default: none. */
  readonly gated?: (method: string, path: string) => boolean;
  /** Also seeds what only v1 has a word for (an event that says where a component moved, a repo that syncs its packages); no v2 answer holds it. Default false. */
  readonly beyondV2?: boolean;
  /** Names of enum values that v2 has and the published messages lack, by the name of the enum (`CatalogTier`, `Capability`). Default: none. */
  readonly newerNames?: Readonly<Record<string, readonly string[]>>;
  /** How many calls `requests` remembers. Default 10,000. */
  readonly logSize?: number;
  /** Wraps the in-process and the listening sandbox alike, for any other fault. */
  readonly faults?: SendLayer;
}

/** The options with every default filled in. */
export type SandboxSettings = Required<Omit<SandboxOptions, "order" | "rateLimit" | "audience" | "gated" | "faults">> &
  Pick<SandboxOptions, "order" | "rateLimit" | "audience" | "gated" | "faults">;

const DAY_MS = 86_400_000;

/** Fills in the defaults. */
export function settingsOf(options: SandboxOptions): SandboxSettings {
  return {
    seed: "sandbox",
    clock: () => new Date(),
    size: 0,
    organisation: true,
    version: "v2beta1",
    recordTimes: "all",
    latencyMs: 0,
    tokens: "keyset",
    tokenLifetimeMs: 3 * DAY_MS,
    errorRate: 0,
    ignoreSkip: false,
    omitTotalCount: false,
    omitZeros: false,
    nestedUidsOnly: false,
    emptyDeletes: false,
    largePages: "clamp",
    repoGuard: "readme",
    maskSpelling: "both",
    bodyMaskSpelling: "camelCase",
    shadowedProviderList: false,
    churnEveryPages: 0,
    beyondV2: false,
    newerNames: {},
    maxBodyBytes: 4 * 1024 * 1024,
    logSize: 10_000,
    ...options,
  };
}
