import { describe, expect, it } from "vitest";
import { type Rig, rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { ask } from "./ask.ts";
import { PROGRAMS, type Program } from "./programs.ts";
import { type Ingress, startProxy } from "./proxy.ts";
import { startStandIn } from "./standin.ts";

takeDownAfterEach();

interface Chain {
  readonly rig: Rig;
  readonly proxy: Ingress;
  readonly authorization: readonly string[];
}

async function chain(program: Program, flags: Readonly<Record<string, string>> = {}): Promise<Chain> {
  const rig = await rigForTest({ flags: { listenTrustedProxies: "127.0.0.1", ...flags } });
  const behind = { carryoverUrl: rig.url, adminUrl: rig.adminUrl, platformUrl: rig.sandboxUrl };
  const proxy = await startProxy(program, behind);
  return { rig, proxy, authorization: ["Authorization", `Bearer ${rig.sandbox.token("admin")}`] };
}

describe.each(PROGRAMS)("$title", (program) => {
  it("serves the same roles translated, natively and by v2", async () => {
    const { rig, proxy, authorization } = await chain(program);
    const list = async (target: string, canary: string) => {
      const answer = await ask(proxy.url, { target, headers: [...authorization, "X-Canary", canary] });
      expect(answer.status).toBe(200);
      return { mode: answer.headers.get("carryover-mode"), json: JSON.parse(answer.text) };
    };
    const translated = await list("/iam/v1/roles", "always");
    const native = await list("/iam/v1/roles", "never");
    const v2 = await list("/iam/v2beta1/roles?page_size=200", "always");
    expect([translated.mode, native.mode, v2.mode]).toEqual(["translate", undefined, undefined]);
    const byId = (items: { id: string }[]) => items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(byId(translated.json.items)).toEqual(byId(native.json.items));
    expect(v2.json.roles.length).toBe(native.json.items.length);
    expect(rig.exchanges.map(({ operation }) => operation)).toEqual(["list"]);
  });

  it("passes a write on once, and its answer", async () => {
    const { rig, proxy, authorization } = await chain(program);
    const target = `/iam/v1/groups/${rig.sandbox.wellKnown.someGroup}`;
    const headers = [...authorization, "Content-Type", "application/json"];
    const body = '{"name":"renamed behind an ingress","description":"a"}';
    const answer = await ask(proxy.url, { method: "PUT", target, headers, body });
    expect(answer).toMatchObject({ status: 200, whole: true });
    expect(JSON.parse(answer.text)).toMatchObject({ name: "renamed behind an ingress", description: "a" });
    expect(rig.arrived.filter(({ method }) => method !== "GET").map(({ method }) => method)).toEqual(["PATCH"]);
  });

  it("passes token exchange on", async () => {
    const { rig, proxy } = await chain(program);
    const { assumable, identity } = rig.sandbox.wellKnown;
    const headers = ["Authorization", `Bearer ${rig.sandbox.oidcToken(assumable.issuer, assumable.subject)}`];
    const target = `/sts/exchange?aud=sandbox&identity=${encodeURIComponent(identity)}`;
    const answer = await ask(proxy.url, { target, headers });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({ token: expect.any(String) });
    expect(rig.exchanges.map(({ apiVersion }) => apiVersion)).toEqual(["sts"]);
  });

  it("gives the answers that carryover gives, odd and large requests included", async () => {
    const { rig, proxy, authorization } = await chain(program);
    const { someGroup, rootGroup } = rig.sandbox.wellKnown;
    const targets = [
      `/iam/v1/groups/${someGroup}`,
      `/iam/v1/groups/${someGroup.replaceAll("/", "%2F")}`,
      `/iam/v1/groups/${someGroup.replaceAll("/", "%2f")}`,
      `/iam/v1/groups?name=${"acme"}&uidp.descendants_of=${encodeURIComponent(rootGroup)}`,
      "/iam/v1/groups?name=a%20b+c",
      `/iam/v1/groups/${"a1b2c3d4e5".repeat(50)}`,
      "/iam/v1/groups/a;b",
      "/iam/v1/groups//a",
      "/iam/v1/groups/../roles",
      "/iam/v1/groups/%2e%2e/roles",
      "/iam/v1/groups/a%252Fb",
      `/iam/v1/groups/${"a/".repeat(4088)}`.slice(0, 8192),
      `/iam/v1/groups/${"a/".repeat(4100)}`,
    ];
    for (const target of targets) {
      const asked = { target, headers: authorization };
      const there = await ask(rig.url, asked);
      const through = await ask(proxy.url, asked);
      expect([target, through.status, through.text]).toEqual([target, there.status, there.text]);
    }
  });

  it("lets carryover refuse what is too large, in the API's words", async () => {
    const { proxy, authorization } = await chain(program);
    const reasons = [
      await ask(proxy.url, { target: `/iam/v1/groups/${"a".repeat(8200)}`, headers: authorization }),
      await ask(proxy.url, { target: "/iam/v1/groups", headers: [...authorization, "X-Big", "b".repeat(17_000)] }),
      await ask(proxy.url, { method: "POST", target: "/iam/v1/groups", headers: authorization, body: large() }),
    ].map(({ status, text }) => [status, reason(text)]);
    expect(reasons).toEqual([
      [414, "URI_TOO_LONG"],
      [431, "HEADERS_TOO_LARGE"],
      [413, "BODY_TOO_LARGE"],
    ]);
  });

  it("lets a head of 16 KiB through when carryover has room for what is added on the way, and only then", async () => {
    const big = "b".repeat(16 * 1024 - 70);
    for (const [limitsHeaderBytes, status] of [["16KiB", 431] as const, ["20KiB", 200] as const]) {
      const platform = await startStandIn("platform");
      const choices = { flags: { limitsHeaderBytes }, native: false, v2Url: platform.url };
      const { url: carryoverUrl, adminUrl } = await rigForTest(choices);
      const proxy = await startProxy(program, { carryoverUrl, adminUrl, platformUrl: platform.url });
      const headers = ["Host", "v1.example.com", "X-Big", big];
      const answer = await ask(proxy.url, { target: "/iam/v1/roles", headers });
      if (status === 431) expect([answer.status, reason(answer.text)]).toEqual([431, "HEADERS_TOO_LARGE"]);
      else expect(platform.arrived.at(-1)?.headers).toContainEqual(["x-big", big]);
    }
  });

  it("says truly for whom and how a request came, whatever the client says", async () => {
    const { rig, proxy, authorization } = await chain(program);
    const forged = [
      ...["Host", "v1.example.com", "X-Forwarded-For", "6.6.6.6", "X-Forwarded-Proto", "https"],
      ...["X-Forwarded-Host", "evil.example.com", "X-Forwarded-Port", "444", "X-Forwarded-User", "admin"],
      ...["X-Real-IP", "6.6.6.6", "Forwarded", "for=6.6.6.6"],
    ];
    for (const target of ["/iam/v1/roles", "/iam/v1/groups/a/b:native-only"]) {
      await ask(proxy.url, { target, headers: [...authorization, ...forged] });
      const { headers = [] } = rig.arrived.at(-1) ?? {};
      const said = headers.filter(([name]) => /^(?:x-forwarded-|forwarded$|x-real-ip$)/.test(name));
      // The client and the proxy in front of carryover, which both are on this machine.
      expect(said).toEqual([
        ["x-forwarded-for", "127.0.0.1, 127.0.0.1"],
        ["x-forwarded-proto", "http"],
        ["x-forwarded-host", "v1.example.com"],
      ]);
    }
  });

  it("never lets a doubled Authorization be taken for one", async () => {
    const { rig, proxy, authorization } = await chain(program);
    for (const target of ["/iam/v1/roles", "/iam/v1/rolebindings"]) {
      const headers = [...authorization, "Authorization", `Bearer ${rig.sandbox.token("viewer")}`];
      expect([400, 401]).toContain((await ask(proxy.url, { target, headers })).status);
    }
    const values = rig.arrived.flatMap(({ headers }) => headers.filter(([name]) => name === "authorization"));
    expect(values.filter(([, value]) => !value.includes(","))).toEqual([]);
  });
});

/** Above carryover's 1 MiB. */
function large(): string {
  return JSON.stringify({ name: "a".repeat(1024 * 1024) });
}

/** Carryover's reason for an error; undefined when somebody else made it. */
function reason(text: string): string | undefined {
  try {
    return JSON.parse(text).details[0].reason;
  } catch {
    return undefined;
  }
}
