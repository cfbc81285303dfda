import { describe, expect, test } from "vitest";
import { Problem } from "../../src/model/problem.ts";
import { v2PathOf } from "../../src/model/request.ts";
import { createRouter } from "../../src/router/router.ts";
import { AMBIGUOUS, UNKNOWN } from "../support/hostile/targets.ts";
import { CHILD, NATIVES, RESOURCES, ROOT } from "./fixture.ts";

const route = createRouter({
  resources: RESOURCES,
  natives: NATIVES,
  version: "v2beta1",
  extraPrefixes: ["/apko/v1/", "/chart", "v1:/legacy"],
});

/** The answer in one line: `group.update 0123 ?a=b`, `native tag.update`, `INVALID_PATH`. */
function told(method: string, target: string): string {
  try {
    const routed = route(method, target);
    if (routed.kind === "native") return `native ${routed.resource}.${routed.operation}`;
    if (routed.kind === "options") return `options ${routed.v2Target}`;
    if (routed.kind !== "match") return routed.kind;
    const { resource, operation } = routed.match;
    return `${resource.name}.${operation.name} ${v2PathOf(routed.match, "v2beta1")}`;
  } catch (thrown) {
    if (thrown instanceof Problem) return thrown.reason;
    throw thrown;
  }
}

function refusal(method: string, target: string): Problem {
  try {
    route(method, target);
  } catch (thrown) {
    if (thrown instanceof Problem) return thrown;
    throw thrown;
  }
  throw new Error(`${method} ${target} was not refused`);
}

describe("translated operations", () => {
  test.each([
    ["GET", "/iam/v1/groups", "group.list /iam/v2beta1/groups"],
    ["GET", `/iam/v1/groups/${ROOT}`, `group.get /iam/v2beta1/groups/${ROOT}`],
    ["GET", `/iam/v1/groups/${CHILD}`, `group.get /iam/v2beta1/groups/${CHILD}`],
    ["POST", `/iam/v1/groups/${ROOT}`, `group.create /iam/v2beta1/groups/${ROOT}`],
    ["PUT", `/iam/v1/groups/${CHILD}`, `group.update /iam/v2beta1/groups/${CHILD}`],
    ["DELETE", `/iam/v1/groups/${CHILD}`, `group.delete /iam/v2beta1/groups/${CHILD}`],
    ["GET", "/iam/v1/rolebindings", "role-binding.list /iam/v2beta1/roleBindings"],
    ["GET", "/iam/v1/group_invites", "group-invite.list /iam/v2beta1/groupInvites"],
    [
      "PUT",
      `/iam/v1/account_associations/${ROOT}`,
      `account-association.update /iam/v2beta1/accountAssociations/${ROOT}`,
    ],
    ["GET", `/registry/v1/repos/${CHILD}`, `repo.get /registry/v2beta1/repos/${CHILD}`],
    ["GET", "/vulnerabilities/v1/advisories", "advisory.list /vulnerabilities/v2beta1/advisories"],
  ])("%s %s is %s", (method, target, expected) => {
    expect(told(method, target)).toBe(expected);
  });

  test("DIFF-55: v2's camelCase spelling of a collection is accepted, any other case is another path", () => {
    expect(told("GET", "/iam/v1/roleBindings")).toBe("role-binding.list /iam/v2beta1/roleBindings");
    expect(told("POST", `/iam/v1/roleBindings/batch/${ROOT}`)).toBe("native role-binding.batchCreate");
    expect(told("GET", "/iam/v1/groupinvites")).toBe("native unknown.unknown");
    expect(told("GET", "/iam/v1/Groups")).toBe("native unknown.unknown");
  });

  test("a match carries the uid and the raw query, which is not judged", () => {
    const routed = route("GET", `/iam/v1/groups/${ROOT}%2Fabc?name=%25;a?b#c`);
    expect(routed).toMatchObject({
      kind: "match",
      match: { uid: `${ROOT}/abc`, uidPath: `${ROOT}/abc`, query: "name=%25;a?b#c" },
    });
  });

  test("the version of v2 is configuration", () => {
    const other = createRouter({ resources: RESOURCES, natives: [], version: "v2beta9", extraPrefixes: [] });
    expect(other("OPTIONS", "/iam/v1/groups/a")).toEqual({ kind: "options", v2Target: "/iam/v2beta9/groups/a" });
    expect(other("GET", "/iam/v2beta9/groups")).toEqual({ kind: "v2", resource: "group" });
  });
});

