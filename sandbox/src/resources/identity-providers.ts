/** Which rules do identity providers follow? (Field map 2.6 and section 6; the secret is never shown.) */
import { type JsonObject, member } from "../json.ts";
import { invalid } from "../refusal.ts";
import type { StoredRecord } from "../store/collection.ts";
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
