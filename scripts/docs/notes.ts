/** The words that carryover uses in the log, in metrics, headers and views, explained in docs/errors.md. */

import type { Difficulty } from "../../src/ledger/entry.ts";
import type { ComparisonFailure, SKIP_REASONS } from "../../src/model/comparison.ts";
import type { ExchangeNote, Witness } from "../../src/model/exchange.ts";
import { OurHeader } from "../../src/model/http.ts";

interface Word {
  readonly means: string;
  /** What to do, if anything. */
  readonly act?: string;
  /** The options that change it. */
  readonly options?: readonly string[];
}

type Words<Name extends string> = Readonly<Record<Name, Word>>;

const HARMLESS = "nothing";
const CHECK = "`carryover check` says what the platform does";

const NOTES: Words<ExchangeNote> = {
  "shed-in-flight": {
    means: "refused on arrival: too many requests are in progress",
    act: "[troubleshooting.md](troubleshooting.md#carryover-overloaded)",
    options: ["limits.inFlight"],
  },
  "shed-wait": {
    means: "refused on arrival: it would wait beyond its deadline",
    act: "[troubleshooting.md](troubleshooting.md#carryover-overloaded)",
    options: ["upstream.*.connections", "limits.requestSeconds"],
  },
  grpc: {
    means: "a gRPC request was refused",
    act: "send gRPC to `listen.grpc.port` ([grpc.md](grpc.md)), or past carryover ([ingress.md](ingress.md))",
  },
  "odd-header-name": {
    means:
      "a header was dropped whose name some programs confuse with one that carryover controls, such as `X_Forwarded_For`",
    act: "find out which client or proxy sends it",
  },
  "form-as-get": {
    means: "a form that was posted ran as the GET of its path, as in v1's gateway; its content joined the query",
    act: "nothing to do: it is a GET for rules, metrics and the ledger",
    options: ["limits.uriBytes"],
  },
  "enum-dropped": {
    means: "the client sent an enum name that v1 does not know. It was dropped, as v1's decoder did",
    act: "client: correct the name",
  },
  "enum-sent-on": {
    means:
      "the client sent an enum name or capability in v2's spelling that v1 does not know. v2 judges it: one that it drops is `UPDATE_INCOMPLETE`",
    act: HARMLESS,
  },
  "server-set-dropped": {
    means: "the client sent a field that v2 sets itself. It was dropped ([updates.md](updates.md))",
    act: HARMLESS,
  },
  "query-unknown": {
    means: "the query has a parameter that v1 does not know. It was ignored, as in v1",
    act: "client: leave it out",
  },
  "id-filter-empty": {
    means: "a list by `id` whose record is missing or not allowed: an empty list, as in v1",
    act: HARMLESS,
  },
  "list-read-again": {
    means: "the whole list was read once more: tokens expire, or pages contradict each other",
    act: CHECK,
    options: ["lists.readers", "upstream.v2.pageTokens"],
  },
  "list-repaired": {
    means: "a border did not hold and was closed: a client deletes records while lists are read",
    act: HARMLESS,
  },
  "list-page-again": {
    means: "a page was requested once more: it was unreadable, or it was the last one and its count did not match",
    act: HARMLESS,
  },
  "list-order": {
    means: "uids are out of order: the list is read by cursor",
    act: CHECK,
    options: ["lists.orderBy"],
  },
  "list-duplicate": { means: "a uid came twice where none should have", act: CHECK },
  "list-total": {
    means: "the count changed, or is too small: a client writes, or the platform counts wrong",
    act: CHECK,
    options: ["upstream.v2.totals"],
  },
  "list-skip-ignored": { means: "`skip` has no effect: lists are read by cursor", act: CHECK },
  "list-token-restarted": {
    means:
      "a token of a segment started the list over; the rest was found by `skip`. Tokens expire sooner than they should",
    act: CHECK,
    options: ["upstream.v2.pageTokens"],
  },
  "list-way-left": {
    means: "the list needed too many repairs, or its order broke: the rest was read by cursor",
    act: CHECK,
    options: ["lists.orderBy"],
  },
  "join-missing": {
    means:
      "a record that another one refers to is missing or forbidden. [coverage.md](coverage.md) says what is shown then",
    act: HARMLESS,
  },
  "update-empty": {
    means: "the PUT named nothing that v2 can change: the record was read, not written ([updates.md](updates.md))",
    act: HARMLESS,
  },
  "field-left-alone": {
    means: "the PUT left out a field that v1 would have cleared and carryover leaves alone ([updates.md](updates.md))",
    act: "client: send the field",
  },
  "clear-refused": {
    means: "v2 refused to clear a field that the PUT left out. It kept its value, and `carryover-mismatch` names it",
    act: "client: send the field",
  },
  "partial-write": {
    means:
      "a write of several calls failed after the first. `carryover-partial`, or `partial` in the metadata, says what was written",
    act: "client: repeat the request",
  },
  "own-words-refused": {
    means: "v2 refused a field or mask that only carryover can have named. The fault is the translation's",
    act: "`carryover check`; is it the right version?",
    options: ["upstream.v2.version", "upstream.v2.maskSpelling"],
  },
  "answer-shadowed": {
    means: "v2 sent a member whose name v1 gives to another one. It was dropped",
    act: "[tell us](troubleshooting.md#tell-us)",
  },
  "answer-enum": {
    means: "v2 sent an enum value that the catalogue does not know",
    act: "compare with native v1 (a `shadow` rule), and [tell us](troubleshooting.md#tell-us)",
  },
  "answer-shape": {
    means: "v2 sent a value of another kind than the catalogue has, such as a number for a text",
    act: "compare with native v1 (a `shadow` rule), and [tell us](troubleshooting.md#tell-us)",
  },
  gzip: { means: "the response was compressed with gzip for the client" },
  br: { means: "the response was compressed with brotli for the client" },
};

