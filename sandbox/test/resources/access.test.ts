import { beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/sandbox.ts";
import { ask } from "../client.ts";
import { seededSandbox } from "../seeded.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = seededSandbox({ clock: () => new Date("2026-01-02T03:04:05.678Z") });
});

describe("identities", () => {
  const V1 = "/iam/v1/identities";
  const V2 = "/iam/v2beta1/identities";
  const match = { issuer: "https://i.example", subject: "s" };
  const make = async (path: string, body: object) =>
    (await ask(sandbox, "POST", `${path}/${sandbox.wellKnown.someGroup}`, { body })).json;

  test("times are the clock's, lastSeenTime included, under their v1 names in v1", async () => {
    const at = "2026-01-02T03:04:05.678Z";
    const made = await make(V2, { name: "n", claimMatch: match });
    expect(made).toMatchObject({ createTime: at, updateTime: at, lastSeenTime: at });
    const [item] = (await ask(sandbox, "GET", `${V1}?id=${made.uid}`)).json.items;
    expect(item).toMatchObject({ createdAt: at, updatedAt: at, lastSeen: at });
  });

  test("v2 wants exactly one relationship, both faces at most one, and the parts that each needs", async () => {
    const path = `${V2}/${sandbox.wellKnown.someGroup}`;
    const bad = [
      {},
      { claimMatch: match, servicePrincipal: 1 },
      { claimMatch: { issuer: "i" } },
      { claimMatch: { subject: "s" } },
      { claimMatch: { ...match, issuerPattern: "x" } },
      { staticKeys: { issuer: "i", subject: "s" } },
      { awsIdentity: { awsAccount: "12" } },
    ];
    for (const one of bad) expect((await ask(sandbox, "POST", path, { body: { name: "n", ...one } })).status).toBe(400);
  });

  test("v2 filters by name and kind of relationship", async () => {
    const kinds = (await ask(sandbox, "GET", `${V2}?relationship_type=RELATIONSHIP_TYPE_STATIC&page_size=200`)).json;
    expect(kinds.identities.length).toBeGreaterThan(10);
    expect(kinds.identities.every((one: object) => Object.hasOwn(one, "staticKeys"))).toBe(true);
    expect((await ask(sandbox, "GET", `${V2}?name=workload-0`)).json.totalCount).toBe("1");
  });

  test("lookup gives v1 the whole identity or 404, and v2 a uid in any case", async () => {
    const { assumable, identity } = sandbox.wellKnown;
    const query = (subject: string) =>
      `issuer=${encodeURIComponent(assumable.issuer)}&subject=${encodeURIComponent(subject)}`;
    const nobody = { token: sandbox.token("nobody") };
    const v1 = await ask(sandbox, "GET", `${V1}/lookup?${query(assumable.subject)}`, nobody);
    expect(v1.json).toMatchObject({ id: identity, claimMatch: assumable });
    expect((await ask(sandbox, "GET", `${V1}/lookup?${query("stranger")}`)).status).toBe(404);
    const lookup = (subject: string) => ask(sandbox, "GET", `${V2}:lookupIdentity?${query(subject)}`, nobody);
    expect((await lookup(assumable.subject)).json).toEqual({ uid: identity });
    expect((await lookup("stranger")).json.uid).toMatch(/^[0-9a-f]{40}$/);
    expect((await lookup("stranger")).text).toBe((await lookup("stranger")).text);
  });

  test("deleting one takes its bindings along", async () => {
    const { identity, roleBinding } = sandbox.wellKnown;
    expect((await ask(sandbox, "DELETE", `${V2}/${identity}`)).text).toBe("{}");
    expect((await ask(sandbox, "GET", `/iam/v2beta1/roleBindings/${roleBinding}`)).status).toBe(404);
  });
});

