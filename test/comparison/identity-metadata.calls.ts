/** What do v1 clients tell of themselves? */
import type { Json, JsonObject } from "../../src/model/json.ts";
import { type Call, type Scenario, without } from "./call.ts";
import { badBodies, otherMethods } from "./words.ts";

const METADATA = "/iam/v1/identities/metadata";
const patch = (name: string, body: Call["body"], status: number, extra: Partial<Call> = {}): Call => {
  return {
    name,
    method: "PATCH",
    path: METADATA,
    ...(body === undefined ? {} : { body }),
    status,
    as: "person",
    ...extra,
  };
};
const ANSWERS: JsonObject = {
  companyName: "a company",
  product: "images",
  jobTitle: "engineer",
  utmCampaign: "campaign",
  utmContent: "content",
  utmMedium: "medium",
  utmSource: "source",
  utmTerm: "term",
  latestFormSubmitUrl: "https://example.com/form?a=b&c",
  latestInternalReferringUrl: "https://example.com/",
  selfServe: true,
};
const NONE: JsonObject = Object.fromEntries(
  Object.keys(ANSWERS).map((name): [string, Json] => [name, name === "selfServe" ? false : ""]),
);
const told = (extra: JsonObject = {}): JsonObject => ({ onboardingQuestions: ANSWERS, updatesOptIn: true, ...extra });
const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const identityMetadataScenarios: readonly Scenario[] = [
  {
    name: "what somebody tells of themselves",
    calls: [
      patch("everything", told(), 200, { shows: { onboardingQuestions: ANSWERS, updatesOptIn: true } }),
      patch("the same again", told(), 200, { shows: { onboardingQuestions: ANSWERS } }),
      ...Object.keys(ANSWERS).map((name) =>
        patch(`without ${name}`, told({ onboardingQuestions: without(ANSWERS, name) }), 200, {
          shows: { onboardingQuestions: { ...ANSWERS, [name]: NONE[name] ?? null } },
        }),
      ),
      patch("without updates", { onboardingQuestions: ANSWERS }, 200, { shows: { updatesOptIn: false } }),
      patch("everything once more", told(), 200),
      patch(
        "in the other spelling",
        {
          onboarding_questions: Object.fromEntries(
            Object.entries(ANSWERS).map(([name, value]) => [snake(name), value]),
          ),
          updatesOptIn: true,
        },
        200,
        { shows: { onboardingQuestions: ANSWERS } },
      ),
      patch(
        "null members are left out",
        told({ onboardingQuestions: { ...ANSWERS, product: null }, name: null }),
        200,
        {
          shows: { onboardingQuestions: { ...ANSWERS, product: "" } },
        },
      ),
      patch("unknown members do nothing", told({ colour: 1, onboardingQuestions: { ...ANSWERS, company: "x" } }), 200, {
        shows: { onboardingQuestions: ANSWERS },
      }),
      patch(
        "members of the server do nothing",
        told({ name: "mine", givenName: "mine", family_name: "mine", uid: "x" }),
        200,
      ),
      patch("what passes through", told({ onboardingQuestions: { ...ANSWERS, hubspotUtk: "utk" } }), 200),
      patch("as a workload", told(), 200, { as: "admin" }),
    ],
  },
  {
    name: "what somebody tells of themselves without an answer to any question",
    calls: [
      patch("everything", told(), 200),
      patch("updates only", { updatesOptIn: true }, 200, { shows: { updatesOptIn: true } }),
      patch("no questions: all is cleared", { onboardingQuestions: {}, updatesOptIn: true }, 200),
      patch("null for the questions", { onboardingQuestions: null, updatesOptIn: true }, 200),
      patch("as a viewer", { updatesOptIn: true }, 200, { as: "viewer" }),
      patch("no body", undefined, 200),
    ],
  },
  {
    name: "what nobody can tell of themselves",
    calls: [
      ...badBodies((name, body, status, extra) => patch(name, body, status, extra), "name").filter(
        ({ name }) => !["by a number for a text", "by an object for a text"].includes(name),
      ),
      patch("a number for a text", { onboardingQuestions: { product: 1 } }, 400, { code: 3 }),
      patch("a text for a truth", { updatesOptIn: "true" }, 400, { code: 3 }),
      patch("a list for a message", { onboardingQuestions: [] }, 400, { code: 3 }),
      patch("one name twice within", '{"onboardingQuestions":{"product":"a","product":"b"}}', 400, { code: 3 }),
      patch("both spellings", { onboardingQuestions: { jobTitle: "a", job_title: "b" } }, 400, { code: 3 }),
      patch("without a token", told(), 401, { as: "anonymous", code: 16 }),
      patch("with a forged token", told(), 401, { as: "forged", code: 16 }),
      ...otherMethods(METADATA, ["HEAD"]),
    ],
  },
];
