import { describe, expect, test } from "vitest";
import { at, items, maskOf, platform, refusal, response, scripted } from "./support.ts";

const here = platform();
const { rootGroup, identity, identityProvider, viewerRole, fullAssociation, scim } = here.known;
const PROVIDERS = "/iam/v1/identityProviders";
const METADATA = "/iam/v1/identities/metadata";
const OIDC = { issuer: "https://i", clientId: "c", additionalScopes: ["email"], groupsClaim: "g", pkceEnabled: true };

test("T-PUT-01, T26: what a PUT leaves out is empty afterwards: texts, lists and whole blocks", async () => {
  const own = platform({ organisation: false });
  const { rootGroup: group, viewerRole: role } = own.known;
  for (const [collection, full, rest] of [
    ["groups", { name: "g", description: "d" }, { name: "g" }],
    [
      "identities",
      { name: "i", description: "d", claimMatch: { issuer: "https://i", subject: "s" } },
      { name: "i", claimMatch: { issuer: "https://j", subjectPattern: ".+" } },
    ],
    [
      "roles",
      { name: "r", description: "d", capabilities: ["groups.list", "roles.list"] },
      { name: "r", capabilities: ["roles.list"] },
    ],
    [
      "identityProviders",
      { name: "p", description: "d", defaultRole: role, oidc: OIDC },
      { name: "p", defaultRole: role, oidc: { issuer: "https://i", clientId: "c", pkceEnabled: true } },
    ],
  ] as const) {
    const made = await own.same("POST", `/iam/v1/${collection}/${group}`, full);
    await own.same("PUT", `/iam/v1/${collection}/${at(made.body, "id")}`, rest);
    expect([collection, own.stores()]).toEqual([collection, []]);
  }
  const other = platform();
  await other.same("PUT", `/iam/v1/account_associations/${fullAssociation}`, {
    name: "n",
    amazon: { account: "123456789012" },
  });
  expect(other.stores()).toEqual([]);
});

test("a time that v1's published message lacks is ignored whatever its type is, in a create and in an update", async () => {
  const own = platform();
  const { rootGroup: group, viewerRole: role, repo, tag, fullAssociation: association } = own.known;
  const odd = { createdAt: 1700000000000, updated_at: { seconds: 1 } };
  for (const [collection, uid, rest] of [
    ["iam/v1/groups", group, { name: "g" }],
    ["iam/v1/roles", group, { name: "r", capabilities: ["groups.list"] }],
    ["iam/v1/identityProviders", group, { name: "p", defaultRole: role, oidc: OIDC }],
  ] as const) {
    const made = await own.same("POST", `/${collection}/${uid}`, { ...rest, ...odd });
    await own.same("PUT", `/${collection}/${at(made.body, "id")}`, { ...rest, ...odd });
  }
  const updated_at = odd.updated_at;
  await own.same("PUT", `/iam/v1/account_associations/${association}`, { name: "n", ...odd });
  const [shown] = items(await own.same("GET", `/registry/v1/repos?id=${repo}`));
  await own.same("PUT", `/registry/v1/repos/${repo}`, { ...shown, updatedAt: undefined, updated_at });
  const [image] = items(await own.same("GET", `/registry/v1/tags?id=${tag}`));
  await own.same("PUT", `/registry/v1/tags/${tag}`, { ...image, updatedAt: undefined, createdAt: [], updated_at });
  expect(own.stores()).toEqual([]);
});

test.each([
  ["whole seconds", (time: string) => time.replace(/\.\d+Z$/, "Z")],
  ["another offset", (time: string) => `${new Date(Date.parse(time) + 3_600_000).toISOString().slice(0, -1)}+01:00`],
  ["nine decimals", (time: string) => time.replace("Z", "000000Z")],
])("a synced repo can be sent back with its time in %s", async (_, respelt) => {
  const own = platform();
  const target = `/registry/v1/repos?id=${own.known.syncedRepo}`;
  const [shown] = items(await own.same("GET", target));
  const sync = shown?.["sync_config"] as { readonly expiration: string };
  const sync_config = { ...sync, expiration: respelt(sync.expiration) };
  await own.same("PUT", `/registry/v1/repos/${own.known.syncedRepo}`, { ...shown, sync_config, description: "new" });
  expect(own.stores()).toEqual([]);
});

