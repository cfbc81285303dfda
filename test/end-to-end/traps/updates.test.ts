import { describe, expect, test } from "vitest";
import { at, items, platform, refusal, response, scripted } from "./support.ts";

const here = platform();
const { rootGroup, identityProvider, viewerRole, fullAssociation } = here.known;
const PROVIDERS = "/iam/v1/identityProviders";
const METADATA = "/iam/v1/identities/metadata";
const OIDC = { issuer: "https://i", clientId: "c", additionalScopes: ["email"], groupsClaim: "g", pkceEnabled: true };

test("DIFF-13: a provider that the caller may list and not read shows its state without that of its token", async () => {
  const listed = { uid: "g/p", name: "p", scim: { enabled: true } };
  const denied = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "DENIED", domain: "iam" };
  const v2 = scripted((call) =>
    call.path.endsWith("/identityProviders")
      ? { identityProviders: [listed] }
      : response(403, { code: 7, message: "no", details: [denied] }),
  );
  const [shown] = items(await v2.ask("GET", PROVIDERS));
  expect(v2.sent.map(({ path }) => path)).toEqual([
    "/iam/v2beta1/identityProviders",
    "/iam/v2beta1/identityProviders/g/p",
  ]);
  expect(shown).toMatchObject({ id: "g/p", scim: { enabled: true, tokenExpireTime: null } });
});

test("DIFF-45: static keys that live longer than v1 took them for are the platform's to judge", async () => {
  const keys = { issuer: "https://i", subject: "s", issuerKeys: "{}", expiration: "2026-12-24T00:00:00Z" };
  const made = await here.ask("POST", `/iam/v1/identities/${rootGroup}`, { name: "keys", static: keys });
  expect([made.status, at(made.body, "static")]).toMatchObject([200, keys]);
  expect(at(here.sent[0]?.body, "staticKeys.expirationTime")).toBe(keys.expiration);
});

test("TRAP-59, DIFF-43, DIFF-44: what somebody tells of themselves is laid flat, named in a mask of its own, and what is left out is cleared", async () => {
  const own = platform();
  const token = await own.person();
  const told = { onboardingQuestions: { companyName: "c", product: "p", selfServe: true }, updatesOptIn: true };
  await own.same("PATCH", METADATA, told, token);
  expect(at(own.sent[0]?.body, "identityMetadata")).toMatchObject({ company: "c", product: "p", selfServe: true });
  const less = await own.same("PATCH", METADATA, { onboardingQuestions: { product: "q" } }, token);
  expect(less.body).toMatchObject({ onboardingQuestions: { companyName: "", product: "q", selfServe: false } });
  expect(own.stores()).toEqual([]);
  const nothing = await own.ask("PATCH", METADATA, {}, token);
  expect(nothing.body).toMatchObject({ onboardingQuestions: { product: "", selfServe: false } });
  const quiet = platform({}, { omitZeros: true });
  const unsaid = await quiet.ask("PATCH", METADATA, {}, await quiet.person());
  expect(unsaid.body).toMatchObject({ onboardingQuestions: { product: "", selfServe: false } });
  // v2 keeps no providers: it says so in a header.
  const lost = await own.ask("PATCH", METADATA, { onboardingQuestions: { providers: ["x"] } }, token);
  expect([lost.status, lost.headers]).toEqual([
    200,
    expect.arrayContaining([["carryover-mismatch", expect.stringContaining("providers")]]),
  ]);
});

test("TRAP-60, DIFF-17: a PUT that leaves out what v2 wants keeps what is stored, and says that it did", async () => {
  const own = platform();
  const left = await own.ask("PUT", `${PROVIDERS}/${identityProvider}`, { name: "n", oidc: OIDC });
  expect([left.status, at(left.body, "defaultRole")]).toEqual([200, viewerRole]);
  expect(left.headers).toContainEqual(["carryover-mismatch", expect.stringContaining("defaultRole")]);
  const nameless = await own.ask("PUT", `/iam/v1/account_associations/${fullAssociation}`, { description: "d" });
  expect(nameless.body).toMatchObject({ name: "everything", description: "d" });
  expect(nameless.headers).toContainEqual(["carryover-mismatch", "name"]);
});

