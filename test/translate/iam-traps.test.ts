/** Are the traps met in which the easy reading of a row of IAM or of the advisories loses data? Each by its number. */
import { describe, expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue.ts";
import { header } from "../../src/model/message.ts";
import { createRouter } from "../../src/route/router.ts";
import { json, maskOf, problemOf, type Run, runOperation, textOf } from "./support.ts";

const { resources, natives } = await loadCatalogue("v2beta1");
const route = createRouter({ resources, natives, version: "v2beta1", extraPrefixes: [] });

type Answer = (target: string, method: string) => unknown;

/** A v1 request; `answer` is the body with which v2 answers each call, with 200. */
function ask(method: string, path: string, body: unknown, answer: Answer): Promise<Run> {
  const routed = route(method, path);
  if (routed.kind !== "match") throw new Error(`${method} ${path} is routed as ${routed.kind}`);
  const { match } = routed;
  return runOperation({
    resources,
    resource: match.resource,
    operation: match.operation,
    match,
    known: "snake_case",
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    answer: (request) => json(200, answer(request.target, request.method)),
  });
}

/** The JSON of the last call's body. */
function last({ sent }: Run): unknown {
  return JSON.parse(textOf(sent.at(-1)));
}

const TIME = "2026-03-01T09:30:00Z";

describe("role bindings", () => {
  const shown = { uid: "g/b", identity: { uid: "g/i" }, group: { uid: "g" }, role: { uid: "r" }, createTime: TIME };

  test("T16: create and update answer strings, whatever objects v2 shows", async () => {
    for (const [method, path] of [
      ["POST", "/iam/v1/rolebindings/g"],
      ["PUT", "/iam/v1/rolebindings/g/b"],
    ] as const) {
      const { body } = await ask(method, path, { identity: "g/i", role: "r" }, () => shown);
      expect(body).toEqual({ id: "g/b", identity: "g/i", group: "g", role: "r" });
    }
  });

  test("T17: what is written goes under identityUid and roleUid; the group stays in the path", async () => {
    const run = await ask("POST", "/iam/v1/rolebindings/g", { identity: "g/i", role: "r", group: "x" }, () => shown);
    expect(last(run)).toEqual({ identityUid: "g/i", roleUid: "r" });
  });

  test("T19: a batch is no binding below a group called batch, and is never split", async () => {
    const run = await ask("POST", "/iam/v1/rolebindings/batch/g", [{ identity: "g/i", role: "r" }], () => ({
      roleBindings: [shown],
    }));
    expect(run.sent.map(({ target }) => target)).toEqual(["/iam/v2beta1/roleBindings:batchCreate"]);
    const many = Array.from({ length: 26 }, () => ({ identity: "g/i", role: "r" }));
    const refused = await problemOf(ask("POST", "/iam/v1/rolebindings/batch/g", many, () => ({})));
    expect(refused.message).toContain("at most 25");
  });
});

describe("group invites", () => {
  const invite = { uid: "g/v", roleUid: "r", email: "a@b", singleUse: true, code: "c", createTime: TIME };

  test("T20: the role is a uid in what is asked, an object in what is answered", async () => {
    const role = { uid: "r", name: "viewer", description: "", capabilities: ["CAP_IAM_GROUPS_LIST"] };
    const run = await ask("POST", "/iam/v1/group_invites/g", { role: "r", ttl: "60s" }, () => ({ ...invite, role }));
    expect(last(run)).toEqual({ roleUid: "r", ttl: "60s" });
    expect(run.body).toMatchObject({
      role: { id: "r", name: "viewer", description: "", capabilities: ["groups.list"] },
    });
  });

  test("T21: create answers exactly its own members, a role that is gone by its uid, and wants a ttl", async () => {
    const { body } = await ask("POST", "/iam/v1/group_invites/g", { role: "r", ttl: "60s" }, () => invite);
    expect(Object.keys(body as object).sort()).toEqual(["code", "expiration", "id", "keyId", "role"]);
    expect(body).toMatchObject({ role: { id: "r" } });
    const refused = await problemOf(ask("POST", "/iam/v1/group_invites/g", { role: "r" }, () => invite));
    expect(refused.fieldViolations.map(({ field }) => field)).toEqual(["ttl"]);
  });
});

describe("account associations", () => {
  const wire = "/iam/v1/account_associations/g/h";

  test("T22: the group of the path is the key; no other group, and no uid, is sent", async () => {
    const run = await ask("PUT", wire, { group: "other", name: "n" }, () => ({ uid: "g/h", name: "n" }));
    expect(run.sent[0]?.target).toMatch(/^\/iam\/v2beta1\/accountAssociations\/g\/h\?/);
    expect(last(run)).not.toHaveProperty("uid");
    expect(run.body).toMatchObject({ group: "g/h" });
    expect(run.body).not.toHaveProperty("id");
  });

  test("T23, T24: keys of maps are data, byte for byte, both ways", async () => {
    const keys = { INGESTER: "g/i", SERVICE_PRINCIPAL_X: "y", id: "1", uid: "2", createdAt: "3", clientIds: "4" };
    const body = { name: "n", azure: { tenantId: "t", clientIds: keys }, github: null };
    const run = await ask("PUT", wire, body, () => ({ uid: "g/h", ...body }));
    expect(last(run)).toMatchObject({ azure: { clientIds: keys }, github: null });
    expect(run.body).toMatchObject({ azure: { tenantId: "t", clientIds: keys } });
  });

  test("T26: a block that a PUT leaves out is cleared, by name", async () => {
    const run = await ask("PUT", wire, { name: "n" }, () => ({ uid: "g/h", name: "n" }));
    expect(maskOf(run.sent[0])).toEqual(expect.arrayContaining(["amazon", "google", "azure", "github", "description"]));
    expect(last(run)).toMatchObject({ amazon: null, google: null, azure: null, github: null, description: "" });
    const kept = { uid: "g/h", name: "n", amazon: { account: "1" } };
    expect((await problemOf(ask("PUT", wire, { name: "n" }, () => kept))).reason).toBe("UPDATE_INCOMPLETE");
  });

  test("T60: a name that is left out is kept and named, one that was never there cannot be created", async () => {
    const run = await ask("PUT", wire, { description: "d" }, () => ({ uid: "g/h", name: "n", description: "d" }));
    expect(maskOf(run.sent[0])).not.toContain("name");
    expect(header(run.response.headers, "carryover-mismatch")).toBe("name");
    const refused = await problemOf(ask("POST", "/iam/v1/account_associations/g", {}, () => ({})));
    expect(refused.fieldViolations.map(({ field }) => field)).toEqual(["name"]);
  });

  test("T32: a check's answer has v1's own words, not v2's without a prefix", async () => {
    const { body } = await ask("POST", `${wire}:check`, { accountType: "AZURE" }, () => ({
      status: "CHECK_STATUS_NOT_READY",
    }));
    expect(body).toEqual({ ready: "NotReady", reason: "", message: "" });
  });
});

describe("identity providers", () => {
  const wire = "/iam/v1/identityProviders/g/p";
  const oidc = { issuer: "https://i", clientId: "c", additionalScopes: [], groupsClaim: "", pkceEnabled: false };
  const stored = {
    uid: "g/p",
    name: "n",
    defaultRole: "r",
    oidc: { ...oidc, correlationRule: "CORRELATION_RULE_UNSPECIFIED" },
  };

  test.each([undefined, null, ""])("T28: a secret of %j is neither named nor sent", async (clientSecret) => {
    const run = await ask("PUT", wire, { name: "n", defaultRole: "r", oidc: { ...oidc, clientSecret } }, () => stored);
    expect(maskOf(run.sent[0])).not.toContain("oidc.client_secret");
    expect(maskOf(run.sent[0])).not.toContain("oidc");
    expect(textOf(run.sent[0])).not.toContain("clientSecret");
  });

  test("T28: a new secret is named, and not looked for in the answer", async () => {
    const run = await ask(
      "PUT",
      wire,
      { name: "n", defaultRole: "r", oidc: { ...oidc, clientSecret: "s" } },
      () => stored,
    );
    expect(maskOf(run.sent[0])).toContain("oidc.client_secret");
    expect(run.exchange.mismatches).toEqual([]);
  });

  test("T29, T55: what only the platform sets is not sent", async () => {
    const body = { ...stored, id: "g/p", uid: "x", scim: { enabled: true }, createdAt: TIME, createTime: TIME };
    const run = await ask("PUT", wire, body, () => stored);
    expect(Object.keys(last(run) as object).sort()).toEqual(["defaultRole", "description", "name", "oidc"]);
  });

  test("a change of the correlation rule is named, so that the platform can refuse it", async () => {
    const changed = { ...oidc, correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID" };
    const run = await ask("PUT", wire, { name: "n", defaultRole: "r", oidc: changed }, () => stored);
    expect(maskOf(run.sent[0])).toContain("oidc.correlation_rule");
    expect(run.exchange.mismatches).toEqual(["oidc.correlationRule"]);
  });

  test("T60: a default role that is left out is kept and named, and wanted on a create", async () => {
    const run = await ask("PUT", wire, { name: "n", defaultRole: "", oidc }, () => stored);
    expect(maskOf(run.sent[0])).not.toContain("default_role");
    expect(header(run.response.headers, "carryover-mismatch")).toContain("defaultRole");
    const refused = await problemOf(ask("POST", "/iam/v1/identityProviders/g", { name: "n", oidc }, () => stored));
    expect(refused.fieldViolations.map(({ field }) => field)).toEqual(["defaultRole"]);
  });

  test("T49: a list shows the state of tokens, which v2 has in its Get alone", async () => {
    const state = { enabled: true, credentialState: "CREDENTIAL_STATE_LIVE", tokenExpireTime: TIME, etag: "1" };
    const { body } = await ask("GET", "/iam/v1/identityProviders", undefined, (target) =>
      target.includes("?")
        ? { identityProviders: [{ ...stored, scim: { enabled: true } }] }
        : { ...stored, scim: state },
    );
    expect(body).toMatchObject({ items: [{ scim: state }] });
  });

  test.each(["generate", "regenerate"])(
    "T50: %sScimToken is sent once, however unclear its answer is",
    async (verb) => {
      const tokens: string[] = [];
      const run = await problemOf(
        ask("POST", `${wire}:${verb}ScimToken`, {}, (target) => {
          tokens.push(target);
          return [];
        }),
      );
      expect(tokens).toEqual([`/iam/v2beta1/identityProviders/g/p:${verb}ScimToken`]);
      expect(run.metadata).toEqual({ state: "unknown" });
    },
  );
});

describe("identities and groups", () => {
  test("T25: a member of a oneof that v2 did not send is not made up", async () => {
    const { body } = await ask("GET", "/iam/v1/identities?id=g/i", undefined, () => ({
      uid: "g/i",
      claimMatch: { issuer: "x", subject: "y" },
    }));
    const [item] = (body as { items: object[] }).items;
    expect(item).not.toHaveProperty("servicePrincipal");
    expect(item).not.toHaveProperty("static");
    expect(item).not.toHaveProperty("awsIdentity");
  });

  test("T27: no mask is ever a wildcard", async () => {
    const run = await ask("PUT", "/iam/v1/identities/g/i", { name: "n" }, () => ({
      uid: "g/i",
      name: "n",
      company: "c",
    }));
    expect(maskOf(run.sent[0])).toEqual(["name", "description"]);
  });

  test("T30, T59: the mask of a caller's metadata stands in the body, in camelCase, and names everything", async () => {
    const run = await ask(
      "PATCH",
      "/iam/v1/identities/metadata",
      { onboardingQuestions: { companyName: "c" } },
      () => ({
        company: "c",
      }),
    );
    const { identityMetadata, updateMask } = last(run) as { identityMetadata: object; updateMask: string };
    expect(updateMask.split(",").sort()).toEqual(Object.keys(identityMetadata).sort());
    expect(updateMask).not.toMatch(/[_*]/);
    expect(identityMetadata).toMatchObject({ company: "c", jobTitle: "", selfServe: false, updatesOptIn: false });
    expect(run.sent[0]?.target).toBe("/iam/v2beta1/identities:updateIdentityMetadata");
  });

  test("T54: verified and kind are left alone by a PUT that leaves them out", async () => {
    const run = await ask("PUT", "/iam/v1/groups/g", { name: "n" }, () => ({ uid: "g", name: "n", verified: true }));
    expect(maskOf(run.sent[0])).toEqual(["name", "description"]);
    expect(header(run.response.headers, "carryover-mismatch")).toBe("verified");
  });
});

describe("advisories", () => {
  const wire = "/vulnerabilities/v1/advisories";

  test("T33: an event type that v2 cannot name is refused, never sent as no filter", async () => {
    for (const value of ["9", "EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED"]) {
      const refused = await problemOf(ask("GET", `${wire}?eventTypes=${value}`, undefined, () => ({})));
      expect(refused.reason).toBe("INVALID_FILTER");
    }
  });

  test("T38: an event is mapped by its place, alone as in its advisory", async () => {
    const held = {
      uid: "e",
      createTime: TIME,
      reviewState: "REVIEW_STATE_APPROVED",
      detection: { scanv1: { subpackage: "s", component: "c" } },
    };
    const advisory = { uid: "g/a", events: [held, { uid: "f", detection: { manual: {} } }] };
    const { body } = await ask("GET", `${wire}/g/a/events`, undefined, () => advisory);
    expect(body).toMatchObject({
      parentId: "g/a",
      items: [
        {
          id: "e",
          timestamp: TIME,
          status: "APPROVED",
          detection: { scanv1: { subpackageName: "s", componentName: "c" } },
        },
        { id: "f", detection: { manual: {} } },
      ],
    });
    const whole = await ask("GET", `${wire}?id=g/a`, undefined, () => advisory);
    expect((whole.body as { items: { events: unknown }[] }).items[0]?.events).toEqual(
      (body as { items: unknown }).items,
    );
  });

  test("T39, T40: a page is v2's page: its token unchanged, its size what v2 serves, its owner as it was asked for", async () => {
    const run = await ask("GET", `${wire}?uidp.childrenOf=g&pageSize=5000&pageToken=a%2Bb`, undefined, () => ({
      advisories: [{ uid: "g/a" }],
      nextPageToken: "n+/=",
      totalCount: "7",
    }));
    const query = new URLSearchParams(run.sent[0]?.target.split("?")[1]);
    expect([query.get("page_size"), query.get("page_token")]).toEqual(["200", "a+b"]);
    expect(run.body).toMatchObject({ id: "g", nextPageToken: "n+/=", totalCount: "7" });
  });

  test.each([
    ["ID_ASC", "uid"],
    ["CREATED_AT_DESC", "created_at desc"],
    ["UPDATED_AT_ASC", "updated_at"],
  ])("T42: the order %s has v2's storage name: %s", async (v1, v2) => {
    const run = await ask("GET", `${wire}?orderBy=${v1}`, undefined, () => ({ advisories: [] }));
    expect(new URLSearchParams(run.sent[0]?.target.split("?")[1]).get("order_by")).toBe(v2);
  });
});