test("T-PUT-03, T27: no PATCH names everything by a star, so that what v1 cannot see stays", async () => {
  const own = platform();
  const [rich] = own.sandbox
    .snapshot()
    .identities.filter((one) => one["company"] !== undefined && one["claimMatch"] !== undefined);
  const [shown] = items(await own.same("GET", `/iam/v1/identities?id=${rich?.["uid"]}`));
  expect(shown).not.toHaveProperty("company");
  await own.same("PUT", `/iam/v1/identities/${rich?.["uid"]}`, { ...shown, description: "new" });
  expect(own.sent.at(-1)?.query.get("updateMask")).not.toContain("*");
  expect(own.sandbox.snapshot().identities.find((one) => one["uid"] === rich?.["uid"])).toHaveProperty("company");
  expect(own.stores()).toEqual([]);
});

test.each([undefined, null, ""])(
  "T-PUT-03, T28, V18: a provider that is sent back with the secret %j keeps the one it has",
  async (clientSecret) => {
    const own = platform();
    const [shown] = items(await own.same("GET", `${PROVIDERS}?id=${identityProvider}`));
    const oidc = { ...(shown?.["oidc"] as object), clientSecret };
    await own.same("PUT", `${PROVIDERS}/${identityProvider}`, { ...shown, description: "new", oidc });
    expect(own.sent.at(-1)?.text).not.toMatch(/client_?secret/i);
    expect(JSON.stringify(own.sandbox.snapshot().identityProviders)).toContain("s3cret");
    expect(own.stores()).toEqual([]);
  },
);

test("V18: a provider that is replaced without oidc keeps it, and the response says so", async () => {
  const own = platform();
  const left = await own.ask("PUT", `${PROVIDERS}/${identityProvider}`, { name: "n", defaultRole: viewerRole });
  expect(at(left.body, "oidc.clientId")).toBe("client-okta");
  expect(left.headers).toContainEqual(["carryover-mismatch", "oidc"]);
});

test("T28: a new secret is named and written", async () => {
  const own = platform();
  const [shown] = items(await own.same("GET", `${PROVIDERS}?id=${identityProvider}`));
  const oidc = { ...(shown?.["oidc"] as object), clientSecret: "changed" };
  await own.same("PUT", `${PROVIDERS}/${identityProvider}`, { ...shown, oidc });
  expect(JSON.stringify(own.sandbox.snapshot().identityProviders)).toContain('"clientSecret":"changed"');
  expect(own.stores()).toEqual([]);
});

test("T-PUT-03, T29: what no client can write, and what nobody knows, is not in the body of a PATCH, nor in its mask", async () => {
  const extra = {
    id: "x",
    uid: "y",
    createTime: "2026-01-01T00:00:00Z",
    updateTime: "t",
    colour: "red",
    lastSeenTime: "t",
    email: "a@b",
  };
  for (const [path, body] of [
    [`/iam/v1/groups/${here.known.emptyGroup}`, { name: "n" }],
    [`/iam/v1/identities/${identity}`, { name: "n" }],
    [`/iam/v1/roles/${here.known.customRole}`, { name: "n", capabilities: ["groups.list"] }],
    [`${PROVIDERS}/${identityProvider}`, { name: "n", defaultRole: viewerRole, oidc: OIDC }],
    [`/iam/v1/account_associations/${fullAssociation}`, { name: "n" }],
    [`/registry/v1/repos/${here.known.repo}`, { name: "n" }],
  ] as const) {
    const answer = await replaced(path, { ...body, ...extra });
    expect([path, answer.status]).toEqual([path, 200]);
    expect(answer.sent.text).not.toMatch(/"(?:uid|id|createTime|updateTime|colour|lastSeenTime|email)":/);
  }
});

/** What a PUT to a platform of its own is answered, and the PATCH that it became. */
async function replaced(path: string, body: unknown) {
  const own = platform();
  const { status } = await own.ask("PUT", path, body);
  const sent = own.sent.findLast(({ method }) => method === "PATCH");
  if (sent === undefined) throw new Error(`${path}: no PATCH`);
  expect(maskOf(sent).filter((name) => /create|uid|colour|seen|email/i.test(name))).toEqual([]);
  return { status, sent };
}

