import { expect, test } from "vitest";
import { items, platform, refusal } from "./support.ts";

const here = platform();
const { someGroup, repo, identity, identityProvider, roleBinding, viewerRole } = here.known;

test("TRAP-45: POST on the bare identities is another operation, and is not taken for one without a parent", async () => {
  const answer = await here.ask("POST", "/iam/v1/identities", { name: "i" });
  expect([refusal(answer), answer.text.includes("identity create-root")]).toEqual([[501, "NOT_TRANSLATABLE"], true]);
  expect(here.sent).toEqual([]);
});

test("DIFF-09: a Get by id, which v1 did not have, shows what the list by id shows", async () => {
  for (const [collection, id, filter = "id"] of [
    ["iam/v1/groups", someGroup],
    ["iam/v1/identities", identity],
    ["iam/v1/roles", viewerRole],
    ["iam/v1/rolebindings", roleBinding],
    ["iam/v1/identityProviders", identityProvider],
    ["iam/v1/account_associations", here.known.fullAssociation, "group"],
    ["iam/v1/group_invites", here.known.groupInvite],
    ["registry/v1/repos", repo],
    ["registry/v1/tags", here.known.tag],
    ["vulnerabilities/v1/advisories", here.known.fullAdvisory],
  ] as const) {
    expect([collection, (await here.native("GET", `/${collection}/${id}`)).status]).toEqual([collection, 501]);
    const { body } = await here.ask("GET", `/${collection}/${id}`);
    expect(items(await here.ask("GET", `/${collection}?${filter}=${id}`))).toEqual([body]);
  }
});
