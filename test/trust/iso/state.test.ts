import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { figure } from "../../support/figures.ts";

const SRC = resolve(import.meta.dirname, "../../../src");

/**
 * `where`: file and variable; what its key is, what bounds it, who can choose the key as he likes and what he gets by that.
 */
type Remembered = readonly [where: string, key: string, bound: string, forged: string];

const DIGEST = "keyed digest of the credential";
const NOBODY = "nobody: it takes the credential, or the secret of the process";
const THE_LET_IN = "whoever the platform lets in may name himself as he likes: statistics only, never access";

/** Everything that outlives a request and has a key that follows from one. */
const STATE: readonly Remembered[] = [
  ["history/buckets.ts buckets", "number of a span of time", "841", "nobody: it is the clock"],
  ["history/events.ts counts", "kind of event", "the kinds that there are", NOBODY],
  ["runtime/page-thread.ts waiting", "number of a question", "questions of operators' pages under way", NOBODY],
  [
    "runtime/page-renderer.ts all",
    "id of a contributor to the store",
    "those that the store listed last; none a minute after the last page was looked at",
    "whoever may write to the store: statistics in views only",
  ],
  ["recording/recorder.ts kept", "the record of a request", "requests in flight, 64 KiB each", NOBODY],
  [
    "drain/hints.ts counts",
    `SHA-256 of ${DIGEST} and target`,
    "2,000",
    "made-up credentials push guesses out: a wrong or missing one costs a request, never a record",
  ],
  ["drain/hints.ts skips", `SHA-256 of ${DIGEST} and resource`, "2,000, 10 minutes", "as above"],
  [
    "upstream/fair-queue.ts owners",
    DIGEST,
    "calls and lists under way or waiting: limits.inFlight",
    "made-up credentials yield to those that the platform has accepted, and hold three quarters of limits.inFlight at most",
  ],
  [
    "upstream/adaptive-limits.ts kinds",
    "path of a v2 list, without its query",
    "64, the oldest goes",
    "anybody who lists: only how long answers of that path take",
  ],
  ["server/load-shedder.ts pending", "why requests are turned away", "2, for 100 ms", "nobody: no text of a client's"],
  ["upstream/adaptive-limits.ts accounts", DIGEST, "1,000", "anybody who lists: only how much of his own runs"],
  ["upstream/adaptive-limits.ts pauses", DIGEST, "1,000, 5 s each", "only who gets the platform to answer 429 or 503"],
  ["upstream/credentials.ts accepted", DIGEST, "10,000, the one used least lately goes", THE_LET_IN],
  [
    "upstream/response-memory.ts expected",
    DIGEST,
    "1,000, the oldest goes",
    "only credentials that the platform accepted have a key of their own: how long a list is taken to be",
  ],
  [
    "server/upload-slots.ts taken",
    DIGEST,
    "half of the connections",
    "only credentials that the platform accepted have a key of their own",
  ],
  [
    "upstream/certificate-renewal.ts lastGiven",
    "an address that an upstream's name led to",
    "1,000 addresses, of the last 40 looks",
    "whoever answers for the names of the operator's upstreams",
  ],
  [
    "ledger/space-saving.ts byName",
    "name of the client: clients.identify, hashed where it is a credential",
    "clients.max; 100,000 + 16 × clients.max facts",
    `only after an answer other than 401; ${THE_LET_IN}`,
  ],
  ["ledger/retention.ts seen", "name of the client", "clients.max", THE_LET_IN],
  ["ledger/identity.ts known", "name of the client", "1,000, then all go", "anybody: it only saves a hash"],
  ["rollout/guard-watch.ts rules", "name of a rule", "the rules in force", NOBODY],
  ["rollout/guard-watch.ts waiting", "the request itself", "limits.inFlight", NOBODY],
  ["rollout/guard-tally.ts open", "operation of the catalogue", "the catalogue, for a second", NOBODY],
  [
    "rollout/guard-tally.ts attempts",
    `${DIGEST}, and of what it asks for`,
    "10,000 of a rule, the oldest goes",
    "anybody whom v2 fails: his own failures may count more often",
  ],
  ["rollout/guard-tally.ts refused", `operation and ${DIGEST}`, "10,000 of a rule, the oldest goes", "as above"],
  ["rollout/native-writes.ts operations", "operation of the catalogue", "512, the oldest goes", NOBODY],
  [
    "rollout/native-writes.ts callers",
    `operation and ${DIGEST}`,
    "10,000, the oldest goes",
    `only writes that native served; ${THE_LET_IN}`,
  ],
  ["rollout/native-writes.ts own", "operation of the catalogue and rule", "4,096, the oldest goes", NOBODY],
  [
    "rollout/repeats.ts counted",
    `rule, and ${DIGEST} with a digest of the request; the name of the client without one`,
    "10,000, an hour, the oldest goes",
    `only what was compared: repeats may count once more; ${THE_LET_IN}`,
  ],
  ["rollout/guard-figures.ts native", "operation of the catalogue", "256, and ten minutes in each", NOBODY],
  [
    "rollout/guard-figures.ts rules",
    "name of a rule, and operations in it",
    "the rules in force; 256, and ten minutes in each",
    NOBODY,
  ],
  ["rollout/slowness.ts found", "name of a rule", "the rules in force", NOBODY],
  ["rollout/slowness.ts native", "operation of the catalogue", "1,000, and 100 times in each", NOBODY],
  ["rollout/slowness.ts rules", "name of a rule, and operations in it", "the rules in force; 1,000 in each", NOBODY],
  ["rollout/callers.ts known", "name of the client", "1,000, then all go", "anybody: it only saves a hash"],
  [
    "telemetry/rollout-metrics.ts rows",
    "configured name, or keyed hash of the name",
    "clients.metricSeries",
    `half of the places only for names seen 20 times; ${THE_LET_IN}`,
  ],
  ["telemetry/rollout-metrics.ts candidates", "the same", "4 × clients.metricSeries, then all go", THE_LET_IN],
  [
    "telemetry/series.ts rows",
    "labels: names of the catalogue, statuses, witnesses",
    "a fixed number for each label, the rest is other",
    "nobody: no label is a client's text",
  ],
  [
    "telemetry/unknown-fields.ts countsByKey",
    "resource and direction; names of fields in it",
    "200, and 200 names of 80 characters in each",
    "not by whom the platform answers 401; names of fields only",
  ],
  [
    "shadow/capture.ts byOwner",
    DIGEST,
    "comparisons under way; limits.memoryBytes, half of it for one credential",
    NOBODY,
  ],
  ["edge/crowd.ts senders", DIGEST, "requests whose body is still to come: limits.inFlight", "as above"],
  [
    "grpc/cancels.ts callers",
    `${DIGEST}, on one connection`,
    "1,000 on a connection",
    "only callers of that connection",
  ],
  ["grpc/server.ts sessions", "the connection itself", "connections that are open", NOBODY],
  ["shadow/shadow.ts until", DIGEST, "1,000, at most 60 s", "only who gets the platform to answer 429 or 503"],
  [
    "shadow/tally.ts operations",
    "operation of the catalogue; name of the client in it",
    "the catalogue; a fixed number of clients in all",
    `only what was compared; ${THE_LET_IN}`,
  ],
  ["shadow/tally.ts results", "result of a comparison", "the results that there are", NOBODY],
  ["shadow/tally.ts failures", "reason of a failure", "the reasons that there are", NOBODY],
  [
    "runtime/shared-rules.ts seconds",
    "digest of a rule",
    "rules in force, a minute each",
    "nobody: rules are the operator's",
  ],
  ["runtime/shared-rules.ts troubled", "digest of a rule", "rules in force", "nobody: rules are the operator's"],
  ["runtime/shared-rules.ts told", "digest of a rule", "rules in force", "nobody: rules are the operator's"],
  [
    "runtime/exams.ts known",
    "name of the client",
    "10,000, then all go",
    "anybody: it only saves a judgement, for 10 s",
  ],
  [
    "runtime/exams.ts shares",
    "name of the client",
    "clients in the documents of other replicas, each of which is bounded; until the next reading",
    "anybody: only verdicts on a client of that name",
  ],
  ["runtime/shared-brownouts.ts told", "name of a rule", "rules in force", "nobody: rules are the operator's"],
  ["runtime/shared-rules.ts watched", "digest of a rule", "rules in force", "nobody: rules are the operator's"],
  [
    "state/shared/replica.ts answers",
    "name of a row that was asked for",
    "as many as were asked for",
    "nobody: rows are named after rules",
  ],
  [
    "state/shared/rows.ts texts",
    "name of a row",
    "10,000 rules, and the rows of one document",
    "nobody: rows are named after rules and parts of a document",
  ],
  [
    "runtime/fleet-document.ts put",
    "name of a row of the document",
    "rows of clients.max clients, of 1,000 kinds of requests, 5,000 events and the rules",
    NOBODY,
  ],
  [
    "runtime/fleet-peers.ts current",
    "id of a contributor to the store",
    "8 MiB of text of rows",
    "whoever may write to the store: statistics in views only",
  ],
  ["runtime/fleet-peers.ts empty", "as above", "those that the store lists without rows", "as above"],
  ["runtime/known-contributors.ts next", "as above", "10,000", "as above"],
  ["runtime/shared-adoption.ts handled", "digest of a rule", "rules in force", "nobody: rules are the operator's"],
  ["runtime/rule-keys.ts known", "a rule itself", "rules that are in use", "nobody: rules are the operator's"],
  [
    "state/shared/replica.ts rules",
    "digest of a rule",
    "20,000",
    "whoever may write to the store: only step backs of rules that are in force are followed",
  ],
  [
    "telemetry/unknown-fields.ts counts",
    "name of a field, in a resource and direction",
    "200 names of 80 characters",
    "not by whom the platform answers 401",
  ],
];

