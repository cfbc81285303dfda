import { expect, test } from "vitest";
import { VENDOR_KEY } from "../../src/data/vendor.ts";
import type { SendLayer } from "../../src/http.ts";
import { ask } from "../client.ts";
import { seededSandbox } from "../seeded.ts";

const V2 = "/iam/v2beta1/groups";

test("an error rate of one fails every call before anything is done; one of a half about half of them", async () => {
  const broken = seededSandbox({ errorRate: 1 });
  const before = broken.snapshot();
  const answer = await ask(broken, "POST", V2, { body: { name: "n" } });
  expect([answer.status, answer.json.code]).toEqual([503, 14]);
  expect(broken.snapshot()).toEqual(before);
  const shaky = seededSandbox({ errorRate: 0.5 });
  const statuses = await Promise.all(Array.from({ length: 200 }, async () => (await ask(shaky, "GET", V2)).status));
  const failed = statuses.filter((status) => status === 503).length;
  expect(failed).toBeGreaterThan(60);
  expect(failed).toBeLessThan(140);
});

test("a rate limit counts per credential and second of the clock, and says when to come back", async () => {
  let now = 0;
  const sandbox = seededSandbox({ rateLimit: 2, clock: () => new Date(now) });
  const call = (name: string) => ask(sandbox, "GET", `${V2}?page_size=1`, { token: sandbox.token(name) });
  expect([(await call("admin")).status, (await call("admin")).status]).toEqual([200, 200]);
  const third = await call("admin");
  expect([third.status, third.json.code, third.header("retry-after")]).toEqual([429, 8, "1"]);
  expect((await call("admin#other")).status).toBe(200);
  now += 1_000;
  expect((await call("admin")).status).toBe(200);
});

test("a slow sandbox gives up when its caller does", async () => {
  const slow = seededSandbox({ latencyMs: 60_000 });
  const stop = new AbortController();
  const sent = slow.send({ method: "GET", target: V2, headers: [] }, { signal: stop.signal });
  const reason = new Error("gave up");
  stop.abort(reason);
  await expect(sent).rejects.toBe(reason);
  await expect(slow.send({ method: "GET", target: V2, headers: [] }, { signal: stop.signal })).rejects.toBe(reason);
});

test("a fault layer sees every call and may change its answer", async () => {
  const seen: string[] = [];
  const faults: SendLayer = (next) => async (request, options) => {
    seen.push(request.target);
    return { ...(await next(request, options)), status: 418 };
  };
  const sandbox = seededSandbox({ faults });
  expect((await ask(sandbox, "GET", V2)).status).toBe(418);
  expect(seen).toEqual([V2]);
});

test("the log of calls is bounded and keeps the newest", async () => {
  const sandbox = seededSandbox({ logSize: 2 });
  for (const size of [1, 2, 3]) await ask(sandbox, "GET", `${V2}?page_size=${size}`);
  expect(sandbox.requests).toEqual([
    { method: "GET", target: `${V2}?page_size=2`, status: 200 },
    { method: "GET", target: `${V2}?page_size=3`, status: 200 },
  ]);
});

test("role bindings can leave their flat uids empty, in v2 only", async () => {
  const sandbox = seededSandbox({ nestedUidsOnly: true });
  const { roleBinding, identity, editorRole } = sandbox.wellKnown;
  const { json } = await ask(sandbox, "GET", `/iam/v2beta1/roleBindings/${roleBinding}`);
  expect(json).toMatchObject({ identityUid: "", roleUid: "", identity: { uid: identity }, role: { uid: editorRole } });
  const found = await ask(sandbox, "GET", `/iam/v2beta1/roleBindings?identity=${identity}&role=${editorRole}`);
  expect(found.json.roleBindings).toContainEqual(json);
  const [item] = (await ask(sandbox, "GET", `/iam/v1/rolebindings?id=${roleBinding}`)).json.items;
  expect(item.identity).toBe(identity);
});

test("a v2 delete can answer nothing at all, v1 stays with an empty object", async () => {
  const sandbox = seededSandbox({ emptyDeletes: true });
  const { emptyGroup, otherRootGroup } = sandbox.wellKnown;
  const gone = await ask(sandbox, "DELETE", `/iam/v2beta1/groups/${emptyGroup}`);
  expect([gone.status, gone.text]).toEqual([200, ""]);
  const association = await ask(sandbox, "DELETE", `/iam/v1/account_associations/${otherRootGroup}`);
  expect([association.status, association.text]).toEqual([200, "{}"]);
});

test("a page size above 200 is taken for 200, or refused when told so", async () => {
  const groups = (largePages?: "refuse") =>
    ask(seededSandbox(largePages ? { largePages } : {}), "GET", "/iam/v2beta1/groups?page_size=201");
  expect((await groups()).json.groups).toHaveLength(200);
  const refused = await groups("refuse");
  expect([refused.status, refused.json.code]).toEqual([400, 3]);
  expect(refused.json.details[1].fieldViolations[0].field).toBe("page_size");
});

test.each([
  ["v1", "v2beta1", ""],
  ["v2beta1", "v2beta1", "v2beta1."],
  ["v2", "v2", "v2."],
])(
  "a gated call at %s is refused with a detail whose type names the version, and nothing is done",
  async (face, version, segment) => {
    const gated = (method: string, path: string) => method === "POST" && path.includes("/groups");
    const sandbox = seededSandbox({ version, gated });
    const before = sandbox.snapshot();
    const path = `/iam/${face}/groups/${sandbox.wellKnown.someGroup}`;
    const { status, json } = await ask(sandbox, "POST", path, { body: { name: "n" } });
    expect([status, json.code]).toEqual([400, 9]);
    expect(json.details[0].reason).toBe("FAILED_PRECONDITION");
    expect(json.details[1]).toEqual({
      "@type": `type.googleapis.com/${VENDOR_KEY}.platform.iam.${segment}TermsNotAcceptedDetail`,
      missing: [
        { id: "terms-2026-01", label: "Terms of service", url: "https://legal.platform.example/terms" },
        { id: "privacy-2025-06", label: "Privacy notice", url: "https://legal.platform.example/privacy" },
      ],
    });
    expect(sandbox.snapshot()).toEqual(before);
    expect((await ask(sandbox, "GET", `/iam/${face}/groups`)).status).toBe(200);
    expect((await ask(sandbox, "POST", path, { token: undefined, body: {} })).status).toBe(401);
  },
);
