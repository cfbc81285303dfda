import { describe, expect, it } from "vitest";
import type { HeaderList } from "../../src/model/http.ts";
import { createCredentials, NO_CREDENTIAL } from "../../src/rollout/callers.ts";

const SECRET = new TextEncoder().encode("one process");
const credentialOf = createCredentials(["user-agent"], SECRET);

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const jwt = (claims: object, signature = "c2ln"): string => `${part({ alg: "RS256" })}.${part(claims)}.${signature}`;
const bearer = (token: string, ...more: HeaderList): HeaderList => [["authorization", `Bearer ${token}`], ...more];

describe("what stands for a credential", () => {
  it("is told by the token, whatever the caller says of itself", () => {
    const one = credentialOf(bearer("opaque", ["user-agent", "a/1"], ["cookie", "x=1"]));
    expect(credentialOf(bearer("opaque", ["user-agent", "b/1"], ["cookie", "x=2"]))).toBe(one);
    expect(credentialOf([["authorization", "bearer  opaque"]])).toBe(one);
    expect(credentialOf([["authorization", "opaque"]])).toBe(one);
    expect(credentialOf(bearer("other"))).not.toBe(one);
  });

  it("is the subject that a token names, however often it gets a fresh one", () => {
    const claims = { iss: "https://issuer.example", sub: "ci-bot" };
    const one = credentialOf(bearer(jwt({ ...claims, exp: 1 })));
    expect(credentialOf(bearer(jwt({ ...claims, exp: 2 }, "b3RoZXI")))).toBe(one);
    expect(credentialOf([["authorization", jwt(claims)]])).toBe(one);
    expect(credentialOf(bearer(jwt({ ...claims, sub: "ui" })))).not.toBe(one);
    expect(credentialOf(bearer(jwt({ ...claims, iss: "https://other.example" })))).not.toBe(one);
  });

  it.each([[{ sub: "ci-bot" }], [{ iss: "x" }], [{ iss: "", sub: "ci-bot" }], [{ iss: ["x"], sub: "ci-bot" }]])(
    "is the token where it does not say both whose it is and who says so: %j",
    (claims) => {
      const one = credentialOf(bearer(jwt({ ...claims, exp: 1 })));
      expect(credentialOf(bearer(jwt({ ...claims, exp: 1 })))).toBe(one);
      expect(credentialOf(bearer(jwt({ ...claims, exp: 2 })))).not.toBe(one);
    },
  );

  it("of another scheme than Bearer is told by all of it", () => {
    expect(credentialOf([["authorization", "Basic YTpi"]])).toBe(credentialOf([["authorization", "Basic YTpi"]]));
    expect(credentialOf([["authorization", "Basic YTpi"]])).not.toBe(credentialOf([["authorization", "Basic YTpj"]]));
  });

  it("without a credential is one with all the others", () => {
    expect(credentialOf([["user-agent", "a/1"]])).toBe(NO_CREDENTIAL);
    expect(
      credentialOf([
        ["cookie", "session=1"],
        ["x-api-key", "k"],
      ]),
    ).toBe(NO_CREDENTIAL);
    expect(credentialOf([["authorization", ""]])).toBe(NO_CREDENTIAL);
  });

  it("is told by the field with a credential that `clients.identify` names, where there is no Authorization", () => {
    const keyed = createCredentials(
      ["header:X-Team", "header:X-Api-Key", "header:x-client-cert", "user-agent"],
      SECRET,
    );
    const one = keyed([
      ["x-api-key", "k"],
      ["x-team", "a"],
    ]);
    expect(one).not.toBe(NO_CREDENTIAL);
    expect(
      keyed([
        ["x-team", "b"],
        ["x-api-key", "k"],
      ]),
    ).toBe(one);
    expect(keyed([["x-api-key", "l"]])).not.toBe(one);
    expect(keyed([["x-client-cert", "k"]])).not.toBe(one);
    expect(keyed(bearer("t", ["x-api-key", "k"]))).toBe(keyed(bearer("t", ["x-api-key", "l"])));
    expect(keyed([["x-team", "a"]])).toBe(NO_CREDENTIAL);
  });

  it("cannot be told from the digest, nor found again by another process", () => {
    for (const headers of [bearer("opaque"), bearer(jwt({ iss: "i", sub: "s" })), [["authorization", "Basic YTpi"]]]) {
      const list = headers as HeaderList;
      expect(credentialOf(list)).toMatch(/^[\w-]{43}$/);
      expect(createCredentials([], new TextEncoder().encode("another"))(list)).not.toBe(credentialOf(list));
    }
  });
});
