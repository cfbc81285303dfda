/** How does v2 show tags? (Specification section 4; field map 2.12 and 3.11.) */

import { type JsonObject, member } from "../json.ts";
import { invalid } from "../refusal.ts";
import { isSpecial, type SPECIAL_TAGS, tags } from "../resources/tags.ts";
import { nameTest, type RecordTest } from "../store/select.ts";
import type { V2Face } from "./face.ts";

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
