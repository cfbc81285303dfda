/** Does one PUT of v1 take full effect as one PATCH of v2, and is it told when it did not? (docs/updates.md; beside test/traps/updates.test.ts.) */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/model/json.ts";
import type { SendLayer } from "../../../src/model/message.ts";
import { reasonOf, rigForTest, takeDownAfterEach } from "../../app/rig.ts";
import { at, items, maskOf, platform } from "../../traps/support.ts";

takeDownAfterEach();

const OUTPUT = {
  createdAt: "2020-01-01T00:00:00Z",
  updatedAt: "2020-01-01T00:00:00Z",
  lastSeen: "2020-01-01T00:00:00Z",
};
const WHO = { issuer: "https://a.example", subject: "s" };

/** The PATCH of a PUT with every target of it changed by `change`. */
const patched =
  (change: (target: URL) => void): SendLayer =>
  (next) =>
  (request, options) => {
    if (request.method !== "PATCH") return next(request, options);
    const target = new URL(request.target, "http://platform.example");
    change(target);
    return next({ ...request, target: `${target.pathname}${target.search}` }, options);
  };

/** Reads no mask at all: what the body says and is not empty changes, nothing else does (an implied mask names what is populated). */
const maskless: SendLayer = (next) => (request, options) => {
  if (request.method !== "PATCH") return next(request, options);
  const sent = JSON.parse(Buffer.from(request.body ?? "").toString()) as JsonObject;
  const populated = Object.entries(sent).filter(([, value]) => value !== "" && JSON.stringify(value) !== "[]");
  const body = Buffer.from(JSON.stringify(Object.fromEntries(populated)));
  const headers = request.headers.filter(([name]) => name !== "content-length");
  return next({ ...request, target: request.target.split("?")[0] ?? "", headers, body }, options);
};

/** Takes every field out of the mask that `drop` names, and says nothing. */
const deafTo = (drop: (name: string) => boolean): SendLayer =>
  patched((target) => {
    const kept = (target.searchParams.get("updateMask") ?? "").split(",").filter((name) => !drop(name));
    target.searchParams.set("updateMask", kept.join(","));
  });

/** Does what it is asked, and answers with the record as it was before. */
const staleAnswers: SendLayer = (next) => async (request, options) => {
  if (request.method !== "PATCH") return next(request, options);
  const path = request.target.split("?")[0] ?? "";
  const { body: _, ...read } = { ...request, method: "GET", target: path };
  const before = await next(read, options);
  const after = await next(request, options);
  return after.status === 200 ? before : after;
};

describe("T-PUT-01: a PUT", () => {
  it("T-PUT-01: that omits the description clears it by one PATCH with an explicit mask", async () => {
    const own = platform();
    const { someGroup } = own.known;
    await own.same("PUT", `/iam/v1/groups/${someGroup}`, { name: "a", description: "old" });
    const answer = await own.same("PUT", `/iam/v1/groups/${someGroup}`, { name: "a" });
    expect(at(answer.body, "description")).toBe("");
    expect(own.sent.map(({ method, text }) => [method, text])).toEqual([["PATCH", '{"name":"a","description":""}']]);
    expect(maskOf(own.sent[0]).toSorted()).toEqual(["description", "name"]);
    expect(own.stores()).toEqual([]);
  });
});

describe("T-PUT-02: a platform that does not do all it was asked", () => {
  const roles = { name: "asked" };
  it.each<{ what: string; faults: SendLayer; flags: Record<string, string>; field: string }>([
    {
      what: "ignores one masked field",
      faults: deafTo((name) => name === "description"),
      flags: {},
      field: "description",
    },
    { what: "ignores the whole mask", faults: maskless, flags: {}, field: "capabilities" },
    { what: "answers with the old record", faults: staleAnswers, flags: { updatesMismatch: "fail" }, field: "name" },
  ])("T-PUT-02: $what: 502 UPDATE_INCOMPLETE, which names the field", async ({ faults, flags, field }) => {
    const rig = await rigForTest({ sandbox: { faults }, flags });
    const uid = rig.sandbox.wellKnown.customRole;
    const { description, capabilities } = rig.sandbox.snapshot().roles.find((one) => one["uid"] === uid) as JsonObject;
    expect([description, capabilities]).toEqual([
      expect.stringMatching(/./),
      expect.arrayContaining([expect.anything()]),
    ]);
    const answer = await rig.ask("PUT", `/iam/v1/roles/${uid}`, { body: roles });
    expect([answer.status, answer.json.code, reasonOf(answer)]).toEqual([502, 13, "UPDATE_INCOMPLETE"]);
    const violations = answer.json.details.flatMap((one: { fieldViolations?: object[] }) => one.fieldViolations ?? []);
    expect(violations).toContainEqual({ field, description: expect.any(String) });
    expect(rig.exchanges[0]?.mismatches).toContain(field);
    // The PUT is safe to repeat, and carryover itself does not.
    expect(rig.arrived.filter(({ method }) => method === "PATCH")).toHaveLength(1);
  });

  it("T-PUT-02: takes camelCase names for fields that it does not know: the member that was to go is named", async () => {
    const faults = deafTo((name) => /[A-Z]/.test(name));
    const rig = await rigForTest({ sandbox: { faults } });
    const uid = rig.sandbox.wellKnown.identityProvider;
    const [shown] = (await rig.ask("GET", `/iam/v1/identityProviders?id=${uid}`)).json.items;
    const { groupsClaim, ...oidc } = shown.oidc;
    expect(groupsClaim).toMatch(/./);
    const answer = await rig.ask("PUT", `/iam/v1/identityProviders/${uid}`, { body: { ...shown, oidc } });
    expect([answer.status, reasonOf(answer)]).toEqual([502, "UPDATE_INCOMPLETE"]);
    expect(answer.json.message).toContain("oidc.groupsClaim");
  });
});

