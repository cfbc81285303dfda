/** JSON text with the values of secret members masked. */
import { isSecretName, MASKED, withoutTokens } from "../model/secrets.ts";
import { JsonError } from "./error.ts";
import { type JsonNode, parseTree } from "./tree.ts";

/** `text` with its secrets masked and every other byte as it was; undefined if it is not JSON. `secret`: the whole value is one. */
export function maskedJson(text: string, secret = false): string | undefined {
  const bytes = Buffer.from(text);
  try {
    return withoutTokens(replaced(bytes, secretsIn(parseTree(bytes, { surrogates: "pass" }), secret)));
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Strings and numbers of secret members, however deep; an empty string reveals nothing. */
function secretsIn(node: JsonNode, secret: boolean): readonly JsonNode[] {
  switch (node.kind) {
    case "object":
      return node.members.flatMap(({ key, value }) => secretsIn(value, secret || isSecretName(key)));
    case "array":
      return node.items.flatMap((item) => secretsIn(item, secret));
    case "string":
      return secret && node.value !== "" ? [node] : [];
    case "number":
      return secret ? [node] : [];
    default:
      return [];
  }
}

function replaced(bytes: Buffer, hidden: readonly JsonNode[]): string {
  let text = "";
  let at = 0;
  for (const { start, end } of hidden) {
    text += `${bytes.toString("utf8", at, start)}"${MASKED}"`;
    at = end;
  }
  return text + bytes.toString("utf8", at);
}