const FAILURES: Words<ComparisonFailure> = {
  busy: {
    means:
      '`shadow.concurrent` comparisons run and twice as many wait. One credential gets at most half of both; requests without a credential share one half. Most busy samples are skipped before anything is copied: `comparisons_skipped_total{reason="busy"}`',
    act: "nothing; or lower `sample` of the rule, or raise the limit",
    options: ["shadow.concurrent"],
  },
  memory: {
    means: "comparisons hold `limits.memoryBytes`; one credential may hold half",
    act: "as for `busy`",
    options: ["limits.memoryBytes"],
  },
  "too-large": {
    means: "a response is longer than an eighth of `limits.memoryBytes`",
    act: "raise it if such lists matter",
    options: ["limits.memoryBytes"],
  },
  timeout: { means: "not ready in time", act: "raise it for long lists", options: ["shadow.seconds"] },
  native: { means: "native v1 failed", act: "look at the platform" },
  platform: { means: "v2 failed", act: "look at the platform" },
  unreachable: { means: "one of them did not respond", act: "look at the network" },
  overloaded: {
    means: "carryover's own limits for lists",
    act: "lower `sample` of the rule",
    options: ["lists.maxConcurrent"],
  },
  unreadable: { means: "a response cannot be decoded", act: "look at the platform" },
  "not-comparable": {
    means:
      "only carrying it out would show the difference: writes that reads cannot show, updates of fields that only v2 sets, records with too many members",
    act: "comparisons cannot prove such operations; move them last, for few clients",
  },
  gone: { means: "the written record no longer exists", act: HARMLESS },
  overtaken: { means: "somebody else has written the record since", act: HARMLESS },
  refused: {
    means:
      "both refused the request before they looked at the token. Anybody could send such requests, so they prove nothing",
    act: HARMLESS,
  },
  "old-http": {
    means:
      "the client speaks HTTP/1.0, and the translated list is longer than `lists.bufferBytes`. Once translated, that client gets 422",
    act: "move the client to HTTP/1.1 first, or raise the option",
    options: ["lists.bufferBytes"],
  },
  internal: { means: "an error in the comparison itself", act: "[tell us](troubleshooting.md#tell-us)" },
  closed: { means: "carryover is stopping", act: HARMLESS },
};

const SKIPPED: Words<(typeof SKIP_REASONS)[number]> = {
  aborted: { means: "the client left before its response was complete", act: HARMLESS },
  busy: {
    means:
      "no place for a further comparison; also while a 429 or 503 with `Retry-After` pauses the credential (at most a minute)",
    act: "nothing; or lower `sample` of the rule, or raise the limit",
    options: ["shadow.concurrent"],
  },
  unauthenticated: { means: "native v1 answered 401", act: HARMLESS },
  status: { means: "the response has a status that says nothing about the translation", act: HARMLESS },
};