describe("DIFF-95: names that v1 never had", () => {
  const newerNames = { CatalogTier: ["CATALOG_TIER_QUANTUM"], Capability: ["CAP_QUANTUM_LEAP"] };
  const ROLE = { name: "r", capabilities: ["groups.list", "CAP_QUANTUM_LEAP"] };

  test("come back as they were shown: the tier of a repo, and a capability", async () => {
    const own = platform({}, { newerNames });
    const { repo, rootGroup: group } = own.known;
    await own.ask("PUT", `/registry/v1/repos/${repo}`, { name: "x", catalogTier: "CATALOG_TIER_QUANTUM" }, "staff");
    const made = await own.ask("POST", `/iam/v1/roles/${group}`, ROLE);
    expect(made.status).toBe(200);
    for (const target of [`/registry/v1/repos`, `/iam/v1/roles`]) {
      const id = target.endsWith("roles") ? String(at(made.body, "id")) : repo;
      const before = own.sandbox.snapshot();
      const [shown] = items(await own.ask("GET", `${target}?id=${id}`));
      expect(JSON.stringify(shown)).toContain("QUANTUM");
      const put = await own.ask("PUT", `${target}/${id}`, shown);
      expect([put.status, put.headers.filter(([name]) => name === "carryover-mismatch")]).toEqual([200, []]);
      const bare = (all: typeof before) =>
        JSON.stringify([all.repos, all.roles]).replaceAll(/"updateTime":"[^"]*"/g, "");
      expect(bare(own.sandbox.snapshot())).toBe(bare(before));
    }
  });

  test("that v2 dropped are an error of an update, and of a create that v1 would have refused, which names the new record", async () => {
    const own = platform();
    const { customRole, rootGroup: group, repo } = own.known;
    const updated = await own.ask("PUT", `/iam/v1/roles/${customRole}`, ROLE);
    expect(refusal(updated)).toEqual([502, "UPDATE_INCOMPLETE"]);
    expect(updated.text).toContain('"field":"capabilities"');
    const tier = {
      ...items(await own.ask("GET", `/registry/v1/repos?id=${repo}`))[0],
      catalogTier: "CATALOG_TIER_QUANTUM",
    };
    expect(refusal(await own.ask("PUT", `/registry/v1/repos/${repo}`, tier, "staff"))).toEqual([
      502,
      "UPDATE_INCOMPLETE",
    ]);
    const created = await own.ask("POST", `/iam/v1/roles/${group}`, ROLE);
    expect(refusal(created)).toEqual([502, "UPDATE_INCOMPLETE"]);
    const uid = /"created":"([^"]+)"/.exec(created.text)?.[1];
    expect(own.sandbox.snapshot().roles.some((role) => role["uid"] === uid)).toBe(true);
    const repoMade = await own.ask(
      "POST",
      `/registry/v1/repos/${group}`,
      { name: "n", catalogTier: "CATALOG_TIER_QUANTUM" },
      "staff",
    );
    expect([repoMade.status, at(repoMade.body, "catalogTier")]).toEqual([200, "UNKNOWN"]);
    expect(repoMade.headers).toContainEqual(["carryover-mismatch", "catalogTier"]);
  });

  test("in v1's own spelling stay what they were: an unknown capability is refused, an unknown tier dropped", async () => {
    const own = platform({}, { newerNames });
    const { rootGroup: group } = own.known;
    expect(
      (await own.ask("POST", `/iam/v1/roles/${group}`, { name: "r", capabilities: ["quantum.leap"] })).status,
    ).toBe(400);
    const made = await own.ask("POST", `/registry/v1/repos/${group}`, { name: "n", catalogTier: "QUANTUM" }, "staff");
    expect([made.status, at(made.body, "catalogTier")]).toEqual([200, "UNKNOWN"]);
  });
});
