import { describe, expect, it } from "vitest";
import type { ApiResponse, SendLayer } from "../../../src/model/http.ts";
import type { JsonObject } from "../../../src/model/json.ts";
import { reasonOf, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

it.each([
  // Learned from one refusal: the second PUT is one call.
  ["snake_case", undefined, 200, ["claimMatch", "claim_match", "claim_match"]],
  ["camelCase", undefined, 200, ["claimMatch", "claimMatch"]],
  ["snake_case", "snake_case", 200, ["claim_match", "claim_match"]],
  ["snake_case", "camelCase", 400, ["claimMatch", "claimMatch"]],
] as const)(
  "a platform of masks in %s, of which upstream.v2.maskSpelling says %s: %i",
  async (maskSpelling, told, status, masks) => {
    const flags = told === undefined ? {} : { upstreamV2MaskSpelling: told };
    const rig = await rigForTest({ sandbox: { maskSpelling }, flags });
    const body = { name: "a", description: "d", claimMatch: { issuer: "https://a.example", subject: "s" } };
    for (let at = 0; at < 2; at++) {
      expect((await rig.ask("PUT", `/iam/v1/identities/${rig.sandbox.wellKnown.identity}`, { body })).status).toBe(
        status,
      );
    }
    const patches = rig.arrived.filter(({ method }) => method === "PATCH");
    expect(patches.map(({ target }) => target.split("updateMask=")[1]?.split(",").at(-1))).toEqual(masks);
  },
);

describe("T-PUT-02, DIFF-21: a platform that stores something else than it was asked to", () => {
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
  it.each([
    ["zeros", ["description"]],
    ["report", []],
    ["fail", ["description", "name"]],
  ])("under updates.mismatch: %s", async (mode, failing) => {
    const rig = await rigForTest({
      sandbox: { faults: lying },
      flags: mode === "zeros" ? {} : { updatesMismatch: mode },
    });
    const body = { name: "asked" };
    for (const field of ["description", "name"]) {
      lie.changes = { [field]: "still here" };
      const answer = await rig.ask("PUT", `/iam/v1/roles/${rig.sandbox.wellKnown.customRole}`, { body });
      if (failing.includes(field)) {
        expect([answer.status, answer.json.code, reasonOf(answer)]).toEqual([502, 13, "UPDATE_INCOMPLETE"]);
        expect(answer.json.details[1].fieldViolations).toMatchObject([{ field, description: expect.any(String) }]);
        expect(answer.json.message).toContain(field);
      } else {
        expect([answer.status, answer.field("carryover-mismatch")]).toEqual([200, field]);
        expect(answer.json[field]).toBe("still here");
      }
      expect(rig.arrived.splice(0)).toHaveLength(1);
      expect(JSON.parse(rig.lines.pop() ?? "").mismatches).toEqual([field]);
      const metrics = await (await fetch(`${rig.adminUrl}/metrics`)).text();
      expect(metrics).toContain(`carryover_update_mismatches_total{resource="role",field="${field}"} 1`);
    }
    lie.changes = {};
    const right = await rig.ask("PUT", `/iam/v1/roles/${rig.sandbox.wellKnown.customRole}`, { body });
    expect([right.status, right.field("carryover-mismatch")]).toEqual([200, undefined]);
  });
});
