import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import type { ApiRequest, ApiResponse } from "../../src/model/http.ts";
import { createSignalController } from "../../src/model/signal.ts";
import { type Ask, createFront, type Told } from "../support/front.ts";
import { scale } from "../support/scale.ts";
import { variants } from "../support/tier.ts";
import { EVENT_NAMES, LISTS, ORDER_NAMES, STATUSES, type V1List, type V1Record, type Word } from "./filter-words.ts";

/** `FC_RUNS=5000` looks longer. */
const RUNS = Number(process.env["FC_RUNS"] ?? variants(100, scale(200, 400)));
const catalogue = await loadCatalogue("v2beta1");
const clock = () => new Date("2026-03-01T08:00:00Z");
// Two of the same: what carryover asks of one cannot change what the other answers.
const [native, platform] = [seededSandbox({ seed: "filters", clock }), seededSandbox({ seed: "filters", clock })];
const { signal } = createSignalController();
const CALLERS = ["admin", "admin", "admin", "admin", "viewer", "nobody", `admin@${native.wellKnown.otherRootGroup}`];

const askNative = (target: string, caller: string) => native.send(request(target, caller), { signal });
const carryover = createFront(catalogue)(platform.send);

function request(target: string, caller: string): ApiRequest {
  return { method: "GET", target, headers: [["authorization", `Bearer ${native.token(caller)}`]] };
}

/** The body of a response as JSON. */
const jsonOf = (answer: ApiResponse | undefined): V1Record =>
  JSON.parse(Buffer.from(answer?.body ?? "null").toString());

async function recordsOf(list: V1List): Promise<readonly V1Record[]> {
  return jsonOf(await askNative(`${list.v1}${list.ordered ? "?page_size=1000" : ""}`, "admin")).items;
}

// ---- What a client sends -------------------------------------------------------------------------------------------

