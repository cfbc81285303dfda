/** Masking the secrets of a request: a terminal has a history, and explanations are pasted into tickets. */
import { JsonError } from "../../json/error.ts";
import { type JsonNode, parseTree } from "../../json/tree.ts";
import type { ApiRequest } from "../../model/http.ts";
import { camelCase } from "../../model/text.ts";
import type { ShownRequest } from "./explanation.ts";

/** Stands for what is not shown. */
export const MASKED = "…";

const SECRET_NAME = /secret|passw|token|credential|privatekey|apikey|accesskey|assertion|jwt|authorization|cookie/i;
/** Positions in lists, and facts about tokens: they give no access. */
const HARMLESS_NAME = /^(?:page|nextPage)token$|token(?:type|lifetime|expiry|ttl|endpoint|url)$/i;
/** The beginning and the characters of a signed token. */
const TOKEN = "eyJ";
const TOKEN_START = /\beyJ/;
const TOKEN_CHARACTER = /[A-Za-z0-9._-]/;

/** True for members, parameters and header fields whose value may give access. */
export function isSecretName(name: string): boolean {
  const last = camelCase(name.slice(name.lastIndexOf(".") + 1).replaceAll("-", "_"));
  return last === "code" || (SECRET_NAME.test(last) && !HARMLESS_NAME.test(last));
}

/** The value of a header field, masked; `Authorization` keeps its scheme. */
export function shownHeader(name: string, value: string): string {
  if (name === "authorization" || name === "proxy-authorization") {
    const scheme = /^([A-Za-z][\w-]*)\s+\S/.exec(value)?.[1];
    return scheme === undefined ? MASKED : `${scheme} ${MASKED}`;
  }
  return isSecretName(name) ? MASKED : withoutTokens(value);
}

/** Text without what looks like a signed token. */
export function withoutTokens(text: string): string {
  let shown = "";
  let done = 0;
  for (let at = text.indexOf(TOKEN); at >= 0; at = text.indexOf(TOKEN, done)) {
    let end = at;
    while (TOKEN_CHARACTER.test(text.charAt(end))) end += 1;
    // The character before it says whether a word begins there.
    const from = Math.max(done, at - 1);
    shown += text.slice(done, from) + withoutToken(text.slice(from, end));
    done = end;
  }
  return shown + text.slice(done);
}

/** `run` up to where a token begins in it: `eyJ`, eight more characters, a dot, and something after it. Linear in time. */
function withoutToken(run: string): string {
  let at = 0;
  for (const part of run.split(".")) {
    const start = part.search(TOKEN_START);
    const end = at + part.length;
    if (start >= 0 && part.length - start >= 11 && end + 1 < run.length) return run.slice(0, at + start) + MASKED;
    at = end + 1;
  }
  return run;
}

/** A URL in quotes, for messages: without a user's password, without its query and tokens. */
export function quotedUrl(url: string): string {
  const plain = url.replace(/[?#].*$/s, "").replace(/^([A-Za-z][A-Za-z0-9+.-]*:\/\/)?[^/@]*@/, "$1");
  return JSON.stringify(withoutTokens(plain));
}

/** A target whose secret parameters are not shown. */
export function shownTarget(target: string): string {
  const mark = target.indexOf("?");
  if (mark < 0) return withoutTokens(target);
  const pairs = target.slice(mark + 1).split("&");
  const shown = pairs.map((pair) => {
    const name = pair.slice(0, Math.max(0, pair.indexOf("=")));
    return name !== "" && isSecretName(decoded(name)) ? `${name}=${MASKED}` : pair;
  });
  return withoutTokens(`${target.slice(0, mark)}?${shown.join("&")}`);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** JSON text with its secret values masked and every other byte as it was. Text that is not JSON is not shown at all. */
export function shownJson(text: string): string {
  try {
    const hidden = secretsIn(parseTree(Buffer.from(text), { surrogates: "pass" }), false);
    return withoutTokens(replaced(Buffer.from(text), hidden));
  } catch (error) {
    if (error instanceof JsonError) return `(${Buffer.byteLength(text)} bytes that are no JSON)`;
    throw error;
  }
}

/** The JSON text of the value of member `name`, masked. */
export function shownMember(name: string, text: string): string {
  if (!isSecretName(name)) return shownJson(text);
  const node = parseTree(Buffer.from(text), { surrogates: "pass" });
  return replaced(Buffer.from(text), secretsIn(node, true));
}

/** Strings of secret members, however deep; an empty one reveals nothing. */
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

/** Header fields that every call has, or that say nothing. */
const HIDDEN_HEADERS: ReadonlySet<string> = new Set(["accept", "host", "via", "x-request-id"]);

/** Method, target, fields and body, masked. */
export function shownRequest({ method, target, headers, body }: ApiRequest): ShownRequest {
  return {
    method,
    target: shownTarget(target),
    body: body === undefined || body.length === 0 ? null : shownJson(Buffer.from(body).toString("utf8")),
    headers: headers
      .filter(([name]) => !HIDDEN_HEADERS.has(name))
      .map(([name, value]) => [name, shownHeader(name, value)] as const),
  };
}
