import { describe, expect, it } from "vitest";
import { createDouble, ok } from "../../server/support/double.ts";
import { later, type Rig, reasonOf, rigForTest, sharedRig, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const shared = sharedRig();
const V1 = "/iam/v1/groups";
const V2 = "/iam/v2beta1/groups?page_size=2";

/** The values of header `name` in every call that has arrived. */
function sent(rig: Rig, name: string): readonly (readonly string[])[] {
  return rig.arrived.map(({ headers }) => headers.filter(([key]) => key === name).map(([, value]) => value));
}

describe("DIFF-73: the request id", () => {
  it("of the client reaches every call of a list, comes back, and stands in the log", async () => {
    const rig = shared();
    for (const target of [V1, V2]) {
      const answer = await rig.ask("GET", target, { headers: { "x-request-id": "client-7" } });
      expect(answer.field("x-request-id")).toBe("client-7");
    }
    const refused = await rig.ask("GET", "/iam/v1/groups//", { headers: { "x-request-id": "client-7" } });
    expect(refused.field("x-request-id")).toBe("client-7");
    expect(rig.arrived.length).toBe(7);
    expect(sent(rig, "x-request-id")).toEqual(rig.arrived.map(() => ["client-7"]));
    expect(rig.lines.map((line) => JSON.parse(line).requestId)).toEqual(["client-7", "client-7", "client-7"]);
  });
});

describe("below a base path", () => {
  it("everything is as it is without one, and nothing is served beside it", async () => {
    const rig = await rigForTest({
      flags: { listenBasePath: "/gate/way", listenPublicUrl: "https://api.example/gate/way" },
    });
    const id = rig.sandbox.wellKnown.someGroup;
    const get = await rig.ask("GET", `/gate/way${V1}/${id}`);
    expect([get.status, get.json.id]).toEqual([200, id]);
    expect((await rig.ask("GET", `/gate/way${V2}`)).json.groups).toHaveLength(2);
    await rig.ask("GET", "/gate/way/registry/v1/charts:find");
    const targets = rig.arrived.map(({ target }) => target);
    expect(targets).toEqual([`/iam/v2beta1/groups/${id}`, V2, "/registry/v1/charts:find"]);
    for (const beside of [V1, "/gate", "/gate/wayiam/v1/groups", "/gate/way", "/", "/GATE/way/iam/v1/groups"]) {
      const answer = await rig.ask("GET", beside);
      expect([beside, answer.status, answer.json.code]).toEqual([beside, 404, 5]);
    }
    const odd = await rig.ask("GET", "/gate/way/../way/iam/v1/groups");
    expect([odd.status, odd.json.details[0].reason]).toEqual([400, "INVALID_PATH"]);
    expect(rig.arrived).toHaveLength(3);
  });

  it("token exchange takes the public name for the audience", async () => {
    const rig = await rigForTest({
      sandbox: { audience: "https://v2.example" },
      flags: {
        listenBasePath: "/gate",
        listenPublicUrl: "https://api.example/gate",
        upstreamV2Audience: "https://v2.example",
      },
    });
    const { identity, assumable } = rig.sandbox.wellKnown;
    const oidc = rig.sandbox.oidcToken(assumable.issuer, assumable.subject);
    const query = (aud: string) =>
      `/gate/sts/exchange?identity=${encodeURIComponent(identity)}&aud=${encodeURIComponent(aud)}`;
    const ask = { as: null, headers: { authorization: `Bearer ${oidc}` } };
    const exchanged = await rig.ask("GET", query("https://api.example/gate"), ask);
    expect([exchanged.status, Object.keys(exchanged.json)]).toEqual([200, ["token", "expiry", "refreshToken"]]);
    const withIt = { as: null, headers: { authorization: `Bearer ${exchanged.json.token}` } };
    expect((await rig.ask("GET", `/gate${V1}`, withIt)).json.items.length).toBeGreaterThan(0);
    expect((await rig.ask("POST", query("https://elsewhere.example"), ask)).status).toBe(400);

    const FORM = "application/x-www-form-urlencoded";
    const form = (token: string, body: string, type = FORM) =>
      ({ as: null, headers: { authorization: `Bearer ${token}`, "content-type": type }, body }) as const;
    const name = `identity=${encodeURIComponent(identity)}&x=%zz+%C3&aud=`.replace("%zz+%C3", "%41+b");
    const aud = encodeURIComponent("https://api.example/gate");
    const posted = await rig.ask("POST", "/gate/sts/exchange", form(oidc, name + aud, `${FORM}; charset=utf-8`));
    expect(posted.status).toBe(200);
    expect(Buffer.from(rig.arrived.at(-1)?.body ?? []).toString()).toBe(`${name}https%3A%2F%2Fv2.example`);
    const refresh = form(posted.json.refreshToken, `cap=groups.list&aud=${aud}`);
    const refreshed = await rig.ask("POST", "/gate/sts/exchange_refresh_token", refresh);
    expect([refreshed.status, Object.keys(refreshed.json)]).toEqual([200, ["token", "refreshToken"]]);
    expect((await rig.ask("GET", "/gate/sts/exchange_refresh_token")).status).toBe(501);
    // The token service reads no JSON: nothing of it is touched.
    await rig.ask("POST", "/gate/sts/exchange", form(oidc, '{"aud":["https://api.example/gate"]}', "application/json"));
    expect(Buffer.from(rig.arrived.at(-1)?.body ?? []).toString()).toBe('{"aud":["https://api.example/gate"]}');
    const before = rig.arrived.length;
    const long = await rig.ask("POST", "/gate/sts/exchange", form(oidc, `aud=${"a".repeat(1024 * 1024)}`));
    expect([long.status, reasonOf(long), rig.arrived.length]).toEqual([413, "BODY_TOO_LARGE", before]);
    expect(rig.lines.join("\n")).not.toMatch(/groups\.list|cap=|identity=/);
  });

  it("a place inside the platform is told as clients have to call it, in Location and in Link", async () => {
    const double = await createDouble(
      ok(
        '{"uid":"a"}',
        'Location: /iam/v2beta1/groups/a\r\nLink: </iam/v2beta1/groups?page_token=b>; rel="next", <https://docs.example/x>; rel=help\r\n',
      ),
    );
    later(double.close);
    const rig = await rigForTest({ v2Url: double.url, native: false, flags: { listenBasePath: "/gate" } });
    for (const target of ["/gate/iam/v2beta1/groups/a", `/gate${V1}/a`]) {
      const answer = await rig.ask("GET", target);
      expect(answer.status).toBe(200);
      expect(answer.field("location")).toBe("/gate/iam/v2beta1/groups/a");
      expect(answer.field("link")).toBe(
        '</gate/iam/v2beta1/groups?page_token=b>; rel="next", <https://docs.example/x>; rel=help',
      );
    }
  });
});
