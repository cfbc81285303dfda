/** A PUT of v1 is a whole replace of one record. (What its PATCH clears and leaves alone: test/end-to-end/traps/updates.test.ts, test/translate/replace.test.ts.) */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/model/json.ts";
import { at, items, platform } from "../../end-to-end/traps/support.ts";

const WHO = { issuer: "https://a.example", subject: "s" };

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
