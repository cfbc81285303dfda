/** Which operation of which resource does a request ask for? */
import type { Operation, Resource } from "./resource.ts";

/** A v1 request recognised as an operation of the catalogue. */
export interface Match {
  readonly resource: Resource;
  readonly operation: Operation;
  /** Decoded uid (or parent uid) with `/` between segments; empty when the path has none. */
  readonly uid: string;
  /** The same for the wire: canonical, `/` between segments. */
  readonly uidPath: string;
  /** What a single-segment variable of the path says (a digest), as it goes on the wire; empty when the path has none. */
  readonly segment: string;
  /** Raw query without `?`. */
  readonly query: string;
}

/** What a request target stands for. */
export type Routed =
  | { readonly kind: "match"; readonly match: Match }
  /** A v1 operation without a translation: native v1, or 501 with these names. */
  | { readonly kind: "native"; readonly resource: string; readonly operation: string }
  /** An OPTIONS request on a v1 path; `v2Target` is the mapped v2 target, when there is one. */
  | { readonly kind: "options"; readonly v2Target: string | undefined }
  /** `resource`: the catalogue's name of the collection that the path begins with; only for counting. */
  | { readonly kind: "v2"; readonly resource: string }
  | { readonly kind: "sts"; readonly query: string };

/** The v2 path of a resource's collection (specification section 4). `version`: v2's version segment. */
export function collectionPath(resource: Resource, version: string): string {
  return `/${resource.domain}/${version}/${resource.v2}`;
}

/** The v2 path of what `match` is about: that of a verb, the collection of a list, else `{collection}/{uid or parent}`. */
export function v2PathOf(
  { resource, operation, uidPath, segment }: Omit<Match, "uid" | "query">,
  version: string,
): string {
  if (operation.kind === "call") {
    const path = operation.v2.path.replace("{uid}", uidPath).replace("{segment}", segment);
    return `/${resource.domain}/${version}/${path}`;
  }
  const collection = collectionPath(resource, version);
  return uidPath === "" ? collection : `${collection}/${uidPath}`;
}
