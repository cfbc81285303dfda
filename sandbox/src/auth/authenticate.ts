/** Whose call is this? (Specification section 5; a missing or unknown token is 401.) */

import type { Context } from "../context.ts";
import { type HeaderList, header } from "../http.ts";
import { type JsonObject, member } from "../json.ts";
import { type Refusal, RpcCode, refuse } from "../refusal.ts";
import { allowsWrites } from "../resources/roles.ts";
import { isWithin, parentOf } from "../store/uid.ts";
import type { Caller, Grant } from "./caller.ts";
import { bearerToken, signToken, TOKEN_ISSUER, verifyToken } from "./token.ts";

/** The roles that `token` can be asked for. */
const ROLES: ReadonlyMap<string, { readonly write: boolean; readonly staff: boolean; readonly grants: boolean }> =
  new Map([
    ["admin", { write: true, staff: false, grants: true }],
    ["staff", { write: true, staff: true, grants: true }],
    ["viewer", { write: false, staff: false, grants: true }],
    ["nobody", { write: false, staff: false, grants: false }],
  ]);

/** An exchanged token lives for one hour (specification section 8). */
export const EXCHANGED_SECONDS = 3_600;

function unauthenticated(message: string): Refusal {
  return refuse(RpcCode.UNAUTHENTICATED, message);
}

/**
 * A ready token for `name`: `ROLE[@GROUP_UID][#SUBJECT]` with role `admin`, `staff`, `viewer` or `nobody`; a group
 * limits it to that subtree, a subject tells clients apart. It never expires. Throws for an unknown role.
 */
export function namedToken(secret: string, name: string): string {
  const [, role = "", scope = "", subject = ""] = /^(\w+)(?:@([^#]+))?(?:#(.+))?$/.exec(name) ?? [];
  if (!ROLES.has(role)) throw new Error(`unknown role in token name ${JSON.stringify(name)}`);
  return signToken(secret, { iss: TOKEN_ISSUER, sub: subject === "" ? name : subject, role, scope });
}

/** A token for an identity, good for one hour of the clock. */
export function identityToken(context: Context, secret: string, uid: string, audience: string): string {
  const exp = Math.floor(context.settings.clock().getTime() / 1000) + EXCHANGED_SECONDS;
  return signToken(secret, { iss: TOKEN_ISSUER, sub: uid, aud: audience, exp, identity: uid });
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
    const expires = member(claims, "exp");
    if (typeof expires === "number" && expires * 1000 <= context.settings.clock().getTime()) {
      throw unauthenticated("Unauthenticated: the token has expired");
    }
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
