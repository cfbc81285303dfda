import { describe, expect, it } from "vitest";
import { createCallerOf, createCallers, createComparedCallers, NO_CREDENTIAL } from "../../src/migration/callers.ts";
import { createExchange } from "../../src/model/exchange.ts";
import type { HeaderList } from "../../src/model/message.ts";

const SECRET = new TextEncoder().encode("one process");
const callerOf = createCallerOf(["user-agent"], SECRET);

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const jwt = (claims: object, signature = "c2ln"): string => `${part({ alg: "RS256" })}.${part(claims)}.${signature}`;
const bearer = (token: string, ...more: HeaderList): HeaderList => [["authorization", `Bearer ${token}`], ...more];

describe("a caller", () => {
  it("is told by the token, whatever the caller says of itself", () => {
    const one = callerOf(bearer("opaque", ["user-agent", "a/1"], ["cookie", "x=1"]));
    expect(callerOf(bearer("opaque", ["user-agent", "b/1"], ["cookie", "x=2"]))).toBe(one);
    expect(callerOf([["authorization", "bearer  opaque"]])).toBe(one);
    expect(callerOf(bearer("other"))).not.toBe(one);
  });

  it("is the subject that a token names, however often it gets a fresh one", () => {
    const claims = { iss: "https://issuer.example", sub: "ci-bot" };
    const one = callerOf(bearer(jwt({ ...claims, exp: 1 })));
    expect(callerOf(bearer(jwt({ ...claims, exp: 2 }, "b3RoZXI")))).toBe(one);
    expect(callerOf(bearer(jwt({ ...claims, sub: "ui" })))).not.toBe(one);
    expect(callerOf(bearer(jwt({ ...claims, iss: "https://other.example" })))).not.toBe(one);
  });

  it.each([[{ sub: "ci-bot" }], [{ iss: "x" }], [{ iss: "", sub: "ci-bot" }], [{ iss: ["x"], sub: "ci-bot" }]])(
    "is the token where it does not say both whose it is and who says so: %j",
    (claims) => {
      const one = callerOf(bearer(jwt({ ...claims, exp: 1 })));
      expect(callerOf(bearer(jwt({ ...claims, exp: 1 })))).toBe(one);
      expect(callerOf(bearer(jwt({ ...claims, exp: 2 })))).not.toBe(one);
    },
  );

  it("of another scheme than Bearer is told by all of it", () => {
    expect(callerOf([["authorization", "Basic YTpi"]])).toBe(callerOf([["authorization", "Basic YTpi"]]));
    expect(callerOf([["authorization", "Basic YTpi"]])).not.toBe(callerOf([["authorization", "Basic YTpj"]]));
  });

  it("without a credential is one with all the others", () => {
    expect(callerOf([["user-agent", "a/1"]])).toBe(NO_CREDENTIAL);
    expect(
      callerOf([
        ["cookie", "session=1"],
        ["x-api-key", "k"],
      ]),
    ).toBe(NO_CREDENTIAL);
    expect(callerOf([["authorization", ""]])).toBe(NO_CREDENTIAL);
  });

  it("is told by the field with a credential that `clients.identify` names, where there is no Authorization", () => {
    const keyed = createCallerOf(["header:X-Team", "header:X-Api-Key", "header:x-client-cert", "user-agent"], SECRET);
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
      expect(callerOf(list)).toMatch(/^[\w-]{43}$/);
      expect(createCallerOf([], new TextEncoder().encode("another"))(list)).not.toBe(callerOf(list));
    }
  });
});

describe("callers of requests", () => {
  const callers = createCallers(callerOf);
  const head = { method: "GET", target: "/iam/v1/groups", headers: bearer("opaque") };
  const exchange = () => createExchange("r", 0, "GET", "/iam/v1/groups");

  it("are known of what a rule had translated, also where translating was refused", () => {
    for (const end of ["plan", "refusal"]) {
      const one = exchange();
      const decide = callers.decide((_, exchange) => {
        Object.assign(exchange, { rule: "all", mode: "translate" });
        if (end === "refusal") throw new Error(end);
        return { kind: "pass", upstream: "v2", target: "/" };
      });
      if (end === "refusal") expect(() => decide(head, one)).toThrow(end);
      else decide(head, one);
      expect(callers.of(one)).toBe(callerOf(head.headers));
    }
  });

  it("are unknown of everything else", () => {
    const one = exchange();
    callers.decide(() => ({ kind: "pass", upstream: "v2", target: "/" }))(head, one);
    expect(callers.of(one)).toBeUndefined();
  });
});

describe("callers of what is compared", () => {
  const asked = (id: string, token = "opaque"): HeaderList => bearer(token, ["x-request-id", id]);

  it("are known once, by the id of the request", () => {
    const compared = createComparedCallers(callerOf);
    compared.note(asked("r1"));
    compared.note(asked("r1"));
    expect(compared.take("r1")).toBe(callerOf(asked("r1")));
    expect([compared.take("r1"), compared.take("r2")]).toEqual([undefined, undefined]);
  });

  it("are unknown where two share an id at a time: nobody is counted in another's place", () => {
    const compared = createComparedCallers(callerOf);
    compared.note(asked("r1"));
    compared.note(asked("r1", "other"));
    expect(compared.take("r1")).toBeUndefined();
  });

  it("are forgotten, the oldest first, when comparisons end without a word", () => {
    const compared = createComparedCallers(callerOf);
    for (let n = 0; n <= 1_000; n++) compared.note(asked(`r${n}`));
    expect(compared.take("r0")).toBeUndefined();
    expect(compared.take("r1")).toBeDefined();
    expect(compared.take("r1000")).toBeDefined();
  });
});
