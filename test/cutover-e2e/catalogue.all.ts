/**
 * Shadow agrees with an honest catalogue in every read and write of the ten resources, over HTTP. (test/shadow/catalogue does the same
 * with more calls in memory, in `npm test`.)
 */
import { describe, expect, it } from "vitest";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, COMPARE_ALL, type CutoverRig, cutover } from "./rig.ts";

takeDownAfterEach();

const shadowing = () =>
  cutover({
    rules: COMPARE_ALL,
    flags: { shadowMemoryBytes: "1GiB", shadowConcurrent: "200", shadowSeconds: "58s" },
  });

const COLLECTIONS = {
  "account-association": "/iam/v1/account_associations",
  advisory: "/vulnerabilities/v1/advisories",
  group: "/iam/v1/groups",
  "group-invite": "/iam/v1/group_invites",
  identity: "/iam/v1/identities",
  "identity-provider": "/iam/v1/identityProviders",
  repo: "/registry/v1/repos",
  role: "/iam/v1/roles",
  "role-binding": "/iam/v1/rolebindings",
  tag: "/registry/v1/tags",
} as const;

interface Row {
  readonly resource: string;
  readonly operation: string;
  readonly path: string;
  readonly as?: string;
}

/** Every list of the ten resources, whole and filtered, some records of each by id, and every other read. */
async function catalogueReads(rig: CutoverRig): Promise<Row[]> {
  const { rootGroup, someGroup, emptyGroup, repo, advisory, assumable, otherRootGroup } = rig.sandbox.wellKnown;
  const rows: Row[] = [];
  for (const [resource, path] of Object.entries(COLLECTIONS)) {
    const list = (query: string, as?: string) =>
      rows.push({ resource, operation: "list", path: `${path}${query}`, ...(as === undefined ? {} : { as }) });
    const { items } = (await rig.ask("GET", path)).json;
    const ids: string[] = items.map((item: { id?: string; group?: string }) => item.id ?? item.group);
    list("");
    list("", "viewer");
    list("", `admin@${otherRootGroup}`);
    list("", "nobody");
    const key = resource === "account-association" ? "group" : "id";
    for (const id of [ids[0], ids.at(-1), "nobody", `${"0".repeat(40)}/${"0".repeat(16)}`]) list(`?${key}=${id}`);
    list(`?${key}=${ids[0]}`, "nobody");
    list(`?uidp.descendants_of=${rootGroup}`);
    list(`?uidp.children_of=${someGroup}`);
    list(`?uidp.ancestors_of=${emptyGroup}`);
    list(`?name=${encodeURIComponent(items.find((item: { name?: string }) => item.name)?.name ?? "x")}`);
    rows.push({ resource, operation: "get", path: `${path}/${ids[0]}` });
  }
  const call = (resource: string, operation: string, path: string) => rows.push({ resource, operation, path });
  const digest = (await rig.ask("GET", `/registry/v1/tags?uidp.children_of=${repo}`)).json.items[0].digest;
  const claims = `issuer=${encodeURIComponent(assumable.issuer)}&subject=${encodeURIComponent(assumable.subject)}`;
  call("group", "check-eligibility", "/iam/v1/groups:checkEligibility");
  call("group", "lookup-group", "/iam/v1/groups:lookupGroup");
  call("identity", "lookup", `/iam/v1/identities/lookup?${claims}`);
  call("advisory", "list-events", `/vulnerabilities/v1/advisories/${advisory}/events`);
  call("repo", "list-architectures", `/registry/v1/repos/${repo}/digests/${encodeURIComponent(digest)}/architectures`);
  call("repo", "get-size", `/registry/v1/repos/${repo}/digests/${encodeURIComponent(digest)}/size?arch=amd64`);
  call("tag", "summarise", `/registry/v1/repotagssummary/${repo}`);
  return rows;
}

/** `comparisons_total` as `resource operation result` and its count. */
async function results(rig: CutoverRig): Promise<Map<string, number>> {
  const found = (await rig.text("/metrics")).matchAll(
    /^carryover_comparisons_total\{resource="([^"]*)",operation="([^"]*)",result="([^"]*)"\} (\d+)$/gm,
  );
  return new Map(
    [...found].map(([, resource, operation, result, count]) => [`${resource} ${operation} ${result}`, Number(count)]),
  );
}

