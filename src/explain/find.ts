/** Where in the body of a call does a member stand? */
import { type Node, parseTree, rawOf } from "../json/tree.ts";
import type { Json } from "../model/json.ts";
import { nodeAt } from "../translate/node.ts";

/**
 * Calls that carry the member at the dotted path `v2`, at the top of their body or in what wraps it. `own`: names of members
 * that are never a wrapping.
 */
export function findIn(
  bodies: readonly (Node | undefined)[],
  v2: string,
  own: ReadonlySet<string>,
): { readonly call: number; readonly node: Node }[] {
  if (v2 === "") return [];
  return bodies.flatMap((body, index) => {
    const node = nodeAt(body, v2) ?? wrapped(body, v2, own);
    return node === undefined ? [] : [{ call: index + 1, node }];
  });
}

/** Some verbs wrap what they are about: `{"group":{…}}`, `{"parent":"…","roleBinding":{…}}`. */
function wrapped(body: Node | undefined, v2: string, own: ReadonlySet<string>): Node | undefined {
  if (body?.kind !== "object" || body.members.length > 2) return undefined;
  for (const { key, value } of body.members) {
    const found = own.has(key) ? undefined : nodeAt(value, v2);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Element `index` of the list that a batch holds. */
export function elementOf(body: Node | undefined, index: number): Node | undefined {
  const list = body?.kind === "object" ? body.members.find(({ value }) => value.kind === "array")?.value : body;
  return list?.kind === "array" ? list.items[index] : undefined;
}

/** A body as a tree; undefined when there is none. */
export function treeOf(body: Uint8Array | undefined): Node | undefined {
  return body === undefined || body.length === 0 ? undefined : parseTree(body, { surrogates: "pass" });
}

/** The JSON text of a node. */
export function textOf(node: Node): string {
  return Buffer.from(rawOf(node)).toString("utf8");
}

/** Its value. */
export function jsonOf(node: Node): Json {
  return JSON.parse(textOf(node)) as Json;
}

/** Whether two nodes say the same, up to white space. */
export function same(a: Node, b: Node): boolean {
  return textOf(a) === textOf(b) || JSON.stringify(jsonOf(a)) === JSON.stringify(jsonOf(b));
}