/** One parameter, its values as they are meant and how they are written. */
interface Given {
  readonly word: Word;
  readonly values: readonly string[];
  readonly pairs: readonly string[];
}
interface Query {
  readonly caller: string;
  readonly given: readonly Given[];
  /** A parameter that v1 does not have, or has in another form. */
  readonly noise: { readonly text: string; readonly refused: boolean } | undefined;
}

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Ways to write one value. */
const WRITE: readonly ((value: string) => string)[] = [
  encodeURIComponent,
  (value) => encodeURIComponent(value).replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%3A", ":"),
  (value) => encodeURIComponent(value).replaceAll("%20", "+"),
  (value) => [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
];

const { viewerRole, someGroup, identity } = native.wellKnown;

const JUNK: Readonly<Record<Word["kind"], readonly string[]>> = {
  text: ["", "no such thing", "a,b", "ünï & ;=?#%", "*", "' OR 1=1"],
  uid: ["", "nobody", "a b", "../x", "/", "0".repeat(40), "%2F", "a,b", viewerRole, someGroup, identity],
  bool: ["", "yes", "true", "false", "F", "TRUE", "2"],
  time: ["", "lately", "2099-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01", "null"],
  enum: ["", "NOPE", "0", "1", "2", "99", "-1", "REVIEW_STATE_PENDING", "uid asc"],
  size: ["", "many", "-1", "0", "500", "1.5", "9223372036854775808"],
};

function valuesOf(word: Word, records: readonly V1Record[]): fc.Arbitrary<string> {
  const known = [...new Set(records.flatMap((record) => word.of(record)))].filter((value) => value !== undefined);
  const any = known.length === 0 ? fc.constant("none") : fc.constantFrom(...known);
  return fc.oneof(
    { weight: 2, arbitrary: any },
    { weight: 1, arbitrary: fc.constantFrom(...JUNK[word.kind], ...(word.lost ?? [])) },
    // Both versions take a comma for a part of the value.
    { weight: 1, arbitrary: fc.tuple(any, any).map(([a, b]) => `${a},${b}`) },
  );
}

/** A uid and everything above it. */
const lineage = (uid: string): string[] => uid.split("/").map((_, index, all) => all.slice(0, index + 1).join("/"));

/** Values that may or may not be the record's: a place above it, the other truth, another kind of event. Else those of all records. */
function nearOf(word: Word, target: V1Record): readonly string[] | undefined {
  if (word.kind === "uid") return lineage(String(target.id ?? target.group));
  if (word.kind === "bool") return ["true", "1", "false", "F"];
  return word.kind === "enum"
    ? [...(ENUMS.get(word.v1) ?? [])].filter((value) => !word.lost?.includes(value))
    : undefined;
}

/** A parameter that often means the record `target`, so that several together find something. */
function givenOf(word: Word, target: V1Record, records: readonly V1Record[]): fc.Arbitrary<Given> {
  const own = word.of(target).filter((value) => value !== undefined);
  const near = nearOf(word, target) ?? records.flatMap(word.of).filter((value) => value !== undefined);
  const value =
    own.length === 0
      ? valuesOf(word, records)
      : fc.oneof(
          { weight: word.kind === "bool" ? 2 : 6, arbitrary: fc.constantFrom(...own) },
          { weight: 3, arbitrary: fc.constantFrom(...near) },
          { weight: 1, arbitrary: valuesOf(word, records) },
          { weight: 1, arbitrary: fc.constantFrom(...(word.lost ?? own)) },
        );
  const written = fc.tuple(value, fc.boolean(), fc.constantFrom(...WRITE));
  const times = word.many ? { minLength: 1, maxLength: 3 } : { minLength: 1, maxLength: 1 };
  const often = fc.array(written, times);
  const twice = fc.array(written, { minLength: 2, maxLength: 2 });
  return fc.oneof({ weight: 30, arbitrary: often }, { weight: 1, arbitrary: twice }).map((all) => ({
    word,
    values: all.map(([each]) => each),
    pairs: all.map(([each, snake, write]) => `${snake ? word.v1 : camel(word.v1)}=${write(each)}`),
  }));
}

function noiseOf(list: V1List): fc.Arbitrary<NonNullable<Query["noise"]>> {
  const words = new Set(list.words.map(({ v1 }) => v1));
  const nested = words.has("uidp.ids");
  const ignored = [
    "Name",
    "NAME",
    "uid",
    "ID",
    "uidp.Ids",
    "Uidp.ids",
    "uidp.nothing",
    "uidp.nothing.ids",
    "__proto__",
  ];
  const v2 = ["skip", "query", "include_dates", "includeEpochs", "artifactNames", "event_review_states", "%6E%61me%20"];
  const message = ["uidp", "uidp[ids]"].map((text) => ({ text: `${text}=none`, refused: nested }));
  const ofWord = list.words.flatMap(({ v1, many }) => [
    { text: `${v1}.first=none`, refused: true },
    ...(many
      ? []
      : [
          { text: `${v1}[]=none`, refused: true },
          { text: `${camel(v1)}[none]`, refused: true },
        ]),
  ]);
  return fc.constantFrom(
    ...[...ignored, ...v2, "constructor", "toString", "id[a][b]"].map((name) => ({
      text: `${name}=none`,
      refused: false,
    })),
    ...message,
    ...ofWord,
  );
}

function queries(list: V1List, records: readonly V1Record[]): fc.Arbitrary<Query> {
  const some = fc.subarray([...list.words], { minLength: 1, maxLength: Math.min(list.words.length, 4) });
  const [one] = list.words.filter(({ v1 }) => v1 === list.key);
  if (one === undefined) throw new Error(`${list.resource} has no word for one record`);
  // The record that is read by a Get must match all the others without v2's help.
  const words = fc.tuple(some, fc.nat(2)).map(([all, chance]) => (chance > 0 ? all : [...new Set([one, ...all])]));
  const rare = records.filter((record) => list.rare?.(record) ?? true);
  const record = fc.oneof(fc.constantFrom(...records), fc.constantFrom(...rare));
  return fc.tuple(words, record).chain(([some, target]) =>
    fc.record({
      caller: fc.constantFrom(...CALLERS),
      given: fc.tuple(...some.map((word) => givenOf(word, target, records))),
      noise: fc.option(noiseOf(list), { freq: 6, nil: undefined }),
    }),
  );
}

const targetOf = (list: V1List, { given, noise }: Query): string =>
  `${list.v1}?${[...given.flatMap(({ pairs }) => pairs), ...(noise === undefined ? [] : [noise.text])].join("&")}`;

// ---- What v1 says of it --------------------------------------------------------------------------------------------

const BOOLEANS = new Set(["1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"]);
const TIMES = /^20(?:01|25|26|99)-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

/** Who cannot take these values: v1 itself, or v2, so that carryover refuses them in its place. */
function faultOf({ word, values }: Given): "v1" | "v2" | undefined {
  if (values.length > 1 && word.many === undefined) return "v1";
  if (word.kind === "bool" && !values.every((value) => BOOLEANS.has(value))) return "v1";
  if (word.kind === "time" && !values.every((value) => TIMES.test(value))) return "v1";
  // The sandbox's v1 takes it for 2 March; the real one does not.
  if (values.some((value) => value.includes("-02-30T"))) return "v2";
  if (word.kind === "size" && !values.every((value) => /^\d{1,18}$/.test(value))) return "v1";
  if (word.kind === "enum" && !values.every((value) => ENUMS.get(word.v1)?.has(value))) return "v1";
  return values.some((value) => word.lost?.includes(value)) ? "v2" : undefined;
}

const numbered = (count: number, names: readonly string[]) =>
  new Set([...names, ...Array.from({ length: count }, (_, number) => String(number))]);
const EVENT_TYPES = numbered(10, EVENT_NAMES);
const ENUMS = new Map<string, ReadonlySet<string>>([
  ["event_statuses", numbered(5, STATUSES)],
  ["event_types", EVENT_TYPES],
  ["latest_event_type", EVENT_TYPES],
  ["order_by", numbered(11, ORDER_NAMES)],
]);

/** What is left of a parameter: an empty text says nothing, unless it is an element of a list. */
const meant = ({ word, values }: Given): readonly string[] =>
  !word.many && (word.kind === "text" || word.kind === "uid") ? values.filter((value) => value !== "") : values;

// ---- What must hold ------------------------------------------------------------------------------------------------

/** What the answers were: a property that met only refusals and empty lists would prove nothing. */
type Tally = Record<"refused" | "empty" | "some" | "get", number>;

async function holds(list: V1List, query: Query, ask: Ask, tally: Tally): Promise<void> {
  const target = targetOf(list, query);
  const told = await ask(request(target, query.caller));
  const faults = query.given.filter((given) => faultOf(given) !== undefined);
  if (faults.length > 0 || query.noise?.refused === true) {
    refuses(told, query, faults);
    tally.refused += 1;
    if (faults.some((given) => faultOf(given) === "v1")) {
      expect((await askNative(target, query.caller)).status).toBe(400);
    }
    return;
  }
  expect(told.status).toBe(200);
  const shown = jsonOf(told.answer);
  showsWhatNativeShows(list, shown, jsonOf(await askNative(target, query.caller)));
  for (const given of query.given) {
    const values = meant(given);
    const { keeps, v1 } = given.word;
    if (values.length === 0 || keeps === undefined) continue;
    const wrong = shown.items.filter((record: V1Record) => !keeps(record, values));
    expect({ v1, values, wrong }).toEqual({ v1, values, wrong: [] });
  }
  sendsEveryFilter(list, query, told.sent);
  tally[shown.items.length === 0 ? "empty" : "some"] += 1;
  if (told.sent.some((each) => each.target.startsWith(`${list.v2}/`))) tally.get += 1;
}

/** 400 in v1's words; nothing reaches the platform, and the error does not show the value. */
function refuses(told: Told, { given, noise }: Query, faults: readonly Given[]): void {
  expect([told.status, told.problem?.reason, told.problem?.code, told.sent]).toEqual([400, "INVALID_FILTER", 3, []]);
  const names = [...faults.map(({ word }) => word.v1), ...(noise === undefined ? [] : [noise.text.split(/[=.[]/)[0]])];
  const field = told.problem?.fieldViolations[0]?.field ?? "";
  const isNamed = names.some((name) => name === field || camel(field) === name || field.startsWith(`${name}.`));
  expect({ field, names, isNamed }).toMatchObject({ isNamed: true });
  for (const value of given.flatMap(({ values }) => values)) {
    if (value.length > 6 && !field.includes(value) && !value.startsWith("EVENT_TYPE_FILTER_")) {
      expect(told.problem?.message).not.toContain(value);
    }
  }
}

function showsWhatNativeShows(list: V1List, carried: V1Record, expected: V1Record): void {
  const ids = (answer: V1Record): string[] => answer.items?.map((record: V1Record) => record[list.key]);
  const inOrder = (all: string[]) => (list.ordered ? all : all.toSorted());
  expect(inOrder(ids(carried))).toEqual(inOrder(ids(expected)));
  if (!list.ordered) return;
  expect(carried.id).toBe(expected.id);
  if (list.uncounted !== true) expect(carried.totalCount).toBe(expected.totalCount);
}

const PAGING = new Set(["page_size", "page_token", "skip"]);
const PLACES = new Set(["uidp.ids", "uidp.children_of", "uidp.in_root"]);

/** Each filter is in every list call to v2 as the map says, and nothing else is. */
function sendsEveryFilter(list: V1List, { given }: Query, sent: readonly ApiRequest[]): void {
  const one = given.find(({ word }) => word.v1 === "id" || (word.v1 === "group" && list.key === "group"));
  const byId = one !== undefined && meant(one).length > 0;
  const byParent = given.some((each) => each.word.v1 === "parent" && meant(each).length > 0);
  for (const { target } of sent) {
    const [path, query] = target.split("?");
    if (path !== list.v2) continue;
    const params = new URLSearchParams(query ?? "");
    for (const each of given) {
      const [name, says = (value: string) => value] = each.word.v2 ?? [undefined];
      if (name === undefined || byId || (byParent && PLACES.has(name)) || each.word.kind === "size") continue;
      const values = meant(each).map(says);
      const real = each.word.many ? values : values.filter((value) => value !== "" && !value.endsWith("_UNSPECIFIED"));
      // Ascending is what an order is without a direction.
      const found = params.getAll(name).map((value) => (name === "order_by" ? value.replace(/ asc$/, "") : value));
      expect([target, name, found.toSorted()]).toEqual([target, name, real.toSorted()]);
    }
    const asked = new Set(given.flatMap(({ word }) => (word.v2 === undefined ? [] : [word.v2[0]])));
    const always = list.words.flatMap(({ v1, v2 }) =>
      v1.startsWith("exclude_") && v2?.[0].startsWith("include_") ? v2[0] : [],
    );
    for (const name of new Set(params.keys())) {
      const known =
        asked.has(name) || PAGING.has(name) || always.includes(name) || ((byId || byParent) && PLACES.has(name));
      expect([target, name, known]).toEqual([target, name, true]);
    }
    if (!byId) for (const name of always) expect([target, name, params.has(name)]).toEqual([target, name, true]);
  }
}

// ---- The fuzz ------------------------------------------------------------------------------------------------------

/** Checks `runs` random queries; gives the first that fails, or what the answers were. */
async function fuzz(list: V1List, records: readonly V1Record[], ask: Ask, runs: number) {
  const tally: Tally = { refused: 0, empty: 0, some: 0, get: 0 };
  const property = fc.asyncProperty(queries(list, records), (query) => holds(list, query, ask, tally));
  return { tally, details: await fc.check(property, { numRuns: runs, endOnFailure: true }) };
}

test("every list of the catalogue is here, with every parameter that it has", () => {
  const lists = catalogue.resources.filter((resource) => resource.operations.some(({ kind }) => kind === "list"));
  expect(LISTS.map(({ resource }) => resource).toSorted()).toEqual(lists.map(({ name }) => name));
  for (const resource of lists) {
    const words = LISTS.find((list) => list.resource === resource.name)?.words.map(({ v1 }) => v1) ?? [];
    const list = resource.operations.find(({ kind }) => kind === "list");
    const filters = list?.kind === "list" ? list.filters : [];
    // A token says where to go on, not what to show.
    const names = filters.map(({ v1 }) => v1).filter((name) => name !== "page_token");
    expect([resource.name, words.toSorted()]).toEqual([resource.name, names.toSorted()]);
  }
});

describe("a filtered request gets the records that v1 gives for it, or a refusal that says why", () => {
  test.each(LISTS)("$resource", { timeout: 20_000 + RUNS * 200 }, async (list) => {
    const records = await recordsOf(list);
    expect(records.length).toBeGreaterThan(1);
    const { tally, details } = await fuzz(list, records, carryover, RUNS);
    if (details.failed) throw new Error(fc.defaultReportMessage(details), { cause: details.errorInstance });
    for (const [outcome, times] of Object.entries(tally)) expect([outcome, times > RUNS / 20]).toEqual([outcome, true]);
  });

  const { send } = seededSandbox({
    seed: "filters",
    clock,
    omitZeros: true,
    omitTotalCount: true,
    order: "name",
    tokens: "offset",
  });
  const spare = createFront(catalogue, { insertZeros: true })(send);

  test.each(LISTS)("$resource, also of a v2 that leaves zeros and counts out and has its own order", async (list) => {
    const { details } = await fuzz({ ...list, uncounted: true }, await recordsOf(list), spare, RUNS / 5);
    if (details.failed) throw new Error(fc.defaultReportMessage(details), { cause: details.errorInstance });
  });
});