test.each([
  ["/iam/v2beta1/groups", "group"],
  ["/iam/v2beta1/groups/a/b", "group"],
  ["/iam/v2beta1/roleBindings:check", "role-binding"],
  ["/iam/v2/groups?page_size=1", "group"],
  ["/iam/v2beta1/groupsy", "unknown"],
  ["/iam/v2beta1/Groups", "unknown"],
  ["/registry/v2beta1/groups", "unknown"],
  ["/iam/v2beta1", "unknown"],
  ["/iam/v2beta1/", "unknown"],
])("a v2 target is counted by the collection that it begins with: %s", (target, resource) => {
  expect(route("GET", target)).toEqual({ kind: "v2", resource });
});

describe("TRAP-47, T-SMG-28: uids in paths", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])("a uid of %i levels is one uid, escaped or not", (levels) => {
    const uid = [ROOT, ...Array.from({ length: levels - 1 }, () => "0123456789abcdef")].join("/");
    const expected = `repo.get /registry/v2beta1/repos/${uid}`;
    expect(told("GET", `/registry/v1/repos/${uid}`)).toBe(expected);
    expect(told("GET", `/registry/v1/repos/${uid.replaceAll("/", "%2F")}`)).toBe(expected);
    expect(told("GET", `/registry/v1/repos/${uid.replaceAll("/", "%2f")}`)).toBe(expected);
  });
});

describe("T-SMG-27, DIFF-52: odd paths on v1 are refused", () => {
  // Which bytes, escapes and segments are odd: path.test.ts. Which uids: uid.test.ts.
  test.each([
    ...Object.values(AMBIGUOUS),
    "/iam/v1/../groups",
    "/iam/v1/groups/%2e%2e/%2e%2e/admin",
    "/iam/v1/groups/..%2fa",
    "/iam/v1/groups#f",
    "http://169.254.169.254/latest",
    "iam/v1/groups",
    "*",
    "",
  ])("GET %j", (target) => {
    expect(told("GET", target)).toBe("INVALID_PATH");
    expect(told("OPTIONS", target)).toBe("INVALID_PATH");
  });

  test("the refusal says what, where and what is expected", () => {
    expect(refusal("GET", "/iam/v1/groups/%2e%2e").message).toBe(
      'invalid path: "%2e" at offset 15; expected "." written as itself',
    );
    expect(refusal("POST", "/iam/v1/groups/a:b/c").message).toBe(
      'invalid path: ":" at offset 1 of the uid; expected segments of letters, digits, "-", "_" and "." with single "/" between them',
    );
    expect(refusal("GET", "/iam/v1/groups/a/../b").message).toContain("dot segment as segment 5");
    expect(refusal("GET", "/iam/v1/groups/a\u0000b").message).toContain("character U+0000 at offset 16");
  });
});

describe("T-SMG-27, DIFF-56: paths of nobody", () => {
  test.each([
    ...Object.values(UNKNOWN),
    "/admin",
    "//evil.example/x",
    "//iam/v1/groups",
    "/iam/v3/groups",
    "/iam",
    "/i-am/v1/groups",
    "/legacyx/a",
    "/sts",
    "/sts/exchange/",
    "/apko/v1x",
    "/charts/x",
  ])("%s is 404 and not forwarded", (target) => {
    expect(told("GET", target)).toBe("UNKNOWN_PATH");
  });
});

