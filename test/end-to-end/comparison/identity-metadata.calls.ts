/** v1 calls with which clients set their own metadata. */
import type { Json, JsonObject } from "../../../src/model/json.ts";
import { type Call, patch, type Scenario, scenario, type Wanted, without } from "./call.ts";
import { badBodies, otherMethods } from "./words.ts";

const METADATA = "/iam/v1/identities/metadata";
const tell = (name: string, body: Call["body"], ...wanted: Wanted): Call => ({
  as: "person",
  ...patch(name, METADATA, body, ...wanted),
});
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
  scenario("what somebody tells of themselves", [
    tell("everything", told(), { shows: { onboardingQuestions: ANSWERS, updatesOptIn: true } }),
    tell("the same again", told(), { shows: { onboardingQuestions: ANSWERS } }),
    ...Object.keys(ANSWERS).map((name) =>
      tell(`without ${name}`, told({ onboardingQuestions: without(ANSWERS, name) }), {
        shows: { onboardingQuestions: { ...ANSWERS, [name]: NONE[name] ?? null } },
      }),
    ),
    tell("without updates", { onboardingQuestions: ANSWERS }, { shows: { updatesOptIn: false } }),
    tell("everything once more", told()),
    tell(
      "in the other spelling",
      {
        onboarding_questions: Object.fromEntries(Object.entries(ANSWERS).map(([name, value]) => [snake(name), value])),
        updatesOptIn: true,
      },
      { shows: { onboardingQuestions: ANSWERS } },
    ),
    tell("null members are left out", told({ onboardingQuestions: { ...ANSWERS, product: null }, name: null }), {
      shows: { onboardingQuestions: { ...ANSWERS, product: "" } },
    }),
    tell("unknown members do nothing", told({ colour: 1, onboardingQuestions: { ...ANSWERS, company: "x" } }), {
      shows: { onboardingQuestions: ANSWERS },
    }),
    tell("members of the server do nothing", told({ name: "mine", givenName: "mine", family_name: "mine", uid: "x" })),
    tell("what passes through", told({ onboardingQuestions: { ...ANSWERS, hubspotUtk: "utk" } })),
    tell("as a workload", told(), { as: "admin" }),
  ]),
  scenario("what somebody tells of themselves without an answer to any question", [
    tell("everything", told()),
    tell("updates only", { updatesOptIn: true }, { shows: { updatesOptIn: true } }),
    tell("no questions: all is cleared", { onboardingQuestions: {}, updatesOptIn: true }),
    tell("null for the questions", { onboardingQuestions: null, updatesOptIn: true }),
    tell("as a viewer", { updatesOptIn: true }, { as: "viewer" }),
    tell("no body", undefined),
  ]),
  scenario("what nobody can tell of themselves", [
    ...badBodies(tell, "name").filter(
      ({ name }) => !["by a number for a text", "by an object for a text"].includes(name),
    ),
    tell("a number for a text", { onboardingQuestions: { product: 1 } }, 400),
    tell("a text for a truth", { updatesOptIn: "true" }, 400),
    tell("a list for a message", { onboardingQuestions: [] }, 400),
    tell("one name twice within", '{"onboardingQuestions":{"product":"a","product":"b"}}', 400),
    tell("both spellings", { onboardingQuestions: { jobTitle: "a", job_title: "b" } }, 400),
    tell("without a token", told(), 401, { as: "anonymous" }),
    tell("with a forged token", told(), 401, { as: "forged" }),
    ...otherMethods(METADATA, ["HEAD"]),
  ]),
];
