/**
 * The traps between v1 and v2, and how carryover handles each. (Data; `trap-pages.ts` makes `docs/traps.md`
 * from it.)
 */

/**
 * `refused`: such a request gets an error that says why. `handled, refused in part`: what v2 can say is carried over, the
 * rest gets such an error.
 */
export type Verdict = "handled" | "refused" | "handled, refused in part" | "does not apply";

export interface Trap {
  readonly id: string;
  /** Easy mistakes. */
  readonly trap: string;
  readonly verdict: Verdict;
  /** What carryover does, or why there is nothing for it to do. */
  readonly answer: string;
  /** The rows of `differences.ts` that say what is refused. */
  readonly differences?: readonly string[];
}

export const traps: readonly Trap[] = [
  {
    id: "TRAP-01",
    trap: "v2 lists ignore unknown parameters, including `id`: a filter becomes the whole list",
    verdict: "handled",
    answer: "an `id` filter becomes a Get; carryover never forwards a parameter that v1 did not have",
  },
  {
    id: "TRAP-02",
    trap: "v2 splits its lists into pages, 50 records each by default",
    verdict: "handled",
    answer:
      "carryover reads pages of 200 to the end and returns `items` only; a list that cannot be completed is an error",
  },
  {
    id: "TRAP-03",
    trap: "a Get returns 404 or 403 where v1's list by id was empty",
    verdict: "handled",
    answer:
      "an empty list with 200 if the platform itself says so in a typed detail; any other 404 or 403 stays an error",
  },
  {
    id: "TRAP-04",
    trap: "capabilities are dotted words in v1 and enum names in v2",
    verdict: "handled",
    answer: "a table maps them both ways, also inside bindings and invites; an unknown word is 400, as in v1",
  },
  {
    id: "TRAP-05",
    trap: "catalog tiers with the same name have other numbers in v2",
    verdict: "handled",
    answer: "mapped by name; a number in a v1 body is v1's number",
  },
  {
    id: "TRAP-06",
    trap: "`sync_config` is spelled this way in the JSON of both versions, but its members are camelCase",
    verdict: "handled",
    answer: "the key is copied, and its members are mapped by their position",
  },
  {
    id: "TRAP-07",
    trap: "`uid` in an overlay is the number of a user",
    verdict: "handled",
    answer: "names are mapped by their position in a record, never by the key alone",
  },
  {
    id: "TRAP-08",
    trap: "`userName` and `groupName` change their spelling in some places only",
    verdict: "handled",
    answer: "mapped by their position",
  },
  {
    id: "TRAP-09",
    trap: "v2 cannot tell a user without a group id from one in group 0, and has a smaller range of ids",
    verdict: "handled, refused in part",
    answer:
      "carryover sends no group id that the client did not send, and does not show 0; ids above 2147483647 are 400",
    differences: ["DIFF-34", "DIFF-35"],
  },
  {
    id: "TRAP-10",
    trap: "v2's repos come without their readme, so a client that writes back what it read erases it",
    verdict: "handled",
    answer:
      "carryover reads the readme of each repo it shows, so the client can write it back. It writes a readme only if it differs. A readme that is left out is cleared as in v1, or stays if the platform refuses that (`carryover-mismatch`)",
  },
  {
    id: "TRAP-11",
    trap: "writing a readme requires another capability in v2",
    verdict: "handled",
    answer:
      "an unchanged readme is not written; for a changed one the platform's 403 is the response, and nothing else is written",
  },
  {
    id: "TRAP-12",
    trap: "a v1 create updated an existing repo with that name, unless `preventExisting` was set; v2 has no such option",
    verdict: "handled",
    answer: "carryover looks up the name first, then updates, responds 409, or creates",
  },
  {
    id: "TRAP-13",
    trap: "v2 has no update of a tag, and another name would create a second tag",
    verdict: "handled, refused in part",
    answer: "the tag is read and created again under its name; another name is 400",
    differences: ["DIFF-39"],
  },
  {
    id: "TRAP-14",
    trap: "v2 requires a digest with each write of a tag, v1 did not",
    verdict: "handled, refused in part",
    answer:
      "an update keeps the stored digest; without one, and on a create, the response is the platform's 400, because carryover does not invent a digest",
    differences: ["DIFF-14"],
  },
  {
    id: "TRAP-15",
    trap: "v1 says which tags to leave out, v2 which to include",
    verdict: "handled",
    answer: "all three parameters are sent with every list, inverted",
  },
  {
    id: "TRAP-16",
    trap: "v2 returns objects where v1 returned the ids of identity, group and role",
    verdict: "handled",
    answer: "create, update and batch return ids, from the flat names or from the objects",
  },
  {
    id: "TRAP-17",
    trap: "v2 takes the ids of a binding under other names, and never takes objects under the old names",
    verdict: "handled",
    answer: "written as `identityUid` and `roleUid`; the group is the one in the path",
  },
  {
    id: "TRAP-18",
    trap: "v2's bindings show less of role, group and identity than v1's: a role looks as if it granted nothing",
    verdict: "handled",
    answer:
      "carryover reads roles, groups and identities in batches and shows them whole; a role that cannot be read is an error",
  },
  {
    id: "TRAP-19",
    trap: "a batch has another path, another body and a limit of 25 in v2",
    verdict: "handled, refused in part",
    answer: "one atomic call; more than 25 are the platform's 400",
    differences: ["DIFF-25"],
  },
  {
    id: "TRAP-20",
    trap: "the role of an invite is an id in requests and an object in responses",
    verdict: "handled",
    answer: "each of the three shapes has its own mapping",
  },
  {
    id: "TRAP-21",
    trap: "v2 shows one shape of an invite everywhere, without a role that was deleted, and requires a `ttl`",
    verdict: "handled, refused in part",
    answer:
      "each response has exactly v1's members; a deleted role is shown by its id; a create without `ttl` is the platform's 400",
    differences: ["DIFF-14"],
  },
  {
    id: "TRAP-22",
    trap: "the uid of an association is its group",
    verdict: "handled",
    answer: "only the top-level `group` is v2's `uid`, and it is taken from the path",
  },
  {
    id: "TRAP-23",
    trap: "keys of service bindings look like enum names",
    verdict: "handled",
    answer: "copied",
  },
  {
    id: "TRAP-24",
    trap: "maps that the client fills may have keys that look like field names",
    verdict: "handled",
    answer: "keys of maps are copied byte for byte both ways",
  },
  {
    id: "TRAP-25",
    trap: "a zero for an unset member of a oneof is a second member of it",
    verdict: "handled",
    answer: "a member of a oneof is shown only when v2 sent it",
  },
  {
    id: "TRAP-26",
    trap: "what a PUT leaves out becomes empty in v1 and stays in v2",
    verdict: "handled",
    answer:
      "the mask names every field that a PATCH may change, with explicit zeros; `docs/v1-behaviour.md` lists the exceptions, and responses name them",
  },
  {
    id: "TRAP-27",
    trap: "a mask of `*` also clears what v1 cannot see",
    verdict: "handled",
    answer: "never sent",
  },
  {
    id: "TRAP-28",
    trap: "reads never show a provider's secret, so writing back what was read would clear it",
    verdict: "handled",
    answer: "named and sent only when it is present and not empty",
  },
  {
    id: "TRAP-29",
    trap: "v2 refuses a PATCH with an unknown key, but accepts server-set fields in the mask",
    verdict: "handled",
    answer: "bodies contain only fields that the catalogue knows as writable; dropped fields are counted",
  },
  {
    id: "TRAP-30",
    trap: "masks are spelled one way in queries and another way in bodies",
    verdict: "handled",
    answer:
      "in queries as the platform turns out to expect it (`upstream.v2.maskSpelling`), in bodies camelCase unless that is refused",
  },
  {
    id: "TRAP-31",
    trap: "an empty PATCH is refused",
    verdict: "handled",
    answer: "every PATCH has a mask; when there is nothing to write, carryover reads and returns the record instead",
  },
  {
    id: "TRAP-32",
    trap: "enum names differ by a prefix, by another word, or not at all",
    verdict: "handled",
    answer: "one table for each enum",
  },
  {
    id: "TRAP-33",
    trap: "v2 lacks some values, and its zero as a single filter means no filter",
    verdict: "refused",
    answer: "a filter by such a value is 400",
    differences: ["DIFF-47"],
  },
  {
    id: "TRAP-34",
    trap: "the public advisory feed keeps `id` in v2",
    verdict: "does not apply",
    answer:
      "the feed is not one of the ten resources: native v1, or 501 with its name; carryover renames nothing in it",
  },
  {
    id: "TRAP-35",
    trap: "each of v2's lists has its own name for its records",
    verdict: "handled",
    answer:
      "the catalogue has the name for each resource, v1 clients get `items`; a list under another name is an error, never empty",
  },
  {
    id: "TRAP-36",
    trap: "queries with lists of messages were never served over HTTP",
    verdict: "does not apply",
    answer: "no operation of the ten resources has one; operations that do are native v1, or 501 with their name",
  },
  {
    id: "TRAP-37",
    trap: "64-bit numbers are strings in JSON",
    verdict: "handled",
    answer: "shown as strings, accepted as either, and never converted to a floating-point number",
  },
  {
    id: "TRAP-38",
    trap: "events of advisories have other names in v2 and meaningful empty types, and one type is missing",
    verdict: "handled, refused in part",
    answer:
      "mapped by their position, empty types kept; an event of a moved component arrives without its type, which v2 does not send, and a filter for such events is 400",
    differences: ["DIFF-47", "DIFF-48"],
  },
  {
    id: "TRAP-39",
    trap: "v1's list of advisories was paged, and named its owner",
    verdict: "handled",
    answer:
      "stays paged: v2's tokens unchanged, its count, and the owner from the request; tokens of native v1 do not work",
  },
  {
    id: "TRAP-40",
    trap: "v2's pages of advisories hold at most 200",
    verdict: "handled",
    answer: "a larger page is limited to 200, and its token leads to the rest",
  },
  {
    id: "TRAP-41",
    trap: "times are renamed in most messages, each in its own way",
    verdict: "handled",
    answer: "mapped by their position",
  },
  {
    id: "TRAP-42",
    trap: "v2 orders by the names of its database columns",
    verdict: "handled",
    answer: "a separate table maps them",
  },
  {
    id: "TRAP-43",
    trap: "an empty name is no filter in v1, and may be one in v2",
    verdict: "handled",
    answer: "empty strings are not sent",
  },
  {
    id: "TRAP-44",
    trap: "roles of the parent `/` are the built-in ones",
    verdict: "handled",
    answer: "carryover requests the roles in the root, and shows only ids with one segment",
  },
  {
    id: "TRAP-45",
    trap: "root groups are created without a parent; the bare collection of identities belongs to another service",
    verdict: "handled, refused in part",
    answer:
      "a root group is created with and without the trailing slash; `POST identities` is native v1, or 501 with its name",
    differences: ["DIFF-51"],
  },
  {
    id: "TRAP-46",
    trap: "paths with verbs, literals and colons can be read in several ways",
    verdict: "handled, refused in part",
    answer:
      "literals and verbs are matched before uids, and verbs only at the end of the last segment; a write with an unknown verb is 400, a read v1's 501",
    differences: ["DIFF-54"],
  },
  {
    id: "TRAP-47",
    trap: "uids contain slashes, plain or encoded",
    verdict: "handled",
    answer: "the rest of a path is one uid, forwarded in one form; both spellings of a collection are accepted",
  },
  {
    id: "TRAP-48",
    trap: "v2's lookup returns a uid for any identity, even one that never existed",
    verdict: "handled, refused in part",
    answer: "a Get decides: 404 is 404 as in v1; a 403 stays a 403, where v1 showed the identity to everyone",
    differences: ["DIFF-42"],
  },
  {
    id: "TRAP-49",
    trap: "v2's list of providers leaves out the state of SCIM tokens",
    verdict: "handled",
    answer: "carryover reads each provider that has a SCIM token",
  },
  {
    id: "TRAP-50",
    trap: "each call creates a SCIM token and shows it once",
    verdict: "handled",
    answer: "sent once, never retried; not logged, not stored, not cacheable",
  },
  {
    id: "TRAP-51",
    trap: "the error detail for terms that were not accepted names its version",
    verdict: "handled",
    answer: "its type becomes v1's; other details pass through",
  },
  {
    id: "TRAP-52",
    trap: "v1's reads never returned 404, and clients poll them",
    verdict: "handled",
    answer: "lists are empty; writes and deletes keep v2's codes",
  },
  {
    id: "TRAP-53",
    trap: "an expired token silently restarts the list",
    verdict: "handled, refused in part",
    answer:
      "most lists are read by rank, without tokens. A list that follows tokens continues by rank, or once more from its first page. If it restarts again the response is 502, never a list with repeated records",
    differences: ["DIFF-05"],
  },
  {
    id: "TRAP-54",
    trap: "a PUT that leaves out `verified` or `kind` would switch them off",
    verdict: "handled",
    answer:
      "sent only if the client sent a value that differs from the stored one; carryover counts and names a field that it leaves alone",
  },
  {
    id: "TRAP-55",
    trap: "clients send back a group's limits and status, which v2 sets itself",
    verdict: "handled",
    answer: "removed from the body and counted",
  },
  {
    id: "TRAP-56",
    trap: "v2 sets fields of a sync that v1 let clients write, and has no `syncApks`",
    verdict: "handled, refused in part",
    answer: "ignored if equal to the stored value; a change is 400",
    differences: ["DIFF-32"],
  },
  {
    id: "TRAP-57",
    trap: "a synced repo refuses a PATCH that repeats fields it may not change",
    verdict: "handled",
    answer: "compared with the stored repo; the mask names only real changes",
  },
  {
    id: "TRAP-58",
    trap: "binary messages have other numbers and types in v2",
    verdict: "refused",
    answer:
      "on the port for HTTP gRPC is 415, also under v2's paths, and none of its bytes are forwarded. On its own port no bytes go from one version to the other: messages become JSON and back ([grpc.md](grpc.md))",
    differences: ["DIFF-61"],
  },
  {
    id: "TRAP-59",
    trap: "a caller's metadata is flat in v2, under another name, in a wrapper with a mask",
    verdict: "handled",
    answer:
      "flattened and restored; the mask names everything; `carryover-mismatch` names `providers`, which v2 does not store",
  },
  {
    id: "TRAP-60",
    trap: "v2 requires a default role, an association's name and a tag's digest, v1 did not",
    verdict: "handled, refused in part",
    answer:
      "an update keeps the stored value and reports it; a create without one is the platform's 400, with v1's field names",
    differences: ["DIFF-14", "DIFF-17"],
  },
  {
    id: "TRAP-61",
    trap: "what v1 did in one write takes several in v2",
    verdict: "handled, refused in part",
    answer:
      "the write that may be refused goes first. A later failure is the response, `carryover-partial` names what was written, and sending the request again does the rest. `If-Match` is 412",
    differences: ["DIFF-27", "DIFF-77"],
  },
  {
    id: "TRAP-62",
    trap: "lists of libraries lost filters and fields",
    verdict: "does not apply",
    answer: "libraries are not among the ten resources: native v1, or 501 with their name",
  },
  {
    id: "TRAP-63",
    trap: "v2 may or may not include zero values",
    verdict: "handled",
    answer:
      "both are accepted; v1 clients see every zero that v1 wrote, but none for a oneof, an optional field or a time",
  },
  {
    id: "TRAP-64",
    trap: "v2's deletes return `{}` or nothing",
    verdict: "handled",
    answer: "200 with `{}`",
  },
  {
    id: "TRAP-65",
    trap: "without an architecture v2 returns the size for amd64",
    verdict: "handled",
    answer: "`arch` is sent if the client sent it, and never added; the response names the architecture",
  },
  {
    id: "TRAP-66",
    trap: "removing a batch of external mappings is spelled differently",
    verdict: "does not apply",
    answer: "external mappings are not among the ten resources: native v1, or 501 with their name",
  },
  {
    id: "TRAP-67",
    trap: "some platforms read the bare list of identity providers as a Get with an empty id",
    verdict: "handled, refused in part",
    answer:
      "the platform's error is passed on, never an empty list; a list by `id` works, and `carryover check` names the defect",
    differences: ["DIFF-08"],
  },
];
