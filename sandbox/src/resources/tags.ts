/** Tags: their rules, the special ones, v1 and v2. */
import { createHash } from "node:crypto";
import { keep, pick, times, type V1Face } from "../faces/v1.ts";
import type { V2Face } from "../faces/v2.ts";
import { type JsonObject, member } from "../json.ts";
import { invalid } from "../refusal.ts";
import type { StoredRecord } from "../store/collection.ts";
import { nameTest, type RecordTest } from "../store/select.ts";
import { checkRename, findByName } from "./repos.ts";
import type { Draft, Resource, Write } from "./resource.ts";

const NAME = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** What a list can leave out: signatures and the like, dated builds, package revisions. */
export const SPECIAL_TAGS = {
  referrers: /^sha256-[0-9a-f]{64}(?:\.\w+)?$/,
  dates: /(?:^|[.-])20\d{6}(?:\d{4,6})?$/,
  epochs: /-r\d+$/,
} as const;

/** True when the tag's name has that form. */
export function isSpecial(record: StoredRecord, kind: keyof typeof SPECIAL_TAGS): boolean {
  return SPECIAL_TAGS[kind].test(String(member(record.value, "name") ?? ""));
}

/** The highest version among names that are nothing but numbers and dots, compared number by number; empty without any. */
export function newestVersion(names: readonly string[]): string {
  const versions = names.filter((name) => /^\d+(?:\.\d+)+$/.test(name));
  const numbers = (name: string) => name.split(".").map(Number);
  const compare = (a: readonly number[], b: readonly number[]): number => {
    const length = Math.max(a.length, b.length);
    for (let at = 0; at < length; at++) if (a[at] !== b[at]) return (a[at] ?? -1) - (b[at] ?? -1);
    return 0;
  };
  return versions.sort((a, b) => compare(numbers(a), numbers(b))).at(-1) ?? "";
}

/** A tag made without a digest gets one: here the hash of where it is. */
function check(write: Write): Draft {
  const { before, next, parent } = write;
  const name = String(member(next.value, "name") ?? "");
  if (!NAME.test(name)) throw invalid("name", `name must match ${NAME.source}`);
  const given = String(member(next.value, "digest") ?? "");
  if (given !== "" && !DIGEST.test(given)) throw invalid("digest", "a digest is sha256: and 64 hex digits");
  checkRename("tags", write);
  const made = `sha256:${createHash("sha256").update(`${parent}:${name}`).digest("hex")}`;
  const digest = given === "" ? String(member(before?.value, "digest") ?? made) : given;
  return { ...next, value: { ...next.value, digest } };
}

export const tags: Resource = {
  name: "tags",
  type: "Tag",
  parents: "repos",
  times: ["updateTime"],
  twin: (context, parent, value) => findByName(context, "tags", parent, member(value, "name")),
  check,
};

// v1

const EXCLUDES: readonly (readonly [parameter: string, kind: keyof typeof SPECIAL_TAGS])[] = [
  ["excludeReferrers", "referrers"],
  ["excludeDates", "dates"],
  ["excludeEpochs", "epochs"],
];

/** The filters of lists and summaries. Special tags are listed unless they are to be left out. */
export function tagTests(request: JsonObject): readonly RecordTest[] {
  const found = [...nameTest(request)];
  const digest = member(request, "digest") ?? "";
  if (digest !== "") found.push((record) => member(record.value, "digest") === digest);
  const since = member(request, "updatedSince");
  if (typeof since === "string") {
    const from = Date.parse(since);
    found.push((record) => Date.parse(String(member(record.value, "updateTime"))) >= from);
  }
  for (const [parameter, kind] of EXCLUDES) {
    if (member(request, parameter) === true) found.push((record) => !isSpecial(record, kind));
  }
  return found;
}

/** A tag as v1 knows it. */
export function viewTag(record: StoredRecord): JsonObject {
  const same = keep(record.value, ["name", "digest", "deprecated", "bundles"]);
  return { id: record.uid, ...same, ...pick(record.value, [["updateTime", "lastUpdated"]]), ...times(record.value) };
}

export const tagsV1: V1Face = {
  resource: tags,
  domain: "registry",
  collection: "tags",
  operations: ["list", "create", "update", "delete"],
  filter: "TagFilter",
  item: "Tag",
  view: viewTag,
  tests: tagTests,
  key: "id",
  write: {
    message: "Tag",
    // A PUT without a digest does not blank it: the rules of tags keep the stored one.
    read: (given) => ({ value: keep(given, ["name", "digest", "deprecated", "bundles"]), extra: {} }),
    answer: "Tag",
    view: viewTag,
    upserts: {},
  },
};

// v2

const INCLUDES: readonly (readonly [parameter: string, kind: keyof typeof SPECIAL_TAGS])[] = [
  ["includeReferrers", "referrers"],
  ["includeDates", "dates"],
  ["includeEpochs", "epochs"],
];

/** Special tags are left out unless asked for. */
function tests(request: JsonObject): readonly RecordTest[] {
  const found = [...nameTest(request)];
  const digest = member(request, "digest") ?? "";
  if (digest !== "") found.push((record) => member(record.value, "digest") === digest);
  const since = member(request, "updatedSince");
  if (typeof since === "string") {
    const from = Date.parse(since);
    found.push((record) => Date.parse(String(member(record.value, "updateTime"))) >= from);
  }
  for (const [parameter, kind] of INCLUDES) {
    if (member(request, parameter) !== true) found.push((record) => !isSpecial(record, kind));
  }
  return found;
}

export const tagsV2: V2Face = {
  resource: tags,
  domain: "registry",
  collection: "tags",
  operations: ["list", "get", "create", "delete"],
  listRequest: "ListTagsRequest",
  order: "uid",
  tests,
  upserts: true,
  demand: (next) => {
    if ((member(next, "digest") ?? "") === "") throw invalid("digest", "a digest is required");
  },
};
