import { describe, expect, test } from "vitest";
import type { Sandbox } from "../src/sandbox.ts";
import { ask } from "./client.ts";
import { seededSandbox } from "./seeded.ts";

const PAIRS = [
  ["iam/v1/groups", "iam/v2beta1/groups", "groups"],
  ["iam/v1/identities", "iam/v2beta1/identities", "identities"],
  ["iam/v1/roles", "iam/v2beta1/roles", "roles"],
  ["iam/v1/rolebindings", "iam/v2beta1/roleBindings", "roleBindings"],
  ["iam/v1/identityProviders", "iam/v2beta1/identityProviders", "identityProviders"],
  ["iam/v1/account_associations", "iam/v2beta1/accountAssociations", "accountAssociations"],
  ["iam/v1/group_invites", "iam/v2beta1/groupInvites", "groupInvites"],
  ["registry/v1/repos", "registry/v2beta1/repos", "repos"],
  ["registry/v1/tags", "registry/v2beta1/tags", "tags"],
  ["vulnerabilities/v1/advisories", "vulnerabilities/v2beta1/advisories", "advisories"],
] as const;
const EVERYTHING = "include_referrers=true&include_dates=true&include_epochs=true&page_size=200";

async function v2Uids(sandbox: Sandbox, path: string, key: string, token: string): Promise<string[]> {
  const uids: string[] = [];
  let next = "";
  do {
    const { json } = await ask(sandbox, "GET", `/${path}?${EVERYTHING}&page_token=${next}`, { token });
    uids.push(...json[key].map((record: { uid: string }) => record.uid));
    next = json.nextPageToken;
  } while (next !== "");
  return uids.sort();
}

async function v1Ids(sandbox: Sandbox, path: string, token: string): Promise<string[]> {
  const { json } = await ask(sandbox, "GET", `/${path}?page_size=1000`, { token });
  return json.items.map((item: { id?: string; group: string }) => item.id ?? item.group).sort();
}

describe.each(PAIRS)("%s and %s", (v1, v2, key) => {
  const sandbox = seededSandbox();
  const { someGroup } = sandbox.wellKnown;

  test.each([["admin"], [`admin@${someGroup}`], ["nobody"]])("list the same records to %s", async (name) => {
    const token = sandbox.token(name);
    const ids = await v1Ids(sandbox, v1, token);
    expect(ids).toEqual(await v2Uids(sandbox, v2, key, token));
    const stored = sandbox.snapshot()[key].map((record) => String(record["uid"]));
    if (name === "admin") expect(ids).toEqual(stored);
    const open = key === "roles" ? stored.filter((uid) => !uid.includes("/")) : [];
    if (name === "nobody") expect(ids).toEqual(open);
    if (name.includes("@")) {
      const mine = stored.filter((uid) => uid === someGroup || uid.startsWith(`${someGroup}/`));
      expect(ids).toEqual([...open, ...mine].sort());
    }
  });

  test("show a record alike in the list and by itself, apart from what lists leave out", async () => {
    const [uid = ""] = sandbox.snapshot()[key].map((record) => String(record["uid"]));
    const { json } = await ask(sandbox, "GET", `/${v2}?${EVERYTHING}&uidp.ids=${uid}`);
    const { json: alone } = await ask(sandbox, "GET", `/${v2}/${uid}`);
    const listed = json[key][0];
    if (key !== "identityProviders") expect(listed).toEqual(alone);
    expect(listed.uid).toBe(uid);
  });
});

test("two sandboxes with the same seed, clock and calls end alike; another seed ends otherwise", async () => {
  const clock = () => new Date("2026-03-04T05:06:07.008Z");
  const play = async (seed: string) => {
    const sandbox = seededSandbox({ seed, clock });
    const { someGroup, identity, editorRole } = sandbox.wellKnown;
    await ask(sandbox, "POST", `/iam/v2beta1/groups/${someGroup}`, { body: { name: "Bad" } });
    await ask(sandbox, "POST", `/iam/v1/groups/${someGroup}`, { body: { name: "good" } });
    await ask(sandbox, "POST", `/iam/v1/rolebindings/${someGroup}`, { body: { identity, role: editorRole } });
    await ask(sandbox, "POST", `/iam/v1/group_invites/${someGroup}`, { body: { role: editorRole, ttl: "60s" } });
    return sandbox.snapshot();
  };
  const first = await play("a");
  expect(await play("a")).toEqual(first);
  expect(await play("b")).not.toEqual(first);
});

test("a refused create uses up no uid", async () => {
  const uidAfter = async (attempts: number) => {
    const sandbox = seededSandbox();
    const path = `/iam/v2beta1/groups/${sandbox.wellKnown.someGroup}`;
    for (let index = 0; index < attempts; index++) await ask(sandbox, "POST", path, { body: { name: "NO" } });
    return (await ask(sandbox, "POST", path, { body: { name: "yes" } })).json.uid;
  };
  expect(await uidAfter(3)).toBe(await uidAfter(0));
});
