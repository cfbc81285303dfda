/** Which record, list or verb of v2 does a call go to? (In the catalogue's words.) */
import type { Join, Resource } from "../model/resource.ts";
import { isUid } from "../model/uid.ts";

/** Where a call goes, in the catalogue's words. */
export interface Place {
  readonly resource: Resource | undefined;
  /** `list`: the collection itself; `record`: one uid below it; `part`: a sub-resource of one; `other`: a verb. */
  readonly kind: "list" | "record" | "part" | "other";
  /** Of the record; empty when there is none in the path. */
  readonly uid: string;
  /** The segment of the sub-resource, else empty. */
  readonly sub: string;
  readonly params: URLSearchParams;
}

/** What of the catalogue says where paths lead. */
export interface Paths {
  readonly resources: readonly Resource[];
  /** v2's version segment. */
  readonly version: string;
}

/** Where `target` (origin form, v2) leads. */
export function placeOf(target: string, { resources, version }: Paths): Place {
  const [path = "", query = ""] = target.split("?");
  const params = new URLSearchParams(query);
  const nowhere = { kind: "other", uid: "", sub: "", params } as const;
  for (const resource of resources) {
    const collection = `/${resource.domain}/${version}/${resource.v2}`;
    if (path === collection) return { ...nowhere, resource, kind: "list" };
    if (path.startsWith(`${collection}/`))
      return belowOf(resource, path.slice(collection.length + 1), params, resources);
  }
  return { ...nowhere, resource: resources.find((one) => path.startsWith(`/${one.domain}/`)) };
}

function belowOf(resource: Resource, rest: string, params: URLSearchParams, resources: readonly Resource[]): Place {
  const slash = rest.lastIndexOf("/");
  const verb = rest.lastIndexOf(":");
  // One before the last slash belongs to a digest.
  if (verb > slash) return { resource, kind: "other", uid: rest.slice(0, verb), sub: "", params };
  const last = rest.slice(slash + 1);
  if (subResources(resource, resources).has(last)) {
    return { resource, kind: "part", uid: rest.slice(0, slash), sub: last, params };
  }
  return { resource, kind: isUid(rest) ? "record" : "other", uid: rest, sub: "", params };
}

/** Segments behind a uid that are parts of its record, not uids (`readme`). */
function subResources(resource: Resource, resources: readonly Resource[]): ReadonlySet<string> {
  const joins = resources.flatMap(({ operations }) => operations.flatMap((one): readonly Join[] => joinsOf(one)));
  return new Set(
    joins.flatMap((join) => (join.resource === resource.name && join.sub !== undefined ? [join.sub] : [])),
  );
}

/** The joins of an operation, if it is of a kind that has any. */
export function joinsOf(operation: object): readonly Join[] {
  return "joins" in operation && operation.joins !== undefined ? (operation.joins as readonly Join[]) : [];
}
