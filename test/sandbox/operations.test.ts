import { describe, expect, test } from "vitest";
import { createSandbox } from "../../src/sandbox/sandbox.ts";
import { ask } from "./client.ts";

const sandbox = createSandbox();
const w = sandbox.wellKnown;
const IAM1 = "/iam/v1";
const IAM2 = "/iam/v2beta1";
const REG1 = "/registry/v1";
const REG2 = "/registry/v2beta1";
const VUL1 = "/vulnerabilities/v1";
const VUL2 = "/vulnerabilities/v2beta1";
const verbs = ["generateScimToken", "regenerateScimToken", "revokeScimToken", "setScimEnabled"];

/** Every call of the ten resources that has a v2 counterpart, can be built from v2 calls, or belongs to a native fallback. */
const CALLS: readonly (readonly [id: string, method: string, path: string])[] = [
  ["OP001", "GET", `${IAM1}/account_associations`],
  ["OP001 v2", "GET", `${IAM2}/accountAssociations`],
  ["OP001 also", "GET", `${IAM2}/accountAssociations/${w.accountAssociation}`],
  ["OP002", "DELETE", `${IAM1}/account_associations/${w.emptyGroup}`],
  ["OP002 v2", "DELETE", `${IAM2}/accountAssociations/${w.emptyGroup}`],
  ["OP003", "POST", `${IAM1}/account_associations/${w.emptyGroup}`],
  ["OP003 v2", "POST", `${IAM2}/accountAssociations/${w.emptyGroup}`],
  ["OP004", "PUT", `${IAM1}/account_associations/${w.accountAssociation}`],
  ["OP004 v2", "PATCH", `${IAM2}/accountAssociations/${w.accountAssociation}`],
  ["OP005", "POST", `${IAM1}/account_associations/${w.accountAssociation}:check`],
  ["OP005 v2", "POST", `${IAM2}/accountAssociations/${w.accountAssociation}:checkAccountAssociation`],
  ["OP011", "GET", `${IAM1}/group_invites`],
  ["OP011 v2", "GET", `${IAM2}/groupInvites`],
  ["OP011 also", "GET", `${IAM2}/groupInvites/${w.groupInvite}`],
  ["OP012", "POST", `${IAM1}/group_invites/${w.someGroup}`],
  ["OP012 v2", "POST", `${IAM2}/groupInvites/${w.someGroup}`],
  ["OP013", "DELETE", `${IAM1}/group_invites/x`],
  ["OP013 v2", "DELETE", `${IAM2}/groupInvites/x`],
  ["OP014", "GET", `${IAM1}/groups`],
  ["OP014 v2", "GET", `${IAM2}/groups`],
  ["OP014 also", "GET", `${IAM2}/groups/${w.someGroup}`],
  ["OP015", "POST", `${IAM1}/groups/${w.rootGroup}:requestGroupAccess`],
  ["OP015 v2", "POST", `${IAM2}/groups/${w.rootGroup}:requestGroupAccess`],
  ["OP016", "DELETE", `${IAM1}/groups/x`],
  ["OP016 v2", "DELETE", `${IAM2}/groups/x`],
  ["OP017", "PUT", `${IAM1}/groups/${w.someGroup}`],
  ["OP017 v2", "PATCH", `${IAM2}/groups/${w.someGroup}`],
  ["OP018", "POST", `${IAM1}/groups/${w.someGroup}`],
  ["OP018 v2", "POST", `${IAM2}/groups/${w.someGroup}`],
  ["OP019", "GET", `${IAM1}/groups:checkEligibility`],
  ["OP019 v2", "GET", `${IAM2}/groups:checkEligibility`],
  ["OP020", "GET", `${IAM1}/groups:lookupGroup`],
  ["OP020 v2", "GET", `${IAM2}/groups:lookupGroup`],
  ["OP021", "GET", `${IAM1}/identities`],
  ["OP021 v2", "GET", `${IAM2}/identities`],
  ["OP021 also", "GET", `${IAM2}/identities/${w.identity}`],
  ["OP023", "DELETE", `${IAM1}/identities/x`],
  ["OP023 v2", "DELETE", `${IAM2}/identities/x`],
  ["OP024", "PUT", `${IAM1}/identities/${w.identity}`],
  ["OP024 v2", "PATCH", `${IAM2}/identities/${w.identity}`],
  ["OP025", "POST", `${IAM1}/identities/${w.someGroup}`],
  ["OP025 v2", "POST", `${IAM2}/identities/${w.someGroup}`],
  ["OP026", "GET", `${IAM1}/identities/lookup?issuer=i&subject=s`],
  ["OP026 v2", "GET", `${IAM2}/identities:lookupIdentity?issuer=i&subject=s`],
  ["OP027", "PATCH", `${IAM1}/identities/metadata`],
  ["OP027 v2", "PATCH", `${IAM2}/identities:updateIdentityMetadata`],
  ["OP028", "GET", `${IAM1}/identityProviders`],
  ["OP028 v2", "GET", `${IAM2}/identityProviders`],
  ["OP028 also", "GET", `${IAM2}/identityProviders/${w.identityProvider}`],
  ["OP029", "DELETE", `${IAM1}/identityProviders/x`],
  ["OP029 v2", "DELETE", `${IAM2}/identityProviders/x`],
  ["OP030", "PUT", `${IAM1}/identityProviders/${w.identityProvider}`],
  ["OP030 v2", "PATCH", `${IAM2}/identityProviders/${w.identityProvider}`],
  ...verbs.flatMap((verb, index) => [
    [`OP03${index + 1}`, "POST", `${IAM1}/identityProviders/${w.scim.live}:${verb}`] as const,
    [`OP03${index + 1} v2`, "POST", `${IAM2}/identityProviders/${w.scim.live}:${verb}`] as const,
  ]),
  ["OP035", "POST", `${IAM1}/identityProviders/${w.someGroup}`],
  ["OP035 v2", "POST", `${IAM2}/identityProviders/${w.someGroup}`],
  ["OP036", "GET", `${IAM1}/rolebindings`],
  ["OP036 v2", "GET", `${IAM2}/roleBindings`],
  ["OP036 also", "GET", `${IAM2}/roleBindings/${w.roleBinding}`],
  ["OP037", "DELETE", `${IAM1}/rolebindings/x`],
  ["OP037 v2", "DELETE", `${IAM2}/roleBindings/x`],
  ["OP038", "PUT", `${IAM1}/rolebindings/${w.roleBinding}`],
  ["OP038 v2", "PATCH", `${IAM2}/roleBindings/${w.roleBinding}`],
  ["OP039", "POST", `${IAM1}/rolebindings/${w.someGroup}`],
  ["OP039 v2", "POST", `${IAM2}/roleBindings/${w.someGroup}`],
  ["OP040", "POST", `${IAM1}/rolebindings/batch/${w.someGroup}`],
  ["OP040 v2", "POST", `${IAM2}/roleBindings:batchCreate`],
  ["OP041", "GET", `${IAM1}/roles`],
  ["OP041 v2", "GET", `${IAM2}/roles`],
  ["OP041 also", "GET", `${IAM2}/roles/${w.viewerRole}`],
  ["OP042", "DELETE", `${IAM1}/roles/x`],
  ["OP042 v2", "DELETE", `${IAM2}/roles/x`],
  ["OP043", "PUT", `${IAM1}/roles/${w.customRole}`],
  ["OP043 v2", "PATCH", `${IAM2}/roles/${w.customRole}`],
  ["OP044", "POST", `${IAM1}/roles/${w.someGroup}`],
  ["OP044 v2", "POST", `${IAM2}/roles/${w.someGroup}`],
  ["OP064", "GET", `${REG1}/repos`],
  ["OP064 v2", "GET", `${REG2}/repos`],
  ["OP064 also", "GET", `${REG2}/repos/${w.repo}`],
  ["OP064 readme", "GET", `${REG2}/repos/${w.repo}/readme`],
  ["OP065", "DELETE", `${REG1}/repos/x`],
  ["OP065 v2", "DELETE", `${REG2}/repos/x`],
  ["OP066", "PUT", `${REG1}/repos/${w.repo}`],
  ["OP066 v2", "PATCH", `${REG2}/repos/${w.repo}`],
  ["OP066 readme", "PATCH", `${REG2}/repos/${w.repo}/readme`],
  ["OP067", "POST", `${REG1}/repos/${w.someGroup}?preventExisting=true`],
  ["OP067 v2", "POST", `${REG2}/repos/${w.someGroup}`],
  ["OP074", "GET", `${REG1}/repos/${w.repo}/digests/${w.digest}/architectures`],
  ["OP074 v2", "GET", `${REG2}/repos/${w.repo}/digests/${w.digest}/architectures`],
  ["OP079", "GET", `${REG1}/repos/${w.repo}/digests/${w.digest}/size`],
  ["OP079 v2", "GET", `${REG2}/repos/${w.repo}/digests/${w.digest}/size`],
  ["OP085", "GET", `${REG1}/repotagssummary/${w.repo}`],
  ["OP089", "GET", `${REG1}/tags`],
  ["OP089 v2", "GET", `${REG2}/tags`],
  ["OP089 also", "GET", `${REG2}/tags/${w.tag}`],
  ["OP090", "DELETE", `${REG1}/tags/x`],
  ["OP090 v2", "DELETE", `${REG2}/tags/x`],
  ["OP091", "PUT", `${REG1}/tags/${w.tag}`],
  ["OP093", "POST", `${REG1}/tags/${w.repo}`],
  ["OP093 v2", "POST", `${REG2}/tags/${w.repo}`],
  ["OP099", "GET", `${VUL1}/advisories`],
  ["OP099 v2", "GET", `${VUL2}/advisories`],
  ["OP099 also", "GET", `${VUL2}/advisories/${w.advisory}`],
  ["OP100", "POST", `${VUL1}/advisories`],
  ["OP101", "DELETE", `${VUL1}/advisories/x`],
  ["OP102", "PUT", `${VUL1}/advisories/${w.advisory}`],
  ["OP103", "GET", `${VUL1}/advisories/${w.advisory}/events`],
  ["OP104", "POST", `${VUL1}/advisories/${w.advisory}/events`],
  ["OP105", "PUT", `${VUL1}/advisory_events/x`],
];

describe.each(CALLS)("%s: %s %s", (_id, method, path) => {
  test("is served: without a token it is 401, with one a handler answers", async () => {
    const nobody = await ask(sandbox, method, path, { token: undefined, raw: "" });
    expect([nobody.status, nobody.json.code]).toEqual([401, 16]);
    const { status, json } = await ask(sandbox, method, path, { token: sandbox.token("staff"), raw: "" });
    expect(status === 200 || json.details.length > 0).toBe(true);
    if (method === "GET" && !path.includes("ookup")) expect(status).toBe(200);
  });

  test("refuses a method of its neighbours with 501 and no word of a handler", async () => {
    const { status, json } = await ask(sandbox, "TRACE", path);
    expect([status, json]).toEqual([501, { code: 12, message: "Method Not Allowed", details: [] }]);
  });
});
