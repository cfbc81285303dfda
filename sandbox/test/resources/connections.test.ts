import { beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/sandbox.ts";
import { ask } from "../client.ts";
import { seededSandbox } from "../seeded.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = seededSandbox({ clock: () => new Date("2026-01-02T03:04:05.678Z") });
});

describe("identity providers", () => {
  const V1 = "/iam/v1/identityProviders";
  const V2 = "/iam/v2beta1/identityProviders";
  const secretOf = (uid: string) =>
    sandbox.snapshot().identityProviders.find((one) => one["uid"] === uid)?.["extra"] as { clientSecret?: string };

  test("v2 keeps the secret unless it is named: then an empty one clears it", async () => {
    const uid = sandbox.wellKnown.identityProvider;
    const patch = (query: string, body: object) => ask(sandbox, "PATCH", `${V2}/${uid}${query}`, { body });
    await patch("?updateMask=oidc.client_id", { oidc: { clientId: "c2", clientSecret: "ignored" } });
    expect(secretOf(uid)).toEqual({ clientSecret: "s3cret" });
    await patch("", { oidc: { clientSecret: "s4cret" } });
    expect(secretOf(uid)).toEqual({ clientSecret: "s4cret" });
    await patch("?updateMask=oidc.client_secret", {});
    expect(secretOf(uid)).toBeUndefined();
    expect((await ask(sandbox, "GET", `${V2}/${uid}`)).json.oidc.clientId).toBe("c2");
  });

  test("the state of the SCIM token is in Get and in v1, not in v2's list", async () => {
    const entra = sandbox.snapshot().identityProviders.find((one) => one["name"] === "entra");
    const full = (await ask(sandbox, "GET", `${V2}/${entra?.["uid"]}`)).json.scim;
    expect(full).toMatchObject({ credentialState: "CREDENTIAL_STATE_LIVE", tokenExpireTime: "2027-05-05T00:00:00Z" });
    const [listed] = (await ask(sandbox, "GET", `${V2}?name=entra`)).json.identityProviders;
    expect(listed.scim).toEqual({ ...full, credentialState: "CREDENTIAL_STATE_UNSPECIFIED", tokenExpireTime: null });
    expect((await ask(sandbox, "GET", `${V1}?name=entra`)).json.items[0].scim).toEqual(full);
  });

  test("how a mask is spelt can be insisted on: the other spelling is 400, code 3, and nothing is done", async () => {
    for (const [maskSpelling, good, bad] of [
      ["snake_case", "default_role", "defaultRole"],
      ["camelCase", "defaultRole", "default_role"],
    ] as const) {
      sandbox = seededSandbox({ maskSpelling });
      const { identityProvider, editorRole } = sandbox.wellKnown;
      const before = sandbox.snapshot();
      const patch = (mask: string) =>
        ask(sandbox, "PATCH", `${V2}/${identityProvider}?updateMask=${mask}`, { body: { defaultRole: editorRole } });
      const refused = await patch(bad);
      expect([refused.status, refused.json.code]).toEqual([400, 3]);
      expect(sandbox.snapshot()).toEqual(before);
      expect((await patch(good)).json.defaultRole).toBe(editorRole);
    }
  });

  test("v2 wants a default role, both faces a configuration and a secret or PKCE", async () => {
    const { rootGroup, viewerRole } = sandbox.wellKnown;
    const oidc = { issuer: "i", clientId: "c", pkceEnabled: true };
    const post = async (path: string, body: object) =>
      (await ask(sandbox, "POST", `${path}/${rootGroup}`, { body })).status;
    expect(await post(V2, { name: "n", oidc })).toBe(400);
    expect(await post(V1, { name: "n", oidc })).toBe(200);
    expect(await post(V2, { name: "n", defaultRole: viewerRole, oidc })).toBe(200);
    expect(await post(V2, { name: "n", defaultRole: viewerRole, oidc: { ...oidc, pkceEnabled: false } })).toBe(400);
    expect(await post(V1, { name: "n" })).toBe(400);
  });
});

