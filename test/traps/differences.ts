/**
 * Where a v1 client sees something that v1 showed differently. (Data; `scripts/docs/traps.ts` makes
 * `docs/v1-behaviour.md` from it.)
 */

export interface Difference {
  /** Stands in the titles of the tests that prove it. Stays what it is: a new row takes the next number. */
  readonly id: string;
  readonly v1: string;
  readonly carryover: string;
  readonly why: string;
  /** What changes it. */
  readonly option: string;
  /** It is there for requests that native v1 serves behind carryover, too. */
  readonly native?: true;
}

export interface DifferenceGroup {
  readonly title: string;
  readonly rows: readonly Difference[];
}

const NONE = "none";

export const differences: readonly DifferenceGroup[] = [
  {
    title: "Lists and filters",
    rows: [
      {
        id: "V01",
        v1: "a list was one response: whole, or an error status",
        carryover:
          "above 2 MiB a list is sent while it is read: status 200 first, and chunked. A later failure breaks the connection, without the closing `]}`",
        why: "long lists are not held in memory, and one that was cut off must not look whole",
        option: "`lists.bufferBytes`",
      },
      {
        id: "V02",
        v1: "a client with HTTP/1.0 got lists of any length",
        carryover: "422 `DRAIN_TOO_LARGE` above 2 MiB",
        why: "HTTP/1.0 cannot tell a response that was cut off from a whole one",
        option: "`lists.bufferBytes`",
      },
      {
        id: "V03",
        v1: "no limit of a list is documented",
        carryover:
          "422 `DRAIN_TOO_LARGE` above 120,000 records, 256 MiB or 600 pages of v2, and where one page needs 64 MiB of other records (readmes). 504 `UPSTREAM_TIMEOUT` after 45 s",
        why: "no client may use up the memory and the time of all others",
        option: "`lists.maxRecords`, `lists.maxBytes`, `lists.maxPages`, `lists.maxSeconds`",
      },
      {
        id: "V04",
        v1: "a list took one call to the platform",
        carryover:
          "several calls. Every record that existed throughout is there once; one that was created or deleted meanwhile may be there or not",
        why: "v2 gives at most 200 records a page",
        option: NONE,
      },
      {
        id: "V05",
        v1: "a list came whole, or the platform's error",
        carryover:
          "also 502 `DRAIN_INCOMPLETE`, when v2's pages contradict each other or hold fewer records than they count, and 502 `LIST_UNPROVEN`, when a list proves less than the operator asks for",
        why: "a short list must not look whole",
        option: "`upstream.v2.totals`, `lists.require`",
      },
      {
        id: "V06",
        v1: "an order is documented for advisories only (by id)",
        carryover:
          "records come in v2's order: by id; account associations by group; invites by their time, the newest first",
        why: "sorting needs the whole list, which is not held",
        option: "`lists.orderBy`",
      },
      {
        id: "V07",
        v1: "a list by `id` was empty when the record was missing or not allowed",
        carryover:
          "so it is when the platform says so itself, with a typed detail. Any other 404 or 403, such as a gateway's, is the response",
        why: "a gateway's 404 does not say that the record is missing",
        option: NONE,
      },
      {
        id: "V08",
        v1: "`GET /iam/v1/identityProviders` listed all providers",
        carryover:
          "some platforms take the same path in v2 for a Get of nothing: there the response is the platform's error. A list by `id` works",
        why: "v2 has no other way to list them, and an empty list would be wrong",
        option: NONE,
      },
    ],
  },
  {
    title: "Single records and their fields",
    rows: [
      {
        id: "V09",
        v1: "`GET /iam/v1/groups/{id}` was 501, and so on for each of the ten resources",
        carryover: "200 with the record",
        why: "v2 has it",
        option: NONE,
      },
      {
        id: "V10",
        v1: "the published messages have neither `createdAt` nor `updatedAt` on groups, roles, identity providers, account associations and repos, no `updatedAt` on invites, and `lastUpdated` alone on tags; so it is with a record inside of another one",
        carryover: "every record shows both, as far as v2 has them ([coverage.md](coverage.md) names the fields)",
        why: "the specification says that every v1 record has them. A client that refuses fields it does not know needs `published`",
        option: "`v1.recordTimes`",
      },
      {
        id: "V11",
        v1: "a record had v1's fields and no other",
        carryover: "a field that neither version is known to have is shown as v2 sent it",
        why: "nothing that the platform says is dropped in silence. A client that refuses fields it does not know needs `drop`",
        option: "`unknownFields.response`",
      },
      {
        id: "V12",
        v1: "an enum or a capability had one of v1's names",
        carryover: "a value that has no v1 name is shown by v2's (`CAP_…`)",
        why: "no name is made up",
        option: NONE,
      },
      {
        id: "V13",
        v1: "a list of identity providers showed the state of each SCIM token",
        carryover:
          "it still does, but for a provider that the caller may list and not get: its `scim` lacks the token's state",
        why: "v2 has that state in its Get alone",
        option: NONE,
      },
    ],
  },
  {
    title: "Creates",
    rows: [
      {
        id: "V14",
        v1: "these were optional: the `capabilities` of a role, the relationship of an identity (`claimMatch`, `static`, `awsIdentity` or `servicePrincipal`), the `ttl` of an invite, the `defaultRole` of an identity provider, the `name` of an account association, the `digest` of a tag",
        carryover: "a create without one is the platform's 400, and so is an update of a tag that has no digest yet",
        why: "v2 wants them, and none is made up",
        option: NONE,
      },
      {
        id: "V15",
        v1: "an enum by a number that v1 does not know was the platform's to judge",
        carryover: "400 `INVALID_BODY`, in updates too; a name that v1 does not know is dropped, as in v1",
        why: "in v2 the number may be another value",
        option: NONE,
      },
    ],
  },
  {
    title: "Updates",
    rows: [
      {
        id: "V16",
        v1: "a `PUT` of a group that left `verified` or `kind` out emptied it, where the caller was allowed to change it (staff)",
        carryover: "it stays; `carryover-mismatch` names it if it has a value",
        why: "a client that does not know these fields must not switch them off",
        option: NONE,
      },
      {
        id: "V17",
        v1: "a `PUT` that left these out emptied them: the `defaultRole` of an identity provider, the `name` of an account association",
        carryover: "they stay; `carryover-mismatch` names them if they have a value",
        why: "v2 does not let them be empty",
        option: NONE,
      },
      {
        id: "V18",
        v1: "a `PUT` of an identity provider without `oidc` emptied or refused it; what became of `oidc.clientSecret` is not documented",
        carryover: "`oidc` stays (`carryover-mismatch`); a secret that is left out or empty stays, too",
        why: "reads never show the secret, so a client that writes back what it read would erase it",
        option: NONE,
      },
      {
        id: "V19",
        v1: "a `PUT` of an identity without a relationship removed it",
        carryover: "it stays; `carryover-mismatch` names it",
        why: "in v2 an identity has exactly one",
        option: NONE,
      },
      {
        id: "V20",
        v1: "a `PUT` of a repo or a tag without `name` was refused (400)",
        carryover: "it keeps its name (of a repo, `carryover-mismatch` names it)",
        why: "v2 finds a tag by its name, and lets staff alone rename a repo: a name is sent only when it changes",
        option: NONE,
      },
      {
        id: "V21",
        v1: "a `PUT` was stored as it was sent, or refused",
        carryover:
          "v2's response is compared with what was sent: 502 `UPDATE_INCOMPLETE` when a field was to become empty and did not; other differences are named in `carryover-mismatch`. The rest of the update has taken effect",
        why: "a client must hear of a field that the platform did not store",
        option: "`updates.mismatch`",
      },
      {
        id: "V22",
        v1: "an update was one write",
        carryover:
          "a `PUT` of a repo, of a tag, and of a group that sends `verified` or `kind` reads the record first. Somebody who writes in between makes the comparison stale: a field is then sent, or left out, by what it was before",
        why: "v2 refuses some fields even when they are merely repeated",
        option: NONE,
      },
    ],
  },
  { title: "Deletes", rows: [] },
  {
    title: "Role bindings",
    rows: [
      {
        id: "V23",
        v1: "a list showed the whole group of each binding, and the `emailUnverified` of its identity, to everybody who could read the binding",
        carryover:
          "a group that is missing or not allowed is shown by its id, name and description, an `emailUnverified` that cannot be read as empty",
        why: "v2's binding says no more; the rest is read by the caller's own credential",
        option: NONE,
      },
      {
        id: "V24",
        v1: "a list showed the whole role of each binding, to everybody who could read the binding",
        carryover: "when a role is missing or not allowed, the list is 502 `DRAIN_INCOMPLETE`",
        why: "a role without capabilities would look as if it granted nothing",
        option: NONE,
      },
      {
        id: "V25",
        v1: "a batch had no documented limit",
        carryover: "more than 25 are the platform's 400, and nothing is created",
        why: "v2 takes 25 at once; several calls would not be all or none",
        option: NONE,
      },
    ],
  },
  {
    title: "Repos",
    rows: [
      {
        id: "V26",
        v1: "one write made a repo, or updated the one of that name",
        carryover:
          "the name is looked up first; a repo that somebody makes between that and the create is met by v2's own rule for names that are taken",
        why: "v2 has no such switch",
        option: NONE,
      },
      {
        id: "V27",
        v1: "a repo and its readme were one write, all or none",
        carryover:
          "several calls. When a later one fails, its error is the response, and `carryover-partial` names what was written before: `repo` of a create, `readme` of an update. Sending the request again writes the rest",
        why: "v2 keeps the readme in a place of its own",
        option: NONE,
      },
      {
        id: "V28",
        v1: "anybody who could update a repo could write its readme",
        carryover: "a readme that changes takes a further capability. Without it: 403, and an update changes nothing",
        why: "v2 guards readmes",
        option: NONE,
      },
      {
        id: "V29",
        v1: "a repo showed its readme",
        carryover: "one that the caller may not read shows as empty; sending that back changes nothing",
        why: "v2 guards readmes",
        option: NONE,
      },
      {
        id: "V30",
        v1: "a `PUT` of a synced repo emptied what it left out",
        carryover:
          "`catalogTier`, `bundles`, `aliases`, `activeTags`, `customOverlay` and the readme stay; `carryover-mismatch` names them. `sync_config` is removed when it is left out",
        why: "v2 refuses any change of them while a repo is synced",
        option: NONE,
      },
      {
        id: "V31",
        v1: "a `PUT` of a repo that is not synced emptied what it left out",
        carryover:
          "what v2 refuses to clear for want of a capability stays, and the rest is written; `carryover-mismatch` names what stayed",
        why: "an update that worked on v1 must not become a 403",
        option: NONE,
      },
      {
        id: "V32",
        v1: "`uniqueTags`, `expiration`, `apkoOverlay`, `gracePeriod` and `syncApks` of a sync could be sent with any value",
        carryover: "400 `INVALID_BODY`. An update may send the stored value back, a create an empty one",
        why: "v2 sets them itself, and has no `syncApks`",
        option: NONE,
      },
      {
        id: "V33",
        v1: "`sync_config.syncApks` showed what was stored",
        carryover: "always `false`",
        why: "v2 has no such field",
        option: NONE,
      },
      {
        id: "V34",
        v1: "a group id (`gid`) of 0 was shown for a user of an overlay",
        carryover: "it is left out",
        why: "v2 cannot tell it from none",
        option: NONE,
      },
      {
        id: "V35",
        v1: "ids of users and groups of an overlay went up to 4294967295",
        carryover: "400 `INVALID_BODY` above 2147483647",
        why: "v2's numbers are smaller",
        option: NONE,
      },
      {
        id: "V36",
        v1: "which architecture the size of an image was for, without `arch`, is not documented",
        carryover: "amd64; `arch` in the response says so",
        why: "that is v2's default",
        option: NONE,
      },
    ],
  },
  {
    title: "Tags",
    rows: [
      {
        id: "V37",
        v1: "what creating a tag did whose name is taken is not documented",
        carryover: "it updates that tag",
        why: "so does v2",
        option: NONE,
      },
      {
        id: "V38",
        v1: "a `PUT` of a tag took the capability to update tags",
        carryover: "it takes the one to create them, and is an event of that kind",
        why: "v2 updates a tag by creating it again under its name",
        option: NONE,
      },
      {
        id: "V39",
        v1: "a `PUT` of a tag could rename it",
        carryover: "400 `INVALID_BODY`",
        why: "in v2 another name makes a second tag",
        option: NONE,
      },
      {
        id: "V40",
        v1: "a `PUT` of a tag without `digest` kept the digest; of a tag that somebody had just deleted it was 404",
        carryover:
          "it keeps the digest that was read before the write, and so undoes one that somebody sets in between: send the digest where several write one tag. A tag that is deleted in between is made anew, and the response is 502 `UPSTREAM_INVALID`",
        why: "reading and creating are two calls",
        option: NONE,
      },
      {
        id: "V41",
        v1: "`latestTag` and `latestVersion` of the tag summary had a meaning that is not documented",
        carryover:
          "a guess: the tag that was updated last; the greatest name of numbers and dots (`1.2.10`, with or without a `v`), empty when there is none. With native v1 the summary stays native unless a rule names `summarise`",
        why: "v2 has no summary: it is made of the list of the repo's tags",
        option: "a rule ([rules.md](rules.md)); `fallback`",
      },
    ],
  },
  {
    title: "Identities and their metadata",
    rows: [
      {
        id: "V42",
        v1: "`GET identities/lookup` showed the identity to everybody",
        carryover: "403 to a caller who may not read it",
        why: "v2's look-up gives a uid alone, and nothing is made up of a record that may not be read",
        option: NONE,
      },
      {
        id: "V43",
        v1: "`PATCH identities/metadata` stored `onboardingQuestions.providers`",
        carryover:
          "they are lost, and shown empty; `carryover-mismatch` names them. With `updates.mismatch` at `fail`: 400, and nothing is written",
        why: "v2 has no such field",
        option: "`updates.mismatch`",
      },
      {
        id: "V44",
        v1: "`onboardingQuestions` could be `null` in the response",
        carryover: "it is always there, also when everything in it is empty",
        why: "v2 keeps the answers without the message around them",
        option: NONE,
      },
      {
        id: "V45",
        v1: "static keys (`static.expiration`) lived 30 days at most",
        carryover: "the platform takes up to 365 days",
        why: "that is v2's rule; carryover judges no values that v2 judges",
        option: NONE,
      },
    ],
  },
  {
    title: "Invites",
    rows: [
      {
        id: "V46",
        v1: '`group` of a list of invites: those "rooted under" it. Whether that includes subgroups is not documented',
        carryover: "invites directly below the group",
        why: "v1 says it otherwise where it means a whole subtree",
        option: NONE,
      },
    ],
  },
  {
    title: "Advisories",
    rows: [
      {
        id: "V47",
        v1: "`event_types` and `latest_event_type` of a list took `EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED`",
        carryover: "400 `INVALID_FILTER`",
        why: "v2 has no such value, and an unfiltered list would be wrong",
        option: NONE,
      },
      {
        id: "V48",
        v1: "an event that says where a component moved had its kind, `componentLocationChanged`",
        carryover: "the event is there without it",
        why: "v2 does not send it",
        option: NONE,
      },
      {
        id: "V49",
        v1: "`page_size` of advisories had no documented maximum",
        carryover: "a page holds 200 at most; its token leads to the rest",
        why: "v2's maximum",
        option: NONE,
      },
      {
        id: "V50",
        v1: "page tokens of advisories were v1's",
        carryover:
          "tokens are v2's. When a rule moves a client between two pages, the other version does not know its token: begin the list again",
        why: "carryover keeps no state of its own between two pages",
        option: NONE,
      },
    ],
  },
  {
    title: "Paths, methods and errors",
    rows: [
      {
        id: "V51",
        v1: "v1 served all of its operations",
        carryover:
          "[those that v2 lacks](coverage.md#served-by-native-v1) go to native v1; without it they are 501 `NOT_TRANSLATABLE`",
        why: "there is nothing to translate them to",
        option: "`upstream.v1.url`, `fallback`",
      },
      {
        id: "V52",
        v1: "`//` and dot segments in a path were 404; `%25` and other characters were part of an id",
        carryover:
          "400 `INVALID_PATH` for `//`, dot segments, `%25`, `;`, control bytes, and for ids with other characters than letters, digits, `-`, `_`, `.`",
        why: "programs read such paths in several ways: nothing of them may reach the platform",
        option: NONE,
        native: true,
      },
      {
        id: "V53",
        v1: "a slash at the end of a path was part of the id",
        carryover: "400 `INVALID_PATH` behind an id",
        why: "no record has such an id",
        option: NONE,
        native: true,
      },
      {
        id: "V54",
        v1: "a verb that does not exist (`POST groups/{id}:nonsense`) was taken for the end of the id",
        carryover: "400 `INVALID_PATH` for a write",
        why: "v2 could know the verb",
        option: NONE,
        native: true,
      },
      {
        id: "V55",
        v1: "`/iam/v1/roleBindings` was 404",
        carryover: "v2's spelling of collections is taken, too (`roleBindings`, `groupInvites`, `accountAssociations`)",
        why: "a client can take over v2's names one at a time",
        option: NONE,
      },
      {
        id: "V56",
        v1: "404 without details, or whatever else the host served there",
        carryover:
          "404 `UNKNOWN_PATH` for a path with none of the API's prefixes, and for `/sts/exchange` where token exchange is not configured",
        why: "carryover forwards only what it knows",
        option: "`listen.extraPrefixes`, `upstream.sts.url`",
        native: true,
      },
      {
        id: "V57",
        v1: "`OPTIONS` was 501",
        carryover: "without native v1 it is asked of v2, and what that says of `PATCH` is said of `PUT`",
        why: "what stands before the platform may answer CORS",
        option: NONE,
      },
      {
        id: "V58",
        v1: "a body on a `GET`, and anything after the JSON value of a body, was ignored",
        carryover: "400 `INVALID_BODY`",
        why: "what the client means by it would be lost",
        option: NONE,
      },
      {
        id: "V59",
        v1: "a form-encoded `POST` with `X-HTTP-Method-Override: DELETE` was run as a `DELETE`",
        carryover: "it is a `POST`; `X-HTTP-Method` and `X-Method-Override` are dropped, too",
        why: "a program in front that judges requests by their method must judge the right one",
        option: NONE,
        native: true,
      },
      {
        id: "V60",
        v1: "any `Authorization` reached the platform",
        carryover: "401 `UNAUTHENTICATED` for two of them, or one that is not a scheme and one token",
        why: "two programs could read it as two callers",
        option: NONE,
        native: true,
      },
      {
        id: "V61",
        v1: "the same host spoke gRPC, and HTTP/2",
        carryover: "HTTP/1.1 only. gRPC is 415 `GRPC_UNSUPPORTED`, an upgrade other than `h2c` 400 `UPGRADE_REFUSED`",
        why: "carryover translates JSON; HTTP/2 and TLS end at the ingress, which routes gRPC past it ([ingress.md](ingress.md))",
        option: NONE,
        native: true,
      },
      {
        id: "V62",
        v1: "error texts spoke of v1's fields",
        carryover:
          "field names are v1's where they are names (`fieldViolations`, `Invalid argument: NAME:`). Free text stays as v2 wrote it, with v2's names",
        why: "a word in a sentence cannot be told from a name",
        option: NONE,
      },
      {
        id: "V63",
        v1: "all errors were the platform's",
        carryover:
          "some are carryover's own: with an `ErrorInfo` of domain `carryover`, and other words than v1's decoder had for the same mistake ([errors.md](errors.md) lists them)",
        why: "the client can see who refused",
        option: NONE,
        native: true,
      },
      {
        id: "V64",
        v1: "whatever the platform answered reached the client",
        carryover:
          "502 `UPSTREAM_INVALID` for a response of v2 that is not what was asked for: a redirect, a list under another name, a record without its uid, another record",
        why: "it must not look like an empty list, or like the record that was asked for",
        option: NONE,
      },
      {
        id: "V65",
        v1: "an error of something in front of the platform (a load balancer's HTML) came as it was",
        carryover: "it keeps its status and gets a JSON body: `code`, `message`, `details`",
        why: "clients of the API read JSON",
        option: NONE,
      },
    ],
  },
  {
    title: "Limits and load",
    rows: [
      {
        id: "V66",
        v1: "the platform's own limits of a body",
        carryover:
          "413 `BODY_TOO_LARGE` above 1 MiB or 20,000 JSON values, 400 `INVALID_BODY` above 100 levels of nesting",
        why: "one request must not hold up all others",
        option: "`limits.bodyBytes`",
      },
      {
        id: "V67",
        v1: "the platform's own limits of a request's head",
        carryover: "414 `URI_TOO_LONG` above 8 KiB; 431 `HEADERS_TOO_LARGE` above 16 KiB or 100 fields",
        why: "one request must not hold up all others",
        option: "`limits.uriBytes`, `limits.headerBytes`",
        native: true,
      },
      {
        id: "V68",
        v1: "the platform's own patience with slow clients",
        carryover:
          "408 `REQUEST_TIMEOUT` for a body that comes slower than 1 KiB/s after its first 10 s; a client that takes nothing of a response for half a minute is cut off",
        why: "slow clients must not hold up all others",
        option: "`limits.minBodyRate`",
        native: true,
      },
      {
        id: "V69",
        v1: "a response came when the platform had one",
        carryover:
          "504 `UPSTREAM_TIMEOUT` after 50 s, and when v2 does not answer a call within 15 s. `state: unknown` in the metadata: a write may have been done",
        why: "clients get an error before an ingress gives up after 60 s",
        option: "`limits.requestSeconds`, `upstream.v2.timeouts.*`",
        native: true,
      },
      {
        id: "V70",
        v1: "a crowd was the platform's to refuse",
        carryover: "503 `OVERLOADED` with `Retry-After`, when a request would wait too long or 2,000 are under way",
        why: "memory is bounded; a request that can be served in time waits",
        option: "`limits.inFlight`, `lists.maxConcurrent`",
        native: true,
      },
      {
        id: "V71",
        v1: "a list was one call for the platform's rate limit",
        carryover:
          "a list takes one call for each 200 records, and calls for what is joined ([coverage.md](coverage.md)): a rate limit of the platform is met sooner. A 429 that lasts is the response",
        why: "v2 pages, and shows less of each record",
        option: "`lists.readersPerUpstream`",
      },
      {
        id: "V72",
        v1: "a platform that was down could not be reached",
        carryover:
          "502 `UPSTREAM_UNREACHABLE`; while it does not respond at all, 503 `UPSTREAM_UNAVAILABLE` with `Retry-After`, at once",
        why: "clients need not wait for a timeout",
        option: "`upstream.v2.breaker`",
        native: true,
      },
    ],
  },
  {
    title: "Headers",
    rows: [
      {
        id: "V73",
        v1: "no such fields",
        carryover:
          "`carryover-mode` on each response; `carryover-list` (what is proved of a list), `carryover-mismatch` and `carryover-partial` where they apply; `x-request-id`, the client's own or a new one; `via` where native v1 serves",
        why: "a client, or its operator, can see what was done",
        option: NONE,
        native: true,
      },
      {
        id: "V74",
        v1: "no such fields",
        carryover: "`Deprecation`, `Sunset` and `Link`, where a rule says so",
        why: "clients are told of the end of v1",
        option: "`headers` of a rule ([rules.md](rules.md))",
        native: true,
      },
      {
        id: "V75",
        v1: "caching was the platform's to decide",
        carryover: "`Cache-Control: private, no-store` and `Vary: Authorization`, unless the platform is stricter",
        why: "nothing of one caller may be kept for another",
        option: NONE,
      },
      {
        id: "V76",
        v1: "validators (`ETag`, `Last-Modified`) and ranges were the platform's to serve",
        carryover: "validators are taken out; `If-None-Match`, `If-Modified-Since` and `Range` are ignored",
        why: "they speak of v2's bytes, which the client does not get",
        option: NONE,
      },
      {
        id: "V77",
        v1: "`If-Match` and `If-Unmodified-Since` of a write were the platform's to judge",
        carryover:
          "they are sent on when the write is one call. On a create or an update of a repo, an update of a tag, and one of a group that sends `verified` or `kind`: 412 `CONDITION_UNSUPPORTED`",
        why: "a condition holds for one call only",
        option: NONE,
      },
      {
        id: "V78",
        v1: "responses were not compressed, as far as is known",
        carryover: "gzip or brotli where the client asks for it, and `Vary: Accept-Encoding`",
        why: "long lists take less time",
        option: NONE,
      },
      {
        id: "V79",
        v1: "all header fields reached the platform's gateway",
        carryover:
          "not sent on: `Grpc-Metadata-…`, `Forwarded`, names with other characters than letters, digits and hyphens; `X-Forwarded-…` and `X-Real-IP` but from trusted networks",
        why: "they could pass for somebody else's",
        option: "`listen.trustedProxies`",
        native: true,
      },
    ],
  },
];
