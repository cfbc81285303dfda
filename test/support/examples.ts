/** The examples of the catalogue. */
import { loadExamples } from "../../src/catalogue/catalogue.ts";
import type { Example, Examples, Resource } from "../../src/model/resource.ts";

export const EXAMPLES: Examples = await loadExamples("v2beta1");

export function examplesOf({ name }: Pick<Resource, "name">): readonly Example[] {
  return EXAMPLES.get(name) ?? [];
}
