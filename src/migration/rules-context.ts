/** Which resources and operations can a rules file speak of? (What it is read against, from the catalogue.) */
import type { RulesContext } from "../config/rules.ts";
import type { Operation, Resource } from "../model/resource.ts";
import { snakeCase } from "../translate/names.ts";

/**
 * What `readRules` needs to know beside the file. Resources may also be called as v1 and v2 call their collections. Operations
 * that only native v1 serves are left out: no rule decides about them.
 */
export function rulesContext(
  { resources }: { readonly resources: readonly Resource[] },
  rest: Omit<RulesContext, "resources">,
): RulesContext {
  return {
    ...rest,
    resources: resources.map(({ name, v1, v2, operations }) => ({
      name,
      aliases: [...new Set([v1, v2, snakeCase(v2).replaceAll("_", "-")])].filter((alias) => alias !== name),
      operations: operations.flatMap((operation) =>
        operation.kind === "native"
          ? []
          : [{ name: operation.name, write: isWrite(operation), guessed: operation.guessed === true }],
      ),
    })),
  };
}

/** As a request of that operation is judged: whatever is no GET. */
function isWrite(operation: Operation): boolean {
  return "method" in operation ? operation.method !== "GET" : operation.kind !== "list" && operation.kind !== "get";
}
