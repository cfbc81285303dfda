import { describe, expect, test } from "vitest";
import type { OperationMatch } from "../../src/model/request.ts";
import { type ComparisonRequest, isComparable } from "../../src/shadow/request.ts";
import { createRig } from "./rig.ts";

const { ask } = await createRig(() => Promise.reject(new Error("nothing is sent")));
const asked = (method: string, target: string, headers: ComparisonRequest["head"]["headers"] = []) =>
  ask({ method, target, headers });

describe("never compared", () => {
  test("a get that v1 itself does not have", () => {
    expect(isComparable(asked("GET", "/iam/v1/groups/g1"))).toBe(false);
    expect(isComparable(asked("GET", "/iam/v1/groups?id=g1"))).toBe(true);
  });

  test.each(["page_token", "pageToken"])("a page that one version gave the token of: %s", (name) => {
    expect(isComparable(asked("GET", `/vulnerabilities/v1/advisories?${name}=abc`))).toBe(false);
    expect(isComparable(asked("GET", `/vulnerabilities/v1/advisories?${name}=`))).toBe(true);
  });

  test("a name that means no page to an operation that has none", () => {
    expect(isComparable(asked("GET", "/iam/v1/groups?page_token=abc"))).toBe(true);
  });

  test.each(["/iam/v1/roleBindings", "/iam/v1/roleBindings?name=a", "/iam/v1/groupInvites/g1"])(
    "a collection by the name that v1 never gave it: %s",
    (target) => {
      expect(isComparable(asked(target.endsWith("g1") ? "POST" : "GET", target))).toBe(false);
      const old = target.replace("roleBindings", "rolebindings").replace("groupInvites", "group_invites");
      expect(isComparable(asked(target.endsWith("g1") ? "POST" : "GET", old))).toBe(true);
    },
  );

  test("a part of an answer", () => {
    expect(isComparable(asked("GET", "/iam/v1/groups", [["range", "bytes=0-1"]]))).toBe(false);
  });

  test("what is not translated, and methods that are no operation", () => {
    const ask = asked("GET", "/iam/v1/groups");
    const operation = { kind: "native", name: "x", method: "GET", path: "x" } as const;
    const match: OperationMatch = { ...ask.match, operation };
    expect(isComparable({ ...ask, match })).toBe(false);
    expect(isComparable({ ...ask, head: { ...ask.head, method: "HEAD" } })).toBe(false);
  });

  test.each([
    ["POST", "/iam/v1/groups/g1"],
    ["PUT", "/iam/v1/groups/g1"],
    ["DELETE", "/iam/v1/groups/g1"],
    ["PATCH", "/iam/v1/identities/metadata"],
  ])("but writes are, as far as reads go: %s", (method, target) => {
    expect(isComparable(asked(method, target))).toBe(true);
  });
});
