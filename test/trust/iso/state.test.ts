/** What does the process remember beyond one request, under which key, how much of it, and who could forge that key? */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { figure } from "../../support/figures.ts";

const SRC = resolve(import.meta.dirname, "../../../src");

interface Remembered {
  /** File and variable. */
  readonly where: string;
  readonly key: string;
  readonly bound: string;
  /** Who can choose the key as he likes, and what he gets by that. */
  readonly forged: string;
}

const DIGEST = "keyed digest of the credential";
const NOBODY = "nobody: it takes the credential, or the secret of the process";
const THE_LET_IN = "whoever the platform lets in may name himself as he likes: statistics only, never access";

/** Everything that outlives a request and has a key that follows from one. */
const STATE: readonly Remembered[] = [
  { where: "share/share.ts writing", key: "the exchange itself", bound: "limits.inFlight", forged: NOBODY },
  {
    where: "share/store.ts lists",
    key: `${DIGEST}, target, fields (digested), origin, version`,
    bound: "lists.share.bytes, a tenth of it for one credential; 5 s",
    forged: NOBODY,
  },
  {
    where: "share/tenants.ts tenants",
    key: DIGEST,
    bound: "those with a list kept or a work under way",
    forged: "anybody may make credentials up: one entry while a request of his is under way",
  },
  { where: "share/tenants.ts writes", key: DIGEST, bound: "writes under way", forged: "as above" },
  {
    where: "upstream/drain/memory.ts counts",
    key: `SHA-256 of ${DIGEST} and target`,
    bound: "2,000",
    forged: "made-up credentials push guesses out: a wrong or missing one costs a request, never a record",
  },
  {
    where: "upstream/drain/memory.ts skips",
    key: `SHA-256 of ${DIGEST} and resource`,
    bound: "2,000, 10 minutes",
    forged: "as above",
  },
  {
    where: "upstream/drain/memory.ts miscounting",
    key: `SHA-256 of ${DIGEST} and resource`,
    bound: "2,000, an hour",
    forged: "as above",
  },
  {
    where: "upstream/drain/slots.ts taken",
    key: DIGEST,
    bound: "lists.maxConcurrent",
    forged:
      "made-up credentials take a place each until the platform answers 401; all places and the queue are bounded",
  },
  { where: "upstream/readers/places.ts taken", key: DIGEST, bound: "lists.readersPerUpstream", forged: "as above" },
  {
    where: "upstream/readers/places.ts lines",
    key: DIGEST,
    bound: "page reads that wait: of lists under way",
    forged: "as above",
  },
  {
    where: "upstream/readers/readers.ts kinds",
    key: "path of a v2 list, without its query",
    bound: "64, the oldest goes",
    forged: "anybody who lists: only how long answers of that path take",
  },
  {
    where: "upstream/readers/refused.ts lately",
    key: DIGEST,
    bound: "1,000",
    forged: "only who gets the platform to answer 429",
  },
  {
    where: "upstream/readers/refused.ts paused",
    key: DIGEST,
    bound: "5 s, and only while nobody else was refused",
    forged: "as above",
  },
  {
    where: "upstream/names.ts lastGiven",
    key: "an address that an upstream's name led to",
    bound: "1,000 addresses, of the last 40 looks",
    forged: "whoever answers for the names of the operator's upstreams",
  },
  {
    where: "ledger/space-saving.ts byName",
    key: "name of the client: clients.identify, hashed where it is a credential",
    bound: "clients.max; 100,000 + 16 × clients.max facts",
    forged: `only after an answer other than 401; ${THE_LET_IN}`,
  },
  {
    where: "ledger/identity.ts known",
    key: "name of the client",
    bound: "1,000, then all go",
    forged: "anybody: it only saves a hash",
  },
  {
    where: "control/bucket.ts known",
    key: "name of the client",
    bound: "1,000, then all go",
    forged: "anybody: it only saves a hash",
  },
  {
    where: "observe/client-series.ts rows",
    key: "configured name, or keyed hash of the name",
    bound: "clients.metricSeries",
    forged: `half of the places only for names seen 20 times; ${THE_LET_IN}`,
  },
  {
    where: "observe/client-series.ts candidates",
    key: "the same",
    bound: "4 × clients.metricSeries, then all go",
    forged: THE_LET_IN,
  },
  {
    where: "observe/series.ts rows",
    key: "labels: names of the catalogue, statuses, witnesses",
    bound: "a fixed number for each label, the rest is other",
    forged: "nobody: no label is a client's text",
  },
  {
    where: "observe/unknown-fields.ts places",
    key: "resource and direction; names of fields in it",
    bound: "200, and 200 names of 80 characters in each",
    forged: "not by whom the platform answers 401; names of fields only",
  },
  {
    where: "shadow/memory.ts byOwner",
    key: DIGEST,
    bound: "comparisons under way; shadow.memoryBytes, half of it for one credential",
    forged: NOBODY,
  },
  {
    where: "shadow/rest.ts until",
    key: DIGEST,
    bound: "1,000, at most 60 s",
    forged: "only who gets the platform to answer 429 or 503",
  },
  {
    where: "shadow/tally.ts operations",
    key: "operation of the catalogue; name of the client in it",
    bound: "the catalogue; a fixed number of clients in all",
    forged: `only what was compared; ${THE_LET_IN}`,
  },
  {
    where: "share/tenants.ts flights",
    key: "key of the list, in what belongs to its credential",
    bound: "works under way, 100 followers each",
    forged: NOBODY,
  },
  {
    where: "shadow/tally.ts clients",
    key: "name of the client, in an operation",
    bound: "a fixed number in all",
    forged: `only what was compared; ${THE_LET_IN}`,
  },
  {
    where: "observe/unknown-fields.ts counts",
    key: "name of a field, in a resource and direction",
    bound: "200 names of 80 characters",
    forged: "not by whom the platform answers 401",
  },
];

