/** What is a uid, and where does it stand in the hierarchy? (Specification section 2; design: paths.) */

/** One or more segments of letters, digits, `-`, `_`, `.`, none of them only dots; lengths are not checked. */
const UID = /^(?!\.+(?:\/|$))[A-Za-z0-9._-]+(?:\/(?!\.+(?:\/|$))[A-Za-z0-9._-]+)*$/;

/** True when `text` can be the uid of a record. */
export function isUid(text: string): boolean {
  return UID.test(text);
}

/** The uid of the direct parent; empty for a record at the root. */
export function parentOf(uid: string): string {
  const slash = uid.lastIndexOf("/");
  return slash < 0 ? "" : uid.slice(0, slash);
}

/** A place in the hierarchy as the list filters mean it (`uidp.*`; specification section 4). */
export type Hierarchy = "ancestors" | "descendants" | "children" | "root" | "ids";

/** Whether the record `uid` is where a filter of kind `hierarchy` with `value` looks. `descendants` and `ancestors` include the record itself. */
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