describe("T-PUT-03: what v1 cannot set", () => {
  it("T-PUT-03: output-only and unknown fields are taken and go nowhere; v2-only fields survive", async () => {
    const own = platform();
    const rich = own.sandbox
      .snapshot()
      .identities.find((one) => one["company"] && one["claimMatch"] && one["lastSeenTime"]);
    const { uid, company, createTime, lastSeenTime } = rich as JsonObject;
    const body = { name: "n", claimMatch: WHO, id: uid, ...OUTPUT, company: "theirs", colour: "red" };
    expect((await own.same("PUT", `/iam/v1/identities/${uid}`, body)).status).toBe(200);
    expect(maskOf(own.sent[0]).toSorted()).toEqual(["claimMatch", "description", "name"]);
    expect(Object.keys(own.sent[0]?.body as JsonObject).toSorted()).toEqual(["claimMatch", "description", "name"]);
    const after = own.sandbox.snapshot().identities.find((one) => one["uid"] === uid);
    expect(after).toMatchObject({ company, createTime, lastSeenTime, name: "n" });
  });

  it("T-PUT-03: a field of the staff that is sent as it is stored is not in the mask; one that differs is the platform's to refuse", async () => {
    const own = platform();
    const { someGroup } = own.known;
    const group = () => own.sandbox.snapshot().groups.find((one) => one["uid"] === someGroup);
    const verified = group()?.["verified"] === true;
    await own.same("PUT", `/iam/v1/groups/${someGroup}`, { name: "n", verified });
    expect(maskOf(own.sent.at(-1))).not.toContain("verified");
    const before = group();
    const refused = await own.same("PUT", `/iam/v1/groups/${someGroup}`, { name: "m", verified: !verified });
    expect([refused.status, group()]).toEqual([403, before]);
  });
});

describe("T-PUT-04: a body that holds the record's own id", () => {
  it.each(["groups", "identities", "roles"] as const)(
    "T-PUT-04: as it was read, times and all, is taken: %s",
    async (collection) => {
      const own = platform();
      const { someGroup, identity, customRole } = own.known;
      const id = { groups: someGroup, identities: identity, roles: customRole }[collection];
      const [shown] = items(await own.same("GET", `/iam/v1/${collection}?id=${id}`));
      expect(shown).toMatchObject({ id, createdAt: expect.any(String) });
      const answer = await own.same("PUT", `/iam/v1/${collection}/${id}`, { ...shown, description: "written back" });
      expect([answer.status, at(answer.body, "id"), at(answer.body, "description")]).toEqual([200, id, "written back"]);
      expect(own.stores()).toEqual([]);
    },
  );

  it("T-PUT-04: of another record: the path says which one is meant, as in v1, and the other is not touched", async () => {
    const own = platform();
    const { someGroup, emptyGroup } = own.known;
    const other = () => own.sandbox.snapshot().groups.find((one) => one["uid"] === emptyGroup);
    const before = other();
    const answer = await own.same("PUT", `/iam/v1/groups/${someGroup}`, { id: emptyGroup, name: "whose" });
    expect([answer.status, at(answer.body, "id")]).toEqual([200, someGroup]);
    expect(other()).toEqual(before);
    expect(own.sent.every(({ path }) => path.endsWith(someGroup))).toBe(true);
    expect(own.stores()).toEqual([]);
  });
});

describe("T-PUT-05: a message in a record", () => {
  it("T-PUT-05: is replaced whole: no member of the old one is left", async () => {
    const own = platform();
    const { rootGroup } = own.known;
    const full = { name: "i", claimMatch: { issuer: "https://i", subject: "s", claims: { team: "a" } } };
    const made = await own.same("POST", `/iam/v1/identities/${rootGroup}`, full);
    const id = at(made.body, "id");
    const answer = await own.same("PUT", `/iam/v1/identities/${id}`, {
      name: "i",
      claimMatch: { issuerPattern: "https://.*", subjectPattern: ".+" },
    });
    expect(answer.status).toBe(200);
    const stored = own.sandbox.snapshot().identities.find((one) => one["uid"] === id);
    expect(JSON.stringify(stored?.["claimMatch"])).not.toMatch(/team|"subject":"s"|"issuer":"https:\/\/i"/);
    expect(own.stores()).toEqual([]);
  });

  it("T-PUT-05: that is one of several: the arm that was left has no residue", async () => {
    const own = platform();
    const { rootGroup } = own.known;
    const arms: readonly JsonObject[] = [
      { claimMatch: WHO },
      {
        static: {
          issuer: "https://keys.example",
          subject: "k",
          issuerKeys: '{"keys":[]}',
          expiration: "2030-01-01T00:00:00Z",
        },
      },
      { awsIdentity: { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/r", userId: "AROA" } },
    ];
    const made = await own.same("POST", `/iam/v1/identities/${rootGroup}`, { name: "i", ...arms[0] });
    const id = at(made.body, "id");
    for (const arm of [...arms, ...arms.toReversed()]) {
      const answer = await own.same("PUT", `/iam/v1/identities/${id}`, { name: "i", ...arm });
      expect([Object.keys(arm), answer.status]).toEqual([Object.keys(arm), 200]);
      expect(Object.keys(answer.body as JsonObject)).toEqual(expect.arrayContaining(Object.keys(arm)));
      expect(own.stores()).toEqual([]);
    }
  });
});