describe("v2 and token exchange", () => {
  test.each([
    ["GET", "/iam/v2beta1/groups", "v2"],
    ["HEAD", "/iam/v2beta1/groups/a", "v2"],
    ["OPTIONS", "/iam/v2beta1/groups/a", "v2"],
    ["PURGE", "/registry/v2/x", "v2"],
    ["GET", "/ping/v2beta1/ping", "v2"],
    ["GET", "/advisory/v2beta1/%25;é", "v2"],
    ["POST", "/apko/v1/resolve/a", "v2"],
    ["POST", "/apko/v1", "v2"],
    ["GET", "/chart/a?b", "v2"],
    ["GET", "/sts/exchange?aud=x", "sts"],
    ["POST", "/sts/exchange", "sts"],
    ["DELETE", "/sts/exchange", "METHOD_NOT_ALLOWED"],
  ])("%s %s is %s", (method, target, expected) => {
    expect(told(method, target)).toBe(expected);
  });

  test("a token exchange keeps its query", () => {
    expect(route("GET", "/sts/exchange?aud=x&identity=y")).toEqual({ kind: "sts", query: "aud=x&identity=y" });
  });
});

describe("TRAP-46: literals and verbs come before uids", () => {
  test.each([
    ["POST", `/iam/v1/rolebindings/batch/${ROOT}`, "native role-binding.batchCreate"],
    ["POST", "/iam/v1/rolebindings/batch", "native role-binding.batchCreate"],
    ["POST", `/iam/v1/rolebindings/${ROOT}`, `role-binding.create /iam/v2beta1/roleBindings/${ROOT}`],
    ["POST", `/iam/v1/rolebindings/batches/${ROOT}`, `role-binding.create /iam/v2beta1/roleBindings/batches/${ROOT}`],
    ["POST", `/iam/v1/account_associations/${CHILD}:check`, "native account-association.check"],
    ["POST", `/iam/v1/accountAssociations/${CHILD}:check`, "native account-association.check"],
    ["POST", `/iam/v1/account_associations/${ROOT}%3Acheck`, "native account-association.check"],
    ["POST", `/iam/v1/groups/${ROOT}:requestGroupAccess`, "native group.requestGroupAccess"],
    ["POST", "/iam/v1/groups:requestGroupAccess", "native group.requestGroupAccess"],
    ["GET", "/iam/v1/groups:lookupGroup", "native group.lookupGroup"],
    ["GET", "/iam/v1/groups:nonsense", "native unknown.unknown"],
    ["GET", "/iam/v1/identities/lookup?issuer=a", "native identity.lookup"],
    ["GET", "/iam/v1/identities/lookups", "identity.get /iam/v2beta1/identities/lookups"],
    ["PATCH", "/iam/v1/identities/metadata", "native identity.updateMetadata"],
    ["POST", "/iam/v1/identities", "native identity.createRoot"],
    ["GET", `/registry/v1/repos/${CHILD}/digests/sha256:0a/architectures`, "native repo.listArchitectures"],
    ["GET", `/registry/v1/repos/${CHILD}/digests/sha256%3A0a/size`, "native repo.getSize"],
    ["GET", `/registry/v1/tags/${CHILD}`, `tag.get /registry/v2beta1/tags/${CHILD}`],
    ["PUT", `/registry/v1/tags/${CHILD}`, "native tag.update"],
    ["DELETE", "/vulnerabilities/v1/advisories/a", "native advisory.delete"],
    ["GET", `/registry/v1/entitlements/${ROOT}`, "native entitlement.list"],
    ["GET", "/registry/v1/entitlements", "native entitlement.list"],
    ["GET", `/registry/v1/entitlements/${ROOT}:nonsense`, "native entitlement.list"],
    ["GET", "/registry/v1/charts:find?name=a", "native chart.find"],
    ["GET", "/registry/v1/versions/libstdc%2B%2B", "native version.list"],
    ["GET", "/libraries/v1/artifacts/count", "native artifact.count"],
    ["GET", `/iam/v1/terms/${ROOT}`, "native terms.list"],
    ["GET", "/ping/v1/ping", "native ping.ping"],
    ["GET", "/events/v1/subscriptions", "native unknown.unknown"],
    ["GET", "/iam/v1", "native unknown.unknown"],
    ["GET", "/iam/v1/", "native unknown.unknown"],
    ["GET", "/iam/v1/unknown/", "native unknown.unknown"],
    ["GET", "/ping/v1/ping/", "native unknown.unknown"],
    ["OPTIONS", "/iam/v1/unknown", "native unknown.unknown"],
  ])("%s %s is %s", (method, target, expected) => {
    expect(told(method, target)).toBe(expected);
  });

  test.each([
    ["POST", `/iam/v1/groups/${ROOT}:nonsense`, "INVALID_PATH"],
    ["POST", `/iam/v1/groups/${ROOT}%3Anonsense`, "INVALID_PATH"],
    ["DELETE", `/iam/v1/roleBindings/${ROOT}:nonsense`, "INVALID_PATH"],
    ["GET", `/iam/v1/groups/${ROOT}:nonsense`, "METHOD_NOT_ALLOWED"],
    ["PATCH", `/iam/v1/groups/${ROOT}:nonsense`, "METHOD_NOT_ALLOWED"],
    ["POST", "/billing/v1/invoices/a:pay", "UNKNOWN_PATH"],
    ["GET", "/constructor/v1/x", "UNKNOWN_PATH"],
    ["PUT", "/legacy/x", "UNKNOWN_PATH"],
  ])("DIFF-54: %s %s, a new verb, domain or prefix, is native v1's; without it %s", (method, target, reason) => {
    expect(route(method, target)).toMatchObject({ resource: "unknown", operation: "unknown", otherwise: { reason } });
  });

  test.each([
    ["POST", "/iam/v1/Groups"],
    ["PUT", `/iam/v1/GROUPS/${CHILD}`],
    ["DELETE", `/iam/v1/role_bindings/${CHILD}`],
    ["POST", `/iam/v1/Groups/${ROOT}/`],
    ["POST", `/iam/v1/Groups/${ROOT}:nonsense`],
  ])("a write in another spelling never goes to native v1 past the rules: %s %s", (method, target) => {
    expect(told(method, target)).toBe("NOT_FOUND");
  });

  test.each([
    "/billing/v1/%252e%252e/iam/v1/groups",
    "/billing/v1//x",
    "/legacy/%25",
    "/%62illing/v1/x",
    "/legacy/a;b",
    "/billing/v1/a/%2e%2e",
  ])("DIFF-52: an odd path of a new domain or prefix is refused, too: %s", (target) => {
    expect(told("POST", target)).toBe("INVALID_PATH");
  });

  test("DIFF-54: a verb that does not exist is no part of a uid", () => {
    expect(told("POST", `/iam/v1/groups/${ROOT}:requestGroupAccess/a`)).toBe("INVALID_PATH");
    expect(told("POST", `/iam/v1/groups/${ROOT}:requestGroupAccess:x`)).toBe("INVALID_PATH");
  });

  test("a method that the literal does not have is about a record of that uid, as in v1's gateway", () => {
    expect(told("DELETE", "/iam/v1/identities/lookup")).toBe("identity.delete /iam/v2beta1/identities/lookup");
    expect(told("PUT", "/iam/v1/identities/metadata")).toBe("identity.update /iam/v2beta1/identities/metadata");
  });

  test("no Get that v1 did not have reaches a record whose uid would be a literal", () => {
    expect(told("GET", `/iam/v1/rolebindings/batch/${ROOT}`)).toBe("METHOD_NOT_ALLOWED");
    expect(told("GET", "/iam/v1/identities/metadata")).toBe("METHOD_NOT_ALLOWED");
  });
});

