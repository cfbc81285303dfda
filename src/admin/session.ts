/**
 * The login of the operator's page. A cookie holds its own expiry, signed with the token in force, so nothing is kept here: every replica with the
 * same token accepts it, and a new token ends it.
 */
import { createHmac } from "node:crypto";
import { sameText } from "./access.ts";

/** A working day. */
const SESSION_SECONDS = 12 * 3600;

/** Signs in base64url; `purpose` keeps one use of the token from another. */
function sign(token: string, purpose: string, text: string): string {
  return createHmac("sha256", token).update(`carryover page ${purpose}\n${text}`).digest("base64url");
}

/** Browsers share cookies between ports: the name differs for another token, so that two instances on one host do not log each other out. */
export function cookieName(token: string): string {
  return `carryover-${createHmac("sha256", token).update("carryover page cookie").digest("hex").slice(0, 12)}`;
}

/** `now`: milliseconds since 1970. */
export function newSession(token: string, now: number): { readonly value: string; readonly seconds: number } {
  const expires = String(Math.floor(now / 1000) + SESSION_SECONDS);
  return { value: `${expires}.${sign(token, "session", expires)}`, seconds: SESSION_SECONDS };
}

/** The session of a request with this `Cookie` header; undefined without a valid one. */
export function sessionOf(cookies: string | undefined, token: string, now: number): string | undefined {
  const name = cookieName(token);
  for (const part of (cookies ?? "").split(";")) {
    const [found, value = ""] = part.trim().split("=");
    if (found !== name) continue;
    const [expires = "", signature = ""] = value.split(".");
    const seconds = /^\d{1,12}$/.test(expires) ? Number(expires) : 0;
    // A clock that was far ahead must not have made a session that lasts for years.
    const isNow = seconds > now / 1000 && seconds <= now / 1000 + SESSION_SECONDS + 60;
    if (isNow && sameText(signature, sign(token, "session", expires))) return value;
  }
  return undefined;
}

/** What a form of this session must hold: a page of another site cannot read it. */
export function formToken(token: string, session: string): string {
  return sign(token, "form", session);
}

export function isFormToken(given: string, token: string, session: string): boolean {
  return sameText(given, formToken(token, session));
}
