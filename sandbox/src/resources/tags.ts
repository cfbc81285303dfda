/** Which rules do tags follow, and which of them are special? (Field map 2.12 and 3.11.) */
import { createHash } from "node:crypto";
import { member } from "../json.ts";
import { invalid } from "../refusal.ts";
import type { StoredRecord } from "../store/collection.ts";
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
