/** How does native v1 take what a caller says about themselves? (Field map 2.3, trap T59.) */

import type { Context } from "../context.ts";
import type { Route } from "../gateway/route.ts";
import { type JsonObject, member } from "../json.ts";
import { type Profile, putProfile } from "../resources/identity-metadata.ts";
import { decodeV1, textV1 } from "./face.ts";
import { keep, pick } from "./shape.ts";

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
