import { expect, test } from "vitest";
import { at, items, platform, refusal, response, scripted, type V2Call } from "./support.ts";

const here = platform();
const { rootGroup, customRole, viewerRole, identity, orphanInvite } = here.known;
const BINDINGS = "/iam/v1/rolebindings";
const INFO = "type.googleapis.com/google.rpc.ErrorInfo";
const bindingsOf = (call: V2Call): boolean => call.path.startsWith("/iam/v2beta1/roleBindings");

test.each([{}, { nestedUidsOnly: true }])(
  "TRAP-16: a role binding that is created or replaced answers plain ids, over v2 with %j",
  async (second) => {
    const own = platform({}, second);
    const made = await own.same("POST", `${BINDINGS}/${rootGroup}`, { identity, role: viewerRole });
    expect(made.body).toEqual({ id: at(made.body, "id"), identity, group: rootGroup, role: viewerRole });
    const changed = await own.same("PUT", `${BINDINGS}/${at(made.body, "id")}`, { identity, role: customRole });
    expect(changed.body).toMatchObject({ identity, group: rootGroup, role: customRole });
  },
);

test("TRAP-18, DIFF-24: a role binding list whose roles cannot be read is an error", async () => {
  // A role that cannot be read must not look as if it granted nothing.
  const blind = scripted((call) =>
    bindingsOf(call)
      ? { roleBindings: [{ uid: "g/b", identity: { uid: "g/i" }, group: { uid: "g" }, role: { uid: "r", name: "n" } }] }
      : response(403, { code: 7, message: "no", details: [{ "@type": INFO, reason: "DENIED", domain: "iam" }] }),
  );
  expect((await blind.ask("GET", BINDINGS)).status).toBeGreaterThanOrEqual(400);
});

test("DIFF-23: a binding whose group and identity may not be read shows what it says of them itself", async () => {
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

test("TRAP-19, DIFF-25: a batch is no binding below a group called batch, and one of more than 25 is the platform's to refuse", async () => {
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

test("TRAP-21, DIFF-14: each answer on an invite has v1's own members; a role that is gone is its id; without ttl there is none", async () => {
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

test("DIFF-46: the invites of a group are those right below it, and none of its subgroups", async () => {
  const all = items(await here.same("GET", `/iam/v1/group_invites?group=${rootGroup}`));
  expect(here.sent[0]?.query.get("uidp.children_of")).toBe(rootGroup);
  expect(new Set(all.map(({ id }) => String(id).replace(/\/[^/]*$/, "")))).toEqual(new Set([rootGroup]));
});

test("TRAP-54: a replaced group that leaves verified and kind out stays verified; another value is a write of its own", async () => {
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
