import { describe, expect, test } from "vitest";
import { ask } from "./client.ts";
import { seededSandbox } from "./seeded.ts";

const V2 = "/iam/v2beta1/groups";

describe("a call", () => {
  const sandbox = seededSandbox();

  test.each([
    ["no token", []],
    ["a token of nobody", [["authorization", "Bearer abc.def.ghi"]]],
    ["another scheme", [["authorization", "Basic YWRtaW4="]]],
    ["a forged token", [["authorization", `Bearer ${seededSandbox({ seed: "other" }).token("admin")}`]]],
  ] as const)("with %s is 401, code 16, with ErrorInfo and WWW-Authenticate", async (_what, headers) => {
    const answer = await ask(sandbox, "GET", V2, { token: undefined, headers });
    expect([answer.status, answer.json.code]).toEqual([401, 16]);
    expect(answer.json.details[0].reason).toBe("UNAUTHENTICATED");
    expect(answer.header("www-authenticate")).toBe(answer.json.message);
  });

  test("with a scoped token sees its subtree only", async () => {
    const { someGroup, rootGroup, viewerRole } = sandbox.wellKnown;
    const token = sandbox.token(`admin@${someGroup}`);
    expect((await ask(sandbox, "GET", V2, { token })).json.totalCount).toBe("11");
    expect((await ask(sandbox, "GET", "/iam/v1/groups", { token })).json.items).toHaveLength(11);
    expect((await ask(sandbox, "GET", `${V2}?uidp.descendants_of=${rootGroup}`, { token })).json.totalCount).toBe("11");
    expect((await ask(sandbox, "GET", `${V2}/${rootGroup}`, { token })).status).toBe(403);
    expect((await ask(sandbox, "GET", `${V2}/${rootGroup}/0123456789abcdef`, { token })).status).toBe(403);
    expect((await ask(sandbox, "GET", `${V2}/${someGroup}/0123456789abcdef`, { token })).status).toBe(404);
    const filtered = await ask(sandbox, "GET", `/iam/v1/groups?id=${rootGroup}`, { token });
    expect([filtered.status, filtered.json.items]).toEqual([200, []]);
    expect((await ask(sandbox, "POST", `${V2}/${someGroup}`, { token, body: { name: "n" } })).status).toBe(200);
    expect((await ask(sandbox, "POST", `${V2}/${rootGroup}`, { token, body: { name: "n" } })).status).toBe(403);
    expect((await ask(sandbox, "GET", `/iam/v2beta1/roles/${viewerRole}`, { token })).status).toBe(200);
  });

  test("can be made with tokens that say when they expire, and one name always has the same", () => {
    const expires = (token: string) => JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).exp;
    const later = seededSandbox({ clock: () => new Date("2050-01-01") });
    for (const name of ["admin", "viewer#someone"]) {
      expect(expires(sandbox.token(name))).toBe(Date.UTC(2100, 0, 1) / 1000);
      expect(later.token(name)).toBe(sandbox.token(name));
    }
    expect(expires(sandbox.oidcToken("https://ci.example.com", "s"))).toBe(Date.UTC(2100, 0, 1) / 1000);
  });

  test("with a token of a role that does not exist cannot even be asked for", () => {
    expect(() => sandbox.token("root")).toThrow(/unknown role/);
  });
});

