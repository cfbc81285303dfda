/**
 * The traps between v1 and v2, and how carryover handles each. (Data; `scripts/docs/traps.ts` makes `docs/traps.md`
 * from it.)
 */

/**
 * `refused`: such a request gets an error that says why. `handled, refused in part`: what v2 can say is carried over, the
 * rest gets such an error.
 */
export type Verdict = "handled" | "refused" | "handled, refused in part" | "does not apply";

export interface Trap {
  readonly id: string;
  /** What is easily got wrong. */
  readonly trap: string;
  readonly verdict: Verdict;
  /** What carryover does, or why there is nothing for it to do. */
  readonly answer: string;
  /** The rows of `differences.ts` that say what is refused. */
  readonly differences?: readonly string[];
}

export const traps: readonly Trap[] = [
  {
    id: "T01",
    trap: "v2 lists ignore parameters that they do not know, `id` among them: a filter becomes everything",
    verdict: "handled",
    answer: "an `id` filter is a Get; a parameter that v1 did not have is never sent on",
  },
  {
    id: "T02",
    trap: "v2 cuts its lists into pages, of 50 unless told otherwise",
    verdict: "handled",
    answer:
      "pages of 200 are read to the end, and answered as `items` alone; a list that cannot be completed is an error",
  },
  {
    id: "T03",
    trap: "a Get says 404 or 403 where v1's list by id was empty",
    verdict: "handled",
    answer:
      "an empty list with 200 when the platform itself says so in a typed detail; any other 404 or 403 stays an error",
  },
  {
    id: "T04",
    trap: "capabilities are dotted words in v1 and names of an enumeration in v2",
    verdict: "handled",
    answer: "mapped by table both ways, also inside bindings and invites; a word that is in no table is 400, as in v1",
  },
  {
    id: "T05",
    trap: "catalog tiers of one name have other numbers in v2",
    verdict: "handled",
    answer: "mapped by name; a number in a v1 body is v1's number",
  },
  {
    id: "T06",
    trap: "`sync_config` is spelled like this in the JSON of both versions, its members are camelCase",
    verdict: "handled",
    answer: "the key is copied, its members are mapped by their place",
  },
  {
    id: "T07",
    trap: "`uid` in an overlay is the number of a user",
    verdict: "handled",
    answer: "names are mapped by their place in a record, never by the key alone",
  },
  {
    id: "T08",
    trap: "`userName` and `groupName` change their spelling in some places only",
    verdict: "handled",
    answer: "mapped by their place",
  },
  {
    id: "T09",
    trap: "v2 cannot tell a user without a group id from one in group 0, and holds smaller ids",
    verdict: "handled, refused in part",
    answer: "none is sent that the client did not send, and 0 is not shown; ids above 2147483647 are 400",
    differences: ["V34", "V35"],
  },
  {
    id: "T10",
    trap: "v2's repos come without their readme, so a client that writes back what it read erases it",
    verdict: "handled",
    answer:
      "the readme of each repo that is shown is read, so that what is written back has it; it is written only when it differs. One that is left out is cleared as in v1, or stays where the platform refuses that (`carryover-mismatch`)",
  },
  {
    id: "T11",
    trap: "writing a readme takes a further capability in v2",
    verdict: "handled",
    answer:
      "a readme that is merely sent back is not written; the platform's 403 to another one is the answer, and nothing else is done",
  },
  {
    id: "T12",
    trap: "v1 updated a repo of that name on create, unless `preventExisting` was set; v2 has no such word",
    verdict: "handled",
    answer: "the name is looked up first: then an update, 409, or a create",
  },
  {
    id: "T13",
    trap: "v2 has no update of a tag, and another name would make a second tag",
    verdict: "handled, refused in part",
    answer: "the tag is read and created again under its name; another name is 400",
    differences: ["V39"],
  },
  {
    id: "T14",
    trap: "v2 wants a digest with each write of a tag, v1 did not",
    verdict: "handled, refused in part",
    answer:
      "an update keeps the stored one; where there is none, and on a create, a write without one is the platform's 400: none is made up",
    differences: ["V14"],
  },
  {
    id: "T15",
    trap: "v1 says which tags to leave out, v2 which to put in",
    verdict: "handled",
    answer: "all three parameters are sent with every list, turned round",
  },
  {
    id: "T16",
    trap: "v2 answers objects where v1 answered the ids of identity, group and role",
    verdict: "handled",
    answer: "create, update and batch answer ids, from the flat names or from the objects",
  },
  {
    id: "T17",
    trap: "v2 takes the ids of a binding under other names, and objects under the old ones never",
    verdict: "handled",
    answer: "written as `identityUid` and `roleUid`; the group is the one in the path",
  },
  {
    id: "T18",
    trap: "v2's bindings show less of role, group and identity than v1's: a role looks as if it granted nothing",
    verdict: "handled",
    answer: "roles, groups and identities are read in batches and shown whole; a role that cannot be read is an error",
  },
  {
    id: "T19",
    trap: "a batch has another path, another body and a limit of 25 in v2",
    verdict: "handled, refused in part",
    answer: "one call, all or none; more than 25 are the platform's 400",
    differences: ["V25"],
  },
  {
    id: "T20",
    trap: "the role of an invite is an id in requests and an object in answers",
    verdict: "handled",
    answer: "each of the three shapes is its own",
  },
  {
    id: "T21",
    trap: "v2 shows one shape of an invite everywhere, without a role that is gone, and wants a `ttl`",
    verdict: "handled, refused in part",
    answer:
      "each answer holds v1's members and no other; a role that is gone is its id; a create without `ttl` is the platform's 400",
    differences: ["V14"],
  },
  {
    id: "T22",
    trap: "the uid of an association is its group",
    verdict: "handled",
    answer: "`group` at the top is v2's `uid`, nowhere else, and is taken from the path",
  },
  {
    id: "T23",
    trap: "keys of service bindings look like names of an enumeration",
    verdict: "handled",
    answer: "copied",
  },
  {
    id: "T24",
    trap: "maps of the client's own may have keys that are names of fields",
    verdict: "handled",
    answer: "keys of maps are copied byte for byte both ways",
  },
  {
    id: "T25",
    trap: "a zero for an unset member of a oneof is a second member of it",
    verdict: "handled",
    answer: "a member of a oneof is shown only when v2 sent it",
  },
  {
    id: "T26",
    trap: "what a PUT leaves out becomes empty in v1 and stays in v2",
    verdict: "handled",
    answer:
      "the mask names every field that a PATCH may change, with explicit zeros; the exceptions are in `docs/v1-behaviour.md` and are named in answers",
  },
  {
    id: "T27",
    trap: "a mask of `*` also wipes what v1 cannot see",
    verdict: "handled",
    answer: "never sent",
  },
  {
    id: "T28",
    trap: "reads never show a provider's secret, so writing back what was read would clear it",
    verdict: "handled",
    answer: "named and sent only when it is there and not empty",
  },
  {
    id: "T29",
    trap: "v2 refuses a PATCH with a key that it does not know, and takes those that it sets itself into the mask",
    verdict: "handled",
    answer: "bodies hold what the catalogue knows as writable and nothing else; what is dropped is counted",
  },
  {
    id: "T30",
    trap: "masks are spelled in one way in queries and in another in bodies",
    verdict: "handled",
    answer:
      "in queries as the platform turns out to want it (`upstream.v2.maskSpelling`), in bodies camelCase unless that is refused",
  },
  {
    id: "T31",
    trap: "an empty PATCH is refused",
    verdict: "handled",
    answer: "every PATCH has a mask; where nothing is to be written the record is read and shown instead",
  },
  {
    id: "T32",
    trap: "names of enumerations change by a prefix here, by another word there, or not at all",
    verdict: "handled",
    answer: "one table for each enumeration",
  },
  {
    id: "T33",
    trap: "v2 lacks some values, and its zero in a filter means no filter",
    verdict: "refused",
    answer: "a filter by such a value is 400",
    differences: ["V47"],
  },
  {
    id: "T34",
    trap: "the public advisory feed keeps `id` in v2",
    verdict: "does not apply",
    answer: "the feed is none of the ten resources: native v1, or 501 by its name; nothing of it is renamed",
  },
  {
    id: "T35",
    trap: "each of v2's lists has a name of its own for its records",
    verdict: "handled",
    answer:
      "the catalogue names it for each resource, v1 clients get `items`; a list under another name is an error, never empty",
  },
  {
    id: "T36",
    trap: "queries that hold lists of messages were never served over HTTP",
    verdict: "does not apply",
    answer: "no operation of the ten resources has one; those that have are native v1, or 501 by their name",
  },
  {
    id: "T37",
    trap: "64-bit numbers are texts in JSON",
    verdict: "handled",
    answer: "shown as texts, read as either, and never turned into a floating-point number",
  },
  {
    id: "T38",
    trap: "events of advisories have other names in v2, empty types that mean something, and lack one type",
    verdict: "handled, refused in part",
    answer:
      "mapped by their place, empty types kept; an event of a moved component arrives without its type, which v2 does not send, and a filter for them is 400",
    differences: ["V47", "V48"],
  },
  {
    id: "T39",
    trap: "v1's list of advisories was paged, and said whose it is",
    verdict: "handled",
    answer:
      "stays paged: v2's tokens unchanged, its count, and the owner as it was asked for; tokens of native v1 are not good here",
  },
  {
    id: "T40",
    trap: "v2's pages of advisories hold at most 200",
    verdict: "handled",
    answer: "a larger page is one of 200, and its token leads to the rest",
  },
  {
    id: "T41",
    trap: "times are renamed in most messages, each in its own way",
    verdict: "handled",
    answer: "mapped by their place",
  },
  {
    id: "T42",
    trap: "orders are asked of v2 by the names of its store",
    verdict: "handled",
    answer: "a table of their own",
  },
  {
    id: "T43",
    trap: "an empty name is no filter in v1, and may be one in v2",
    verdict: "handled",
    answer: "empty texts are not sent",
  },
  {
    id: "T44",
    trap: "roles of the parent `/` are the built-in ones",
    verdict: "handled",
    answer: "asked for as those in the root, and only ids of one segment are shown",
  },
  {
    id: "T45",
    trap: "root groups are created without a parent; the bare collection of identities is another service's",
    verdict: "handled, refused in part",
    answer: "a root group with and without the trailing slash; `POST identities` is native v1, or 501 by its name",
    differences: ["V51"],
  },
  {
    id: "T46",
    trap: "paths with verbs, literals and colons can be read in several ways",
    verdict: "handled, refused in part",
    answer:
      "literals and verbs are matched before uids, verbs only at the end of the last segment; a write with an unknown verb is 400, a read v1's 501",
    differences: ["V54"],
  },
  {
    id: "T47",
    trap: "uids have slashes in them, plain or encoded",
    verdict: "handled",
    answer: "the rest of a path is one uid, sent on in one form; both spellings of a collection are taken",
  },
  {
    id: "T48",
    trap: "v2's look-up gives a uid for everybody, also for somebody who never was there",
    verdict: "handled, refused in part",
    answer: "a Get says the rest: 404 is 404 as in v1, and a 403 stays one, where v1 showed the identity to everybody",
    differences: ["V42"],
  },
  {
    id: "T49",
    trap: "v2's list of providers leaves out the state of SCIM tokens",
    verdict: "handled",
    answer: "each provider that has one is read",
  },
  {
    id: "T50",
    trap: "a SCIM token is made by each call and shown once",
    verdict: "handled",
    answer: "sent once, never again; not logged, not kept, not to be cached",
  },
  {
    id: "T51",
    trap: "the detail of terms that were not accepted names its version",
    verdict: "handled",
    answer: "its type becomes v1's; other details go through",
  },
  {
    id: "T52",
    trap: "v1's reads never said 404, and clients poll them",
    verdict: "handled",
    answer: "lists are empty; writes and deletes keep v2's codes",
  },
  {
    id: "T53",
    trap: "a token that ran out begins the list again, without a word",
    verdict: "handled, refused in part",
    answer:
      "most lists are read by rank, without tokens; one that follows tokens is read on by rank, or once more from its first page; when it begins again once more the answer is 502, never a list with records twice",
    differences: ["V05"],
  },
  {
    id: "T54",
    trap: "a PUT that leaves `verified` or `kind` out would switch them off",
    verdict: "handled",
    answer: "named only when sent and not the stored value; what is left alone is counted and named",
  },
  {
    id: "T55",
    trap: "clients send a group's limits and status back, which v2 sets itself",
    verdict: "handled",
    answer: "taken out of the body and counted",
  },
  {
    id: "T56",
    trap: "v2 sets itself what v1 let be written of a sync, and has no `syncApks`",
    verdict: "handled, refused in part",
    answer: "ignored as long as it is the stored value; a change is 400",
    differences: ["V32"],
  },
  {
    id: "T57",
    trap: "a synced repo refuses a PATCH that merely repeats what is not its own",
    verdict: "handled",
    answer: "compared with the stored repo; only real changes are named",
  },
  {
    id: "T58",
    trap: "messages in binary have other numbers and types in v2",
    verdict: "refused",
    answer: "carryover speaks JSON: gRPC is 415, also under v2's paths, and no such byte is forwarded",
    differences: ["V61"],
  },
  {
    id: "T59",
    trap: "a caller's metadata is flat in v2, under another name, in a wrapper with a mask",
    verdict: "handled",
    answer:
      "laid flat and back; the mask names everything; `providers`, which v2 does not keep, is named in `carryover-mismatch`",
  },
  {
    id: "T60",
    trap: "v2 wants a default role, an association's name and a tag's digest, v1 did not",
    verdict: "handled, refused in part",
    answer: "an update keeps what is stored and says so; a create without is the platform's 400, in v1's words",
    differences: ["V14", "V17"],
  },
  {
    id: "T61",
    trap: "what v1 did in one write takes several in v2",
    verdict: "handled, refused in part",
    answer:
      "what may be refused goes first; a later failure is the answer, `carryover-partial` names what was done, repeating does the rest; `If-Match` is 412",
    differences: ["V27", "V77"],
  },
  {
    id: "T62",
    trap: "lists of libraries lost filters and fields",
    verdict: "does not apply",
    answer: "none of the ten resources: native v1, or 501 by their name",
  },
  {
    id: "T63",
    trap: "it is not known whether v2 writes zeros out",
    verdict: "handled",
    answer: "both are read; v1 clients see every zero that v1 wrote, never one of a oneof, an optional field or a time",
  },
  {
    id: "T64",
    trap: "v2's deletes answer `{}` or nothing",
    verdict: "handled",
    answer: "200 with `{}`",
  },
  {
    id: "T65",
    trap: "without an architecture v2 tells the size for amd64",
    verdict: "handled",
    answer: "`arch` is sent when it is given, and nothing in its place; the answer says for which",
  },
  {
    id: "T66",
    trap: "removing a batch of external mappings is spelled otherwise",
    verdict: "does not apply",
    answer: "external mappings are none of the ten resources: native v1, or 501 by their name",
  },
  {
    id: "T67",
    trap: "on some platforms the bare list of identity providers is taken for a Get of nothing",
    verdict: "handled, refused in part",
    answer:
      "the platform's error stands, it is no empty list; a list by `id` works, and `carryover check` names the defect",
    differences: ["V08"],
  },
];
