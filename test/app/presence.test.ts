/** Can a v1 client tell a platform that sends its zeros from one that leaves them out, or either from native v1? (Trap T63.) */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadCatalogue } from "../../src/catalogue.ts";
import { createSandbox, type Sandbox } from "../../src/sandbox/sandbox.ts";
import { jsonDifferences } from "../comparison/json-diff.ts";
import { createDouble, ok } from "../listener/support/double.ts";
import { type Answer, type Ask, answerOf, later, type Rig, rig, rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const { resources } = await loadCatalogue("v2beta1");
const clock = () => new Date("2026-03-04T05:06:07.089Z");

/** The same platform three times: its v2 sends zeros, its v2 omits them, its own v1. */
let sending: Rig;
let omitting: Rig;
let native: Sandbox;
beforeAll(async () => {
  sending = await rig({ sandbox: { clock, omitZeros: false }, native: false });
  omitting = await rig({ sandbox: { clock, omitZeros: true }, native: false });
  native = createSandbox({ clock });
});
afterAll(async () => {
  await sending.close();
  await omitting.close();
});

async function askNative(method: string, target: string, body?: object): Promise<Answer> {
  const headers = [["authorization", `Bearer ${native.token("admin")}`]] as const;
  const bytes = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) };
  return answerOf(await native.send({ method, target, headers, ...bytes }, { signal: new AbortController().signal }));
}

/** Where two answers differ; of the one value that v2 no longer has (trap T56), only whether it is there. */
function different(expected: Answer, carried: Answer): readonly string[] {
  const comparable = ({ text }: Answer) =>
    byId(JSON.parse(text, (key, value) => (key === "syncApks" ? typeof value : value)));
  return jsonDifferences(comparable(expected), comparable(carried));
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
function byId(body: any): any {
  if (!Array.isArray(body.items)) return body;
  const name = (one: { id?: string; group?: string }) => one.id ?? one.group ?? "";
  return { ...body, items: body.items.toSorted((a: object, b: object) => (name(a) < name(b) ? -1 : 1)) };
}

/** The answer that both platforms brought, which must be one. */
async function both(method: string, target: string, ask: Ask = {}): Promise<Answer> {
  const sent = await sending.ask(method, target, ask);
  const omitted = await omitting.ask(method, target, ask);
  expect([omitted.status, omitted.json]).toEqual([sent.status, sent.json]);
  return omitted;
}

describe.each(resources.map((one) => [one.name, `/${one.domain}/v1/${one.v1}`, one] as const))("%s", (_, path, one) => {
  it("T63: a list is native v1's, presence included, whether v2 sends zeros or not", async () => {
    const carried = await both("GET", path);
    expect(carried.json.items.length).toBeGreaterThan(0);
    expect(different(await askNative("GET", path), carried)).toEqual([]);
  });

  it("a record by its id is the record of the list", async () => {
    const items: readonly Record<string, unknown>[] = (await both("GET", path)).json.items;
    const records = items.filter((item) => String(item[one.key]).match(/^[\w/.-]+$/)).slice(0, 4);
    for (const record of records) {
      const get = await both("GET", `${path}/${record[one.key]}`);
      expect([get.status, jsonDifferences(byId(record), get.json)]).toEqual([200, []]);
    }
  });

  it("the two platforms are not alike", async () => {
    const v2 = `/${one.domain}/v2beta1/${one.v2}?page_size=200`;
    const [sent, omitted] = [await sending.ask("GET", v2), await omitting.ask("GET", v2)];
    expect(omitted.text.length).toBeLessThan(sent.text.length);
  });
});

describe("what a write answers is native v1's, presence included, whether v2 sends zeros or not", () => {
  const known = () => native.wellKnown;
  const roleId = () => known().viewerRole;
  const oidc = { issuer: "https://a.example", clientId: "c", clientSecret: "s" };

  it.each<[method: string, path: string, uid: () => string, body: () => object]>([
    ["POST", "/iam/v1/groups", () => known().someGroup, () => ({ name: "fresh" })],
    ["PUT", "/iam/v1/groups", () => known().someGroup, () => ({ name: "replaced" })],
    ["POST", "/iam/v1/roles", () => known().someGroup, () => ({ name: "fresh", capabilities: ["groups.list"] })],
    ["PUT", "/iam/v1/roles", () => known().customRole, () => ({ name: "replaced" })],
    [
      "POST",
      "/iam/v1/identities",
      () => known().someGroup,
      () => ({ name: "fresh", claimMatch: { issuer: "https://a.example", subject: "s" } }),
    ],
    [
      "POST",
      "/iam/v1/identities",
      () => known().someGroup,
      () => ({ name: "keys", static: { issuer: "https://a.example", subject: "s", issuerKeys: '{"keys":[]}' } }),
    ],
    ["POST", "/iam/v1/rolebindings", () => known().someGroup, () => ({ identity: known().identity, role: roleId() })],
    ["PUT", "/iam/v1/rolebindings", () => known().roleBinding, () => ({ identity: known().identity, role: roleId() })],
    [
      "POST",
      "/iam/v1/identityProviders",
      () => known().someGroup,
      () => ({ name: "fresh", defaultRole: roleId(), oidc }),
    ],
    [
      "POST",
      "/iam/v1/account_associations",
      () => known().otherRootGroup,
      () => ({ name: "fresh", amazon: { account: "123456789012" } }),
    ],
    ["PUT", "/iam/v1/account_associations", () => known().accountAssociation, () => ({ name: "replaced" })],
    ["POST", "/iam/v1/group_invites", () => known().someGroup, () => ({ ttl: "3600s", role: roleId() })],
    ["POST", "/registry/v1/repos", () => known().someGroup, () => ({ name: "fresh" })],
  ])("%s %s", async (method, path, uid, body) => {
    const target = `${path}/${uid()}`;
    const expected = await askNative(method, target, body());
    const carried = await both(method, target, { body: body() });
    expect([carried.status, different(expected, carried)]).toEqual([200, []]);
  });

  it("T64: a delete answers an empty object", async () => {
    const target = `/iam/v1/groups/${native.wellKnown.emptyGroup}`;
    expect((await both("DELETE", target)).text).toBe("{}");
    expect((await askNative("DELETE", target)).text).toBe("{}");
  });
});

describe("where the operator says that v2 omits no zeros", () => {
  it("nothing is inserted for it, and what v2 sends is native v1's as ever", async () => {
    const trusting = await rigForTest({ sandbox: { clock }, native: false, flags: { upstreamV2OmitsZeros: "no" } });
    const fresh = createSandbox({ clock });
    const headers = [["authorization", `Bearer ${fresh.token("admin")}`]] as const;
    for (const one of resources) {
      const target = `/${one.domain}/v1/${one.v1}`;
      const carried = await trusting.ask("GET", target);
      const expected = await fresh.send({ method: "GET", target, headers }, { signal: new AbortController().signal });
      expect([one.name, different(answerOf(expected), carried)]).toEqual([one.name, []]);
    }
    const double = await createDouble(ok('{"uid":"abc"}'));
    later(double.close);
    const bare = await rigForTest({ v2Url: double.url, native: false, flags: { upstreamV2OmitsZeros: "no" } });
    expect((await bare.ask("GET", "/iam/v1/groups/abc")).text).toBe('{"id":"abc"}');
  });
});
