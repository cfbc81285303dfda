/** Masking the secrets of a request: a terminal has a history, and explanations are pasted into tickets. */
import { maskedJson } from "../../json/mask.ts";
import type { ApiRequest } from "../../model/http.ts";
import { isSecretName, shownField, shownTarget, withoutTokens } from "../../model/secrets.ts";
import type { ShownRequest } from "./explanation.ts";

/** A URL in quotes, for messages: without a user's password, without its query and tokens. */
export function quotedUrl(url: string): string {
  const plain = url.replace(/[?#].*$/s, "").replace(/^([A-Za-z][A-Za-z0-9+.-]*:\/\/)?[^/@]*@/, "$1");
  return JSON.stringify(withoutTokens(plain));
}

/** JSON text with its secrets masked. Text that is not JSON is not shown at all. */
export function shownJson(text: string): string {
  return maskedJson(text) ?? `(${Buffer.byteLength(text)} bytes that are no JSON)`;
}

/** The JSON text of the value of member `name`, masked. */
export function shownMember(name: string, text: string): string {
  return maskedJson(text, isSecretName(name)) ?? shownJson(text);
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
      .map(([name, value]) => [name, shownField(name, value)] as const),
  };
}
