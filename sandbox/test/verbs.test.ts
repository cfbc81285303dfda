import { beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/sandbox.ts";
import { ask } from "./client.ts";
import { seededSandbox } from "./seeded.ts";

const NOW = Date.UTC(2026, 0, 2);
let sandbox: Sandbox;
beforeEach(() => {
  sandbox = seededSandbox({ clock: () => new Date(NOW) });
});

describe.each([
  ["/iam/v1/identityProviders", "identityProviderId"],
  ["/iam/v2beta1/identityProviders", "identityProviderUid"],
])("SCIM tokens at %s", (path, key) => {
  const named = (name: string) =>
    String(sandbox.snapshot().identityProviders.find((one) => one["name"] === name)?.["uid"]);
  const call = (uid: string, verb: string, body: object = {}, token = sandbox.token("admin")) =>
    ask(sandbox, "POST", `${path}/${uid}:${verb}`, { body, token });
  const scim = async (uid: string) => (await ask(sandbox, "GET", `/iam/v2beta1/identityProviders/${uid}`)).json.scim;

  test("are generated once, for a year unless said otherwise", async () => {
    const uid = named("keycloak");
    const { json } = await call(uid, "generateScimToken");
    expect(json).toMatchObject({ [key]: uid, expireTime: "2027-01-02T00:00:00.000Z" });
    expect(json.token).toMatch(/^scim-[0-9a-f]{32}$/);
    expect(await scim(uid)).toMatchObject({ credentialState: "CREDENTIAL_STATE_LIVE", etag: json.etag });
    expect((await call(uid, "generateScimToken")).json.code).toBe(9);
    const both = { neverExpires: true, expireTime: "2026-05-01T00:00:00Z" };
    expect((await call(named("okta"), "generateScimToken", both)).json.code).toBe(3);
    expect((await call(named("okta"), "generateScimToken", { neverExpires: true })).json.expireTime).toBeNull();
  });

  test("are regenerated against their etag, the old one living on for the overlap", async () => {
    const uid = named("entra");
    const { etag } = await scim(uid);
    expect((await call(uid, "regenerateScimToken")).json.code).toBe(3);
    expect((await call(uid, "regenerateScimToken", { etag: "old" })).status).toBe(409);
    expect((await call(named("okta"), "regenerateScimToken", { etag: "x" })).status).toBe(404);
    const { json } = await call(uid, "regenerateScimToken", { etag, overlap: "999999s" });
    expect(json).toMatchObject({ requestedOverlap: "999999s", previousTokenExpireTime: "2026-01-03T00:00:00.000Z" });
    const cut = await call(uid, "regenerateScimToken", { etag: json.etag, overlap: "0s" });
    expect(cut.json.previousTokenExpireTime).toBeNull();
    const hour = await call(uid, "regenerateScimToken", { etag: cut.json.etag });
    expect(hour.json.previousTokenExpireTime).toBe("2026-01-02T01:00:00.000Z");
  });

  test("are revoked without touching the switch, which takes two owners to turn on", async () => {
    const uid = named("entra");
    const revoked = (await call(uid, "revokeScimToken")).json;
    expect(revoked).toMatchObject({ [key]: uid, enabled: true, revokeTime: "2026-01-02T00:00:00.000Z" });
    const off = (await call(uid, "setScimEnabled", { enabled: false, etag: revoked.etag })).json;
    expect(off).toMatchObject({ [key]: uid, enabled: false });
    const { rootGroup, ownerRole } = sandbox.wellKnown;
    for (const one of sandbox.snapshot().roleBindings) {
      if (one["roleUid"] === ownerRole) await ask(sandbox, "DELETE", `/iam/v2beta1/roleBindings/${one["uid"]}`);
    }
    const on = { enabled: true, etag: off.etag };
    expect((await call(uid, "setScimEnabled", on)).json.code).toBe(9);
    for (const identity of sandbox.snapshot().identities.slice(0, 2)) {
      const body = { identityUid: identity["uid"], roleUid: ownerRole };
      await ask(sandbox, "POST", `/iam/v2beta1/roleBindings/${rootGroup}`, { body });
    }
    expect((await call(uid, "setScimEnabled", on)).json.enabled).toBe(true);
  });

  test("that are over have no life to be prolonged, and only a revoked one can be generated anew", async () => {
    const { expired, revoked, live, rotating, neverExpires } = sandbox.wellKnown.scim;
    for (const uid of [expired, live, rotating, neverExpires]) {
      expect((await call(uid, "generateScimToken")).json.code).toBe(9);
    }
    for (const uid of [expired, revoked]) {
      const { json } = await call(uid, "regenerateScimToken", { etag: (await scim(uid)).etag });
      expect([json.previousTokenExpireTime, json.requestedOverlap]).toEqual([null, "3600s"]);
      expect((await scim(uid)).credentialState).toBe("CREDENTIAL_STATE_LIVE");
    }
    const both = { expireTime: "2026-05-01T00:00:00Z", neverExpires: true, etag: (await scim(live)).etag };
    const refused = await call(live, "regenerateScimToken", both);
    expect([refused.status, refused.json.code]).toEqual([400, 3]);
    await call(live, "revokeScimToken");
    expect((await call(live, "generateScimToken")).status).toBe(200);
  });

  test("are switched on at once where the organisation has two owners", async () => {
    const { notIssued, ownerless } = sandbox.wellKnown.scim;
    const on = async (uid: string) =>
      (await call(uid, "setScimEnabled", { enabled: true, etag: (await scim(uid)).etag })).json;
    expect((await on(notIssued)).enabled).toBe(true);
    const refused = await on(ownerless);
    expect([refused.code, refused.details[1].violations[0].type]).toEqual([9, "SCIM_NEEDS_OWNERS"]);
    const off = await call(ownerless, "setScimEnabled", { enabled: false, etag: (await scim(ownerless)).etag });
    expect(off.json.enabled).toBe(false);
    expect((await call(notIssued, "setScimEnabled", { enabled: false })).json.code).toBe(3);
  });

  test("are not for viewers", async () => {
    expect((await call(named("entra"), "revokeScimToken", {}, sandbox.token("viewer"))).status).toBe(403);
  });
});

describe.each([["/iam/v1/groups"], ["/iam/v2beta1/groups"]])("verbs of %s", (path) => {
  test("who has no rights anywhere is eligible", async () => {
    const eligible = async (name: string) =>
      (await ask(sandbox, "GET", `${path}:checkEligibility`, { token: sandbox.token(name) })).json;
    expect(await eligible("nobody")).toEqual({ eligible: true });
    expect(await eligible("admin")).toEqual({ eligible: false });
  });

  test("access is asked for once, in the caller's own organisation only", async () => {
    const body = { name: "acme.example", verified: true, kind: "ORG_KIND_CUSTOMER" };
    const made = await ask(sandbox, "POST", "/iam/v2beta1/groups", { body, token: sandbox.token("staff") });
    const person = sandbox.snapshot().identities.find((one) => String(one["email"] ?? "").endsWith("@acme.example"));
    const request = (place: string, name = `nobody#${person?.["uid"]}`) =>
      ask(sandbox, "POST", `${path}${place}:requestGroupAccess`, { token: sandbox.token(name), raw: "" });
    const nowhere = await request("");
    expect([nowhere.status, nowhere.json.code]).toEqual([400, 3]);
    expect(nowhere.json.details[1].fieldViolations[0].field).toBe(path.includes("v1") ? "groupId" : "groupUid");
    for (const [uid, name] of [
      [sandbox.wellKnown.rootGroup, undefined],
      [made.json.uid, "nobody"],
    ] as const) {
      const refused = await request(`/${uid}`, name);
      expect([refused.status, refused.json.code]).toEqual([404, 5]);
    }
    const first = await request(`/${made.json.uid}`);
    expect([first.status, first.text]).toEqual([200, "{}"]);
    expect(sandbox.snapshot().accessRequests).toEqual([{ uid: made.json.uid, subject: person?.["uid"] }]);
    const second = await request(`/${made.json.uid}`);
    expect([second.status, second.json.code]).toEqual([429, 8]);
    const bad = await ask(sandbox, "POST", `${path}/${made.json.uid}:requestGroupAccess`, { raw: "[]" });
    expect(bad.status).toBe(400);
  });

  test("a verified root group named like the caller's mail domain can be looked up, nothing else", async () => {
    const person = sandbox.snapshot().identities.find((one) => String(one["email"] ?? "").endsWith("@acme.example"));
    const lookup = () =>
      ask(sandbox, "GET", `${path}:lookupGroup`, { token: sandbox.token(`nobody#${person?.["uid"]}`) });
    expect((await lookup()).status).toBe(404);
    const body = { name: "acme.example", verified: true, kind: "ORG_KIND_CUSTOMER" };
    const made = await ask(sandbox, "POST", "/iam/v2beta1/groups", { body, token: sandbox.token("staff") });
    const { json } = await lookup();
    expect(json.group.name).toBe("acme.example");
    expect(json.group[path.includes("v1") ? "id" : "uid"]).toBe(made.json.uid);
  });
});
