/** Which node lies at a dotted path below another? */
import type { Node } from "../json/tree.ts";

/** The node at `path` (dotted member names) below `node`; undefined when there is none. */
export function nodeAt(node: Node | undefined, path: string): Node | undefined {
  let at = node;
  for (const name of path.split(".")) {
    at = at?.kind === "object" ? at.members.find(({ key }) => key === name)?.value : undefined;
  }
  return at;
}
