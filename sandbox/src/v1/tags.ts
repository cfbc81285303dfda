/** How does native v1 show and write tags? (Field map 2.12 and 3.11, traps T13 to T15.) */

import { type JsonObject, member } from "../json.ts";
import { isSpecial, type SPECIAL_TAGS, tags } from "../resources/tags.ts";
import type { StoredRecord } from "../store/collection.ts";
import { nameTest, type RecordTest } from "../store/select.ts";
import type { V1Face } from "./face.ts";
import { keep, pick, times } from "./shape.ts";

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
