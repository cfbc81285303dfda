import { describe, expect, test } from "vitest";
import { CAPABILITIES } from "../src/data/capabilities.ts";
import { VENDOR_KEY } from "../src/data/vendor.ts";
import { createSandbox } from "../src/sandbox.ts";
import { ask } from "./client.ts";
import { seededSandbox } from "./seeded.ts";

const sandbox = seededSandbox();
const known = sandbox.wellKnown;
const items = async (path: string) => (await ask(sandbox, "GET", path)).json.items;
const record = async (path: string) => (await ask(sandbox, "GET", path)).json;

describe("the seeded organisation", () => {
  test("keeps its uids: documentation names them", () => {
    expect(known.rootGroup).toBe("57f9e5fa7da60166436d01ae3baf059ec752f4bb");
    expect(known.someGroup).toBe("57f9e5fa7da60166436d01ae3baf059ec752f4bb/f278d784bce4f10d/2e663cd600d7fdac");
  });

  test("grants each capability that has a name in v1 by some role", async () => {
    const held = new Set(
      (await items("/iam/v1/roles")).flatMap((role: { capabilities: string[] }) => role.capabilities),
    );
    const named = CAPABILITIES.map(([v1]) => v1).filter((v1) => v1 !== "");
    expect(named).toHaveLength(216);
    expect(named.filter((v1) => !held.has(v1))).toEqual([]);
  });

  test("has an identity of each relationship, with every service principal", async () => {
    const shown = await items("/iam/v1/identities");
    const principals = new Set(shown.map((one: { servicePrincipal?: string }) => one.servicePrincipal));
    expect([...principals].filter((one) => one !== undefined)).toHaveLength(14);
    const bare = shown.find((one: { name: string }) => one.name === "form-20");
    expect(Object.keys(bare)).toEqual(["id", "name", "description", "createdAt", "updatedAt", "lastSeen"]);
    const zero = shown.find((one: { name: string }) => one.name === "form-6");
    expect(zero.servicePrincipal).toBe("UNKNOWN");
    const v2 = await record(`/iam/v2beta1/identities/${zero.id}`);
    expect(v2.servicePrincipal).toBe("SERVICE_PRINCIPAL_UNSPECIFIED");
  });

  test.each([
    ["unspecified", "CREDENTIAL_STATE_UNSPECIFIED"],
    ["notIssued", "CREDENTIAL_STATE_NOT_ISSUED"],
    ["live", "CREDENTIAL_STATE_LIVE"],
    ["neverExpires", "CREDENTIAL_STATE_LIVE"],
    ["expired", "CREDENTIAL_STATE_EXPIRED"],
    ["revoked", "CREDENTIAL_STATE_REVOKED"],
    ["rotating", "CREDENTIAL_STATE_ROTATING"],
  ] as const)("has a provider whose SCIM token is %s", async (name, state) => {
    const uid = known.scim[name];
    const { scim } = await record(`/iam/v2beta1/identityProviders/${uid}`);
    expect(scim.credentialState).toBe(state);
    expect((await items(`/iam/v1/identityProviders?id=${uid}`))[0].scim).toEqual(scim);
  });

  test("has an association with all five blocks and keys that look like fields", async () => {
    const v2 = await record(`/iam/v2beta1/accountAssociations/${known.fullAssociation}`);
    const [v1] = await items(`/iam/v1/account_associations?group=${known.fullAssociation}`);
    for (const key of ["amazon", "google", "azure", "github", VENDOR_KEY]) expect(v1[key]).toEqual(v2[key]);
    expect(v1.azure.clientIds).toEqual({ group: "g", uid: "u", id: "i", createTime: "c", createdAt: "d" });
    expect(v1[VENDOR_KEY].serviceBindings).toEqual({
      INGESTER: "a/b",
      UNKNOWN: "",
      SERVICE_PRINCIPAL_INGESTER: "no",
      uid: "u",
    });
    expect(v1.github.appInstallations["9223372036854775807"].installations).toEqual([
      { installationId: "9007199254740993", name: "uid" },
      { installationId: "-1", name: "" },
    ]);
  });

  test("has a repo that says all that a repo can say", async () => {
    const [v1] = await items(`/registry/v1/repos?id=${known.fullRepo}`);
    const v2 = await record(`/registry/v2beta1/repos/${known.fullRepo}`);
    expect(v1.sync_config).toEqual({
      source: v2.sync_config.source,
      uniqueTags: true,
      expiration: "2027-09-10T11:12:13.014Z",
      google: "google-uid",
      amazon: "amazon-uid",
      azure: "azure-uid",
      // v2 has no word for it: only `beyondV2` seeds it.
      syncApks: false,
      apkoOverlay: '{"id":"uid"}',
      gracePeriod: true,
    });
    expect(v2.sync_config.expirationTime).toBe("2027-09-10T11:12:13.014Z");
    expect(v1.customOverlay.environment).toEqual(v2.customOverlay.environment);
    const plain = { groupName: "", shell: "", homeDir: "" };
    expect(v1.customOverlay.accounts.users.slice(1)).toEqual([
      { uid: 1000, userName: "no-group", ...plain },
      { uid: 0, userName: "root", ...plain },
      { uid: 1, userName: "grouped", gid: 1, ...plain },
    ]);
    expect(v2.customOverlay.accounts.users.slice(1)).toEqual([
      { username: "no-group", uid: 1000, gid: 0, ...plain },
      { username: "root", uid: 0, gid: 0, ...plain },
      { username: "grouped", uid: 1, gid: 1, ...plain },
    ]);
    expect(v1.readme).toBe((await record(`/registry/v2beta1/repos/${known.fullRepo}/readme`)).content);
    expect([v1.catalogTier, v2.catalogTier]).toEqual(["COMMERCIAL", "CATALOG_TIER_COMMERCIAL"]);
  });

  test("has tags of every form: v2 shows the plain ones, and each further form when asked", async () => {
    const names = async (query: string) =>
      (await record(`/registry/v2beta1/tags?uidp.children_of=${known.fullRepo}&${query}`)).tags
        .map((tag: { name: string }) => tag.name.replace(/[0-9a-f]{64}/, "X"))
        .sort();
    const plain = ["1.2.3", "1.2.3-dev", "2025", "latest", "r2"];
    expect(await names("")).toEqual(plain);
    expect(await names("include_referrers=true")).toEqual(
      [...plain, "sha256-X", "sha256-X.att", "sha256-X.sig"].sort(),
    );
    expect(await names("include_dates=true")).toEqual(
      [...plain, "1.2-20251103", "1.2-202511031200", "20251103"].sort(),
    );
    expect(await names("include_epochs=true")).toEqual([...plain, "1.2.3-r0"].sort());
    const shared = await items(`/registry/v1/tags?uidp.childrenOf=${known.fullRepo}&name=latest`);
    expect(await items(`/registry/v1/tags?digest=${shared[0].digest}`)).toHaveLength(2);
  });

  test("has an advisory with every type of event and every review state", async () => {
    const [v1] = await items(`/vulnerabilities/v1/advisories?id=${known.fullAdvisory}`);
    const types = new Set(v1.events.flatMap((event: object) => Object.keys(event)));
    for (const type of [
      "detection",
      "fixed",
      "falsePositiveDetermination",
      "analysisNotPlanned",
      "fixNotPlanned",
      "pendingUpstreamFix",
      "truePositiveDetermination",
      "patched",
      "issue",
    ]) {
      expect(types).toContain(type);
    }
    expect(new Set(v1.events.map((event: { status: string }) => event.status)).size).toBe(5);
    const reasons = v1.events.flatMap(
      (event: { falsePositiveDetermination?: { type: string } }) => event.falsePositiveDetermination?.type ?? [],
    );
    expect(reasons).toHaveLength(8);
    expect(v1.legacyAdvisoryID).toBe("");
    expect(v1.deletedAt).toBe("2026-01-31T00:00:00Z");
    const latest = "latest_event_type=EVENT_TYPE_FILTER_FALSE_POSITIVE_DETERMINATION";
    expect((await items(`/vulnerabilities/v1/advisories?${latest}&artifact_name=last-2`))[0].events).toHaveLength(1);
  });

  test("has an invite to a role that is gone, and somebody who may ask for access", async () => {
    expect((await items(`/iam/v1/group_invites?id=${known.orphanInvite}`))[0].role.name).toBe("");
    expect((await record(`/iam/v2beta1/groupInvites/${known.orphanInvite}`)).role).toBeNull();
    const visitor = { token: sandbox.token(`nobody#${known.visitor}`) };
    const found = await ask(sandbox, "GET", "/iam/v1/groups:lookupGroup", visitor);
    expect(found.json.group.id).toBe(known.rootGroup);
    const asked = await ask(sandbox, "POST", `/iam/v1/groups/${known.rootGroup}:requestGroupAccess`, visitor);
    expect(asked.text).toBe("{}");
  });

  test("is one of which nothing is left but the well-known few when it is not wanted", () => {
    const bare = seededSandbox({ organisation: false });
    expect(bare.wellKnown.scim.live).toBe("");
    expect(bare.snapshot().repos).toEqual([]);
  });
});

test("sandboxes that begin with one seed are like one that made its own, and see nothing of each other's writes", async () => {
  const own = createSandbox();
  const [left, right] = [seededSandbox(), seededSandbox()];
  expect(left.snapshot()).toEqual(own.snapshot());
  expect(left.wellKnown).toEqual(own.wellKnown);
  const { someGroup } = left.wellKnown;
  await ask(left, "POST", `/iam/v1/groups/${someGroup}`, { body: { name: "new" } });
  await ask(left, "PUT", `/iam/v1/groups/${someGroup}`, { body: { name: "other" } });
  expect(right.snapshot()).toEqual(own.snapshot());
  expect(left.contents().groups).toHaveLength(right.contents().groups.length + 1);
  expect(left.contents().roles[0]?.value).toBe(right.contents().roles[0]?.value);
});