describe("TRAP-45, DIFF-53: empty parents and trailing slashes", () => {
  test.each([
    ["POST", "/iam/v1/groups", "group.create /iam/v2beta1/groups"],
    ["POST", "/iam/v1/groups/", "group.create /iam/v2beta1/groups"],
    ["GET", "/iam/v1/groups/", "METHOD_NOT_ALLOWED"],
    ["GET", "/registry/v1/repos/", "METHOD_NOT_ALLOWED"],
    ["POST", "/iam/v1/rolebindings", "INVALID_PATH"],
    ["POST", "/iam/v1/rolebindings/", "INVALID_PATH"],
    ["POST", "/iam/v1/identities/", "INVALID_PATH"],
    ["PUT", "/iam/v1/groups", "INVALID_PATH"],
    ["DELETE", "/iam/v1/groups/", "INVALID_PATH"],
    ["PUT", "/iam/v1/group_invites", "METHOD_NOT_ALLOWED"],
    ["POST", `/iam/v1/groups/${ROOT}/`, "INVALID_PATH"],
  ])("%s %s is %s", (method, target, expected) => {
    expect(told(method, target)).toBe(expected);
  });

  test("a create without a parent says what is missing", () => {
    expect(refusal("POST", "/iam/v1/rolebindings").message).toBe(
      "invalid path: no uid after the collection; expected the uid of the parent (`id`) there",
    );
  });
});

