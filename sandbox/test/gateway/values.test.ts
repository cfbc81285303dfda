import { beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/sandbox.ts";
import { ask } from "../client.ts";
import { seededSandbox } from "../seeded.ts";

/** For what changes nothing; a test that writes makes its own. */
const shared = seededSandbox();
let sandbox: Sandbox = shared;

describe("integers", () => {
  const user = (version: "v1" | "v2beta1", uid: string) => {
    const name = version === "v1" ? "userName" : "username";
    const raw = `{"name":"n","customOverlay":{"accounts":{"users":[{"${name}":"u","uid":${uid}}]}}}`;
    return ask(sandbox, "POST", `/registry/${version}/repos/${sandbox.wellKnown.someGroup}`, { raw });
  };
  const stored = async (version: "v1" | "v2beta1", uid: string) =>
    (await user(version, uid)).json.customOverlay?.accounts.users[0].uid;

  test.each([
    ["0", 0],
    ["2147483648", 2_147_483_648],
    ["4294967295", 4_294_967_295],
    ['"7"', 7],
    ["1e2", 100],
    ["3.0", 3],
  ])("v1 takes %s for a user id", async (text, number) => {
    expect(await stored("v1", text)).toBe(number);
  });

  test.each([["4294967296"], ["-1"], ["1.5"], ["true"], ['"x"'], ['""'], ["[]"], ['" 7"']])(
    "v1 refuses %s for a user id",
    async (text) => {
      const { status, json } = await user("v1", text);
      expect([status, json.code, json.details]).toEqual([400, 3, []]);
    },
  );

  test("v2 has a sign: it takes -1, refuses 2147483648, and shows v1's large ids as negative ones", async () => {
    sandbox = seededSandbox();
    expect(await stored("v2beta1", "-1")).toBe(-1);
    expect((await user("v2beta1", "2147483648")).status).toBe(400);
    sandbox = seededSandbox();
    const { id } = (await user("v1", "4294967295")).json;
    const seen = (await ask(sandbox, "GET", `/registry/v2beta1/repos/${id}`)).json;
    expect(seen.customOverlay.accounts.users[0].uid).toBe(-1);
  });

  test.each([
    ["9223372036854775807", "9223372036854775807"],
    ['"-9223372036854775808"', "-9223372036854775808"],
    ["9007199254740993", "9007199254740993"],
    ["9223372036854775808", undefined],
    ['"9223372036854775808"', undefined],
  ])("an installation id of %s is %s on both faces", async (text, expected) => {
    for (const path of ["/iam/v1/account_associations", "/iam/v2beta1/accountAssociations"]) {
      sandbox = seededSandbox();
      const raw = `{"name":"n","github":{"appInstallations":{"1":{"installations":[{"installationId":${text}}]}}}}`;
      const { status, json } = await ask(sandbox, "POST", `${path}/${sandbox.wellKnown.emptyGroup}`, { raw });
      expect(status).toBe(expected === undefined ? 400 : 200);
      expect(json.github?.appInstallations["1"].installations[0].installationId).toBe(expected);
    }
  });
});

/** A write on each face: its path is completed by the test. */
const WRITES = [
  ["v1 identity", "PUT", () => `/iam/v1/identities/${sandbox.wellKnown.identity}`],
  ["v2 identity", "POST", () => `/iam/v2beta1/identities/${sandbox.wellKnown.someGroup}`],
  ["v1 metadata", "PATCH", () => "/iam/v1/identities/metadata"],
  ["v2 metadata", "PATCH", () => "/iam/v2beta1/identities:updateIdentityMetadata"],
  ["v1 verb", "POST", () => `/iam/v1/identityProviders/${sandbox.wellKnown.scim.live}:setScimEnabled`],
  ["v2 verb", "POST", () => `/iam/v2beta1/identityProviders/${sandbox.wellKnown.scim.live}:setScimEnabled`],
  ["v1 access request", "POST", () => `/iam/v1/groups/${sandbox.wellKnown.rootGroup}:requestGroupAccess`],
  ["v1 check", "POST", () => `/iam/v1/account_associations/${sandbox.wellKnown.accountAssociation}:check`],
  ["v2 batch", "POST", () => "/iam/v2beta1/roleBindings:batchCreate"],
  ["v1 advisory", "POST", () => "/vulnerabilities/v1/advisories"],
  ["v1 event", "POST", () => `/vulnerabilities/v1/advisories/${sandbox.wellKnown.advisory}/events`],
  ["v1 tag", "PUT", () => `/registry/v1/tags/${sandbox.wellKnown.tag}`],
  ["v2 readme", "PATCH", () => `/registry/v2beta1/repos/${sandbox.wellKnown.repo}/readme`],
] as const;

describe.each(WRITES)("the body of a %s", (_what, method, path) => {
  test.each([["null"], ["[]"], ['"x"'], ["7"], ["\ufeff{}"], ['{"a":"\\udfff"}'], ['{"a":1'], ["{,}"]])(
    "is not %j: 400 without details, before anybody asks for a token",
    async (raw) => {
      const { status, json } = await ask(sandbox, method, path(), { token: undefined, raw });
      expect([status, json.code, json.details]).toEqual([400, 3, []]);
    },
  );

  test("may be empty, which is an empty message", async () => {
    const { status } = await ask(sandbox, method, path(), { token: undefined, raw: " \n" });
    expect(status).toBe(401);
  });
});

describe("keys", () => {
  beforeEach(() => {
    sandbox = seededSandbox();
  });
  const put = (raw: string) => ask(sandbox, "PUT", `/iam/v1/identities/${sandbox.wellKnown.identity}`, { raw });
  const body = '"name":"n","claimMatch":{"issuer":"i","subject":"s"}';

  test("in both spellings or twice are refused, below as well; unknown ones are not", async () => {
    for (const extra of [
      '"name":"m"',
      '"claim_match":{}',
      '"aws_identity":{"awsAccount":"1","aws_account":"1"}',
      '"servicePrincipal":"COSIGNED"',
    ]) {
      expect((await put(`{${body},${extra}}`)).status).toBe(400);
    }
    expect((await put(`{${body},"__proto__":{"a":1},"__proto__":2,"staticKeys":{}}`)).status).toBe(200);
  });

  test("that are null count as left out, and null in a list or a map is refused", async () => {
    const nulls = await put(`{${body},"description":null,"static":null,"servicePrincipal":null}`);
    expect([nulls.status, nulls.json.description]).toEqual([200, ""]);
    expect((await put('{"name":"n","claimMatch":{"issuer":"i","subject":"s","claims":{"a":null}}}')).status).toBe(400);
  });

  test("that a PATCH does not know are 400, whatever the mask says", async () => {
    const path = `/iam/v2beta1/identities/${sandbox.wellKnown.identity}?updateMask=name`;
    expect((await ask(sandbox, "PATCH", path, { body: { name: "n", id: "x" } })).status).toBe(400);
    expect((await ask(sandbox, "PATCH", path, { body: { name: "n", lastSeen: null } })).status).toBe(400);
    expect((await ask(sandbox, "PATCH", path, { body: { name: "n" } })).json.name).toBe("n");
  });
});

describe("names of enum values that there are not", () => {
  test("are dropped from bodies, and clear the field in a PATCH without a mask", async () => {
    sandbox = seededSandbox();
    const { repo } = sandbox.wellKnown;
    const staff = sandbox.token("staff");
    const v2 = (catalogTier: unknown) =>
      ask(sandbox, "PATCH", `/registry/v2beta1/repos/${repo}`, { token: staff, body: { catalogTier } });
    expect((await v2("CATALOG_TIER_AI")).json.catalogTier).toBe("CATALOG_TIER_AI");
    expect((await v2("AI")).json.catalogTier).toBe("CATALOG_TIER_UNSPECIFIED");
    const v1 = await ask(sandbox, "PUT", `/registry/v1/repos/${repo}`, {
      body: { name: "n", catalogTier: "CATALOG_TIER_AI" },
    });
    expect([v1.status, v1.json.catalogTier]).toEqual([200, "UNKNOWN"]);
    const role = await ask(sandbox, "PATCH", `/iam/v2beta1/roles/${sandbox.wellKnown.customRole}`, {
      body: { capabilities: ["groups.list", "CAP_IAM_GROUPS_LIST"] },
    });
    expect(role.json.capabilities).toEqual(["CAP_IAM_GROUPS_LIST"]);
  });

  test.each([
    ["/vulnerabilities/v1/advisories?event_statuses=REVIEW_STATE_PENDING"],
    ["/vulnerabilities/v1/advisories?order_by=uid"],
    ["/vulnerabilities/v1/advisories?latestEventType="],
    ["/vulnerabilities/v2beta1/advisories?event_review_states=PENDING"],
    ["/iam/v2beta1/identities?relationship_type=99"],
    ["/registry/v1/tags?excludeDates="],
    ["/registry/v1/tags?updated_since="],
    ["/registry/v1/tags?updated_since=yesterday"],
    ["/registry/v1/repotagssummary/x?excludeDates=maybe"],
    ["/vulnerabilities/v1/advisories?page_size="],
    ["/vulnerabilities/v1/advisories?uidp=1"],
  ])("and values that do not fit are 400 in a query: %s", async (target) => {
    const { status, json } = await ask(sandbox, "GET", target, { token: undefined });
    expect([status, json.code, json.details]).toEqual([400, 3, []]);
  });

  test("an empty text is no filter", async () => {
    const all = (await ask(sandbox, "GET", "/registry/v1/tags")).json.items.length;
    const query = "name=&digest=&id=&uidp.childrenOf=";
    expect((await ask(sandbox, "GET", `/registry/v1/tags?${query}`)).json.items).toHaveLength(all);
  });

  test.each([
    ["/registry/v1/tags?uidp.ids=", "items"],
    ["/registry/v2beta1/tags?uidp.ids=", "tags"],
    ["/vulnerabilities/v1/advisories?advisoryIds=", "items"],
    ["/vulnerabilities/v2beta1/advisories?aliases=", "advisories"],
    ["/vulnerabilities/v1/advisories?eventTypes=EVENT_TYPE_FILTER_UNSPECIFIED", "items"],
    ["/vulnerabilities/v2beta1/advisories?event_types=0", "advisories"],
  ])("an empty element of a list is one that no record has: %s", async (target, key) => {
    const { status, json } = await ask(sandbox, "GET", target);
    expect([status, json[key]]).toEqual([200, []]);
  });
});
