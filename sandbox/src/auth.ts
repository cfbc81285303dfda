/** Tokens: signing, verifying, the caller that a token stands for, and token exchange. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type Caller, type Context, type Grant, now } from "./context.ts";
import { type ApiRequest, type HeaderList, header } from "./http.ts";
import { type Json, type JsonObject, member } from "./json.ts";
import { invalid, type Refusal, RpcCode, refuse } from "./refusal.ts";
import { allowsWrites } from "./resources/roles.ts";
import { isWithin, makeRecord, parentOf } from "./store/collection.ts";
import { parseQuery, type QueryPairs } from "./wire/decode.ts";

/** The issuer that the sandbox's own tokens name. */
export const TOKEN_ISSUER = "https://issuer.platform.example";

function encodePart(value: Json): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/**
 * When tokens expire that need not be exchanged, in seconds: in 2100, whatever the clock says, so that one name always has one token.
 * Clients that keep tokens refuse those without `exp`.
 */
const LATE = Date.UTC(2100, 0, 1) / 1000;

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

/** The token in `Authorization: Bearer TOKEN` or `Authorization: TOKEN`, or undefined. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return /^(?:bearer +)?([^\s]+)$/i.exec(authorization ?? "")?.[1];
}

// The caller of a request. A missing or unknown token is a 401.

/** The roles that `token` can be asked for. */
const ROLES: ReadonlyMap<string, { readonly write: boolean; readonly staff: boolean; readonly grants: boolean }> =
  new Map([
    ["admin", { write: true, staff: false, grants: true }],
    ["staff", { write: true, staff: true, grants: true }],
    ["viewer", { write: false, staff: false, grants: true }],
    ["nobody", { write: false, staff: false, grants: false }],
  ]);

/** An exchanged token lives for one hour. */
export const EXCHANGED_SECONDS = 3_600;

function unauthenticated(message: string): Refusal {
  return refuse(RpcCode.UNAUTHENTICATED, message);
}

/**
 * A ready token for `name`: `ROLE[@GROUP_UID][#SUBJECT]` with role `admin`, `staff`, `viewer` or `nobody`; a group
 * limits it to that subtree, a subject tells clients apart. It expires in 2100. Throws for an unknown role.
 */
