/** Images: their architectures and sizes, in v1 and v2. */
import { createHash } from "node:crypto";
import type { Caller, Context } from "../context.ts";
import { queryV1, selected, textV1 } from "../faces/v1.ts";
import type { Route } from "../gateway/route.ts";
import { type JsonObject, member } from "../json.ts";
import { gatewayRefusal, notFound, RpcCode } from "../refusal.ts";
import type { StoredRecord } from "../store/collection.ts";
import { placeFilter } from "../store/select.ts";
import { decodeQuery } from "../wire/decode.ts";
import { encodeMessage } from "../wire/encode.ts";
import { V2 } from "../wire/schema.ts";
import { repos } from "./repos.ts";
import { readable, visible } from "./resource.ts";
import { newestVersion, tags, tagsV1, tagTests, viewTag } from "./tags.ts";

/** What both faces take when no architecture is named; v2 says so, v1 says nothing. */
const DEFAULT_ARCHITECTURE = "amd64";
/** The variety of images, chosen by the last digit of the digest: two in sixteen lack the default. */
const VARIETY: readonly (readonly string[])[] = [
  ["amd64", "arm64"],
  ["amd64"],
  ["arm64", "amd64", "ppc64le"],
  ["amd64", "arm64"],
  ["arm64"],
  ["amd64"],
  ["386", "amd64", "arm/v7", "arm64"],
  ["amd64", "arm64"],
];
/** Above what a JavaScript number holds, for one architecture: sizes are 64-bit integers. */
const HUGE = 9_007_199_254_740_993n;

/** The repo and the digest in `{repo}/digests/{digest}`. */
function imagePath(tail: string): { repo: string; digest: string } {
  const cut = tail.lastIndexOf("/digests/");
  if (cut < 0) throw gatewayRefusal(RpcCode.NOT_FOUND, "Not Found");
  return { repo: tail.slice(0, cut), digest: tail.slice(cut + "/digests/".length) };
}

/**
 * The architectures of the image at `tail` (`{repo}/digests/{digest}`). Throws what reading the repo throws, and 404 when
 * no tag of it has the digest.
 */
export function architecturesOf(context: Context, caller: Caller, tail: string): readonly string[] {
  const { repo, digest } = imagePath(tail);
  readable(context, repos, caller, repo);
  const tags = context.store.collection("tags");
  if (!tags.children(repo).some((uid) => member(tags.get(uid)?.value, "digest") === digest)) {
    throw notFound("Image", tail);
  }
  return VARIETY[Number.parseInt(digest.slice(-1), 16) % VARIETY.length] ?? [];
}

/** The size in bytes of one architecture of that image. Throws 404 when it has no such architecture. */
export function sizeOf(
  context: Context,
  caller: Caller,
  tail: string,
  asked: string,
): { size: string; architecture: string } {
  const architecture = asked === "" ? DEFAULT_ARCHITECTURE : asked;
  const known = architecturesOf(context, caller, tail);
  if (!known.includes(architecture)) throw notFound("Image", `${tail} for ${architecture}`);
  const { digest } = imagePath(tail);
  const hash = createHash("sha256").update(`${digest} ${architecture}`).digest("hex");
  const size = BigInt(`0x${hash.slice(0, 7)}`) + (architecture === "ppc64le" ? HUGE : 1n);
  return { size: size.toString(), architecture };
}

// v1: also the tags of a repo in short.

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

// v2

/** `GET repos/{uid}/digests/{digest}/architectures` and `…/size`. */
export function imagesV2(context: Context): readonly Route[] {
  const { omitZeros, version } = context.settings;
  const at = { method: "GET", domain: "registry", version, collection: "repos", shape: "image" as const };
  const write = (message: string, value: JsonObject) => encodeMessage(V2, V2.message(message), value, { omitZeros });
  return [
    {
      ...at,
      word: "architectures",
      prepare: (call) => (caller) =>
        write("Architectures", { architectures: [...architecturesOf(context, caller, call.tail)] }),
    },
    {
      ...at,
      word: "size",
      prepare(call) {
        const asked = String(member(decodeQuery(V2, V2.message("GetSizeRequest"), call.query), "architecture") ?? "");
        return (caller) => write("Size", sizeOf(context, caller, call.tail, asked));
      },
    },
  ];
}