/** Maps of one request, of the start, or of a view: gone with it. */
const PASSING: readonly (readonly [file: string, ...variables: string[]])[] = [
  ["history/buckets.ts", "kinds"],
  ["history/events.ts", "byId", "often", "last"],
  ["runtime/document-rows.ts", "groups"],
  ["runtime/fleet-views.ts", "all"],
  ["runtime/page-cost.ts", "operations", "buckets"],
  ["runtime/takers.ts", "known", "found"],
  ["grpc/descriptor-set.ts", "ownerOf", "nameOf"],
  ["grpc/descriptors.ts", "rpcs", "served"],
  ["grpc/enums.ts", "holders", "bearing"],
  ["grpc/long-messages.ts", "lists", "members"],
  ["grpc/wire.ts", "shapes", "made", "entry"],
  ["rules/conditions/subject.ts", "byResource"],
  ["runtime/upstreams.ts", "streams", "pools", "queues"],
  ["upstream/certificate-renewal.ts", "watches"],
  ["ledger/way-out.ts", "longest"],
  ["ledger/ledger.ts", "revealing"],
  ["ledger/way-out-names.ts", "all", "joins", "queries"],
  ["ledger/way-out.ts", "records"],
  ["ledger/snapshot.ts", "entries", "named", "lists"],
  ["ledger/identity.ts", "exact", "lower", "namesOf"],
  ["ledger/rule-names.ts", "byPlainForm"],
  ["ledger/way-out-pages.ts", "owners"],
  ["recording/entry.ts", "plain"],
  ["recording/reader.ts", "lengths"],
  ["shadow/writes.ts", "rows"],
  ["shadow/paired.ts", "ids"],
  ["shadow/differences.ts", "groups", "ids", "examples", "known"],
  ["shadow/json-values.ts", "first"],
  ["shadow/shape.ts", "all"],
  ["shadow/written-fields.ts", "values", "creates"],
  ["shadow/written-fields.ts", "spellings"],
  ["rollout/fleet-guard.ts", "sums"],
  ["rollout/shares.ts", "operations"],
  ["rollout/rollout.ts", "states", "keys"],
  ["rollout/saved-rollout.ts", "lost", "rules"],
  ["telemetry/unknown-fields.ts", "distinct"],
  ["telemetry/series.ts", "operations"],
  ["telemetry/log.ts", "kinds"],
  ["server/respond.ts", "weights"],
  ["drain/list-reader.ts", "calls"],
  ["runtime/upstreams.ts", "open"],
  ["state/shared/replica.ts", "theirs"],
];
const passing = new Set(PASSING.flatMap(([file, ...variables]) => variables.map((variable) => `${file} ${variable}`)));

