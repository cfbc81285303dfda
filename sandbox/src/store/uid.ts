/** What does a uid say about its place in the hierarchy? (Specification section 2, UID shape.) */

/** Everything before the last slash; the empty string at the root. */
export function parentOf(uid: string): string {
  const cut = uid.lastIndexOf("/");
  return cut < 0 ? "" : uid.slice(0, cut);
}

/** The first segment: the root group. */
export function rootOf(uid: string): string {
  const cut = uid.indexOf("/");
  return cut < 0 ? uid : uid.slice(0, cut);
}

/** True when `uid` is `ancestor` or lies below it. The empty string is above everything. */
export function isWithin(uid: string, ancestor: string): boolean {
  return ancestor === "" || uid === ancestor || (uid.startsWith(ancestor) && uid[ancestor.length] === "/");
}

/** `uid` and every uid above it, from the root down. */
export function lineage(uid: string): readonly string[] {
  const segments = uid.split("/");
  return segments.map((_, index) => segments.slice(0, index + 1).join("/"));
}
