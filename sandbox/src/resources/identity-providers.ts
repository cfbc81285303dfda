/** Identity providers: their rules, v1 and v2, and their SCIM tokens. No response shows the client secret. */

import type { Context } from "../context.ts";
import { keep, times, type V1Face } from "../faces/v1.ts";
import type { V2Face } from "../faces/v2.ts";
import { type JsonObject, member } from "../json.ts";
import { invalid, precondition, RpcCode, refuse } from "../refusal.ts";
import { makeRecord, rootOf, type StoredRecord } from "../store/collection.ts";
import { nameTest } from "../store/select.ts";
import { durationMs, timeText } from "../wire/scalars.ts";
import type { Draft, Resource, Write } from "./resource.ts";

/** The stored provider with its secret in place, as an update edits it. */
export function withSecret(record: StoredRecord): JsonObject {
  const secret = member(record.extra, "clientSecret");
  const oidc = member(record.value, "oidc") as JsonObject | undefined;
  if (oidc === undefined || secret === undefined) return record.value;
  return { ...record.value, oidc: { ...oidc, clientSecret: secret } };
}

function check({ before, next }: Write): Draft {
  const { value } = next;
  if ((member(value, "name") ?? "") === "") throw invalid("name", "a name is required");
  const oidc = member(value, "oidc");
  if (oidc === undefined) throw invalid("oidc", "a configuration is required");
  for (const key of ["issuer", "clientId"]) {
    if ((member(oidc, key) ?? "") === "") throw invalid(`oidc.${key}`, `${key} is required`);
  }
  const { clientSecret, ...shown } = oidc as JsonObject;
  if (before === undefined && (clientSecret ?? "") === "" && shown["pkceEnabled"] !== true) {
    throw invalid("oidc.clientSecret", "a secret, PKCE, or both are required");
  }
  const rule = correlationRule(before, shown);
  const { clientSecret: _old, ...extra } = next.extra;
  const secret = (clientSecret ?? "") === "" ? {} : { clientSecret: clientSecret ?? "" };
  return { value: { ...value, oidc: { ...shown, ...rule } }, extra: { ...extra, ...secret } };
}

/** Immutable: restating it or leaving it out is no change, another value is refused. */
function correlationRule(before: StoredRecord | undefined, given: JsonObject): JsonObject {
  const asked = Number(given["correlationRule"] ?? 0);
  if (before === undefined) return asked === 0 ? {} : { correlationRule: asked };
  const stored = Number(member(member(before.value, "oidc"), "correlationRule") ?? 0);
  if (asked !== 0 && asked !== stored) throw invalid("oidc.correlationRule", "it cannot be changed");
  return { correlationRule: stored };
}

export const identityProviders: Resource = {
  name: "identityProviders",
  type: "IdentityProvider",
  times: ["createTime", "updateTime"],
  check,
};

// v1

const SAME = ["name", "description", "defaultRole", "oidc"] as const;

function viewProvider(record: StoredRecord): JsonObject {
  return { id: record.uid, ...keep(record.value, [...SAME, "scim"]), ...times(record.value) };
}

/** A PUT without the secret keeps it: reads never return it, so no client could send it back. */
function readProvider(given: JsonObject, before: StoredRecord | undefined): Draft {
  const value = { ...keep(given, SAME), ...keep(before?.value, ["scim", "createTime"]) };
  const secret = member(before?.extra, "clientSecret");
  const oidc = member(value, "oidc") as JsonObject | undefined;
  const silent = oidc !== undefined && (member(oidc, "clientSecret") ?? "") === "";
  const kept = silent && secret !== undefined ? { oidc: { ...oidc, clientSecret: secret } } : {};
  return { value: { ...value, ...kept }, extra: before?.extra ?? {} };
}

export const identityProvidersV1: V1Face = {
  resource: identityProviders,
  domain: "iam",
  collection: "identityProviders",
  operations: ["list", "create", "update", "delete"],
  filter: "IdentityProviderFilter",
  item: "IdentityProvider",
  view: viewProvider,
  tests: nameTest,
  key: "id",
  write: { message: "IdentityProvider", read: readProvider, answer: "IdentityProvider", view: viewProvider },
};

// v2

/** Lists leave the state of the SCIM token out. */
function listed(value: JsonObject): JsonObject {
  const scim = member(value, "scim") as JsonObject | undefined;
  if (scim === undefined) return value;
  const { tokenExpireTime: _time, previousTokenExpireTime: _previous, credentialState: _state, ...rest } = scim;
  return { ...value, scim: rest };
}

export const identityProvidersV2: V2Face = {
  resource: identityProviders,
  domain: "iam",
  collection: "identityProviders",
  operations: ["list", "get", "create", "update", "delete"],
  listRequest: "ListIdentityProvidersRequest",
  order: "uid",
  tests: nameTest,
  listed,
  editable: withSecret,
  demand: (next) => {
    if ((member(next, "defaultRole") ?? "") === "") throw invalid("defaultRole", "a default role is required");
  },
};

// SCIM tokens: issued, rotated, revoked, enabled.

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