export function namedToken(secret: string, name: string): string {
  const [, role = "", scope = "", subject = ""] = /^(\w+)(?:@([^#]+))?(?:#(.+))?$/.exec(name) ?? [];
  if (!ROLES.has(role)) throw new Error(`unknown role in token name ${JSON.stringify(name)}`);
  return signToken(secret, { iss: TOKEN_ISSUER, sub: subject === "" ? name : subject, exp: LATE, role, scope });
}

/** A token as a workload's own platform would issue it. The sandbox reads it without a look at its signature. */
export function workloadToken(issuer: string, subject: string, audience: string): string {
  return signToken("a platform elsewhere", { iss: issuer, sub: subject, aud: audience, exp: LATE });
}

/** A token for an identity, good for one hour of the clock. */
export function identityToken(context: Context, secret: string, uid: string, audience: string): string {
  const exp = exchangedUntil(context);
  return signToken(secret, { iss: TOKEN_ISSUER, sub: uid, aud: audience, exp, identity: uid });
}

function exchangedUntil(context: Context): number {
  return Math.floor(context.settings.clock().getTime() / 1000) + EXCHANGED_SECONDS;
}

function isExpired(context: Context, claims: JsonObject): boolean {
  const expires = member(claims, "exp");
  return typeof expires === "number" && expires * 1000 <= context.settings.clock().getTime();
}

/** The caller that the headers name. Throws 401 for no token, a forged one, or one that has expired. */
export type Authenticate = (headers: HeaderList) => Caller;

/** Most tokens whose signature is remembered as good. */
const MAX_KNOWN = 1_000;

/** An authenticator for tokens that `secret` signed; it checks a signature once. */
export function createAuthenticator(context: Context, secret: string): Authenticate {
  const known = new Map<string, JsonObject>();
  return (headers) => {
    const token = bearerToken(header(headers, "authorization"));
    if (token === undefined) throw unauthenticated("Unauthenticated: a bearer token is required");
    const claims = known.get(token) ?? verifyToken(secret, token);
    if (claims === undefined) throw unauthenticated("Unauthenticated: the token is not valid");
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(token, claims);
    if (isExpired(context, claims)) throw unauthenticated("Unauthenticated: the token has expired");
    return callerOf(context, claims);
  };
}

function callerOf(context: Context, claims: JsonObject): Caller {
  const subject = String(member(claims, "sub") ?? "");
  const identity = member(claims, "identity");
  if (typeof identity === "string") return { subject, staff: false, grants: identityGrants(context, identity) };
  const role = ROLES.get(String(member(claims, "role") ?? ""));
  if (role === undefined) throw unauthenticated("Unauthenticated: the token is not valid");
  const scope = String(member(claims, "scope") ?? "");
  return { subject, staff: role.staff, grants: role.grants ? [{ scope, write: role.write }] : [] };
}

/** What the role bindings of an identity allow: reading the group of each, and writing when a capability changes things. */
function identityGrants(context: Context, identity: string): readonly Grant[] {
  const bindings = context.store.collection("roleBindings");
  const roles = context.store.collection("roles");
  const grants: Grant[] = [];
  for (const uid of bindings.uids()) {
    const binding = bindings.get(uid);
    if (member(binding?.value, "identityUid") !== identity) continue;
    const role = roles.get(String(member(binding?.value, "roleUid") ?? ""));
    if (role === undefined) continue;
    const scope = parentOf(uid);
    if (!grants.some((grant) => grant.write && isWithin(scope, grant.scope))) {
      grants.push({ scope, write: allowsWrites(role.value) });
    }
  }
  return grants;
}

// Token exchange: a workload's own OIDC token for a token of the platform.

function denied(): Refusal {
  return refuse(RpcCode.PERMISSION_DENIED, "Permission denied: the identity cannot be assumed with this token");
}

/** The answer to `/sts/exchange`: `{token, expiry, refreshToken}`. Parameters come in the query, or on POST in a form as well. */
export function exchange(context: Context, secret: string, request: ApiRequest, query: QueryPairs): string {
  const parameters = [...formParameters(request), ...query];
  const presented = bearerToken(header(request.headers, "authorization"));
  const claims = presented === undefined ? undefined : unverifiedClaims(presented);
  if (claims === undefined) throw refuse(RpcCode.UNAUTHENTICATED, "Unauthenticated: an OIDC token is required");
  const audience = audienceOf(context, parameters);
  const uid = parameters.find(([name]) => name === "identity")?.[1] ?? "";
  if (uid === "") throw invalid("identity", "an identity is required");
  const identity = context.store.collection("identities").get(uid);
  if (identity === undefined || !matches(context, identity.value, claims)) throw denied();
  const seen = makeRecord({ ...identity.value, lastSeenTime: now(context) }, identity.extra);
  context.store.collection("identities").put(seen);
  const token = newToken(context, identityToken(context, secret, uid, audience));
  return JSON.stringify({ ...token, refreshToken: refreshToken(context, secret, uid) });
}

/** The answer to `/sts/exchange_refresh_token`: a pair of fresh tokens for the refresh token that is presented. */
export function exchangeRefreshToken(context: Context, secret: string, request: ApiRequest, query: QueryPairs): string {
  const presented = bearerToken(header(request.headers, "authorization"));
  const claims = presented === undefined ? undefined : verifyToken(secret, presented);
  const uid = member(claims, "refreshes");
  if (claims === undefined || typeof uid !== "string") {
    throw unauthenticated("Unauthenticated: a refresh token is required");
  }
  if (isExpired(context, claims)) throw unauthenticated("Unauthenticated: the refresh token has expired");
  const audience = audienceOf(context, [...formParameters(request), ...query]);
  if (context.store.collection("identities").get(uid) === undefined) throw denied();
  return JSON.stringify({
    token: newToken(context, identityToken(context, secret, uid, audience)),
    refreshToken: newToken(context, refreshToken(context, secret, uid)),
  });
}

function newToken(context: Context, token: string): JsonObject {
  const expiry = new Date(context.settings.clock().getTime() + EXCHANGED_SECONDS * 1000).toISOString();
  return { token, expiry };
}

function refreshToken(context: Context, secret: string, uid: string): string {
  return signToken(secret, { iss: TOKEN_ISSUER, sub: uid, exp: exchangedUntil(context), refreshes: uid });
}

/** The first audience; each of them must be this API. */
function audienceOf({ settings }: Context, parameters: QueryPairs): string {
  const audiences = parameters.flatMap(([name, value]) => (name === "aud" && value !== "" ? [value] : []));
  const [first] = audiences;
  if (first === undefined) throw invalid("aud", "an audience is required");
  const isForeign = settings.audience !== undefined && audiences.some((one) => one !== settings.audience);
  if (isForeign) throw invalid("aud", "the audience is not this API");
  return first;
}

/** Any other body than a form is not read. */
function formParameters({ method, headers, body = new Uint8Array() }: ApiRequest): QueryPairs {
  const isForm = /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(header(headers, "content-type") ?? "");
  return method === "POST" && isForm ? parseQuery(Buffer.from(body).toString("utf8")) : [];
}

/** True when the claims of a token satisfy what the identity demands of it. */
function matches(context: Context, identity: JsonObject, claims: JsonObject): boolean {
  const match = member(identity, "claimMatch");
  if (match !== undefined) return matchesClaims(match, claims);
  const keys = member(identity, "staticKeys");
  if (keys === undefined) return false;
  const expires = member(keys, "expirationTime");
  const alive = typeof expires !== "string" || Date.parse(expires) > context.settings.clock().getTime();
  return (
    alive && fits(member(keys, "issuer"), member(claims, "iss")) && fits(member(keys, "subject"), member(claims, "sub"))
  );
}

function matchesClaims(match: Json, claims: JsonObject): boolean {
  const one = (exact: string, pattern: string, given: Json | undefined) => {
    const texts = (Array.isArray(given) ? given : [given]).filter((text) => typeof text === "string");
    const wanted = member(match, exact);
    if (wanted !== undefined) return texts.some((text) => fits(wanted, text));
    const shape = member(match, pattern);
    return shape !== undefined && texts.some((text) => fitsPattern(shape, text));
  };
  if (!one("issuer", "issuerPattern", member(claims, "iss"))) return false;
  if (!one("subject", "subjectPattern", member(claims, "sub"))) return false;
  const wantsAudience = member(match, "audience") !== undefined || member(match, "audiencePattern") !== undefined;
  if (wantsAudience && !one("audience", "audiencePattern", member(claims, "aud"))) return false;
  const exact = Object.entries((member(match, "claims") ?? {}) as JsonObject);
  const patterns = Object.entries((member(match, "claimPatterns") ?? {}) as JsonObject);
  return (
    exact.every(([name, value]) => fits(value, member(claims, name))) &&
    patterns.every(([name, shape]) => fitsPattern(shape, member(claims, name)))
  );
}

function fits(wanted: Json | undefined, given: Json | undefined): boolean {
  return typeof wanted === "string" && wanted === given;
}

function fitsPattern(shape: Json | undefined, given: Json | undefined): boolean {
  if (typeof shape !== "string" || typeof given !== "string") return false;
  try {
    return new RegExp(`^(?:${shape})$`).test(given);
  } catch {
    return false;
  }
}