describe("account associations", () => {
  const V1 = "/iam/v1/account_associations";
  const V2 = "/iam/v2beta1/accountAssociations";

  test("there is one per group, known by the group", async () => {
    const { emptyGroup } = sandbox.wellKnown;
    const body = { name: "a", group: "elsewhere", amazon: { account: "1" } };
    const made = await ask(sandbox, "POST", `${V1}/${emptyGroup}`, { body });
    expect(made.json).toMatchObject({ group: emptyGroup, amazon: { account: "1" }, google: null });
    expect(Object.hasOwn(made.json, "id")).toBe(false);
    const again = await ask(sandbox, "POST", `${V2}/${emptyGroup}`, { body: { name: "b" } });
    expect([again.status, again.json.code]).toEqual([409, 6]);
    expect((await ask(sandbox, "GET", `${V2}/${emptyGroup}`)).json.uid).toBe(emptyGroup);
    expect((await ask(sandbox, "DELETE", `/iam/v2beta1/groups/${emptyGroup}`)).json.code).toBe(9);
    expect((await ask(sandbox, "DELETE", `${V1}/${emptyGroup}`)).text).toBe("{}");
    expect((await ask(sandbox, "DELETE", `${V2}/${emptyGroup}`)).text).toBe("{}");
  });

  test("a v1 PUT clears the blocks it leaves out; v2 demands a name", async () => {
    const { accountAssociation } = sandbox.wellKnown;
    const put = await ask(sandbox, "PUT", `${V1}/${accountAssociation}`, { body: { google: { projectId: "p" } } });
    expect(put.json).toMatchObject({ name: "", amazon: null, google: { projectId: "p", projectNumber: "" } });
    const patch = await ask(sandbox, "PATCH", `${V2}/${accountAssociation}`, { body: { description: "d" } });
    expect(patch.status).toBe(400);
  });

  test("a check says whether a provider is set up, in the words of the face", async () => {
    const { accountAssociation } = sandbox.wellKnown;
    const v1 = (accountType: string) =>
      ask(sandbox, "POST", `${V1}/${accountAssociation}:check`, { body: { accountType } });
    expect((await v1("AMAZON")).json).toEqual({ ready: "Ready", reason: "", message: "" });
    expect((await v1("GOOGLE")).json.ready).toBe("NotReady");
    const path = `${V2}/${accountAssociation}:checkAccountAssociation`;
    const v2 = (providerType: number) => ask(sandbox, "POST", path, { body: { providerType } });
    expect((await v2(2)).json.status).toBe("CHECK_STATUS_READY");
    expect((await v2(0)).status).toBe(400);
  });
});

describe("group invites", () => {
  const V1 = "/iam/v1/group_invites";
  const V2 = "/iam/v2beta1/groupInvites";

  test("v1 takes a role's uid, answers it as an object with the code, and lists it without", async () => {
    const { someGroup, viewerRole } = sandbox.wellKnown;
    const body = { ttl: "86400s", role: viewerRole, email: "a@b", singleUse: true };
    const made = (await ask(sandbox, "POST", `${V1}/${someGroup}`, { body })).json;
    expect(Object.keys(made)).toEqual(["id", "expiration", "keyId", "role", "code"]);
    expect(made).toMatchObject({ expiration: "2026-01-03T03:04:05.678Z", role: { id: viewerRole, name: "viewer" } });
    expect(made.code).toMatch(/^[0-9a-f]{32}$/);
    const [item] = (await ask(sandbox, "GET", `${V1}?id=${made.id}`)).json.items;
    expect(Object.keys(item)).toEqual(["id", "expiration", "keyId", "role", "email", "createdAt", "singleUse"]);
    const seen = (await ask(sandbox, "GET", `${V2}/${made.id}`)).json;
    expect(seen).toMatchObject({ roleUid: viewerRole, email: "a@b", singleUse: true, code: "", ttl: null });
    expect(seen.role.capabilities[0]).toMatch(/^CAP_/);
  });

  test("v2 demands a time to live, where v1 takes a day, and shows the code once", async () => {
    const { someGroup, viewerRole } = sandbox.wellKnown;
    const post = (body: object) => ask(sandbox, "POST", `${V2}/${someGroup}`, { body });
    const description = "a time to live is required";
    expect((await post({ roleUid: viewerRole })).json).toMatchObject({
      code: 3,
      message: `Invalid argument: ttl: ${description}`,
      details: [
        { reason: "INVALID_ARGUMENT", domain: "iam.platform.example", metadata: {} },
        { fieldViolations: [{ field: "ttl", description }] },
      ],
    });
    const v1 = await ask(sandbox, "POST", `${V1}/${someGroup}`, { body: { role: viewerRole } });
    expect(v1.json.expiration).toBe("2026-01-03T03:04:05.678Z");
    expect((await post({ roleUid: viewerRole, ttl: "0s" })).status).toBe(400);
    expect((await post({ roleUid: "nothing", ttl: "60s" })).status).toBe(404);
    const { json } = await post({ roleUid: viewerRole, ttl: "60s" });
    expect(json.code).toMatch(/^[0-9a-f]{32}$/);
    expect((await ask(sandbox, "GET", `${V2}/${json.uid}`)).json.code).toBe("");
  });

  test("of a role that is gone v2 shows none and v1 its id", async () => {
    const roles = new Set(sandbox.snapshot().roles.map((role) => role["uid"]));
    const orphan = sandbox.snapshot().groupInvites.find((one) => !roles.has(one["roleUid"] ?? ""));
    expect((await ask(sandbox, "GET", `${V2}/${orphan?.["uid"]}`)).json.role).toBeNull();
    const [item] = (await ask(sandbox, "GET", `${V1}?id=${orphan?.["uid"]}`)).json.items;
    expect(item.role).toMatchObject({ id: orphan?.["roleUid"], name: "", capabilities: [] });
  });

  test("come newest first in v2, and can be found by group and key in v1", async () => {
    const times = (await ask(sandbox, "GET", V2)).json.groupInvites.map(
      (one: { createTime: string }) => one.createTime,
    );
    expect(times).toEqual([...times].sort().reverse());
    const { rootGroup } = sandbox.wellKnown;
    const items = (await ask(sandbox, "GET", `${V1}?group=${rootGroup}`)).json.items;
    expect(items).toHaveLength(7);
    expect((await ask(sandbox, "GET", `${V1}?key_id=${items[0].keyId}`)).json.items).toEqual([items[0]]);
  });
});
