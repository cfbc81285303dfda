import { expect, test } from "vitest";
import { VENDOR_KEY } from "../../../src/sandbox/data/vendor.ts";
import { seededSandbox } from "../../support/seeded.ts";
import { ask } from "../client.ts";

test.each([
  ["v1", "v2beta1", ""],
  ["v2beta1", "v2beta1", "v2beta1."],
  ["v2", "v2", "v2."],
])(
  "a gated call at %s is refused with a detail whose type names the version, and nothing is done",
  async (face, version, segment) => {
    const gated = (method: string, path: string) => method === "POST" && path.includes("/groups");
    const sandbox = seededSandbox({ version, gated });
    const before = sandbox.snapshot();
    const path = `/iam/${face}/groups/${sandbox.wellKnown.someGroup}`;
    const { status, json } = await ask(sandbox, "POST", path, { body: { name: "n" } });
    expect([status, json.code]).toEqual([400, 9]);
    expect(json.details[0].reason).toBe("FAILED_PRECONDITION");
    expect(json.details[1]).toEqual({
      "@type": `type.googleapis.com/${VENDOR_KEY}.platform.iam.${segment}TermsNotAcceptedDetail`,
      missing: [
        { id: "terms-2026-01", label: "Terms of service", url: "https://legal.platform.example/terms" },
        { id: "privacy-2025-06", label: "Privacy notice", url: "https://legal.platform.example/privacy" },
      ],
    });
    expect(sandbox.snapshot()).toEqual(before);
    expect((await ask(sandbox, "GET", `/iam/${face}/groups`)).status).toBe(200);
    expect((await ask(sandbox, "POST", path, { token: undefined, body: {} })).status).toBe(401);
  },
);
