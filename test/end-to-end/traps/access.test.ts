import { expect, test } from "vitest";
import { at, items, platform, refusal, response, scripted, type V2Call } from "./support.ts";

const here = platform();
const { rootGroup, roleBinding, customRole, viewerRole, identity, orphanInvite, fullAssociation } = here.known;
const BINDINGS = "/iam/v1/rolebindings";
const INFO = "type.googleapis.com/google.rpc.ErrorInfo";
const bindingsOf = (call: V2Call): boolean => call.path.startsWith("/iam/v2beta1/roleBindings");

test("T04: capabilities are v1's dotted words in lists, in bindings and in invites, and an unknown one is refused", async () => {
  for (const [list, path] of [
    ["/iam/v1/roles", "capabilities"],
    [BINDINGS, "role.capabilities"],
    ["/iam/v1/group_invites", "role.capabilities"],
  ] as const) {
    const words = items(await here.same("GET", list)).flatMap((item) => (at(item, path) ?? []) as string[]);
    expect([list, words.length > 100, words.filter((word) => word.startsWith("CAP_"))]).toEqual([list, true, []]);
  }
  const own = platform({ organisation: false });
  const parent = `/iam/v1/roles/${own.known.rootGroup}`;
  await own.same("POST", parent, { name: "r", capabilities: ["groups.list", "repo.create"] });
  expect(own.sent.at(-1)?.body).toMatchObject({ capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_REPO_CREATE"] });
  const unknown = await own.ask("POST", parent, { name: "s", capabilities: ["groups.list", "groups.fly"] });
  expect([unknown.status, own.sent]).toEqual([400, []]);
  expect(own.stores()).toEqual([]);
});

test.each([{}, { nestedUidsOnly: true }])(
  "T16: a role binding that is created or replaced answers plain ids, over v2 with %j",
  async (second) => {
    const own = platform({}, second);
    const made = await own.same("POST", `${BINDINGS}/${rootGroup}`, { identity, role: viewerRole });
    expect(made.body).toEqual({ id: at(made.body, "id"), identity, group: rootGroup, role: viewerRole });
    const changed = await own.same("PUT", `${BINDINGS}/${at(made.body, "id")}`, { identity, role: customRole });
    expect(changed.body).toMatchObject({ identity, group: rootGroup, role: customRole });
  },
);

test("T17: a role binding is written under v2's names for its ids, and its group only by the path", async () => {
  const own = platform({ organisation: false });
  const { rootGroup: group, identity: who, viewerRole: role, otherRootGroup } = own.known;
  await own.same("POST", `${BINDINGS}/${group}`, { identity: who, role, group: otherRootGroup });
  expect(own.sent.at(-1)?.body).toEqual({ identityUid: who, roleUid: role });
  expect(own.stores()).toEqual([]);
});

test("T18, V24: a role binding list keeps role capabilities, and all that it shows of group and identity", async () => {
  const [first] = items(await here.same("GET", `${BINDINGS}?id=${roleBinding}`));
  expect(at(first, "role.capabilities")).toEqual(expect.arrayContaining(["groups.list", "groups.create"]));
  expect(at(first, "group")).toMatchObject({ verified: true, kind: "ORG_KIND_CUSTOMER", resourceLimits: { idps: 3 } });
  const all = items(await here.same("GET", BINDINGS));
  expect(all.some((item) => item["emailUnverified"] !== "")).toBe(true);
  // A role that cannot be read must not look as if it granted nothing.
  const blind = scripted((call) =>
    bindingsOf(call)
      ? { roleBindings: [{ uid: "g/b", identity: { uid: "g/i" }, group: { uid: "g" }, role: { uid: "r", name: "n" } }] }
      : response(403, { code: 7, message: "no", details: [{ "@type": INFO, reason: "DENIED", domain: "iam" }] }),
  );
  expect((await blind.ask("GET", BINDINGS)).status).toBeGreaterThanOrEqual(400);
});

test("V23: a binding whose group and identity may not be read shows what it says of them itself", async () => {
  const group = { uid: "g", name: "a group", description: "d" };
  const binding = { uid: "g/b", identity: { uid: "g/i" }, group, role: { uid: "r" }, identityUid: "g/i", roleUid: "r" };
  const v2 = scripted((call) => {
    if (bindingsOf(call)) return { roleBindings: [binding] };
    if (call.path.endsWith("/roles"))
      return { roles: [{ uid: "r", name: "viewer", capabilities: ["CAP_IAM_GROUPS_LIST"] }] };
    return response(403, { code: 7, message: "no", details: [{ "@type": INFO, reason: "DENIED", domain: "iam" }] });
  });
  const [shown] = items(await v2.ask("GET", BINDINGS));
  expect(shown).toMatchObject({ emailUnverified: "", role: { capabilities: ["groups.list"] } });
  expect(at(shown, "group")).toEqual({ id: "g", name: "a group", description: "d" });
});

test("T19, V25: a batch is no binding below a group called batch, and one of more than 25 is the platform's to refuse", async () => {
  const own = platform({ organisation: false });
  const { rootGroup: group, identity: who, viewerRole: role } = own.known;
  const batch = (count: number) => Array.from({ length: count }, () => ({ identity: who, role }));
  await own.same("POST", `${BINDINGS}/batch/${group}`, batch(25));
  expect(own.sent.map(({ path }) => path)).toEqual(["/iam/v2beta1/roleBindings:batchCreate"]);
  expect(own.stores()).toEqual([]);
  const refused = await own.ask("POST", `${BINDINGS}/batch/${group}`, batch(26));
  expect([own.sent.length, refusal(refused)]).toEqual([1, [400, "INVALID_ARGUMENT"]]);
  expect(refused.text).toContain('"field":"roleBindings"');
  expect(own.stores()).toEqual([]);
});

test("T20: the role of an invite is an id in what is asked and an object in what is answered and listed", async () => {
  const own = platform({ organisation: false });
  const { rootGroup: group, viewerRole: role } = own.known;
  const made = await own.same("POST", `/iam/v1/group_invites/${group}`, { role, ttl: "3600s" });
  expect(own.sent[0]?.body).toEqual({ roleUid: role, ttl: "3600s" });
  expect(at(made.body, "role")).toMatchObject({ id: role, name: "viewer" });
  const [listed] = items(await own.same("GET", "/iam/v1/group_invites"));
  expect(at(listed, "role")).toMatchObject({ id: role, name: "viewer" });
});

test("T21, V14: each answer on an invite has v1's own members; a role that is gone is its id; without ttl there is none", async () => {
  const own = platform();
  const { rootGroup: group, viewerRole: role } = own.known;
  const given = { role, ttl: "3600s", email: "new@acme.example", singleUse: true };
  const made = await own.same("POST", `/iam/v1/group_invites/${group}`, given);
  expect(Object.keys(made.body as object).toSorted()).toEqual(["code", "expiration", "id", "keyId", "role"]);
  const [orphan] = items(await own.same("GET", `/iam/v1/group_invites?id=${orphanInvite}`));
  expect(Object.keys(at(orphan, "role") as object)).toContain("id");
  expect(orphan).not.toHaveProperty("code");
  const refused = await own.ask("POST", `/iam/v1/group_invites/${group}`, { role });
  expect([own.sent.length, refusal(refused)]).toEqual([1, [400, "INVALID_ARGUMENT"]]);
  expect(refused.text).toContain('"field":"ttl"');
});

test("V46: the invites of a group are those right below it, and none of its subgroups", async () => {
  const all = items(await here.same("GET", `/iam/v1/group_invites?group=${rootGroup}`));
  expect(here.sent[0]?.query.get("uidp.children_of")).toBe(rootGroup);
  expect(new Set(all.map(({ id }) => String(id).replace(/\/[^/]*$/, "")))).toEqual(new Set([rootGroup]));
});

test("T22: an association is known by its group, of which each has one, in v1 as in v2", async () => {
  const own = platform();
  const path = `/iam/v1/account_associations/${own.known.emptyGroup}`;
  const given = { name: "mine", group: rootGroup, amazon: { account: "123456789012" } };
  const made = await own.same("POST", path, given);
  expect(made.body).toMatchObject({ group: own.known.emptyGroup });
  expect(made.body).not.toHaveProperty("id");
  expect(own.sent[0]?.text).not.toMatch(/"(?:group|uid|id)":/);
  expect((await own.same("POST", path, given)).status).toBe(409);
  await own.same("PUT", path, { ...given, name: "ours" });
  expect(own.sent.at(-1)?.path).toBe(`/iam/v2beta1/accountAssociations/${own.known.emptyGroup}`);
  expect(own.stores()).toEqual([]);
});

test("T23: the keys of service bindings are data, whatever names of v2 they resemble", async () => {
  const own = platform();
  const path = `/iam/v1/account_associations/${fullAssociation}`;
  const [stored] = items(await own.same("GET", `/iam/v1/account_associations?group=${fullAssociation}`));
  const text = JSON.stringify(stored);
  expect(text).toContain('"INGESTER":');
  expect(text).toContain('"SERVICE_PRINCIPAL_INGESTER":');
  await own.same("PUT", path, text);
  expect(own.stores()).toEqual([]);
  await own.same("PUT", path, text.replace('"INGESTER":', '"COSIGNED":'));
  expect(own.sent.at(-1)?.text).toContain('"COSIGNED":');
  expect(own.stores()).toEqual([]);
});

test("T54: a replaced group that leaves verified and kind out stays verified; another value is a write of its own", async () => {
  const own = platform();
  const path = `/iam/v1/groups/${rootGroup}`;
  const left = await own.ask("PUT", path, { name: "acme" });
  expect([left.status, at(left.body, "verified"), at(left.body, "kind")]).toEqual([200, true, "ORG_KIND_CUSTOMER"]);
  const [shown] = items(await own.ask("GET", `/iam/v1/groups?id=${rootGroup}`));
  await own.ask("PUT", path, shown);
  expect(own.sent.at(-1)?.query.get("updateMask")).toBe("name,description");
  await own.ask("PUT", path, { ...shown, verified: false }, "staff");
  expect(own.sent.at(-1)?.query.get("updateMask")).toBe("name,description,verified");
  expect((await own.ask("PUT", path, { ...shown, verified: true })).status).toBe(403);
});

test("T55: limits and status of a group that are sent back are not sent on", async () => {
  const own = platform();
  const path = `/iam/v1/groups/${rootGroup}`;
  const [shown] = items(await own.same("GET", `/iam/v1/groups?id=${rootGroup}`));
  expect(shown).toMatchObject({ status: "ORG_STATUS_READY", resourceLimits: { clusters: 10 } });
  const sentBack = await own.ask("PUT", path, { ...shown, resourceLimits: { clusters: 99 } });
  expect(own.sent.at(-1)?.text).not.toMatch(/resourceLimits|status/);
  expect([sentBack.status, at(sentBack.body, "resourceLimits.clusters")]).toEqual([200, 10]);
});