describe("token exchange", () => {
  const start = Date.UTC(2026, 5, 1);
  const setup = (options = {}) => {
    const time = { now: start };
    const sandbox = seededSandbox({ clock: () => new Date(time.now), ...options });
    const { assumable, identity } = sandbox.wellKnown;
    const oidc = sandbox.oidcToken(assumable.issuer, assumable.subject);
    const exchange = (query: string, token: string | undefined = oidc, method = "GET", raw = "") =>
      ask(sandbox, method, `/sts/exchange${query}`, { token, raw });
    return { sandbox, time, identity, oidc, exchange };
  };

  test("gives a token that acts as the identity for one hour of the clock", async () => {
    const { sandbox, time, identity, exchange } = setup();
    const { status, json } = await exchange(`?aud=api&identity=${identity}`);
    expect([status, json.expiry]).toEqual([200, "2026-06-01T01:00:00.000Z"]);
    const use = (path: string) => ask(sandbox, "GET", path, { token: json.token });
    const group = `${V2}/${sandbox.wellKnown.someGroup}`;
    time.now = start + 3_599_000;
    expect((await use(group)).status).toBe(200);
    expect((await use(`${V2}/${sandbox.wellKnown.otherRootGroup}`)).status).toBe(403);
    time.now = start + 3_600_000;
    expect((await use(group)).status).toBe(401);
  });

  test("follows the identity's role bindings: without them nothing is seen", async () => {
    const { sandbox, identity, exchange } = setup();
    const { token } = (await exchange(`?aud=api&identity=${identity}`)).json;
    const made = await ask(sandbox, "POST", `${V2}/${sandbox.wellKnown.someGroup}`, { token, body: { name: "n" } });
    expect(made.status).toBe(200);
    for (const binding of sandbox.snapshot().roleBindings) {
      if (binding["identityUid"] === identity)
        await ask(sandbox, "DELETE", `/iam/v2beta1/roleBindings/${binding["uid"]}`);
    }
    expect((await ask(sandbox, "GET", V2, { token })).json.groups).toEqual([]);
  });

  test("takes its parameters in the form of a POST as well, and reads no other body", async () => {
    const { sandbox, identity, oidc } = setup({ audience: "api" });
    const post = (raw: string, type: string) =>
      ask(sandbox, "POST", "/sts/exchange", { token: oidc, raw, headers: [["content-type", type]] });
    const form = `aud=api&identity=${encodeURIComponent(identity)}`;
    expect((await post(form, "application/x-www-form-urlencoded; charset=utf-8")).status).toBe(200);
    expect((await post(`aud=other&${form}`, "application/x-www-form-urlencoded")).status).toBe(400);
    expect((await post(JSON.stringify({ aud: ["api"], identity }), "application/json")).status).toBe(400);
  });

  test("gives fresh tokens for a refresh token within its hour, and for no other", async () => {
    const { sandbox, time, identity, oidc, exchange } = setup();
    const { token: used, refreshToken } = (await exchange(`?aud=api&identity=${identity}`)).json;
    const refresh = (token: string, method = "POST") =>
      ask(sandbox, method, "/sts/exchange_refresh_token?aud=api", { token });
    const { token } = (await refresh(refreshToken)).json;
    expect(token.expiry).toBe("2026-06-01T01:00:00.000Z");
    expect((await ask(sandbox, "GET", V2, { token: token.token })).status).toBe(200);
    for (const other of [used, oidc]) expect((await refresh(other)).status).toBe(401);
    expect((await ask(sandbox, "GET", V2, { token: refreshToken })).status).toBe(401);
    expect((await refresh(refreshToken, "GET")).status).toBe(501);
    time.now = start + 3_600_000;
    expect((await refresh(refreshToken)).status).toBe(401);
  });

  test("refuses a token that does not match, a missing identity, audience or token", async () => {
    const { sandbox, identity, exchange } = setup({ audience: "api" });
    const stranger = sandbox.oidcToken("https://ci.example.com", "somebody else");
    expect((await exchange(`?aud=api&identity=${identity}`, stranger)).status).toBe(403);
    expect((await exchange(`?aud=api&identity=${identity}0`)).status).toBe(403);
    expect((await exchange(`?aud=other&identity=${identity}`)).status).toBe(400);
    expect((await exchange(`?identity=${identity}`)).status).toBe(400);
    expect((await exchange("?aud=api")).status).toBe(400);
    expect((await ask(sandbox, "GET", `/sts/exchange?aud=api&identity=${identity}`, { token: undefined })).status).toBe(
      401,
    );
    expect((await exchange(`?aud=api&identity=${identity}`, "garbage")).status).toBe(401);
  });

  test("matches audiences, claims and patterns", async () => {
    const { sandbox, exchange } = setup();
    const claimMatch = { issuerPattern: "https://[a-z]+\\.example", subject: "s", audience: "mine" };
    const body = { name: "picky", claimMatch };
    const made = await ask(sandbox, "POST", `/iam/v2beta1/identities/${sandbox.wellKnown.someGroup}`, { body });
    const query = `?aud=api&identity=${made.json.uid}`;
    const oidc = (issuer: string, audience: string) => sandbox.oidcToken(issuer, "s", audience);
    expect((await exchange(query, oidc("https://a.example", "mine"))).status).toBe(200);
    expect((await exchange(query, oidc("https://a.example", "yours"))).status).toBe(403);
    expect((await exchange(query, oidc("https://a.example.evil", "mine"))).status).toBe(403);
  });
});
