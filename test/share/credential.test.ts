import { describe, expect, it } from "vitest";
import { createDigest, credentialOf } from "../../src/upstream/credentials.ts";
import { SECRET } from "./support.ts";

function digestOf(...values: string[]): string | undefined {
  return credentialOf(
    values.map((value) => ["authorization", value]),
    SECRET,
  )?.digest;
}

function jwt(claims: unknown): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part(claims)}.c2ln`;
}

describe("the credential of a request", () => {
  it("K2: is one bearer token, or there is none", () => {
    expect(digestOf()).toBeUndefined();
    expect(digestOf("Bearer one", "Bearer one")).toBeUndefined();
    for (const odd of [
      "Basic b25l",
      "Bearer",
      "Bearer ",
      "Bearer a b",
      "Bearer a,b",
      'Bearer "a"',
      "Bearer =a",
      "=a",
    ]) {
      expect(digestOf(odd), odd).toBeUndefined();
    }
    expect(digestOf("Bearer aZ0-._~+/==")).toBeDefined();
  });

  it("K2: is the same however the scheme is spelled, or without one, so that no write is missed", () => {
    expect(digestOf("bearer  one")).toBe(digestOf("Bearer one"));
    expect(digestOf("one")).toBe(digestOf("Bearer one"));
    expect(digestOf("One")).not.toBe(digestOf("one"));
    expect(digestOf("Bearer one")).not.toBe(digestOf("Bearer One"));
  });

  it("K3: appears only as a digest that needs the secret", () => {
    const digest = digestOf("Bearer one") ?? "";
    expect(digest).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(digest).not.toBe(credentialOf([["authorization", "Bearer one"]], Buffer.from("another"))?.digest);
  });

  it("K6: says when a JWT ends, and nothing of a token that is none", () => {
    const endOf = (token: string) => credentialOf([["authorization", `Bearer ${token}`]], SECRET)?.ends;
    expect(endOf(jwt({ exp: 1234.5 }))).toBe(1234.5);
    const others = [jwt({}), jwt({ exp: "12" }), jwt(null), jwt("exp"), "opaque", "a.b.c", "..", "a.bnVsbA.c"];
    for (const other of others) expect(endOf(other), other).toBe(Number.POSITIVE_INFINITY);
  });
});

describe("the digest of an Authorization value", () => {
  const digest = createDigest("secret");

  it("is the same for a token with and without its scheme, in any case of the scheme", () => {
    expect(new Set(["Bearer Token", "bearer  Token", "BEARER Token", "Token", " Token "].map(digest)).size).toBe(1);
  });

  it("differs in the case of a token, in its last character, and by scheme", () => {
    const values = ["Token", "token", "Toke", "Tokem", "Basic Token", "Basic token", "Bearer Token x"];
    expect(new Set(values.map(digest)).size).toBe(values.length);
    expect(digest("")).toBe("");
  });
});
