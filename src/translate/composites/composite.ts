/** What is a composite: an operation of several calls, or of a body that rows alone cannot say? */
import type { CompositeName, Operation } from "../../model/resource.ts";
import type { Parts } from "../parts.ts";
import type { Translation } from "../tools.ts";

/** An operation that names a composite. */
export type CompositeOperation = Extract<Operation, { readonly by?: CompositeName }> & { readonly by: CompositeName };

/** Builds the translation of an operation. Throws `Error` for one that lacks what the composite needs: a mistake in the catalogue. */
export type Composite = (operation: CompositeOperation, parts: Parts) => Translation;

/** The v2 path of the operation's verb. Throws `Error` when the catalogue names none. */
export function verbPath(operation: CompositeOperation, { resource, options }: Parts): string {
  const verb = operation.kind === "composite" ? operation.v2 : undefined;
  if (verb === undefined) throw new Error(`${resource.name} ${operation.name}: ${operation.by} needs \`v2\`, a path`);
  return `/${resource.domain}/${options.version}/${verb}`;
}