describe("roles", () => {
  const V1 = "/iam/v1/roles";
  const V2 = "/iam/v2beta1/roles";

  test("an unknown string is refused by v1; v2 wants one capability at least, and `internal` beside internal ones", async () => {
    const { someGroup } = sandbox.wellKnown;
    const post = async (path: string, capabilities: string[]) =>
      (await ask(sandbox, "POST", `${path}/${someGroup}`, { body: { name: "r", capabilities } })).status;
    expect(await post(V1, ["groups.list", "groups.fly"])).toBe(400);
    expect(await post(V2, [])).toBe(400);
    expect(await post(V1, [])).toBe(200);
    expect(await post(V2, ["CAP_REPO_INTERNAL_ADMIN"])).toBe(400);
    expect(await post(V2, ["CAP_REPO_INTERNAL_ADMIN", "CAP_INTERNAL"])).toBe(200);
  });

  test("built-in and bound roles cannot be deleted, others can", async () => {
    const { viewerRole, customRole } = sandbox.wellKnown;
    const remove = (uid: unknown) => ask(sandbox, "DELETE", `${V1}/${uid}`);
    expect((await remove(viewerRole)).json.code).toBe(9);
    const bound = sandbox.snapshot().roleBindings.find((one) => String(one["roleUid"]).includes("/"));
    expect((await remove(bound?.["roleUid"])).json.details[1].violations[0].type).toBe("ROLE_IN_USE");
    expect((await remove(customRole)).text).toBe("{}");
    const edit = { body: { name: "viewer", description: "mine now" } };
    expect((await ask(sandbox, "PUT", `${V1}/${viewerRole}`, edit)).json.code).toBe(9);
  });

  test("v1 `parent=/` means the built-in ones, another parent those directly below", async () => {
    const builtIn = (await ask(sandbox, "GET", `${V1}?parent=/`)).json.items;
    expect(builtIn.map((role: { id: string }) => role.id.includes("/"))).toEqual(Array(10).fill(false));
    const below = (await ask(sandbox, "GET", `${V1}?parent=${sandbox.wellKnown.rootGroup}`)).json.items;
    expect(below).toHaveLength(11);
    expect((await ask(sandbox, "GET", `${V1}?parent=/&name=viewer`)).json.items).toHaveLength(1);
  });
});

