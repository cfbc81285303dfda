/** Which requests can be compared at all, known from their heads? */
import { header } from "../model/message.ts";
import { camelCase } from "../translate/names.ts";
import type { ShadowAsk } from "./options.ts";

const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);

/** False where one of the two versions has no such operation, or no such answer. */
export function isComparable({ match, head }: ShadowAsk): boolean {
  const { operation } = match;
  if (!METHODS.has(head.method) || operation.kind === "native") return false;
  if (operation.kind === "get" && operation.extension) return false;
  if (isNewName(match.resource, head.target)) return false;
  if (header(head.headers, "range") !== undefined) return false;
  return !hasPageToken(match);
}

/** True for a collection called as v2 calls it, which carryover takes in v1 paths too, and v1 itself never did. */
function isNewName({ v1, v2 }: ShadowAsk["match"]["resource"], target: string): boolean {
  if (v1 === v2) return false;
  const [collection = ""] = (target.split("/", 4)[3] ?? "").split(/[?:]/, 1);
  // Nothing is written as an escape that can be written as itself: such paths are refused.
  return collection === v2;
}

/** Whatever the caller says: only a GET may be asked twice. */
export function isWrite({ write, head }: ShadowAsk): boolean {
  return write || head.method !== "GET";
}

/** A page token means something to the version that gave it, and nothing to the other. */
function hasPageToken({ operation, query }: ShadowAsk["match"]): boolean {
  const filters = "filters" in operation ? (operation.filters ?? []) : [];
  const names = filters.flatMap(({ v1, use }) => (use === "page-token" ? [v1, camelCase(v1)] : []));
  if (names.length === 0 || query === "") return false;
  const sent = new URLSearchParams(query);
  return names.some((name) => (sent.get(name) ?? "") !== "");
}