/** Rooms that live as long as the process. */
const ROOMS = [
  ...["admin", "drain", "edge", "grpc", "history", "ledger", "recording", "rollout", "rules", "runtime"],
  ...["server", "shadow", "state", "telemetry", "upstream"],
];

/** Every map that a function of these rooms makes for itself, or for what it builds: `file variable`. */
function mapsOf(room: string): readonly string[] {
  const files = readdirSync(join(SRC, room), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  return files.flatMap((file) => {
    const text = readFileSync(join(SRC, room, file), "utf8");
    const made =
      /^ +(?:const |(?:readonly )?#)(\w+)(?:: [^=]+)? = new (?:Weak)?(?:Map|LRUCache)\b|[{,] (\w+): new (?:Weak)?(?:Map|LRUCache)\(\)/gm;
    return [...text.matchAll(made)].map(([, variable, member]) => `${room}/${file} ${variable ?? member}`);
  });
}

describe("state that has a key", () => {
  const found = new Set(ROOMS.flatMap(mapsOf));

  it("is in the table of what is remembered, with its bound and with who could forge its key", () => {
    const listed = new Set(STATE.map(([where]) => where));
    // A new map: write down here what bounds it and who can choose its keys, or that it is gone with its request.
    expect([...found].filter((where) => !listed.has(where) && !passing.has(where))).toEqual([]);
    expect([...listed, ...passing].filter((where) => !found.has(where))).toEqual([]);
    expect(STATE.filter((row) => row.some((text) => text === ""))).toEqual([]);
    figure("T-ISO-11", "kinds of state with a key that follows from a request, each bounded", STATE.length, "kinds");
  });

  it("never has a token for a key: where it is by credential, it is by the keyed digest", () => {
    for (const [where] of STATE.filter(([, key]) => key.includes("credential,") || key.includes(DIGEST))) {
      const file = where.split(" ")[0] ?? "";
      // The one file that is handed a token, and makes the digest.
      if (file === "upstream/credentials.ts") continue;
      const text = readFileSync(join(SRC, file), "utf8");
      expect([where, /authorization/i.test(text)]).toEqual([where, false]);
    }
  });
});
