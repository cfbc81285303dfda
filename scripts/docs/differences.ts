/** Where does a v1 client see something else than v1 showed it? (Data; `trap-pages.ts` makes `docs/v1-behaviour.md` of it.) */

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
        id: "DIFF-01",
        v1: "a list was one response: a whole list, or an error status",
        carryover:
          "carryover streams a list above 2 MiB: status 200 first, in chunks. A later failure breaks the connection before the closing `]}`",
        why: "long lists are not held in memory, and a truncated list must not look whole",
        option: "`lists.bufferBytes`",
      },
      {
        id: "DIFF-02",
        v1: "a client with HTTP/1.0 got lists of any length",
        carryover: "422 `DRAIN_TOO_LARGE` above 2 MiB",
        why: "HTTP/1.0 cannot tell a truncated response from a whole one",
        option: "`lists.bufferBytes`",
      },
      {
        id: "DIFF-03",
        v1: "no limit on a list is documented",
        carryover:
          "422 `DRAIN_TOO_LARGE` above 120,000 records, 256 MiB or 600 pages of v2, and when one page needs 64 MiB of other records (readmes). 504 `UPSTREAM_TIMEOUT` after 45 s",
        why: "no client may use up memory and time that others need",
        option: "`lists.maxRecords`, `lists.maxBytes`, `lists.maxPages`, `lists.maxSeconds`",
      },
      {
        id: "DIFF-04",
        v1: "a list took one call to the platform",
        carryover:
          "several calls. Every record that existed throughout appears once. A record created or deleted during the read may or may not appear",
        why: "v2 returns at most 200 records per page",
        option: NONE,
      },
      {
        id: "DIFF-05",
        v1: "a list was whole, or the platform's error",
        carryover:
          "also 502 `DRAIN_INCOMPLETE`, when v2's pages contradict each other or hold fewer records than v2 counts. Also 502 `LIST_UNPROVEN`, when carryover cannot prove as much about a list as `lists.require` demands",
        why: "a short list must not look whole",
        option: "`upstream.v2.totals`, `lists.require`",
      },
      {
        id: "DIFF-06",
        v1: "an order (by id) is documented for advisories only",
        carryover: "records come in v2's order: by id; account associations by group; invites by time, newest first",
        why: "sorting needs the whole list in memory",
        option: "`lists.orderBy`",
      },
      {
        id: "DIFF-07",
        v1: "a list by `id` was empty when the record was missing or forbidden",
        carryover:
          "the same if the platform itself says so with a typed detail. Any other 404 or 403, such as a gateway's, is passed on",
        why: "a gateway's 404 does not mean that the record is missing",
        option: NONE,
      },
      {
        id: "DIFF-08",
        v1: "`GET /iam/v1/identityProviders` listed all providers",
        carryover:
          "some platforms read the same v2 path as a Get with an empty id. There the response is the platform's error. A list by `id` works",
        why: "v2 has no other way to list them, and an empty list would be wrong",
        option: NONE,
      },
    ],
  },
  {
    title: "Single records and their fields",
    rows: [
      {
        id: "DIFF-09",
        v1: "`GET /iam/v1/groups/{id}` was 501, as was the Get of every other resource",
        carryover: "200 with the record",
        why: "v2 has these Gets",
        option: NONE,
      },
      {
        id: "DIFF-10",
        v1: "v1's published messages have neither `createdAt` nor `updatedAt` on groups, roles, identity providers, account associations and repos. Invites have no `updatedAt`, and tags have only `lastUpdated`. The same holds for nested records",
        carryover: "every record shows both times, as far as v2 has them ([coverage.md](coverage.md) names the fields)",
        why: "the specification says that every v1 record has them. A client that refuses unknown fields needs `published`",
        option: "`v1.recordTimes`",
      },
      {
        id: "DIFF-11",
        v1: "a record had v1's fields and no other",
        carryover:
          "the same: a field that the catalogue does not know is left out, counted and listed (`/unknown-fields`). With `pass` the client gets it as v2 sent it",
        why: "native v1 would not have shown it, and clients that refuse unknown fields would fail",
        option: "`unknownFields.response`",
      },
      {
        id: "DIFF-12",
        v1: "an enum or a capability had one of v1's names",
        carryover: "a value without a v1 name keeps v2's name (`CAP_…`)",
        why: "carryover does not invent names",
        option: NONE,
      },
      {
        id: "DIFF-13",
        v1: "a list of identity providers showed the state of each SCIM token",
        carryover:
          "the same, except for a provider that the caller may list but not get: its `scim` lacks the token's state",
        why: "only v2's Get returns that state",
        option: NONE,
      },
    ],
  },
  {
    title: "Creates",
    rows: [
      {
        id: "DIFF-14",
        v1: "these were optional: the `capabilities` of a role, the `ttl` of an invite, the `defaultRole` of an identity provider, the `name` of an account association, the `digest` of a tag. So was the relationship of an identity (`claimMatch`, `static`, `awsIdentity` or `servicePrincipal`)",
        carryover:
          "a create without one gets the platform's 400, and so does an update of a tag that has no digest yet",
        why: "v2 requires them, and carryover does not invent values",
        option: NONE,
      },
      {
        id: "DIFF-15",
        v1: "the platform checked an enum number that v1 does not know",
        carryover: "400 `INVALID_BODY`, in updates too. An unknown name is dropped, as in v1",
        why: "in v2 the number may mean another value",
        option: NONE,
      },
    ],
  },
  {
    title: "Updates",
    rows: [
      {
        id: "DIFF-16",
        v1: "a `PUT` of a group that left out `verified` or `kind` emptied it, if the caller was allowed to change it (staff)",
        carryover: "the stored value stays; `carryover-mismatch` names the field if it has a value",
        why: "a client that does not know these fields must not switch them off",
        option: NONE,
      },
      {
        id: "DIFF-17",
        v1: "a `PUT` that left out the `defaultRole` of an identity provider, or the `name` of an account association, emptied it",
        carryover: "the stored value stays; `carryover-mismatch` names the field if it has a value",
        why: "v2 does not allow empty values",
        option: NONE,
      },
      {
        id: "DIFF-18",
        v1: "a `PUT` of an identity provider without `oidc` emptied it or was refused. What happened to `oidc.clientSecret` is not documented",
        carryover: "`oidc` stays (`carryover-mismatch`). A secret that is left out or empty stays, too",
        why: "reads never show the secret, so a client that writes back what it read would erase it",
        option: NONE,
      },
      {
        id: "DIFF-19",
        v1: "a `PUT` of an identity without a relationship removed it",
        carryover: "the relationship stays; `carryover-mismatch` names it",
        why: "in v2 an identity has exactly one",
        option: NONE,
      },
      {
        id: "DIFF-20",
        v1: "a `PUT` of a repo or a tag without `name` was refused (400)",
        carryover: "it keeps its name (`carryover-mismatch` names it for a repo)",
        why: "v2 finds a tag by its name, and only staff may rename a repo. So carryover sends a name only when it changes",
        option: NONE,
      },
      {
        id: "DIFF-21",
        v1: "a `PUT` was stored as sent, or refused",
        carryover:
          "carryover compares v2's response with the request. 502 `UPDATE_INCOMPLETE` when a field should have become empty and did not; `carryover-mismatch` names other differences. The rest of the update has taken effect",
        why: "a client must learn which fields the platform did not store",
        option: "`updates.mismatch`",
      },
      {
        id: "DIFF-22",
        v1: "an update was one write",
        carryover:
          "a `PUT` of a repo, of a tag, of a group that sends `verified` or `kind`, and of an identity or account association that sends a message reads the record first. A concurrent write makes that read stale: carryover then sends or omits a field based on its old value",
        why: "v2 refuses some fields even when their value does not change, and has members that v1 never showed",
        option: NONE,
      },
      {
        id: "DIFF-95",
        v1: "an enum name that v1 does not know was dropped, and an unknown capability refused",
        carryover:
          "names in v2's spelling (`CATALOG_TIER_…`, `CAP_…`) are sent on. 502 `UPDATE_INCOMPLETE` when v2's response to an update lacks one. A create then succeeds, as in v1, but for a capability: the error names the record that exists",
        why: "reads show names that v2 has and v1 never had, and clients send back what they read",
        option: "`updates.mismatch`",
      },
    ],
  },
  { title: "Deletes", rows: [] },
  {
    title: "Role bindings",
    rows: [
      {
        id: "DIFF-23",
        v1: "a list showed the whole group of each binding, and the `emailUnverified` of its identity, to everyone who could read the binding",
        carryover:
          "a group that is missing or forbidden is shown by its id, name and description. An `emailUnverified` that cannot be read is empty",
        why: "v2's binding has no more; carryover reads the rest with the caller's own credential",
        option: NONE,
      },
      {
        id: "DIFF-24",
        v1: "a list showed the whole role of each binding, to everyone who could read the binding",
        carryover: "502 `DRAIN_INCOMPLETE` for the list when a role is missing or forbidden",
        why: "a role without capabilities would look as if it granted nothing",
        option: NONE,
      },
      {
        id: "DIFF-25",
        v1: "a batch had no documented limit",
        carryover: "the platform's 400 for more than 25, and nothing is created",
        why: "v2 accepts 25 at once; several calls would not be atomic",
        option: NONE,
      },
    ],
  },
  {
    title: "Repos",
    rows: [
      {
        id: "DIFF-26",
        v1: "one write created a repo, or updated the repo with that name",
        carryover:
          "carryover looks up the name first. If another client creates the repo before carryover does, v2's own rule for existing names applies",
        why: "v2 has no such switch",
        option: NONE,
      },
      {
        id: "DIFF-27",
        v1: "a repo and its readme were one atomic write",
        carryover:
          "several calls. When a later one fails, the response is its error, and `carryover-partial` names what was already written: `repo` for a create, `readme` for an update. Sending the request again writes the rest",
        why: "v2 stores the readme separately",
        option: NONE,
      },
      {
        id: "DIFF-28",
        v1: "anyone who could update a repo could write its readme",
        carryover: "changing a readme requires another capability. Without it: 403, and an update changes nothing",
        why: "v2 protects readmes",
        option: NONE,
      },
      {
        id: "DIFF-29",
        v1: "a repo showed its readme",
        carryover: "a readme that the caller may not read is shown as empty; sending that back changes nothing",
        why: "v2 protects readmes",
        option: NONE,
      },
      {
        id: "DIFF-30",
        v1: "a `PUT` of a synced repo emptied what it left out",
        carryover:
          "`catalogTier`, `bundles`, `aliases`, `activeTags`, `customOverlay` and the readme stay; `carryover-mismatch` names them. `sync_config` is removed when it is left out",
        why: "v2 refuses to change them while a repo is synced",
        option: NONE,
      },
      {
        id: "DIFF-31",
        v1: "a `PUT` of a repo that is not synced emptied what it left out",
        carryover:
          "a field that v2 refuses to clear because a capability is missing stays, and the rest is written. `carryover-mismatch` names what stayed",
        why: "an update that worked on v1 must not become a 403",
        option: NONE,
      },
      {
        id: "DIFF-32",
        v1: "`uniqueTags`, `expiration`, `apkoOverlay`, `gracePeriod` and `syncApks` of a sync could be sent with any value",
        carryover: "400 `INVALID_BODY`. An update may send the stored value back, and a create may send an empty one",
        why: "v2 sets them itself, and has no `syncApks`",
        option: NONE,
      },
      {
        id: "DIFF-33",
        v1: "`sync_config.syncApks` showed what was stored",
        carryover: "always `false`",
        why: "v2 has no such field",
        option: NONE,
      },
      {
        id: "DIFF-34",
        v1: "a group id (`gid`) of 0 was shown for a user of an overlay",
        carryover: "it is left out",
        why: "v2 cannot tell it from an unset one",
        option: NONE,
      },
      {
        id: "DIFF-35",
        v1: "ids of users and groups of an overlay went up to 4294967295",
        carryover: "400 `INVALID_BODY` above 2147483647",
        why: "v2's numbers are smaller",
        option: NONE,
      },
      {
        id: "DIFF-36",
        v1: "without `arch`, the architecture of an image's size is not documented",
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
        id: "DIFF-37",
        v1: "what a create did when the tag name was taken is not documented",
        carryover: "it updates that tag",
        why: "v2 does the same",
        option: NONE,
      },
      {
        id: "DIFF-38",
        v1: "a `PUT` of a tag required the capability to update tags",
        carryover: "it requires the capability to create tags, and produces a create event",
        why: "v2 updates a tag by creating it again under the same name",
        option: NONE,
      },
      {
        id: "DIFF-39",
        v1: "a `PUT` of a tag could rename it",
        carryover: "400 `INVALID_BODY`",
        why: "in v2 another name creates a second tag",
        option: NONE,
      },
      {
        id: "DIFF-40",
        v1: "a `PUT` of a tag without `digest` kept the digest. For a tag that was just deleted, it was 404",
        carryover:
          "it keeps the digest that carryover read before the write, and so can undo a concurrent change. Send the digest where several clients write one tag. A tag that is deleted in between is created again, and the response is 502 `UPSTREAM_INVALID`",
        why: "reading and creating are two calls",
        option: NONE,
      },
      {
        id: "DIFF-41",
        v1: "the meaning of `latestTag` and `latestVersion` in the tag summary is not documented",
        carryover:
          "a guess: the tag that was updated last, and the highest name made of numbers and dots (`1.2.10`, with or without a `v`), or empty. With native v1 the summary stays native unless a rule names `summarise`",
        why: "v2 has no summary: carryover computes it from the list of the repo's tags",
        option: "a rule ([rules.md](rules.md)); `fallback`",
      },
    ],
  },
  {
    title: "Identities and their metadata",
    rows: [
      {
        id: "DIFF-42",
        v1: "`GET identities/lookup` showed the identity to everyone",
        carryover: "403 for a caller who may not read it",
        why: "v2's lookup returns only a uid, and carryover does not invent the rest",
        option: NONE,
      },
      {
        id: "DIFF-43",
        v1: "`PATCH identities/metadata` stored `onboardingQuestions.providers`",
        carryover:
          "they are lost, and shown empty; `carryover-mismatch` names them. With `updates.mismatch: fail`: 400, and nothing is written",
        why: "v2 has no such field",
        option: "`updates.mismatch`",
      },
      {
        id: "DIFF-44",
        v1: "`onboardingQuestions` could be `null` in the response",
        carryover: "it is always present, even when everything in it is empty",
        why: "v2 stores the answers without the enclosing message",
        option: NONE,
      },
      {
        id: "DIFF-45",
        v1: "static keys (`static.expiration`) lived at most 30 days",
        carryover: "the platform accepts up to 365 days",
        why: "v2 checks these values, and carryover does not check them again",
        option: NONE,
      },
    ],
  },
  {
    title: "Invites",
    rows: [
      {
        id: "DIFF-46",
        v1: '`group` in a list of invites selected those "rooted under" it. Whether that includes subgroups is not documented',
        carryover: "invites directly below the group",
        why: "v1 uses other words where it means a whole subtree",
        option: NONE,
      },
    ],
  },
  {
    title: "Advisories",
    rows: [
      {
        id: "DIFF-47",
        v1: "`event_types` and `latest_event_type` of a list took `EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED`",
        carryover: "400 `INVALID_FILTER`",
        why: "v2 has no such value, and an unfiltered list would be wrong",
        option: NONE,
      },
      {
        id: "DIFF-48",
        v1: "an event about a moved component had its kind, `componentLocationChanged`",
        carryover: "the event has no kind",
        why: "v2 does not send it",
        option: NONE,
      },
      {
        id: "DIFF-49",
        v1: "`page_size` of advisories had no documented maximum",
        carryover: "a page holds at most 200 records; its token leads to the rest",
        why: "v2's maximum",
        option: NONE,
      },
      {
        id: "DIFF-50",
        v1: "page tokens of advisories were v1's",
        carryover:
          "tokens are v2's. If a rule moves a client to the other version between two pages, that version does not know the token: start the list again",
        why: "carryover keeps no state between two pages",
        option: NONE,
      },
    ],
  },
  {
    title: "Paths, methods and errors",
    rows: [
      {
        id: "DIFF-51",
        v1: "v1 served all of its operations",
        carryover:
          "[operations that v2 lacks](coverage.md#served-by-native-v1) go to native v1. Without native v1 they are 501 `NOT_TRANSLATABLE`",
        why: "there is no v2 operation to translate to",
        option: "`upstream.v1.url`, `fallback`",
      },
      {
        id: "DIFF-52",
        v1: "`//` and dot segments in a path were 404; `%25` and other characters were part of an id",
        carryover:
          "400 `INVALID_PATH` for `//`, dot segments, `%25`, `;` and control bytes, and for ids with characters other than letters, digits, `-`, `_`, `.`. In modes native and shadow only dot segments are refused",
        why: "programs read such paths in different ways, so none may be rebuilt as a path of v2",
        option: NONE,
        native: true,
      },
      {
        id: "DIFF-53",
        v1: "a slash at the end of a path was part of the id",
        carryover: "400 `INVALID_PATH` for a slash after an id",
        why: "no record has such an id",
        option: NONE,
        native: true,
      },
      {
        id: "DIFF-54",
        v1: "an unknown verb (`POST groups/{id}:nonsense`) was taken as part of the id",
        carryover: "native v1 gets it; without native v1 a write is 400 `INVALID_PATH`",
        why: "v1 may have learned the verb, and v2 might know it with another meaning",
        option: "`upstream.v1.url`, `fallback`",
      },
      {
        id: "DIFF-55",
        v1: "`/iam/v1/roleBindings` was 404",
        carryover: "v2's spelling of collections also works (`roleBindings`, `groupInvites`, `accountAssociations`)",
        why: "a client can adopt v2's names one at a time",
        option: NONE,
      },
      {
        id: "DIFF-56",
        v1: "404 without details, or whatever else the host served there",
        carryover:
          "404 `UNKNOWN_PATH` for a path with none of the API's prefixes (with native v1, `/DOMAIN/v1/…` of a new domain goes there), and for `/sts/exchange` without token exchange configured",
        why: "carryover forwards only what it knows",
        option: "`listen.extraPrefixes`, `upstream.sts.url`",
        native: true,
      },
      {
        id: "DIFF-57",
        v1: "`OPTIONS` was 501",
        carryover: "without native v1, carryover forwards it to v2 and adds `PUT` wherever the response allows `PATCH`",
        why: "a gateway in front of the platform may answer CORS requests",
        option: NONE,
      },
      {
        id: "DIFF-58",
        v1: "a body on a `GET`, and anything after the JSON value of a body, was ignored",
        carryover: "400 `INVALID_BODY`; `{}`, `null` and white space on a `GET` are no body",
        why: "silently ignoring it would lose what the client meant",
        option: NONE,
      },
      {
        id: "DIFF-59",
        v1: "a form-encoded `POST` with `X-HTTP-Method-Override: DELETE` ran as a `DELETE`",
        carryover:
          "it is a `POST`, and only the value `GET` is obeyed; `X-HTTP-Method` and `X-Method-Override` are dropped, too",
        why: "a proxy in front that filters by method must see the real method",
        option: NONE,
        native: true,
      },
      {
        id: "DIFF-80",
        v1: "a form-encoded `POST` that ran as a `GET` could be as long as any body",
        carryover: "414 `URI_TOO_LONG` when path and form together are longer than a request target may be",
        why: "the form becomes the query before rules decide who serves it",
        option: "`limits.uriBytes`",
        native: true,
      },
      {
        id: "DIFF-60",
        v1: "any `Authorization` reached the platform",
        carryover: "401 `UNAUTHENTICATED` for two of them. Any single one is passed on, with or without a scheme",
        why: "two programs could read two of them as two callers",
        option: NONE,
        native: true,
      },
      {
        id: "DIFF-61",
        v1: "the same host also spoke gRPC and HTTP/2",
        carryover:
          "gRPC has a port of its own (`listen.grpc.port`). The other port speaks HTTP/1.1 only: there gRPC is 415 `GRPC_UNSUPPORTED` (over HTTP/2 `UNIMPLEMENTED`), any other call over HTTP/2 is 400 `INVALID_REQUEST`, and an upgrade other than `h2c` is 400 `UPGRADE_REFUSED`",
        why: "HTTP/2 and TLS end at the ingress, which sends gRPC to its port ([grpc.md](grpc.md)), or past carryover ([ingress.md](ingress.md))",
        option: NONE,
        native: true,
      },
      {
        id: "DIFF-62",
        v1: "error messages used v1's field names",
        carryover:
          "field names are v1's where they can be recognised (`fieldViolations`, `Invalid argument: NAME:`). Free text keeps v2's names",
        why: "a word in a sentence cannot be told from a field name",
        option: NONE,
      },
      {
        id: "DIFF-63",
        v1: "all errors were the platform's",
        carryover:
          "some are carryover's own, with an `ErrorInfo` of domain `carryover`. Their messages differ from v1's for the same mistake ([errors.md](errors.md) lists them)",
        why: "the client can see which side refused the request",
        option: NONE,
        native: true,
      },
      {
        id: "DIFF-64",
        v1: "any response of the platform reached the client",
        carryover:
          "502 `UPSTREAM_INVALID` for a v2 response that does not fit the request: a redirect, a list under another name, a record without its uid, another record",
        why: "it must not look like an empty list or the requested record",
        option: NONE,
      },
      {
        id: "DIFF-65",
        v1: "an error from a proxy in front of the platform (a load balancer's HTML) was passed on unchanged",
        carryover: "it keeps its status and gets a JSON body: `code`, `message`, `details`",
        why: "clients of the API read JSON",
        option: NONE,
      },
    ],
  },
  {
    title: "gRPC on the wire",
    rows: [
      {
        id: "DIFF-130",
        v1: "requests that HTTP/2 calls malformed were served, or refused with a status: a `te` other than `trailers`, `keep-alive`, `upgrade`, a `content-length` that does not fit, no `:scheme`, a path without a slash in front",
        carryover: "the stream is reset with `PROTOCOL_ERROR` (RFC 9113, section 8.1.1)",
        why: "two programs could read such a request in two ways",
        option: NONE,
        native: true,
      },
      {
        id: "DIFF-131",
        v1: "fields that HTTP/2 forbids (a space or a control byte in a name, a line feed in a value) reset the stream; trailers of a client closed its connection",
        carryover: "such a field is left out, and the call is served; trailers of a client are ignored",
        why: "Node.js leaves the field out, and nothing else of the call is in doubt",
        option: NONE,
        native: true,
      },
      {
        id: "DIFF-132",
        v1: "refused: a media type in capitals, a `grpc-encoding` that is unknown and not used, `-bin` metadata in another base64 or as a list in one field, a varint with too many bytes",
        carryover: "served. Only a field's tag of more than five bytes, which v1 read, is `INTERNAL`",
        why: "the call can be understood, and only clients that no library makes send it",
        option: NONE,
      },
      {
        id: "DIFF-133",
        v1: "the last of two `content-type` fields counted, and `:authority` could hold a user",
        carryover: "415 for two of them; `INVALID_ARGUMENT` for such an `:authority`, as for `Host` over HTTP",
        why: "two programs could read such a request in two ways",
        option: NONE,
        native: true,
      },
      {
        id: "DIFF-134",
        v1: "a `grpc-timeout` that cannot be read was `INTERNAL` with the HTTP status 400",
        carryover: "`INTERNAL` with the HTTP status 200, as for every other status",
        why: "clients of gRPC look at the status of gRPC",
        option: NONE,
        native: true,
      },
      {
        id: "DIFF-135",
        v1: "`via` did not matter",
        carryover: "`FAILED_PRECONDITION` with `LOOP_DETECTED`, over HTTP 508, where `via` names carryover",
        why: "a request must not go round in a circle",
        option: NONE,
        native: true,
      },
      {
        id: "DIFF-136",
        v1: "metadata kept spaces at the ends of its values",
        carryover: "with Node.js 20 such a field is left out",
        why: "Node.js 20 has no option for it; later versions keep them",
        option: NONE,
        native: true,
      },
    ],
  },
  {
    title: "Limits and load",
    rows: [
      {
        id: "DIFF-66",
        v1: "the platform's own limits on a body",
        carryover:
          "413 `BODY_TOO_LARGE` above 1 MiB or 20,000 JSON values, 400 `INVALID_BODY` above 100 levels of nesting",
        why: "one request must not hold up all others",
        option: "`limits.bodyBytes`",
      },
      {
        id: "DIFF-82",
        v1: "gRPC took messages of up to 4 MiB, whatever they hold",
        carryover:
          "a request that is translated: `RESOURCE_EXHAUSTED` above 1 MiB, `INVALID_ARGUMENT` above 20,000 fields (elements and entries included), 100 levels, or fields that become a request target above 16 KiB, together with the metadata, which counts twice",
        why: "one request must not hold up all others",
        option: "`limits.bodyBytes`",
      },
      {
        id: "DIFF-115",
        v1: "gRPC sent details of errors of any length",
        carryover:
          "whole entries are left out above 16 KiB of metadata, or where the client takes less, and the message says how many",
        why: "clients and proxies fail the call otherwise, and its code is lost",
        option: NONE,
      },
      {
        id: "DIFF-116",
        v1: "gRPC was `UNAVAILABLE` when a connection broke after a write was sent",
        carryover: "`UNKNOWN`, with `state: unknown` in the details",
        why: "clients repeat what is `UNAVAILABLE`, and the write may be done",
        option: NONE,
      },
      {
        id: "DIFF-67",
        v1: "the platform's own limits on a request's head",
        carryover:
          "414 `URI_TOO_LONG` above 8 KiB; 431 `HEADERS_TOO_LARGE` above 16 KiB or 100 fields. Over gRPC more than 100 fields are `INVALID_ARGUMENT`; above 16 KiB or 128 fields the stream is reset with `ENHANCE_YOUR_CALM`",
        why: "one request must not hold up all others",
        option: "`limits.uriBytes`, `limits.headerBytes`",
        native: true,
      },
      {
        id: "DIFF-68",
        v1: "the platform's own timeouts for slow clients",
        carryover:
          "408 `REQUEST_TIMEOUT` for a body that arrives slower than 1 KiB/s after its first 10 s; over gRPC, `DEADLINE_EXCEEDED` for such a message. A client that reads nothing of a response for 30 s is disconnected",
        why: "slow clients must not hold up all others",
        option: "`limits.minBodyRate`",
        native: true,
      },
      {
        id: "DIFF-69",
        v1: "a response came whenever the platform had one",
        carryover:
          "504 `UPSTREAM_TIMEOUT` after 50 s, and when v2 does not respond to a call within 15 s. `state: unknown` in the metadata means that a write may have taken effect",
        why: "clients get an error before an ingress gives up after 60 s",
        option: "`limits.requestSeconds`, `upstream.v2.timeouts.*`",
        native: true,
      },
      {
        id: "DIFF-70",
        v1: "the platform decided when to refuse excess requests",
        carryover: "503 `OVERLOADED` with `Retry-After`, when a request would wait too long or 2,000 are in flight",
        why: "memory is bounded; a request that can be served in time waits",
        option: "`limits.inFlight`, `lists.maxConcurrent`",
        native: true,
      },
      {
        id: "DIFF-71",
        v1: "a list was one call for the platform's rate limit",
        carryover:
          "a list takes one call per 200 records, and calls for joined records ([coverage.md](coverage.md)), so it reaches a rate limit sooner. A 429 that persists is passed on",
        why: "v2 has pages, and shows less of each record",
        option: "`lists.readersPerUpstream`",
      },
      {
        id: "DIFF-72",
        v1: "a platform that was down could not be reached",
        carryover:
          "502 `UPSTREAM_UNREACHABLE`. While the circuit breaker is open: 503 `UPSTREAM_UNAVAILABLE` with `Retry-After`, at once",
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
        id: "DIFF-73",
        v1: "no such fields",
        carryover:
          "`carryover-mode` on each response; `carryover-list` (what carryover proved about a list), `carryover-mismatch` and `carryover-partial` where they apply; `x-request-id`, the client's own or a new one; `via` where native v1 serves",
        why: "clients and operators can see what happened",
        option: NONE,
        native: true,
      },
      {
        id: "DIFF-74",
        v1: "no such fields",
        carryover: "`Deprecation`, `Sunset` and `Link`, if a rule sets them",
        why: "clients learn about the end of v1",
        option: "`headers` of a rule ([rules.md](rules.md))",
        native: true,
      },
      {
        id: "DIFF-75",
        v1: "the platform decided about caching",
        carryover: "`Cache-Control: private, no-store` and `Vary: Authorization`, unless the platform is stricter",
        why: "no response for one caller may be cached for another",
        option: NONE,
      },
      {
        id: "DIFF-76",
        v1: "the platform served validators (`ETag`, `Last-Modified`) and ranges",
        carryover: "validators are removed; `If-None-Match`, `If-Modified-Since` and `Range` are ignored",
        why: "they refer to v2's bytes, which the client does not get",
        option: NONE,
      },
      {
        id: "DIFF-77",
        v1: "the platform checked `If-Match` and `If-Unmodified-Since` of a write",
        carryover:
          "they are forwarded when the write is one call. 412 `CONDITION_UNSUPPORTED` on a create or update of a repo, an update of a tag, and an update of a group that sends `verified` or `kind`",
        why: "a condition holds for one call only",
        option: NONE,
      },
      {
        id: "DIFF-78",
        v1: "responses were not compressed, as far as is known",
        carryover: "gzip or brotli if the client asks for it, with `Vary: Accept-Encoding`",
        why: "long lists take less time",
        option: NONE,
      },
      {
        id: "DIFF-79",
        v1: "all header fields reached the platform's gateway",
        carryover:
          "not forwarded: `Forwarded`, `Grpc-…`, and names that some programs take for such a field, such as `X_Forwarded_For`. `X-Forwarded-…` and `X-Real-IP` are forwarded from trusted networks only. `Grpc-Metadata-…` is forwarded, except names that say who calls or frame a message (`Cookie`, `Host`, `X-Forwarded-For`, …); with `Grpc-Metadata-Authorization` the request is 401",
        why: "a client could forge them, and a gateway merges such metadata with the field of that name",
        option: "`listen.trustedProxies`",
        native: true,
      },
    ],
  },
];
