/** What is an operation made of, worked out once at the start? */
import type { Match } from "../model/match.ts";
import type { Resource } from "../model/resource.ts";
import type { FieldNames } from "./error.ts";
import type { TranslateOptions } from "./tools.ts";

/** Shared by the operations of one resource. */
export interface Parts {
  readonly resource: Resource;
  /** Every resource of the catalogue by name, for joins. */
  readonly resources: ReadonlyMap<string, Resource>;
  readonly options: TranslateOptions;
  readonly names: FieldNames;
}

/** The v2 path of what `match` is about: the collection of a list, else `{collection}/{uid or parent}` (specification section 4). */
export function v2PathOf(match: Match, version: string): string {
  const collection = collectionPath(match.resource, version);
  return match.uidPath === "" ? collection : `${collection}/${match.uidPath}`;
}

/** The v2 path of a resource's collection. */
export function collectionPath(resource: Resource, version: string): string {
  return `/${resource.domain}/${version}/${resource.v2}`;
}
