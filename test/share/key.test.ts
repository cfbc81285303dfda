import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isInKey, listKeyOf, wantsOwn } from "../../src/drain/cache-policy.ts";
import type { HeaderList } from "../../src/model/http.ts";
import { credentialOf } from "../../src/upstream/credentials.ts";
import { variants } from "../support/tier.ts";
import { head, SECRET } from "./support.ts";

const OPTIONS = { secret: SECRET, origin: "https://platform.example", ruleVersion: "1" };

function keyFor(token: string, target?: string, more?: HeaderList, options = OPTIONS): string {
  const requested = head(token, target, more);
  const credential = credentialOf(requested.headers, SECRET);
  if (credential === undefined) throw new Error("no credential");
  return listKeyOf(requested, credential, options);
}

describe("the key of a list", () => {
  it("K1: differs in each of its parts", () => {
    const keys = [
      keyFor("a"),
      keyFor("b"),
      keyFor("a", "/iam/v1/roles"),
      keyFor("a", "/iam/v1/groups?name=x"),
      keyFor("a", undefined, [["accept", "text/plain"]]),
      keyFor("a", undefined, [["accept-language", "text/plain"]]),
      keyFor("a", undefined, [["cookie", "text/plain"]]),
      keyFor("a", undefined, [["x-tenant", "text/plain"]]),
      keyFor("a", undefined, undefined, { ...OPTIONS, origin: "https://other.example" }),
      keyFor("a", undefined, undefined, { ...OPTIONS, ruleVersion: "2" }),
    ];
    const credential = { digest: credentialOf(head("a").headers, SECRET)?.digest ?? "", ends: 0 };
    keys.push(listKeyOf({ ...head("a"), method: "HEAD" }, credential, OPTIONS));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("K1: is the same whatever the order of parameters with different names, and however a request came here", () => {
    expect(keyFor("a", "/g?b=1&a=2&&c")).toBe(keyFor("a", "/g?c&a=2&b=1"));
    expect(keyFor("a", "/g?")).toBe(keyFor("a", "/g"));
    expect(
      keyFor("a", "/g", [
        ["user-agent", "one"],
        ["x-request-id", "2"],
        ["traceparent", "3"],
        ["x-forwarded-for", "4"],
        ["accept-encoding", "gzip"],
      ]),
    ).toBe(keyFor("a", "/g"));
  });

  it("K1: keeps the order of parameters with one name", () => {
    expect(keyFor("a", "/g?a=1&a=2")).not.toBe(keyFor("a", "/g?a=2&a=1"));
  });

  it("T-ISO-05, K1: lets no value reach into the place of its neighbour", () => {
    const accept = (one: string, two: string) =>
      keyFor("a", "/g", [
        ["accept", one],
        ["accept-language", two],
      ]);
    expect(accept("a,b", "c")).not.toBe(accept("a", "b,c"));
    expect(keyFor("a", "/g?a,b")).not.toBe(keyFor("a", "/g?a&b"));
    expect(keyFor("a", "/g,a?b")).not.toBe(keyFor("a", "/g?a&b"));
    expect(keyFor("a", "/g?a")).not.toBe(keyFor("a", "/g", [["accept", "a"]]));
  });

  it("T-ISO-05, K1: differs exactly when what is asked differs", () => {
    const text = fc.string({ minLength: 1, unit: fc.constantFrom("a", "b", '"', ",", "[", "]", "&", "=", "?", "\\") });
    const request = fc.record({ path: text, query: fc.array(text), accept: text, language: text });
    const keyFrom = ({
      path,
      query,
      accept,
      language,
    }: { [K in "path" | "accept" | "language"]: string } & { query: string[] }) =>
      keyFor("a", `/${path.replaceAll("?", "")}?${query.map((q) => q.replaceAll("&", "")).join("&")}`, [
        ["accept", accept],
        ["accept-language", language],
      ]);
    const meaning = ({
      path,
      query,
      accept,
      language,
    }: {
      path: string;
      query: string[];
      accept: string;
      language: string;
    }) => {
      const pairs = query.map((pair) => pair.replaceAll("&", "")).filter((pair) => pair !== "");
      const names = pairs.map((pair) => pair.split("=", 1)[0] ?? "");
      const sorted = names
        .map((_, i) => i)
        .sort((i, j) => (names[i]! < names[j]! ? -1 : names[i]! > names[j]! ? 1 : i - j));
      return JSON.stringify([path.replaceAll("?", ""), sorted.map((i) => pairs[i]), accept, language]);
    };
    fc.assert(
      fc.property(request, request, (a, b) => (keyFrom(a) === keyFrom(b)) === (meaning(a) === meaning(b))),
      { numRuns: variants(500, 2_000) },
    );
  });

  it("K3: shows neither the token nor another secret field", () => {
    const key = keyFor("tok-en", "/g", [["cookie", "session=s3cret"]]);
    expect(key).not.toMatch(/tok-en|s3cret/);
    expect(key).not.toContain(Buffer.from("tok-en").toString("base64url"));
  });

  it("K5: says of each field whether a request with another value has another key", () => {
    for (const name of [
      "authorization",
      "accept",
      "accept-language",
      "cookie",
      "origin",
      "x-tenant",
      "user-agent",
      "via",
    ]) {
      const differ = keyFor("a", "/g", [[name === "authorization" ? "x" : name, "1"]]) !== keyFor("a", "/g");
      expect(isInKey(name), name).toBe(differ);
    }
  });

  it("K5: is not asked for when the client speaks of caching", () => {
    expect(wantsOwn([["cache-control", "no-cache"]])).toBe(true);
    expect(wantsOwn([["pragma", "no-cache"]])).toBe(true);
    expect(wantsOwn([["accept", "no-cache"]])).toBe(false);
  });
});