test.each(["snake_case", "camelCase"] as const)(
  "T30: a mask in a query is spelled as this platform wants it: %s; one in a body is camelCase and has no star",
  async (maskSpelling) => {
    const own = platform({}, { maskSpelling });
    const [shown] = items(await own.same("GET", `${PROVIDERS}?id=${identityProvider}`));
    await own.same("PUT", `${PROVIDERS}/${identityProvider}`, { ...shown, description: "new" });
    const named = maskSpelling === "snake_case" ? "oidc.client_id" : "oidc.clientId";
    expect(maskOf(own.sent.at(-1))).toContain(named);
    const told = { onboardingQuestions: { companyName: "c", jobTitle: "j" }, updatesOptIn: true };
    await own.same("PATCH", METADATA, told, await own.person());
    expect(at(own.sent.at(-1)?.body, "updateMask")).toMatch(/^[a-zA-Z,]+$/);
    expect(own.stores()).toEqual([]);
  },
);

test("T-PUT-01, T31: no PATCH leaves without a mask, however little the client sends", async () => {
  for (const path of [
    `/iam/v1/groups/${here.known.emptyGroup}`,
    `/iam/v1/identities/${identity}`,
    `/iam/v1/roles/${here.known.customRole}`,
    `/iam/v1/rolebindings/${here.known.roleBinding}`,
    `${PROVIDERS}/${identityProvider}`,
    `/iam/v1/account_associations/${fullAssociation}`,
    `/registry/v1/repos/${here.known.repo}`,
  ]) {
    for (const body of [{}, "", { colour: "red" }]) {
      const v2 = scripted((call) => ({ uid: call.path.split("/").slice(4).join("/") }));
      await v2.ask("PUT", path, body);
      const patches = v2.sent.filter(({ method }) => method === "PATCH");
      expect([path, body, patches.every((call) => maskOf(call).length > 0)]).toEqual([path, body, true]);
    }
  }
  const v2 = scripted(() => ({}));
  await v2.ask("PATCH", METADATA, {});
  expect(String(at(v2.sent[0]?.body, "updateMask")).split(",").length).toBeGreaterThan(10);
});

test("T49: a list of providers shows the state of each SCIM token, which v2 has in its Get alone", async () => {
  const all = items(await here.same("GET", PROVIDERS));
  const states = all.map((one) => at(one, "scim.credentialState")).filter((state) => state !== undefined);
  expect(new Set(states).size).toBe(6);
  const live = all.find((one) => one["id"] === scim.live);
  expect(live).toMatchObject({
    scim: { tokenExpireTime: "2027-08-09T10:11:12.500Z", etag: expect.stringMatching(/^".+"$/) },
  });
});

test("V13: a provider that the caller may list and not read shows its state without that of its token", async () => {
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

test("V45: static keys that live longer than v1 took them for are the platform's to judge", async () => {
  const keys = { issuer: "https://i", subject: "s", issuerKeys: "{}", expiration: "2026-12-24T00:00:00Z" };
  const made = await here.ask("POST", `/iam/v1/identities/${rootGroup}`, { name: "keys", static: keys });
  expect([made.status, at(made.body, "static")]).toMatchObject([200, keys]);
  expect(at(here.sent[0]?.body, "staticKeys.expirationTime")).toBe(keys.expiration);
});

test("T59, V43, V44: what somebody tells of themselves is laid flat, named in a mask of its own, and what is left out is cleared", async () => {
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

test.each([
  [`${PROVIDERS}/${rootGroup}`, { name: "p", oidc: OIDC }, "defaultRole"],
  [`/iam/v1/account_associations/${here.known.emptyGroup}`, { amazon: { account: "123456789012" } }, "name"],
  [`/registry/v1/tags/${here.known.repo}`, { name: "t" }, "digest"],
])(
  "T60, V14: %s without what v2 wants cannot be created, and the platform's refusal names it in v1's words",
  async (path, body, field) => {
    const answer = await here.ask("POST", path, body);
    expect([here.sent.length, refusal(answer)]).toEqual([1, [400, "INVALID_ARGUMENT"]]);
    expect(answer.text).toContain(`"field":"${field}"`);
  },
);

test("T60, V17: a PUT that leaves out what v2 wants keeps what is stored, and says that it did", async () => {
  const own = platform();
  const left = await own.ask("PUT", `${PROVIDERS}/${identityProvider}`, { name: "n", oidc: OIDC });
  expect([left.status, at(left.body, "defaultRole")]).toEqual([200, viewerRole]);
  expect(left.headers).toContainEqual(["carryover-mismatch", expect.stringContaining("defaultRole")]);
  const nameless = await own.ask("PUT", `/iam/v1/account_associations/${fullAssociation}`, { description: "d" });
  expect(nameless.body).toMatchObject({ name: "everything", description: "d" });
  expect(nameless.headers).toContainEqual(["carryover-mismatch", "name"]);
});

describe("V95: names that v1 never had", () => {
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
