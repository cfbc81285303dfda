/** Who may read the admin port: holders of the token, or without one this machine. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Problem } from "../model/problem.ts";

/** Where an operator finds the token. */
export const OF_TOKEN_FILE = "the token of admin.tokenFile";

/**
 * Why the request may not read views; undefined if it may. With a token, the request must have it; without one, it must come from
 * this machine, directly and under a name of this machine.
 */
export function accessRefusal(
  request: IncomingMessage,
  token: string | undefined,
  which = OF_TOKEN_FILE,
): Problem | undefined {
  if (token !== undefined) {
    return isSingle(request, "authorization") && sameText(bearerOf(request.headers.authorization), token)
      ? undefined
      : new Problem("UNAUTHENTICATED", `this needs \`Authorization: Bearer\` with ${which}`);
  }
  if (isLocal(request)) return undefined;
  return new Problem("UNAUTHENTICATED", "without admin.tokenFile this is answered to the same machine only");
}

/** Node returns the first of several headers of a name, but a proxy may have checked another. */
function isSingle({ rawHeaders }: IncomingMessage, name: string): boolean {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length === 1;
}

function bearerOf(authorization: string | undefined): string {
  return /^bearer +(\S+)$/i.exec(authorization ?? "")?.[1] ?? "";
}

/** Takes the same time for all texts, whatever their lengths. */
export function sameText(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected)) && given !== "";
}

/** Headers that proxies add. */
const FROM_A_PROXY = /^(?:via|forwarded|x-real-ip|x-forwarded-.*)$/;

function isLocal(request: IncomingMessage): boolean {
  // Behind a proxy on this machine every client looks local; its headers reveal it.
  if (Object.keys(request.headers).some((name) => FROM_A_PROXY.test(name))) return false;
  if (!isSingle(request, "host")) return false;
  // A page in a local browser can reach a local port under its own name (DNS rebinding): the Host header reveals it.
  const host = (request.headers.host ?? "").replace(/:\d+$/, "").toLowerCase();
  return isLoopback(request.socket.remoteAddress ?? "") && (host === "localhost" || isLoopback(host));
}

/** True for loopback addresses, including IPv4 in IPv6. */
function isLoopback(address: string): boolean {
  return /^(\[?::1\]?|(::ffff:)?127(\.\d{1,3}){3})$/.test(address);
}
