import { describe, expect, it } from "vitest";

const { brownoutWindow, isBrownout, PROOFS } = await import(
  new URL("../../../scripts/walkthrough/proofs.mjs", import.meta.url).href
);

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

  it("sees a replay that left a read out, wrote, or translated nothing", () => {
    const native = { method: "GET", target: GROUPS };
    const v2 = { method: "GET", target: "/iam/v2beta1/groups/a" };
    const replay = (sent: readonly object[]) =>
      PROOFS.get("replay").done({ seen: [seen("ui", "native"), seen("ui", "native")], before: 1, sent });
    expect(replay([native, native, native, native, v2])).toBeUndefined();
    expect(replay([native, native, native, v2])).toContain("1 reads of /iam/v1/groups?id=a were repeated 1 times");
    expect(replay([native, native, native, native])).toContain("nothing was translated");
    expect(replay([native, native, native, native, { ...v2, method: "PATCH" }])).toContain("wrote");
  });

  it("sees a brownout that serves a client, refuses an exempt one, or lets a call through", () => {
    const refused = seen("ci", "brownout", { status: 400 });
    const served = seen("ui", "translate", { status: 200 });
    const proof = (calls: readonly object[], sent: readonly object[] = []) =>
      brownoutWindow.proof({ seen: calls, sent });
    expect(proof([refused, served], [{ subject: "ui@example.com", target: GROUPS }])).toBeUndefined();
    expect(proof([refused, seen("legacy", "translate", { status: 200 })])).toContain("legacy@example.com got 200");
    expect(proof([refused, seen("ui", "brownout", { status: 400 })])).toContain("ui@example.com got 400");
    expect(proof([refused], [{ subject: "ci@example.com", target: GROUPS }])).toContain("reached the platform");
  });

  it("takes no refusal for a brownout's that is outside of its window, or has another reason", () => {
    const at = Date.now();
    const window = { from: new Date(at - 10_000).toISOString(), until: new Date(at + 10_000).toISOString() };
    const refusal = (reason: string, sentAt = at) =>
      seen("ci", "brownout", {
        ...{ status: 400, sentAt },
        text: JSON.stringify({ code: 9, details: [{ reason, metadata: window }] }),
      });
    expect(isBrownout(refusal("BROWNOUT"))).toBe(true);
    expect(isBrownout(refusal("BROWNOUT", at + 10_000))).toBe(false);
    expect(isBrownout(refusal("NOT_TRANSLATABLE"))).toBe(false);
    expect(isBrownout({ ...refusal("BROWNOUT"), subject: "ui@example.com" })).toBe(false);
  });
});
