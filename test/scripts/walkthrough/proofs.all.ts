import { describe, expect, it } from "vitest";

const { PROOFS } = await import(new URL("../../../scripts/walkthrough/proofs.mjs", import.meta.url).href);

const GROUPS = "/iam/v1/groups?id=a";
const seen = (subject: string, mode: string | undefined, more: object = {}) => ({
  subject: `${subject}@example.com`,
  write: false,
  target: GROUPS,
  mode,
  headers: {},
  ...more,
});
const wrong = (step: string, calls: readonly object[], sent: readonly object[] = []): string | undefined =>
  PROOFS.get(step).done({ seen: calls, sent });

describe("a proof", () => {
  it("takes native for native only, but for what v2 lacks and what is v2", () => {
    expect(wrong("install", [seen("ui", "native")])).toBeUndefined();
    expect(wrong("install", [seen("ui", "native"), seen("ui", "translate")])).toContain("translate");
    const others = [
      seen("ui", undefined, { target: "/iam/v2beta1/groups" }),
      seen("ui", "native", { target: "/registry/v1/tags/a/history" }),
    ];
    expect(wrong("reads-100", [seen("ui", "translate"), ...others])).toBeUndefined();
  });

  it("sees a write that shadow sent to v2", () => {
    const calls = [seen("ui", "shadow", { write: true })];
    expect(wrong("shadow-writes", calls, [{ method: "GET", target: "/iam/v2beta1/groups/a" }])).toBeUndefined();
    expect(wrong("shadow-writes", calls, [{ method: "PATCH", target: "/iam/v2beta1/groups/a" }])).toContain("PATCH");
  });

  it("sees any other operation, or any other client, that moved with the first one", () => {
    const first = seen("ci", "translate");
    expect(wrong("one-operation", [first, seen("ui", "native")])).toBeUndefined();
    expect(wrong("one-operation", [first, seen("ui", "translate")])).toContain("ui@example.com");
    expect(wrong("one-operation", [first, seen("ci", "translate", { target: "/iam/v1/roles" })])).toContain("roles");
    expect(wrong("one-operation", [seen("ui", "native")])).toContain("ci made no such call");
  });

  it("sees a client on both sides of a percentage, a write that moved, and too many clients", () => {
    const half = ["a", "b"].map((name) => seen(name, "translate"));
    const rest = ["c", "d"].map((name) => seen(name, "native"));
    expect(wrong("reads-50", [...half, ...rest])).toBeUndefined();
    expect(wrong("reads-50", [...half, ...rest, seen("a", "native")])).toContain("a@example.com was on both sides");
    expect(wrong("reads-50", [...half, ...rest, seen("c", "translate", { write: true })])).toContain("a write of c");
    expect(wrong("reads-50", half)).toContain("1 of the clients");
    expect(wrong("reads-50", rest)).toContain("0 of the clients");
  });

  it("sees an answer that does not tell of the end, and a call that reached native v1 after all", () => {
    const told = { deprecation: "@1", sunset: "x", link: '</iam/v2beta1/groups>; rel="successor-version"' };
    expect(wrong("headers", [seen("ui", "translate", { headers: told })])).toBeUndefined();
    expect(wrong("headers", [seen("ui", "translate")])).toContain("told of no end");
    expect(wrong("without-native", [seen("ui", "translate")], [{ method: "GET", target: GROUPS }])).toContain("asked");
    expect(wrong("rehearse", [seen("ui", "translate")])).toContain("ui@example.com called");
  });
});