describe("methods", () => {
  test.each([
    ["HEAD", "/iam/v1/groups"],
    ["HEAD", `/iam/v1/groups/${ROOT}`],
    ["HEAD", "/ping/v1/ping"],
    ["PATCH", `/iam/v1/groups/${ROOT}`],
    ["PUT", `/iam/v1/group_invites/${ROOT}`],
    ["DELETE", "/registry/v1/charts:find"],
    ["POST", "/iam/v1/groups:lookupGroup"],
    ["TRACE", "/iam/v1/groups"],
    ["get", "/iam/v1/groups"],
    ["constructor", "/iam/v1/groups"],
  ])("%s %s is refused as v1's gateway refuses it", (method, target) => {
    const problem = refusal(method, target);
    expect(problem.reason).toBe("METHOD_NOT_ALLOWED");
    expect(problem.message).toBe("Method Not Allowed");
  });

  test.each([
    ["/iam/v1/groups", "/iam/v2beta1/groups"],
    ["/iam/v1/groups/?a=b", "/iam/v2beta1/groups"],
    [`/iam/v1/rolebindings/${ROOT}%2Fa?b`, `/iam/v2beta1/roleBindings/${ROOT}/a`],
    [`/registry/v1/tags/${ROOT}`, `/registry/v2beta1/tags/${ROOT}`],
    [`/registry/v1/tags/${ROOT}/history`, undefined],
  ])("OPTIONS %s is mapped to %s", (target, v2) => {
    expect(route("OPTIONS", target)).toEqual({ kind: "options", v2Target: v2 });
  });
});

describe("a catalogue that contradicts itself is found at the start", () => {
  const options = { version: "v2beta1", extraPrefixes: [] };

  test("two operations on one method of one path", () => {
    const twice = { resource: "x", name: "y", method: "GET", path: "groups/{other=**}" };
    const natives = [{ domain: "iam", operations: [twice] }];
    expect(() => createRouter({ ...options, resources: RESOURCES, natives })).toThrow(
      "two operations for GET /iam/v1/groups/**",
    );
  });

  test("a domain that the API does not have", () => {
    const natives = [{ domain: "apko", operations: [{ resource: "x", name: "y", method: "GET", path: "z" }] }];
    expect(() => createRouter({ ...options, resources: [], natives })).toThrow('"apko" is no domain');
  });
});