const WITNESSES: Words<Witness> = {
  cover: { means: "the list is complete by proof ([lists.md](lists.md))", options: ["upstream.v2.pageTokens"] },
  count: { means: "as many records as the platform counts", options: ["upstream.v2.totals"] },
  none: {
    means: "nothing was proved. `lists.require` makes such a list an error",
    act: CHECK,
    options: ["lists.require", "upstream.v2.pageTokens"],
  },
};

const HEADERS: Words<(typeof OurHeader)[keyof typeof OurHeader]> = {
  [OurHeader.MODE]: {
    means:
      "what served the v1 request: `native`, `shadow` or `translate`; `native; after=v2`: native v1, after v2 failed it (`onFailure`)",
    options: ["cutover.mode", "cutover.rulesFile"],
  },
  [OurHeader.LIST]: {
    means:
      "what was proved of a list (below), from how many pages and records. `-or-abort` on a streamed list: the connection breaks when the proof fails",
    options: ["lists.require", "lists.bufferBytes"],
  },
  [OurHeader.MISMATCH]: {
    means: "v1 names of fields that the platform did not store as asked ([updates.md](updates.md))",
    act: "client: read the record",
    options: ["updates.mismatch"],
  },
  [OurHeader.PARTIAL]: {
    means: "what a write of several calls had written before a further call was refused",
    act: "client: repeat the request",
  },
  [OurHeader.BROWNOUT]: {
    means:
      "the brownout that refused a v1 request: its rule, and the window in which it refuses ([brownouts.md](brownouts.md))",
    act: "client's team: move to v2",
    options: ["cutover.rulesFile"],
  },
};

const DIFFICULTIES: Words<Difficulty> = {
  none: { means: "does not call v1", act: HARMLESS },
  renames: { means: "paths and names change, nothing else", act: "send its owner the way out (`/way-out.md`)" },
  "unknown-fields": { means: "it sends fields that v1 ignores and v2 refuses", act: "client: leave them out" },
  "long-lists": { means: "it gets lists longer than a v2 page", act: "client: follow the pages" },
  unknown: {
    means: "nobody looked into some of its requests, because native v1 served them",
    act: "a `shadow` rule looks",
    options: ["cutover.rulesFile"],
  },
  "full-replace": { means: "its PUTs set fields to zero by leaving them out", act: "client: name what it clears" },
  lacking: {
    means: "it calls operations that v2 lacks, or paths that carryover does not know",
    act: "keep native v1 for it",
    options: ["upstream.v1.url", "fallback"],
  },
};

/** The sections of these words. */
export function wordSections(): readonly string[] {
  return [
    ...section(
      "Notes",
      'In the log (`notes`) and as `carryover_notes_total{note="…"}`. Those that begin with `list-` are about lists that are complete all the same.',
      NOTES,
    ),
    ...section("Headers", "What carryover adds to responses.", HEADERS),
    ...section("Witnesses", 'In `carryover-list`, in the log and as `carryover_lists_total{witness="…"}`.', WITNESSES),
    ...section(
      "Why a comparison failed",
      'As `carryover_comparison_failures_total{reason="…"}`. A failed comparison proves nothing, for or against a rule.',
      FAILURES,
    ),
    ...section(
      "Why a sampled request was not compared",
      'As `carryover_comparisons_skipped_total{reason="…"}`.',
      SKIPPED,
    ),
    ...section(
      "How hard a client is to move",
      "`difficulty` in `/clients`, easiest first; `why` beside it names the operations and fields.",
      DIFFICULTIES,
    ),
  ];
}

function section(title: string, lead: string, words: Words<string>): readonly string[] {
  const rows = Object.entries(words).map(([name, { means, act = HARMLESS, options = [] }]) => {
    return `| \`${name}\` | ${means} | ${act} | ${optionCell(options)} |`;
  });
  return ["", `## ${title}`, "", lead, "", "| word | means | what to do | option |", "|---|---|---|---|", ...rows];
}

/** The options of a row. */
export function optionCell(options: readonly string[]): string {
  return options.length === 0 ? "none" : options.map((option) => `\`${option}\``).join(", ");
}
