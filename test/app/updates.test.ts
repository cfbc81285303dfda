/** Does a v1 PUT replace everything that v1 knows and nothing else, as the platform's own store shows? (Design section 6.) */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import type { ApiResponse, SendLayer } from "../../src/model/message.ts";
import { type Rig, reasonOf, rigForTest, sharedRig, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const shared = sharedRig();

type Resources = keyof ReturnType<Rig["sandbox"]["snapshot"]>;

function record(rig: Rig, resource: Resources, uid: string): JsonObject {
  const found = rig.sandbox.snapshot()[resource].find((one) => one["uid"] === uid);
  if (found === undefined) throw new Error(`there is no ${resource} ${uid}`);
  return found;
}

/** An identity with a description, and with a company, which v1 has no word for. */
function identityOfCompany(rig: Rig): string {
  const found = rig.sandbox
    .snapshot()
    .identities.find((one) => one["company"] && one["claimMatch"] && one["description"] && one["lastSeenTime"]);
  return String(found?.["uid"]);
}

const WHO = { issuer: "https://a.example", subject: "s" };

describe("a PUT that leaves fields out", () => {
  it("T-PUT-01: clears them in the store, and leaves alone what v1 cannot know", async () => {
    const rig = shared();
    const uid = identityOfCompany(rig);
    const before = record(rig, "identities", uid);
    expect(before).toMatchObject({ description: expect.stringMatching(/./), company: "Acme Ünlimited" });
    const answer = await rig.ask("PUT", `/iam/v1/identities/${uid}`, { body: { name: "new", claimMatch: WHO } });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ id: uid, name: "new", description: "", claimMatch: WHO });
    expect(answer.json.company).toBeUndefined();
    const { description: _, updateTime: __, ...kept } = before;
    const after = record(rig, "identities", uid);
    expect(after).toEqual({ ...kept, name: "new", claimMatch: WHO, updateTime: after["updateTime"] });
    expect(rig.exchanges[0]?.defaultedFields).toContain("description");
  });

  it("T-PUT-01: clears all of a role but its name", async () => {
    const rig = shared();
    const uid = rig.sandbox.wellKnown.customRole;
    await rig.ask("PUT", `/iam/v1/roles/${uid}`, {
      body: { name: "r", description: "d", capabilities: ["groups.list"] },
    });
    expect(record(rig, "roles", uid)).toMatchObject({
      name: "r",
      description: "d",
      capabilities: [expect.any(Number)],
    });
    const answer = await rig.ask("PUT", `/iam/v1/roles/${uid}`, { body: { name: "r" } });
    expect([answer.status, answer.json.description, answer.json.capabilities]).toEqual([200, "", []]);
    const after = record(rig, "roles", uid);
    expect([after["name"], after["description"] ?? "", after["capabilities"] ?? []]).toEqual(["r", "", []]);
  });

  it("T-PUT-03: never clears a secret that no read returns", async () => {
    const rig = shared();
    const uid = rig.sandbox.wellKnown.identityProvider;
    const secret = (one: JsonObject) => JSON.stringify(one).match(/"clientSecret":"([^"]+)"/)?.[1];
    const before = secret(record(rig, "identityProviders", uid));
    const shown = (await rig.ask("GET", `/iam/v1/identityProviders?id=${uid}`)).json.items[0];
    const { clientSecret: _, ...oidc } = shown.oidc;
    const answer = await rig.ask("PUT", `/iam/v1/identityProviders/${uid}`, { body: { ...shown, name: "idp", oidc } });
    expect([answer.status, answer.json.name]).toEqual([200, "idp"]);
    expect(before).toMatch(/./);
    expect(secret(record(rig, "identityProviders", uid))).toBe(before);
  });

  it("T-PUT-03: leaves a field alone that v2 lets only staff change, and says so", async () => {
    const rig = shared();
    const uid = rig.sandbox.wellKnown.someGroup;
    const answer = await rig.ask("PUT", `/iam/v1/groups/${uid}`, { body: { name: "asked" } });
    expect([answer.status, answer.json.kind, answer.field("carryover-mismatch")]).toEqual([
      200,
      "ORG_KIND_CUSTOMER",
      "kind",
    ]);
    expect(rig.exchanges[0]?.notes).toContain("field-left-alone");
  });

  it("T-PUT-01: names its fields in the mask, never all of them by a star", async () => {
    const rig = shared();
    await rig.ask("PUT", `/iam/v1/groups/${rig.sandbox.wellKnown.someGroup}`, { body: {} });
    for (const { target } of rig.arrived) expect(target).toMatch(/\?updateMask=[\w.,]+$/);
  });
});

