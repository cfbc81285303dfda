import { describe, expect, it } from "vitest";
import { bearerDigest, createDigest } from "../../src/upstream/credentials.ts";

const SECRET = Buffer.from("a secret of this process");

function digestOf(...values: string[]): string | undefined {
  return bearerDigest(
    values.map((value) => ["authorization", value]),
    SECRET,
  );
}

describe("the digest of a bearer token", () => {
  it("is there for one bearer token only", () => {
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

  it("is the same however the scheme is spelled, or without one", () => {
    expect(digestOf("bearer  one")).toBe(digestOf("Bearer one"));
    expect(digestOf("one")).toBe(digestOf("Bearer one"));
    expect(digestOf("One")).not.toBe(digestOf("one"));
    expect(digestOf("Bearer one")).not.toBe(digestOf("Bearer One"));
  });

  it("needs the secret", () => {
    const digest = digestOf("Bearer one") ?? "";
    expect(digest).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(digest).not.toBe(bearerDigest([["authorization", "Bearer one"]], Buffer.from("another")));
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
