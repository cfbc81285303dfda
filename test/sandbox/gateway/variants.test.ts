import { expect, test } from "vitest";
import { seededSandbox } from "../../support/seeded.ts";
import { ask } from "../client.ts";

test("role bindings can leave their flat uids empty, in v2 only", async () => {
  const sandbox = seededSandbox({ nestedUidsOnly: true });
  const { roleBinding, identity, editorRole } = sandbox.wellKnown;
  const { json } = await ask(sandbox, "GET", `/iam/v2beta1/roleBindings/${roleBinding}`);
  expect(json).toMatchObject({ identityUid: "", roleUid: "", identity: { uid: identity }, role: { uid: editorRole } });
  const found = await ask(sandbox, "GET", `/iam/v2beta1/roleBindings?identity=${identity}&role=${editorRole}`);
  expect(found.json.roleBindings).toContainEqual(json);
  const [item] = (await ask(sandbox, "GET", `/iam/v1/rolebindings?id=${roleBinding}`)).json.items;
  expect(item.identity).toBe(identity);
});

test("a v2 delete can answer nothing at all, v1 stays with an empty object", async () => {
  const sandbox = seededSandbox({ emptyDeletes: true });
  const { emptyGroup, otherRootGroup } = sandbox.wellKnown;
  const gone = await ask(sandbox, "DELETE", `/iam/v2beta1/groups/${emptyGroup}`);
  expect([gone.status, gone.text]).toEqual([200, ""]);
  const association = await ask(sandbox, "DELETE", `/iam/v1/account_associations/${otherRootGroup}`);
  expect([association.status, association.text]).toEqual([200, "{}"]);
});

test("a page size above 200 is taken for 200, or refused when told so", async () => {
  const groups = (largePages?: "refuse") =>
    ask(seededSandbox(largePages ? { largePages } : {}), "GET", "/iam/v2beta1/groups?page_size=201");
  expect((await groups()).json.groups).toHaveLength(200);
  const refused = await groups("refuse");
  expect([refused.status, refused.json.code]).toEqual([400, 3]);
  expect(refused.json.details[1].fieldViolations[0].field).toBe("page_size");
});
