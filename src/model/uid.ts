/** One or more segments of letters, digits, `-`, `_`, `.`, none of only dots; lengths are not checked. */
const UID = /^(?!\.+(?:\/|$))[A-Za-z0-9._-]+(?:\/(?!\.+(?:\/|$))[A-Za-z0-9._-]+)*$/;

/** True if `text` can be the uid of a record. */
export function isUid(text: string): boolean {
  return UID.test(text);
}

/** The uid of the direct parent; empty for a record at the root. */
export function parentOf(uid: string): string {
  const slash = uid.lastIndexOf("/");
  return slash < 0 ? "" : uid.slice(0, slash);
}

/** The relations of the list filters `uidp.*`. */
export type Hierarchy = "ancestors" | "descendants" | "children" | "root" | "ids";

/** True if a filter of kind `hierarchy` with `value` selects `uid`. `descendants` and `ancestors` include the record itself. */
export function isInHierarchy(uid: string, hierarchy: Hierarchy, value: string): boolean {
  switch (hierarchy) {
    case "ancestors":
      return uid === value || value.startsWith(`${uid}/`);
    case "descendants":
      return uid === value || uid.startsWith(`${value}/`);
    case "children":
      return parentOf(uid) === value;
    case "root":
      return !uid.includes("/") === (value === "true");
    case "ids":
      return uid === value;
    default:
      return hierarchy satisfies never;
  }
}
