/** Are writes in shadow made once, by native alone, and proved by reading? (Design section 7.) */
import { describe, expect, it } from "vitest";
import type { SendLayer } from "../../src/model/message.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, COMPARE_ALL, type CutoverRig, cutover, v2Says } from "./rig.ts";

takeDownAfterEach();

const shadowing = (faults?: SendLayer) =>
  cutover({
    rules: COMPARE_ALL,
    ...(faults === undefined ? {} : { sandbox: { faults } }),
    flags: { shadowConcurrent: "100" },
  });

/** Every write of the ten resources; each takes what those before it answered. `[resource operation, status]`. */
async function everyWrite(rig: CutoverRig): Promise<[string, number][]> {
  const done: [string, number][] = [];
  const write = async (name: string, method: string, path: string, body?: object) => {
    const answer = await rig.ask(method, path, { ...as("ui"), ...(body === undefined ? {} : { body }) });
    done.push([name, answer.status]);
    await rig.idle();
    return answer.json;
  };
  const { emptyGroup, repo } = rig.sandbox.wellKnown;
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
  expect(repo).not.toBe("");
  await write("group delete", "DELETE", `/iam/v1/groups/${group.id}`);
  return done;
}

describe("in shadow", () => {
  it("every write of the ten resources reaches the platform once, as v1; v2 sees GETs only, and none differs", async () => {
    const rig = await shadowing();
    const done = await everyWrite(rig);
    await rig.idle();
    expect(done.filter(([, status]) => status !== 200)).toEqual([]);
    const v2 = rig.arrived.filter(({ target }) => target.includes("/v2beta1/"));
    expect(new Set(v2.map(({ method }) => method))).toEqual(new Set(["GET"]));
    const v1 = rig.arrived.filter(({ method, target }) => target.includes("/v1/") && method !== "GET");
    expect(v1).toHaveLength(done.length);
    expect((await rig.view("/samples")).samples).toEqual([]);
    const metrics = await rig.text("/metrics");
    const results = [
      ...metrics.matchAll(
        /^carryover_comparisons_total\{resource="([^"]+)",operation="([^"]+)",result="([^"]+)"\} (\d+)/gm,
      ),
    ]
      .map(([, resource, operation, result, count]) => `${resource} ${operation} ${result} ${count}`)
      .toSorted();
    console.log(results.join("\n"));
    expect(metrics).toMatch(/^carryover_comparisons_total\{resource="group",operation="update",result="equal"\} 1$/m);
    for (const name of [
      "group create",
      "role update",
      "identity create",
      "role-binding update",
      "tag create",
      "repo update",
    ]) {
      expect(results.filter((one) => one.startsWith(`${name} equal`))).toHaveLength(1);
    }
    // Secrets of bodies are nowhere.
    for (const path of ["/samples", "/metrics", "/clients", "/rules"]) {
      expect(await rig.text(path)).not.toContain("not-to-be-seen");
    }
    expect(rig.lines.join("")).not.toContain("not-to-be-seen");
  });

  it("a field that native stored otherwise than the built PATCH would is found by its v1 name", async () => {
    // What v2 shows of the group is what native stored; it stored another name than the client gave.
    const rig = await shadowing(
      v2Says((text) => text.replaceAll('"renamed"', '"stored otherwise"'), /v2beta1\/groups/),
    );
    const path = `/iam/v1/groups/${rig.sandbox.wellKnown.emptyGroup}`;
    const answer = await rig.ask("PUT", path, { ...as("ui"), body: { name: "renamed", description: "kept" } });
    expect([answer.status, answer.json.name]).toEqual([200, "renamed"]);
    await rig.compared(1);
    const { samples } = await rig.view("/samples");
    expect(samples).toHaveLength(1);
    expect(samples[0]).toMatchObject({ resource: "group", operation: "update", kind: "write", result: "value" });
    expect(samples[0].differences[0].path).toMatch(/name$/);
    expect(JSON.stringify(samples)).not.toContain("stored otherwise");
  });

  it("a field that was to become empty and did not is found", async () => {
    const rig = await shadowing(
      v2Says((text) => text.replaceAll('"description":""', '"description":"still here"'), /v2beta1\/groups/),
    );
    const path = `/iam/v1/groups/${rig.sandbox.wellKnown.emptyGroup}`;
    await rig.ask("PUT", path, { ...as("ui"), body: { name: "renamed" } });
    await rig.compared(1);
    const { samples } = await rig.view("/samples");
    expect(samples[0]).toMatchObject({ operation: "update", kind: "write" });
    expect(samples[0].differences.map(({ path: at }: { path: string }) => at).join()).toMatch(/description/);
  });

  it("a record that is still there after native deleted it is found", async () => {
    const kept = { body: Buffer.from("") };
    const rig = await shadowing((next) => async (request, options) => {
      const answer = await next(request, options);
      if (!/v2beta1\/groups/.test(request.target) || answer.status !== 404) return answer;
      return { status: 200, headers: [["content-type", "application/json"]], body: kept.body };
    });
    const made = await rig.ask("POST", `/iam/v1/groups/${rig.sandbox.wellKnown.emptyGroup}`, { body: { name: "x" } });
    kept.body = Buffer.from(JSON.stringify({ uid: made.json.id, name: "x" }));
    await rig.compared(1);
    expect((await rig.ask("DELETE", `/iam/v1/groups/${made.json.id}`, as("ui"))).status).toBe(200);
    await rig.compared(2);
    expect((await rig.view("/samples")).samples[0]).toMatchObject({ operation: "delete", kind: "write" });
  });

  it("what native refused is no write: both refuse alike, and nothing is sent to v2 but GETs", async () => {
    const rig = await shadowing();
    const path = `/iam/v1/groups/${"0".repeat(40)}`;
    for (const [method, target, body] of [
      ["PUT", path, { name: "x" }],
      ["DELETE", path, undefined],
      ["POST", path, { name: "x" }],
      ["PUT", `/iam/v1/groups/${rig.sandbox.wellKnown.emptyGroup}`, '{"name":'],
      ["PUT", `/iam/v1/groups/${rig.sandbox.wellKnown.emptyGroup}`, { name: 7 }],
    ] as const) {
      const answer = await rig.ask(method, target, { ...as("ui"), ...(body === undefined ? {} : { body }) });
      expect(answer.status).toBeGreaterThanOrEqual(400);
    }
    expect((await rig.ask("PUT", path, { as: "viewer", body: { name: "x" } })).status).toBeGreaterThanOrEqual(400);
    await rig.idle();
    expect(rig.arrived.filter(({ method, target }) => target.includes("v2beta1") && method !== "GET")).toEqual([]);
    expect((await rig.view("/samples")).samples).toEqual([]);
  });

  it("a write that another one overtook before it was read is not called a difference", async () => {
    const gate: { open: () => void; passed: Promise<void> } = { open: () => {}, passed: Promise.resolve() };
    gate.passed = new Promise((open) => {
      gate.open = open;
    });
    const rig = await shadowing((next) => async (request, options) => {
      if (request.target.includes("/v2beta1/")) await gate.passed;
      return next(request, options);
    });
    const path = `/iam/v1/groups/${rig.sandbox.wellKnown.emptyGroup}`;
    for (const name of ["one", "two", "three"]) {
      expect((await rig.ask("PUT", path, { ...as("ui"), body: { name } })).status).toBe(200);
    }
    gate.open();
    await rig.compared(3);
    expect((await rig.view("/samples")).samples).toEqual([]);
    expect(
      (await rig.view("/progress")).bounds.some(({ differences }: { differences: number }) => differences > 0),
    ).toBe(false);
  });

  it("a token that may write and not read proves nothing and breaks nothing", async () => {
    const rig = await shadowing((next) => async (request, options) => {
      if (!request.target.includes("/v2beta1/")) return next(request, options);
      const body = Buffer.from('{"code":7,"message":"not allowed","details":[]}');
      return { status: 403, headers: [["content-type", "application/json"]], body };
    });
    const path = `/iam/v1/groups/${rig.sandbox.wellKnown.emptyGroup}`;
    const answer = await rig.ask("PUT", path, { ...as("ui"), body: { name: "renamed" } });
    expect([answer.status, answer.json.name]).toEqual([200, "renamed"]);
    await rig.idle();
    expect(await rig.metric("carryover_comparisons_total", { result: "equal" })).toBe(0);
  });
});