describe("a PUT by somebody who may not", () => {
  it.each(["viewer", "nobody"])("(%s) is the platform's refusal, and the store is as it was", async (as) => {
    const rig = shared();
    const before = JSON.stringify(rig.sandbox.snapshot());
    const answer = await rig.ask("PUT", `/iam/v1/groups/${rig.sandbox.wellKnown.someGroup}`, {
      as,
      body: { name: "x" },
    });
    expect([answer.status, answer.json.code]).toEqual([403, 7]);
    expect(reasonOf(answer)).not.toBe("UPDATE_INCOMPLETE");
    expect(JSON.stringify(rig.sandbox.snapshot())).toBe(before);
  });
});

describe("a platform that wants masks in snake_case", () => {
  const put = (rig: Rig, name: string) =>
    rig.ask("PUT", `/iam/v1/identities/${identityOfCompany(rig)}`, {
      body: { name, description: "d", claimMatch: WHO },
    });
  const masks = (rig: Rig) =>
    rig.arrived
      .filter(({ method }) => method === "PATCH")
      .map(({ target }) => target.split("updateMask=")[1]?.split(",").at(-1));

  it("is learned from one refusal: the second PUT is one call", async () => {
    const rig = await rigForTest({ sandbox: { maskSpelling: "snake_case" } });
    const [first, second] = [await put(rig, "one"), await put(rig, "two")];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(masks(rig)).toEqual(["claimMatch", "claim_match", "claim_match"]);
    expect(record(rig, "identities", identityOfCompany(rig))).toMatchObject({ name: "two", claimMatch: WHO });
  });

  it("is not learned from another refusal, nor where the operator says how it is", async () => {
    const camel = await rigForTest({ sandbox: { maskSpelling: "camelCase" } });
    await put(camel, "one");
    expect(masks(camel)).toEqual(["claimMatch"]);
    const told = await rigForTest({
      sandbox: { maskSpelling: "snake_case" },
      flags: { upstreamV2MaskSpelling: "snake_case" },
    });
    expect((await put(told, "one")).status).toBe(200);
    expect(masks(told)).toEqual(["claim_match"]);
    const wrong = await rigForTest({
      sandbox: { maskSpelling: "snake_case" },
      flags: { upstreamV2MaskSpelling: "camelCase" },
    });
    expect((await put(wrong, "one")).status).toBe(400);
    expect(masks(wrong)).toEqual(["claimMatch"]);
  });
});

describe("T-PUT-02: a platform that stores something else than it was asked to", () => {
  const lie: { changes: JsonObject } = { changes: {} };
  /** Answers every PATCH with `changes` in the record. */
  const lying: SendLayer =
    (next) =>
    async (request, options): Promise<ApiResponse> => {
      const response = await next(request, options);
      if (request.method !== "PATCH" || response.status !== 200) return response;
      const shown = { ...JSON.parse(new TextDecoder().decode(response.body)), ...lie.changes };
      return { ...response, body: new TextEncoder().encode(JSON.stringify(shown)) };
    };
  const keptText = { description: "still here" };
  const otherName = { name: "not what was asked" };

  it.each([
    { mode: "zeros", cases: [[keptText, "description", true] as const, [otherName, "name", false] as const] },
    { mode: "report", cases: [[keptText, "description", false] as const, [otherName, "name", false] as const] },
    { mode: "fail", cases: [[keptText, "description", true] as const, [otherName, "name", true] as const] },
  ])("under updates.mismatch: $mode", async ({ mode, cases }) => {
    const rig = await rigForTest({
      sandbox: { faults: lying },
      flags: mode === "zeros" ? {} : { updatesMismatch: mode },
    });
    for (const [changes, field, fails] of cases) {
      lie.changes = changes;
      const answer = await rig.ask("PUT", `/iam/v1/roles/${rig.sandbox.wellKnown.customRole}`, {
        body: { name: "asked" },
      });
      if (fails) {
        expect([answer.status, answer.json.code, reasonOf(answer)]).toEqual([502, 13, "UPDATE_INCOMPLETE"]);
        expect(answer.json.details[1].fieldViolations).toMatchObject([{ field, description: expect.any(String) }]);
        expect(answer.json.message).toContain(field);
      } else {
        expect([answer.status, answer.field("carryover-mismatch")]).toEqual([200, field]);
        expect(answer.json[field]).toBe(Object.values(changes)[0]);
      }
      expect(rig.arrived.splice(0)).toHaveLength(1);
      expect(JSON.parse(rig.lines.pop() ?? "").mismatches).toEqual([field]);
      const metrics = await (await fetch(`${rig.adminUrl}/metrics`)).text();
      expect(metrics).toContain(`carryover_update_mismatches_total{resource="role",field="${field}"} 1`);
    }
    lie.changes = {};
    const right = await rig.ask("PUT", `/iam/v1/roles/${rig.sandbox.wellKnown.customRole}`, {
      body: { name: "asked" },
    });
    expect([right.status, right.field("carryover-mismatch")]).toEqual([200, undefined]);
  });
});
