/** How is a uid read from a path and written into one, and where in the hierarchy does it lie? */
import type { Match } from "../model/match.ts";
import type { Resource } from "../model/resource.ts";
import { checkSegments, decodePath, invalidPath, show } from "./path.ts";

/** What a uid may not hold: anything but letters, digits, `-`, `_`, `.` and the `/` between its segments. */
const FOREIGN = /[^A-Za-z0-9\-_./]/;
const SHAPE = 'segments of letters, digits, "-", "_" and "." with single "/" between them';

/**
 * `uid` itself when it has the shape of a uid (design: paths): one or more segments of letters, digits, `-`, `_`, `.`,
 * none of them empty or of nothing but dots. Lengths are not checked, hex is not required.
 * Throws `Problem` INVALID_PATH.
 */
export function emitUid(uid: string): string {
  const foreign = FOREIGN.exec(uid);
  if (foreign !== null) throw invalidPath(show(foreign[0]), `at offset ${foreign.index} of the uid`, SHAPE);
  if (uid === "" || uid.startsWith("/") || uid.endsWith("/")) throw invalidPath("empty segment", "in the uid", SHAPE);
  checkSegments(`/${uid}`);
  return uid;
}

/** The uid that `text` stands for in a path: `%2F` and `%2f` mean `/`, and nothing else may be escaped. Throws `Problem` INVALID_PATH. */
export function parseUid(text: string): string {
  return emitUid(decodePath(text));
}

/** True when `uid` has the shape of a uid, decoded. Never throws. */
export function isUid(uid: string): boolean {
  return (
    uid !== "" && !FOREIGN.test(uid) && uid.split("/").every((segment) => segment !== "" && !/^\.+$/.test(segment))
  );
}

/** The uid one level up; undefined for a root. */
export function parentOf(uid: string): string | undefined {
  const slash = uid.lastIndexOf("/");
  return slash === -1 ? undefined : uid.slice(0, slash);
}

/** True for a uid of one segment. */
export function isRoot(uid: string): boolean {
  return uid !== "" && !uid.includes("/");
}

/** True when `uid` lies anywhere below `of`; false for `of` itself. */
export function isDescendant(uid: string, of: string): boolean {
  return of !== "" && uid.length > of.length + 1 && uid.charAt(of.length) === "/" && uid.startsWith(of);
}

/** True when `uid` lies exactly one level below `of`. */
export function isChild(uid: string, of: string): boolean {
  return isDescendant(uid, of) && uid.indexOf("/", of.length + 1) === -1;
}

/** True when `uid` lies anywhere above `of`; false for `of` itself. */
export function isAncestor(uid: string, of: string): boolean {
  return isDescendant(of, uid);
}

/**
 * The v2 path of a collection, or of the record (or parent) `uidPath` in it; an empty one is the collection itself.
 * `version` is v2's version segment; `suffix` is put behind as it is (`:batchCreate`, `/readme`). Specification section 4.
 */
export function v2Path(resource: Resource, version: string, uidPath = "", suffix = ""): string {
  const collection = `/${resource.domain}/${version}/${resource.v2}`;
  return uidPath === "" ? collection + suffix : `${collection}/${uidPath}${suffix}`;
}

/** The v2 path that `match` is about, without a query: the collection of a list, else `{collection}/{uid or parent}`. */
export function v2Target(match: Match, version: string): string {
  return v2Path(match.resource, version, match.uidPath);
}
