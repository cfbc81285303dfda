/** What becomes of a list's query parameters in v2? */
import type { Filter } from "../../model/resource.ts";
import { code } from "./markdown.ts";

/** v1's parameter, and Markdown for v2's; nothing for those that stay as they are. */
export function changedQueries(filters: readonly Filter[]): readonly (readonly [v1: string, v2: string])[] {
  return filters.flatMap((filter) => {
    const v2 = changed(filter);
    return v2 === undefined ? [] : [[filter.v1, v2] as const];
  });
}

function changed(filter: Filter): string | undefined {
  switch (filter.use) {
    case "get":
      return "a Get of that uid; 404 where v1 gave an empty list";
    case "parent":
      return "`uidp.children_of`; for `/` it is `uidp.in_root=true`";
    case "inverted":
      return `${code(filter.v2)} with the opposite value; send it also where v1's was left out`;
    case "enum":
      return `${code(filter.v2)} with v2's names (below)`;
    case "send":
    case "page-size":
    case "page-token":
      return filter.v1 === filter.v2 ? undefined : code(filter.v2);
    default:
      return filter satisfies never;
  }
}