describe("role bindings", () => {
  const V1 = "/iam/v1/rolebindings";
  const V2 = "/iam/v2beta1/roleBindings";

  test("v1 lists whole groups and roles, and the claims and e-mail of the identity", async () => {
    const { roleBinding, identity, rootGroup, editorRole, assumable } = sandbox.wellKnown;
    const [item] = (await ask(sandbox, "GET", `${V1}?id=${roleBinding}`)).json.items;
    const [group] = (await ask(sandbox, "GET", `/iam/v1/groups?id=${rootGroup}`)).json.items;
    const [role] = (await ask(sandbox, "GET", `/iam/v1/roles?id=${editorRole}`)).json.items;
    expect(item).toEqual({
      id: roleBinding,
      group,
      identity,
      role,
      email: "",
      claimMatchIssuer: assumable.issuer,
      claimMatchSubject: assumable.subject,
      createdAt: expect.stringMatching(/Z$/),
      emailUnverified: "",
    });
  });

  test("v2 shows identity, group and role as objects, without capabilities", async () => {
    const { roleBinding, identity, rootGroup, editorRole, assumable } = sandbox.wellKnown;
    const { json } = await ask(sandbox, "GET", `${V2}/${roleBinding}`);
    expect(json.identity).toMatchObject({ uid: identity, name: "workload-0", ...assumable, email: "" });
    expect(json.group).toMatchObject({ uid: rootGroup, name: "acme" });
    expect(Object.keys(json.role)).toEqual(["uid", "name", "description"]);
    expect(json).toMatchObject({ identityUid: identity, roleUid: editorRole });
  });

  test("a listed binding follows what it joins, in both faces", async () => {
    const { roleBinding, rootGroup } = sandbox.wellKnown;
    const names = async () => [
      (await ask(sandbox, "GET", `${V1}?id=${roleBinding}`)).json.items[0].group.name,
      (await ask(sandbox, "GET", `${V2}?uidp.ids=${roleBinding}`)).json.roleBindings[0].group.name,
    ];
    expect(await names()).toEqual(["acme", "acme"]);
    await ask(sandbox, "PATCH", `/iam/v2beta1/groups/${rootGroup}?updateMask=name`, { body: { name: "renamed" } });
    expect(await names()).toEqual(["renamed", "renamed"]);
  });

  test("v2 filters by identity, group and role", async () => {
    const { identity, rootGroup, editorRole } = sandbox.wellKnown;
    const { json } = await ask(sandbox, "GET", `${V2}?identity=${identity}&group=${rootGroup}&role=${editorRole}`);
    expect(json.totalCount).not.toBe("0");
    for (const one of json.roleBindings) expect([one.identityUid, one.group.uid]).toEqual([identity, rootGroup]);
  });

  test("identity and role are required and must exist; errors use the words of the face", async () => {
    const { someGroup, identity, editorRole } = sandbox.wellKnown;
    const field = async (path: string, body: object) =>
      (await ask(sandbox, "POST", `${path}/${someGroup}`, { body })).json.details[1].fieldViolations?.[0].field;
    expect(await field(V2, { roleUid: editorRole })).toBe("identityUid");
    expect(await field(V1, { identity })).toBe("role");
    const missing = await ask(sandbox, "POST", `${V2}/${someGroup}`, {
      body: { identityUid: "x", roleUid: editorRole },
    });
    expect([missing.status, missing.json.details[1].resourceType]).toEqual([404, "Identity"]);
    const clash = await ask(sandbox, "POST", `${V2}/${someGroup}`, { body: { identity, role: editorRole } });
    expect([clash.status, clash.json.details]).toEqual([400, []]);
  });

  test("deleting one that is not there succeeds", async () => {
    const { someGroup, roleBinding } = sandbox.wellKnown;
    expect((await ask(sandbox, "DELETE", `${V2}/${someGroup}/0123456789abcdef`)).text).toBe("{}");
    expect((await ask(sandbox, "DELETE", `${V1}/${roleBinding}`)).text).toBe("{}");
  });

  test("a batch is created whole or not at all, in order, at most 25 by v2", async () => {
    const { someGroup, identity, editorRole, viewerRole } = sandbox.wellKnown;
    const roles = [editorRole, viewerRole];
    const v1 = await ask(sandbox, "POST", `${V1}/batch/${someGroup}`, {
      body: roles.map((role) => ({ identity, role })),
    });
    expect(v1.json.roleBindings.map((one: { role: string }) => one.role)).toEqual(roles);
    const requests = roles.map((roleUid) => ({ parent: someGroup, roleBinding: { identityUid: identity, roleUid } }));
    const v2 = await ask(sandbox, "POST", `${V2}:batchCreate`, { body: { parent: someGroup, requests } });
    expect(v2.json.roleBindings.map((one: { roleUid: string }) => one.roleUid)).toEqual(roles);
    const before = sandbox.snapshot();
    const broken = {
      body: [
        { identity, role: editorRole },
        { identity, role: "nothing" },
      ],
    };
    expect((await ask(sandbox, "POST", `${V1}/batch/${someGroup}`, broken)).status).toBe(404);
    const many = { parent: someGroup, requests: Array(26).fill(requests[0]) };
    expect((await ask(sandbox, "POST", `${V2}:batchCreate`, { body: many })).status).toBe(400);
    const torn = { parent: someGroup, requests, roleUid: viewerRole };
    expect((await ask(sandbox, "POST", `${V2}:batchCreate`, { body: torn })).status).toBe(400);
    expect(sandbox.snapshot()).toEqual(before);
  });
});