/** Maps of one request, of the start, or of a view: gone with it. */
const PASSING = new Set([
  "ledger/way-out.ts longest",
  "ledger/questions.ts telling",
  "ledger/way-out/fields.ts all",
  "ledger/way-out/fields.ts joins",
  "ledger/way-out/loop.ts records",
  "ledger/merge.ts entries",
  "ledger/merge.ts named",
  "ledger/merge.ts lists",
  "ledger/identity.ts exact",
  "ledger/identity.ts lower",
  "shadow/since.ts rows",
  "shadow/unnamed.ts values",
  "shadow/unnamed.ts creates",
  "shadow/lost.ts spellings",
  "control/control.ts held",
  "observe/field-names.ts distinct",
  "observe/labels.ts operations",
  "observe/request-line.ts kinds",
  "listener/head.ts watched",
  "listener/compress.ts weights",
]);

/** Rooms that live as long as the process. */
const ROOMS = ["share", "ledger", "shadow", "control", "observe", "upstream", "listener", "admin", "migration"];

/** Every map that a function of these rooms makes for itself, or for what it builds: `file variable`. */
function mapsOf(room: string): readonly string[] {
  const files = readdirSync(join(SRC, room), { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  return files.flatMap((file) => {
    const text = readFileSync(join(SRC, room, file), "utf8");
    const made =
      /^ +const (\w+)(?:: [^=]+)? = new (?:Weak)?(?:Map|LRUCache)\b|[{,] (\w+): new (?:Weak)?(?:Map|LRUCache)\(\)/gm;
    return [...text.matchAll(made)].map(([, variable, member]) => `${room}/${file} ${variable ?? member}`);
  });
}

describe("state that has a key", () => {
  const found = new Set(ROOMS.flatMap(mapsOf));

  it("is in the table of what is remembered, with its bound and with who could forge its key", () => {
    const listed = new Set(STATE.map(({ where }) => where));
    // A new map: write down here what bounds it and who can choose its keys, or that it is gone with its request.
    expect([...found].filter((where) => !listed.has(where) && !PASSING.has(where))).toEqual([]);
    expect([...listed, ...PASSING].filter((where) => !found.has(where))).toEqual([]);
    for (const { where, key, bound, forged } of STATE)
      expect([where, key !== "" && bound !== "" && forged !== ""]).toEqual([where, true]);
    figure("T-ISO-11", "kinds of state with a key that follows from a request, each bounded", STATE.length, "kinds");
  });

  it("never has a token for a key: where it is by credential, it is by the keyed digest", () => {
    for (const { where } of STATE.filter(({ key }) => key.includes("credential,") || key.includes(DIGEST))) {
      const text = readFileSync(join(SRC, where.split(" ")[0] ?? ""), "utf8");
      expect([where, /authorization/i.test(text)]).toEqual([where, false]);
    }
  });
});
