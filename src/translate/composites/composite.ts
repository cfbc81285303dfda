/** What is a composite: an operation of several calls, or of a body that rows alone cannot say? */
import type { CompositeName, Filter, Operation, Row } from "../../model/resource.ts";
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

/** The operation's query parameters. */
export function filtersOf(operation: CompositeOperation): readonly Filter[] {
  return ("filters" in operation ? operation.filters : undefined) ?? [];
}

/** v2's member that holds the message, and the rows of that. Throws `Error` when the catalogue names neither. */
export function wrappedBody(
  operation: CompositeOperation,
  { resource }: Parts,
): { wrap: string; rows: readonly Row[] } {
  if (operation.kind === "composite" && operation.wrap !== undefined && operation.body !== undefined) {
    return { wrap: operation.wrap, rows: operation.body.rows };
  }
  throw new Error(`${resource.name} ${operation.name}: ${operation.by} needs \`wrap\` and \`body\``);
}
