/** How does native v1 tell of images: architectures, sizes, and the tags of a repo in short? (Field map 2.12 and 2.13.) */

import type { Caller } from "../auth/caller.ts";
import type { Context } from "../context.ts";
import type { Route } from "../gateway/route.ts";
import { type JsonObject, member } from "../json.ts";
import { architecturesOf, sizeOf } from "../resources/images.ts";
import { newestVersion, tags } from "../resources/tags.ts";
import { visible } from "../resources/visible.ts";
import type { StoredRecord } from "../store/collection.ts";
import { placeFilter } from "../store/select.ts";
import { queryV1, selected, textV1 } from "./face.ts";
import { tagsV1, tagTests, viewTag } from "./tags.ts";

/** The most recently updated of them; of two updated at once the one with the lower uid. */
function newest(counted: readonly StoredRecord[]): StoredRecord | undefined {
  const time = (tag: StoredRecord | undefined) => Date.parse(String(member(tag?.value, "updateTime") ?? ""));
  let best: StoredRecord | undefined;
  for (const tag of counted) if (best === undefined || time(tag) > time(best)) best = tag;
  return best;
}

/** Like every read of v1 it does not say whether a repo is empty, out of sight or missing: there are no tags to count. */
function summary(context: Context, caller: Caller, repo: string, request: JsonObject): JsonObject {
  const place = { ...placeFilter({}), childrenOf: repo };
  const counted = selected(context, tagsV1, visible(context, tags, caller, place, tagTests(request)));
  const latest = newest(counted);
  const shown = latest === undefined ? {} : { latestTag: viewTag(latest) };
  const lastUpdated = member(latest?.value, "updateTime") ?? null;
  const latestVersion = newestVersion(counted.map((tag) => String(member(tag.value, "name") ?? "")));
  return { id: repo, tagCount: String(counted.length), lastUpdated, ...shown, latestVersion };
}

/** `GET repos/{id}/digests/{digest}/architectures` and `…/size`, `GET repotagssummary/{repo_id}`. */
export function imagesV1(context: Context): readonly Route[] {
  const at = { method: "GET", domain: "registry", version: "v1" };
  const write = (message: string, value: JsonObject) => textV1(context, message, value);
  const names = new Map([["uid", "id"]]);
  return [
    {
      ...at,
      collection: "repos",
      shape: "image",
      word: "architectures",
      names,
      prepare: (call) => (caller) => write("Archs", { archs: [...architecturesOf(context, caller, call.tail)] }),
    },
    {
      ...at,
      collection: "repos",
      shape: "image",
      word: "size",
      names,
      prepare(call) {
        const asked = String(member(queryV1(context, "SizeRequest", call.query), "arch") ?? "");
        return (caller) => {
          const { size, architecture } = sizeOf(context, caller, call.tail, asked);
          return write("Size", { size, arch: architecture });
        };
      },
    },
    {
      ...at,
      collection: "repotagssummary",
      shape: "tail",
      names,
      prepare(call) {
        const request = queryV1(context, "GetRepoTagsSummaryRequest", call.query);
        return (caller) => write("RepoTagsSummary", summary(context, caller, call.tail, request));
      },
    },
  ];
}
