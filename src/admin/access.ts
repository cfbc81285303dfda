/** Who may read what carryover knows? */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Problem } from "../model/problem.ts";

/**
 * Undefined when the request may see views, else why not (design section 10): with a token, it must be shown; without
 * one, only this machine may ask, directly and by a name of its own.
 */
export function refusal(request: IncomingMessage, token: string | undefined): Problem | undefined {
  if (token !== undefined) {
    return isSingle(request, "authorization") && sameText(bearerOf(request.headers.authorization), token)
      ? undefined
      : new Problem("UNAUTHENTICATED", "this needs `Authorization: Bearer` with the token of admin.tokenFile");
  }
  if (isLocal(request)) return undefined;
  return new Problem("UNAUTHENTICATED", "without admin.tokenFile this is answered to the same machine only");
}

/** Of several fields of one name Node shows the first, and what stands in front may have looked at another. */
function isSingle({ rawHeaders }: IncomingMessage, name: string): boolean {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length === 1;
}

function bearerOf(authorization: string | undefined): string {
  return /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1] ?? "";
}

/** Takes the same time whatever differs, lengths included. */
function sameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected)) && given !== "";
}

/** What proxies add to a request. */
const FROM_A_PROXY = /^(?:via|forwarded|x-real-ip|x-forwarded-.*)$/;

function isLocal(request: IncomingMessage): boolean {
  // A proxy on this machine makes everybody a local peer; what it adds gives it away.
  if (Object.keys(request.headers).some((name) => FROM_A_PROXY.test(name))) return false;
  if (!isSingle(request, "host")) return false;
  // A page in a local browser can reach a local port under a name of its own (DNS rebinding): its Host tells.
  const host = (request.headers.host ?? "").replace(/:\d+$/, "").toLowerCase();
  return isLoopback(request.socket.remoteAddress ?? "") && (host === "localhost" || isLoopback(host));
}

/** True for loopback addresses, also those of IPv4 in IPv6. */
function isLoopback(address: string): boolean {
  return /^(\[?::1\]?|(::ffff:)?127(\.\d{1,3}){3})$/.test(address);
}
