import { beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/sandbox.ts";
import { ask } from "../client.ts";
import { seededSandbox } from "../seeded.ts";

const V1 = "/iam/v1/identities/metadata";
const V2 = "/iam/v2beta1/identities:updateIdentityMetadata";
const NAMES = { name: "nobody", givenName: "nobody", familyName: "" };
const ZEROS = {
  product: "",
  jobTitle: "",
  utmCampaign: "",
  utmContent: "",
  utmMedium: "",
  utmSource: "",
  utmTerm: "",
  latestFormSubmitUrl: "",
  latestInternalReferringUrl: "",
  hubspotUtk: "",
  selfServe: false,
};

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = seededSandbox();
});

const patch = (path: string, body: unknown, name = "nobody") =>
  ask(sandbox, "PATCH", path, { token: sandbox.token(name), body });

describe("v1 identity metadata", () => {
  test("replaces the caller's answers as a whole and shows the names of the login", async () => {
    const first = { companyName: "Acme", providers: ["aws", "id"], product: "images", selfServe: true };
    const made = await patch(V1, { onboardingQuestions: first, updatesOptIn: true, name: "forged" });
    expect([made.status, made.json]).toEqual([
      200,
      { onboardingQuestions: { ...ZEROS, ...first }, ...NAMES, updatesOptIn: true },
    ]);
    const again = await patch(V1, { onboardingQuestions: { jobTitle: "dev" } });
    const expected = { ...ZEROS, companyName: "", providers: [], jobTitle: "dev" };
    expect(again.json).toEqual({ onboardingQuestions: expected, ...NAMES, updatesOptIn: false });
  });

  test("is everybody's own, and nobody's without a token", async () => {
    await patch(V1, { onboardingQuestions: { companyName: "A" } }, "nobody#a");
    const other = await patch(V2, {}, "nobody#b");
    expect(other.json.code).toBe(3);
    expect(sandbox.snapshot().identityMetadata).toEqual([
      { uid: "a", name: "a", givenName: "a", familyName: "", company: "A" },
    ]);
    expect((await ask(sandbox, "PATCH", V1, { token: undefined, body: {} })).status).toBe(401);
    expect((await ask(sandbox, "PUT", V2, { body: {} })).status).toBe(501);
  });
});

describe("v2 identity metadata", () => {
  test("changes what the mask in the body names, zeros included, and leaves the rest", async () => {
    const said = { company: "Acme", product: "images", updatesOptIn: true, selfServe: true };
    await patch(V2, { identityMetadata: said, updateMask: "company,product,updatesOptIn,selfServe" });
    const body = { identityMetadata: { company: "ignored" }, updateMask: "selfServe,product" };
    const { status, json } = await patch(V2, body);
    expect([status, json]).toEqual([200, { uid: "nobody", ...NAMES, ...ZEROS, company: "Acme", updatesOptIn: true }]);
  });

  test("without a mask changes only what is not zero, whatever keys are there", async () => {
    await patch(V2, { identityMetadata: { company: "Acme", updatesOptIn: true } });
    const { json } = await patch(V2, { identityMetadata: { company: "", updatesOptIn: false, jobTitle: "dev" } });
    expect(json).toMatchObject({ company: "Acme", updatesOptIn: true, jobTitle: "dev" });
  });

  test.each([["job_title"], ["*"], ["company,"], ["nope"], ["uid"], ["givenName"], ["company, product"]])(
    "refuses the mask %j with 400 and changes nothing",
    async (updateMask) => {
      const { status, json } = await patch(V2, { identityMetadata: { company: "A" }, updateMask });
      expect([status, json.code]).toEqual([400, 3]);
      expect(sandbox.snapshot().identityMetadata).toEqual([]);
    },
  );

  test.each([
    ["snake_case", 200, 400],
    ["camelCase", 400, 200],
    ["both", 200, 200],
  ] as const)(
    "in a body spelt as %s takes job_title: %i, jobTitle: %i, whatever queries want",
    async (spelling, ...want) => {
      for (const maskSpelling of ["snake_case", "camelCase"] as const) {
        sandbox = seededSandbox({ maskSpelling, bodyMaskSpelling: spelling });
        const statuses = ["job_title", "jobTitle"].map(async (updateMask) => {
          const { status } = await patch(V2, { identityMetadata: { jobTitle: "dev" }, updateMask });
          return status;
        });
        expect(await Promise.all(statuses)).toEqual(want);
      }
    },
  );

  test("needs the metadata, and ignores keys that it does not know", async () => {
    const { json } = await patch(V2, { updateMask: "company" });
    expect(json.details[1].fieldViolations[0].field).toBe("identity_metadata");
    const odd = await patch(V2, { identityMetadata: { company: "A", providers: ["x"] }, nope: 1 });
    expect([odd.status, odd.json.company]).toEqual([200, "A"]);
  });

  test("shows what v1 said, flattened, and v1 what it said, nested; the providers are v1's alone", async () => {
    await patch(V1, { onboardingQuestions: { companyName: "A", providers: ["gcp"], utmSource: "s" } });
    const { json } = await patch(V2, { identityMetadata: { jobTitle: "dev" } });
    expect(json).toEqual({
      uid: "nobody",
      ...NAMES,
      ...ZEROS,
      company: "A",
      updatesOptIn: false,
      utmSource: "s",
      jobTitle: "dev",
    });
    expect(sandbox.snapshot().identityMetadata[0]?.["extra"]).toEqual({ providers: ["gcp"] });
  });
});