/** Every write of the ten resources; each takes what those before it answered. `[resource operation, status]`. */
async function everyWrite(rig: CutoverRig): Promise<[string, number][]> {
  const done: [string, number][] = [];
  const write = async (name: string, method: string, path: string, body?: object) => {
    const answer = await rig.ask(method, path, { ...as("ui"), ...(body === undefined ? {} : { body }) });
    done.push([name, answer.status]);
    // What is written next must not overtake the proof.
    await rig.idle();
    return answer.json;
  };
  const { emptyGroup } = rig.sandbox.wellKnown;
  const { items: roles } = (await rig.ask("GET", "/iam/v1/roles?name=viewer")).json;
  const role = roles[0].id;
  const { items: identities } = (await rig.ask("GET", "/iam/v1/identities")).json;
  const group = await write("group create", "POST", `/iam/v1/groups/${emptyGroup}`, { name: "g", description: "d" });
  await write("group update", "PUT", `/iam/v1/groups/${group.id}`, { name: "g2" });
  const own = await write("role create", "POST", `/iam/v1/roles/${group.id}`, {
    name: "r",
    capabilities: ["groups.list", "groups.create"],
  });
  await write("role update", "PUT", `/iam/v1/roles/${own.id}`, { name: "r2", capabilities: ["groups.list"] });
  await write("role delete", "DELETE", `/iam/v1/roles/${own.id}`);
  const identity = await write("identity create", "POST", `/iam/v1/identities/${group.id}`, {
    name: "i",
    claimMatch: { issuer: "https://issuer.example.com", subject: "s" },
  });
  await write("identity update", "PUT", `/iam/v1/identities/${identity.id}`, {
    name: "i2",
    claimMatch: { issuer: "https://issuer.example.com", subject: "s2" },
  });
  const binding = await write("role-binding create", "POST", `/iam/v1/rolebindings/${group.id}`, {
    identity: identity.id,
    role,
  });
  await write("role-binding update", "PUT", `/iam/v1/rolebindings/${binding.id}`, {
    identity: identities[0].id,
    role,
  });
  await write("role-binding delete", "DELETE", `/iam/v1/rolebindings/${binding.id}`);
  await write("role-binding create-batch", "POST", `/iam/v1/rolebindings/batch/${group.id}`, [
    { identity: identity.id, role },
  ]);
  await write("identity delete", "DELETE", `/iam/v1/identities/${identity.id}`);
  const provider = await write("identity-provider create", "POST", `/iam/v1/identityProviders/${group.id}`, {
    name: "p",
    defaultRole: role,
    oidc: { issuer: "https://p.example.com", clientId: "c", clientSecret: "not-to-be-seen" },
  });
  await write("identity-provider update", "PUT", `/iam/v1/identityProviders/${provider.id}`, {
    name: "p2",
    defaultRole: role,
    oidc: { issuer: "https://p.example.com", clientId: "c" },
  });
  await write(
    "identity-provider generate-scim-token",
    "POST",
    `/iam/v1/identityProviders/${provider.id}:generateScimToken`,
    {},
  );
  await write("identity-provider delete", "DELETE", `/iam/v1/identityProviders/${provider.id}`);
  await write("account-association create", "POST", `/iam/v1/account_associations/${group.id}`, {
    name: "a",
    amazon: { account: "123456789012" },
  });
  await write("account-association update", "PUT", `/iam/v1/account_associations/${group.id}`, {
    name: "a2",
    amazon: { account: "123456789013" },
  });
  await write("account-association delete", "DELETE", `/iam/v1/account_associations/${group.id}`);
  const invite = await write("group-invite create", "POST", `/iam/v1/group_invites/${group.id}`, {
    ttl: "3600s",
    role,
  });
  await write("group-invite delete", "DELETE", `/iam/v1/group_invites/${invite.id}`);
  const made = await write("repo create", "POST", `/registry/v1/repos/${group.id}`, { name: "made", description: "x" });
  await write("repo update", "PUT", `/registry/v1/repos/${made.id}`, { name: "made", description: "y" });
  const tag = await write("tag create", "POST", `/registry/v1/tags/${made.id}`, {
    name: "one",
    digest: `sha256:${"a".repeat(64)}`,
  });
  await write("tag update", "PUT", `/registry/v1/tags/${tag.id}`, { name: "one", digest: `sha256:${"b".repeat(64)}` });
  await write("tag delete", "DELETE", `/registry/v1/tags/${tag.id}`);
  await write("repo delete", "DELETE", `/registry/v1/repos/${made.id}`);
  await write("group delete", "DELETE", `/iam/v1/groups/${group.id}`);
  return done;
}

describe("with the honest catalogue", () => {
  it("every read is equal, or differs as declared; Gets that native lacks are not compared", async () => {
    const rig = await shadowing();
    const rows = await catalogueReads(rig);
    await rig.idle();
    const before = await results(rig);
    for (const { path, as } of rows) await rig.ask("GET", path, { as: as ?? "admin" });
    await rig.idle();
    const found = [...(await results(rig))].map(([key, count]) => [key, count - (before.get(key) ?? 0)] as const);
    const compared = rows.filter(({ operation }) => operation !== "get");
    expect(found.reduce((sum, [, count]) => sum + count, 0)).toBe(compared.length);
    // Tokens of pages are declared; invites have no order that both versions keep; two 404s to anybody prove nothing.
    const declared = found.filter(([key]) => !key.endsWith(" equal")).map(([key]) => key);
    expect(declared.toSorted()).toEqual([
      "advisory list noise",
      "group lookup-group failed",
      "group-invite list order",
    ]);
    expect(new Set(found.map(([key]) => key.split(" ")[0]))).toEqual(new Set(Object.keys(COLLECTIONS)));
    expect((await rig.view("/samples")).samples).toEqual([]);
    const { bounds } = await rig.view("/progress");
    expect(bounds.filter(({ differences }: { differences: number }) => differences > 0)).toEqual([]);
  });

  it("every write reaches the platform once, as v1; v2 sees GETs only, and none differs", async () => {
    const rig = await shadowing();
    const done = await everyWrite(rig);
    await rig.idle();
    expect(done.filter(([, status]) => status !== 200)).toEqual([]);
    const v2 = rig.arrived.filter(({ target }) => target.includes("/v2beta1/"));
    expect(new Set(v2.map(({ method }) => method))).toEqual(new Set(["GET"]));
    const v1 = rig.arrived.filter(({ method, target }) => target.includes("/v1/") && method !== "GET");
    expect(v1).toHaveLength(done.length);
    expect((await rig.view("/samples")).samples).toEqual([]);
    const found = await results(rig);
    for (const name of ["group create", "role create", "identity create", "tag create", "group delete"]) {
      expect([name, found.get(`${name} equal`)]).toEqual([name, 1]);
    }
    // Secrets of bodies are nowhere.
    for (const path of ["/samples", "/metrics", "/clients", "/rules"]) {
      expect(await rig.text(path)).not.toContain("not-to-be-seen");
    }
    expect(rig.lines.join("")).not.toContain("not-to-be-seen");
  });
});
