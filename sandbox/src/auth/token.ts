/** What does a token of the platform say, and is it genuine? (Specification section 5.) */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type Json, type JsonObject, member } from "../json.ts";

/** The issuer that the sandbox's own tokens name. */
export const TOKEN_ISSUER = "https://issuer.platform.example";

function encodePart(value: Json): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** A token in JWT form over `claims`, signed with `secret`: shaped like the real thing, worth nothing elsewhere. */
export function signToken(secret: string, claims: JsonObject): string {
  const head = `${encodePart({ alg: "HS256", typ: "JWT" })}.${encodePart(claims)}`;
  return `${head}.${createHmac("sha256", secret).update(head).digest("base64url")}`;
}

/** The claims of a token that `secret` signed, or undefined. */
export function verifyToken(secret: string, token: string): JsonObject | undefined {
  const cut = token.lastIndexOf(".");
  const given = Buffer.from(token.slice(cut + 1), "base64url");
  const wanted = createHmac("sha256", secret)
    .update(token.slice(0, Math.max(cut, 0)))
    .digest();
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
  return unverifiedClaims(token);
}

/** The claims in any JWT, whoever signed it, or undefined when it is none. */
export function unverifiedClaims(token: string): JsonObject | undefined {
  const parts = token.split(".");
  if (parts.length !== 3) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(parts[1] ?? "", "base64url").toString("utf8"));
    return member({ claims: claims as Json }, "claims") as JsonObject;
  } catch {
    return undefined;
  }
}

/** The token in `Authorization: Bearer …`, or undefined. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^bearer +([^\s]+)$/i.exec(authorization ?? "")?.[1];
}
