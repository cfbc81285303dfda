/** What callers say about themselves, with what their login says; v1 and v2. */

import type { Caller, Context } from "../context.ts";
import { decodeV1, keep, pick, textV1 } from "../faces/v1.ts";
import { decodeBody } from "../faces/v2.ts";
import type { Route } from "../gateway/route.ts";
import { type JsonObject, member } from "../json.ts";
import type { MaskSpelling } from "../options.ts";
import { gatewayRefusal, invalid, RpcCode } from "../refusal.ts";
import { encodeMessage, isZero, normalMessage } from "../wire/encode.ts";
import { applyMask, type MaskPath, parseMask } from "../wire/mask.ts";
import { V2 } from "../wire/schema.ts";

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

// v1

/** Members of the questions with the same name in both faces. */
const ANSWERS = [
  "product",
  "jobTitle",
  "utmCampaign",
  "utmContent",
  "utmMedium",
  "utmSource",
  "utmTerm",
  "latestFormSubmitUrl",
  "latestInternalReferringUrl",
  "hubspotUtk",
  "selfServe",
] as const;

/** The questions are always shown, answered or not. */
function view({ value, extra }: Profile): JsonObject {
  const company = pick(value, [["company", "companyName"]]);
  const onboardingQuestions = { ...company, ...keep(value, ANSWERS), ...keep(extra, ["providers"]) };
  return { onboardingQuestions, ...keep(value, ["name", "givenName", "familyName", "updatesOptIn"]) };
}

/** What v1 could say, all of it: there is no mask, so what is left out becomes zero. The names are the login's. */
function read(given: JsonObject): Profile {
  const questions = member(given, "onboardingQuestions");
  const company = pick(questions, [["companyName", "company"]]);
  const value = { ...company, ...keep(questions, ANSWERS), ...keep(given, ["updatesOptIn"]) };
  const providers = member(questions, "providers");
  return { value, extra: Array.isArray(providers) && providers.length > 0 ? { providers } : {} };
}

/** `PATCH identities/metadata`, for the caller alone; unknown keys are ignored, for no mask is derived from them. */
export function identityMetadataV1(context: Context): Route {
  return {
    method: "PATCH",
    domain: "iam",
    version: "v1",
    collection: "identities",
    shape: "literal",
    word: "metadata",
    prepare(call) {
      const given = decodeV1(context, "IdentityMetadata", call.body);
      return (caller) => {
        const after = putProfile(context, caller, read(given));
        return textV1(context, "IdentityMetadata", view(after));
      };
    },
  };
}

// v2: the mask is in the body.

/** A field mask as protobuf JSON writes it: neither `_` nor `*` can be said. */
const JSON_MASK = /^(?:[a-zA-Z][a-zA-Z0-9]*(?:\.[a-zA-Z][a-zA-Z0-9]*)*(?:,(?!$)|$))*$/;

/** The paths of the mask; without one those of every value that is not zero: keys of the body say nothing here. */
function pathsOf(given: JsonObject, mask: string, spelling: MaskSpelling): readonly MaskPath[] {
  const message = V2.message("IdentityMetadata");
  if (mask === "") {
    const said = message.fields.filter((field) => !field.readonly && !isZero(field, member(given, field.json) ?? ""));
    return said.map((field) => [field]);
  }
  const paths = parseMask(V2, message, mask, spelling);
  const fixed = paths.find((path) => path.some((field) => field.readonly));
  if (fixed !== undefined) throw invalid("update_mask", `${fixed[0]?.proto} is set by the server`);
  return paths;
}

/** `PATCH identities:updateIdentityMetadata`: `{identityMetadata, updateMask}`, for the caller alone. */
export function identityMetadataV2(context: Context): Route {
  return {
    method: "PATCH",
    domain: "iam",
    version: context.settings.version,
    collection: "identities",
    shape: "collectionVerb",
    word: "updateIdentityMetadata",
    prepare(call) {
      const spelling = context.settings.bodyMaskSpelling;
      const { given } = decodeBody(V2.message("UpdateIdentityMetadataRequest"), call.body);
      const mask = String(member(given, "updateMask") ?? "");
      if (spelling === "camelCase" && !JSON_MASK.test(mask)) {
        throw gatewayRefusal(RpcCode.INVALID_ARGUMENT, `updateMask: ${JSON.stringify(mask)} is no field mask`);
      }
      return (caller) => {
        const said = member(given, "identityMetadata") as JsonObject | undefined;
        if (said === undefined) throw invalid("identity_metadata", "the metadata is required");
        const message = V2.message("IdentityMetadata");
        const before = profileOf(context, caller);
        const value = applyMask(V2, message, before.value, said, pathsOf(said, mask, spelling));
        const after = putProfile(context, caller, { value, extra: before.extra });
        return encodeMessage(V2, message, after.value, { omitZeros: context.settings.omitZeros });
      };
    },
  };
}
