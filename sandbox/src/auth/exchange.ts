/** How does a workload turn its own OIDC token into an API token? (Specification sections 4 and 5, token exchange.) */

import { type Context, now } from "../context.ts";
import { type ApiRequest, header } from "../http.ts";
import { type Json, type JsonObject, member } from "../json.ts";
import { invalid, type Refusal, RpcCode, refuse } from "../refusal.ts";
import { makeRecord } from "../store/collection.ts";
import { bodyText, parseFirst } from "../wire/parse.ts";
import { parseQuery, type QueryPairs } from "../wire/query.ts";
import { EXCHANGED_SECONDS, identityToken } from "./authenticate.ts";
import { bearerToken, unverifiedClaims } from "./token.ts";

function denied(): Refusal {
  return refuse(RpcCode.PERMISSION_DENIED, "Permission denied: the identity cannot be assumed with this token");
}

/** The answer to `/sts/exchange`: `{token, expiry}`. Parameters come in the query, or on POST in a form or JSON body. */
export function exchange(context: Context, secret: string, request: ApiRequest, query: QueryPairs): string {
  const parameters = new Map([...bodyParameters(request), ...query]);
  const presented = bearerToken(header(request.headers, "authorization"));
  const claims = presented === undefined ? undefined : unverifiedClaims(presented);
  if (claims === undefined) throw refuse(RpcCode.UNAUTHENTICATED, "Unauthenticated: an OIDC token is required");
  const audience = parameters.get("aud") ?? "";
  const wanted = context.settings.audience;
  if (audience === "") throw invalid("aud", "an audience is required");
  if (wanted !== undefined && audience !== wanted) throw invalid("aud", "the audience is not this API");
  const uid = parameters.get("identity") ?? "";
  if (uid === "") throw invalid("identity", "an identity is required");
  const identity = context.store.collection("identities").get(uid);
  if (identity === undefined || !matches(context, identity.value, claims)) throw denied();
  const seen = makeRecord({ ...identity.value, lastSeenTime: now(context) }, identity.extra);
  context.store.collection("identities").put(seen);
  const expiry = new Date(context.settings.clock().getTime() + EXCHANGED_SECONDS * 1000).toISOString();
  return JSON.stringify({ token: identityToken(context, secret, uid, audience), expiry });
}

function bodyParameters(request: ApiRequest): QueryPairs {
  if (request.method !== "POST" || request.body === undefined || request.body.length === 0) return [];
  const text = bodyText(request.body);
  if (!text.trimStart().startsWith("{")) return parseQuery(text.trim());
  const node = parseFirst(text);
  if (node?.kind !== "object") return [];
  return node.members.flatMap(([name, value]) => {
    const first = value.kind === "array" ? value.items[0] : value;
    return first?.kind === "string" ? [[name, first.text] as const] : [];
  });
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
