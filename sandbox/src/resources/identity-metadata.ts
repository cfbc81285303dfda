/** What has a caller said about themselves, and what does their login say? (Field map 2.3.) */

import type { Caller } from "../auth/caller.ts";
import type { Context } from "../context.ts";
import { type JsonObject, member } from "../json.ts";
import { normalMessage } from "../wire/encode.ts";
import { V2 } from "../wire/schemas.ts";

/** A profile as v2 knows it, and the members that only v1 has. */
export interface Profile {
  readonly value: JsonObject;
  readonly extra: JsonObject;
}

/** What the caller's login says: here the name of their identity, or the subject of their token, cut at the first `-`. */
function loginNames(context: Context, caller: Caller): JsonObject {
  const identity = context.store.collection("identities").get(caller.subject);
  const name = String(member(identity?.value, "name") ?? caller.subject);
  const [givenName = "", ...rest] = name.split("-");
  return { uid: caller.subject, name, givenName, familyName: rest.join("-") };
}

/** The caller's own profile; empty but for the names of the login before anything was said. */
export function profileOf(context: Context, caller: Caller): Profile {
  const { extra = {}, ...said } = context.store.profiles.get(caller.subject) ?? {};
  return { value: { ...said, ...loginNames(context, caller) }, extra: extra as JsonObject };
}

/** Stores what is new and answers the whole. One member is passed through to another service and not kept. */
export function putProfile(context: Context, caller: Caller, { value, extra }: Profile): Profile {
  const { hubspotUtk: _passedOn, ...kept } = normalMessage(V2, V2.message("IdentityMetadata"), value);
  const only = Object.keys(extra).length === 0 ? {} : { extra };
  context.store.profiles.set(caller.subject, { ...kept, ...loginNames(context, caller), ...only });
  return profileOf(context, caller);
}
