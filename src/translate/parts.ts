/** What is an operation made of, worked out once at the start? */
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
