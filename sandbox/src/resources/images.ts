/** Which architectures does an image have, and how large is it? (Field map 2.13.) */
import { createHash } from "node:crypto";
import type { Caller } from "../auth/caller.ts";
import type { Context } from "../context.ts";
import { member } from "../json.ts";
import { gatewayRefusal, notFound, RpcCode } from "../refusal.ts";
import { repos } from "./repos.ts";
import { readable } from "./writes.ts";

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
