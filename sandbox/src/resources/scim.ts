/** How does the SCIM token of an identity provider live: issued, rotated, revoked, switched on? (Field map 2.6 and section 6.) */

import type { Context } from "../context.ts";
import { type JsonObject, member } from "../json.ts";
import { invalid, precondition, RpcCode, refuse } from "../refusal.ts";
import { makeRecord, type StoredRecord } from "../store/collection.ts";
import { rootOf } from "../store/uid.ts";
import { durationMs, timeText } from "../wire/scalars.ts";

const YEAR_MS = 365 * 86_400_000;
const MAX_OVERLAP_MS = 86_400_000;
const DEFAULT_OVERLAP = "3600s";
const ENDPOINT = "https://scim.platform.example/v2/";

/** Numbers of CredentialState. */
const STATE = { NOT_ISSUED: 1, LIVE: 2, REVOKED: 4, ROTATING: 5 } as const;

function scimOf(provider: StoredRecord): JsonObject {
  return (member(provider.value, "scim") ?? {}) as JsonObject;
}

function everIssued(scim: JsonObject): boolean {
  return Number(scim["credentialState"] ?? 0) > STATE.NOT_ISSUED;
}

/** True while there is a token that lets somebody in: one that has expired or was revoked has no life to be prolonged. */
function isGood(scim: JsonObject): boolean {
  return scim["credentialState"] === STATE.LIVE || scim["credentialState"] === STATE.ROTATING;
}

/** Stores the provider with another SCIM state under a fresh etag, which it returns beside the state. */
function put(context: Context, provider: StoredRecord, change: JsonObject): JsonObject {
  const { etag: _old, ...before } = scimOf(provider);
  const etag = `"${context.store.nextHex(8)}"`;
  const endpointUrl = before["endpointUrl"] ?? `${ENDPOINT}${provider.uid}`;
  const scim: JsonObject = { ...before, endpointUrl, ...change, etag };
  for (const key of Object.keys(scim)) if (scim[key] === null) delete scim[key];
  const record = makeRecord({ ...provider.value, scim }, provider.extra);
  context.store.collection("identityProviders").put(record);
  return scim;
}

/** When a new token ends: as asked, never, or in a year. Null stands for never. */
function expiry(context: Context, given: JsonObject): string | null {
  const asked = member(given, "expireTime");
  const now = context.settings.clock().getTime();
  if (member(given, "neverExpires") === true) {
    if (asked !== undefined) throw invalid("expireTime", "it cannot be given beside neverExpires");
    return null;
  }
  if (typeof asked !== "string") return timeText(new Date(now + YEAR_MS));
  if (Date.parse(asked) <= now || Date.parse(asked) > now + 2 * YEAR_MS) {
    throw invalid("expireTime", "it lies in the future, at most two years");
  }
  return asked;
}

function needEtag(scim: JsonObject, given: JsonObject): void {
  const etag = member(given, "etag") ?? "";
  if (etag === "") throw invalid("etag", "an etag is required");
  if (etag !== scim["etag"]) throw refuse(RpcCode.ABORTED, "Aborted: the provider has changed since it was read");
}

/** The first token of a provider. Throws when there is one already. */
export function generateToken(context: Context, provider: StoredRecord, given: JsonObject): JsonObject {
  const state = Number(scimOf(provider)["credentialState"] ?? 0);
  if (everIssued(scimOf(provider)) && state !== STATE.REVOKED) {
    throw precondition("SCIM_TOKEN_EXISTS", provider.uid, "a token was issued already");
  }
  const tokenExpireTime = expiry(context, given);
  const scim = put(context, provider, { tokenExpireTime, credentialState: STATE.LIVE, previousTokenExpireTime: null });
  return answer(context, scim, tokenExpireTime);
}

function answer(context: Context, scim: JsonObject, expireTime: string | null): JsonObject {
  const token = `scim-${context.store.nextHex(32)}`;
  return { token, endpointUrl: scim["endpointUrl"] ?? "", expireTime, etag: scim["etag"] ?? "" };
}

/** Another token; the old one stays good for `overlap`: an hour when absent, not at all when zero, a day at most. */
export function regenerateToken(context: Context, provider: StoredRecord, given: JsonObject): JsonObject {
  const before = scimOf(provider);
  if (!everIssued(before)) throw refuse(RpcCode.NOT_FOUND, "Not found: there never was a token");
  needEtag(before, given);
  const requestedOverlap = String(member(given, "overlap") ?? DEFAULT_OVERLAP);
  const overlap = Math.min(Math.max(durationMs(requestedOverlap), 0), MAX_OVERLAP_MS);
  const expireTime = expiry(context, given);
  const until = timeText(new Date(context.settings.clock().getTime() + overlap));
  const rotates = overlap > 0 && isGood(before);
  const previousTokenExpireTime = rotates ? until : null;
  const credentialState = rotates ? STATE.ROTATING : STATE.LIVE;
  const scim = put(context, provider, { tokenExpireTime: expireTime, previousTokenExpireTime, credentialState });
  return { ...answer(context, scim, expireTime), previousTokenExpireTime, requestedOverlap };
}

/** Ends the token at once; the switch stays as it is. */
export function revokeToken(context: Context, provider: StoredRecord): JsonObject {
  const change = { credentialState: STATE.REVOKED, tokenExpireTime: null, previousTokenExpireTime: null };
  const scim = put(context, provider, change);
  const revokeTime = timeText(context.settings.clock());
  return { etag: scim["etag"] ?? "", enabled: scim["enabled"] ?? false, revokeTime };
}

/** The switch. Turning it on takes two owners of the organisation, lest nobody can get in any more. */
export function setEnabled(context: Context, provider: StoredRecord, given: JsonObject): JsonObject {
  needEtag(scimOf(provider), given);
  const enabled = member(given, "enabled") === true;
  if (enabled && owners(context, rootOf(provider.uid)) < 2) {
    throw precondition("SCIM_NEEDS_OWNERS", provider.uid, "the organisation has fewer than two owners");
  }
  const scim = put(context, provider, { enabled });
  return { enabled, etag: scim["etag"] ?? "" };
}

function owners(context: Context, root: string): number {
  const bindings = context.store.collection("roleBindings");
  const roles = context.store.collection("roles");
  const people = bindings.children(root).flatMap((uid) => {
    const { identityUid, roleUid } = bindings.get(uid)?.value ?? {};
    const role = roles.get(String(roleUid));
    const isOwner = role !== undefined && !role.uid.includes("/") && role.value["name"] === "owner";
    return isOwner ? [String(identityUid)] : [];
  });
  return new Set(people).size;
}
