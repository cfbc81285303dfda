import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createIdentity, type IdentityOptions } from "../../src/ledger/identity.ts";
import type { HeaderList } from "../../src/model/http.ts";

const DEFAULTS: IdentityOptions = { identify: ["user-agent"], names: [], hash: false, exclude: [], key: "salt" };
const of = (options: Partial<IdentityOptions>) => createIdentity({ ...DEFAULTS, ...options });
const jwt = (payload: unknown): string =>
  `e30.${Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload)).toString("base64url")}.c2ln`;
const bearer = (payload: unknown): HeaderList => [["authorization", `Bearer ${jwt(payload)}`]];
/** As Node hands over what is no ASCII: one character for each byte. */
const bytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

describe("means of identity", () => {
  test("the first that says something counts, and nothing is `unknown`", () => {
    const { nameOf } = of({ identify: ["header:X-Client", "claim:sub", "user-agent"] });
    const all: HeaderList = [["x-client", "ledger"], ...bearer({ sub: "s" }), ["user-agent", "curl/8.5"]];
    expect(nameOf(all)).toBe("ledger");
    expect(nameOf(all.slice(1))).toBe("s");
    expect(nameOf(all.slice(2))).toBe("curl");
    expect(nameOf([])).toBe("unknown");
  });

  test.each([
    ["curl/8.5.0", "curl"],
    ["Go-http-client/1.1", "go-http-client"],
    ["Mozilla/5.0 (X11; Linux)", "mozilla"],
    ["  kube-probe/1.29", "kube-probe"],
    ["deployer", "deployer"],
    ["deployer (ci@example.com) x/1", "deployer"],
    ["", "unknown"],
    ["/8.5", "unknown"],
    ["(comment)", "unknown"],
    ["x".repeat(129), "unknown"],
    [`${"x".repeat(128)}/1`, "x".repeat(128)],
  ])("the product of user agent %j is %j", (agent, name) => {
    expect(of({}).nameOf([["user-agent", agent]])).toBe(name);
  });

  test("several claims are joined by a space, and all of them must be there", () => {
    const { nameOf } = of({ identify: ["claim:iss+sub"] });
    expect(nameOf(bearer({ iss: "https://issuer.example.com", sub: "robot" }))).toBe(
      "https://issuer.example.com robot",
    );
    expect(nameOf(bearer({ sub: "robot" }))).toBe("unknown");
    expect(nameOf(bearer({ iss: "", sub: "robot" }))).toBe("unknown");
  });

  test("a claim with a blank cannot stand for two claims", () => {
    const { nameOf } = of({ identify: ["claim:iss+sub"] });
    expect(nameOf(bearer({ iss: "a b", sub: "c" }))).toBe("unknown");
    expect(nameOf(bearer({ iss: "a", sub: "b c" }))).toBe("unknown");
    expect(of({ identify: ["claim:sub"] }).nameOf(bearer({ sub: "Ann Other" }))).toBe("Ann Other");
  });

  test("a claim's name may hold dots, colons and slashes, and is no path", () => {
    const name = "https://example.com/email";
    expect(of({ identify: [`claim:${name}`] }).nameOf(bearer({ [name]: "a@example.com" }))).toBe("a@example.com");
    expect(of({ identify: ["claim:a.b"] }).nameOf(bearer({ a: { b: "x" } }))).toBe("unknown");
    expect(of({ identify: ["claim:constructor", "claim:__proto__"] }).nameOf(bearer({}))).toBe("unknown");
  });

  test("a whole number is read as text, anything that is no text is nothing", () => {
    const { nameOf } = of({ identify: ["claim:sub", "user-agent"] });
    const said = (sub: unknown) => nameOf([...bearer({ sub }), ["user-agent", "next"]]);
    expect(said(4711)).toBe("4711");
    for (const sub of [1.5, 1e300, true, null, [], ["a"], {}, { a: 1 }, "", "   "]) expect(said(sub)).toBe("next");
  });

  test.each([
    ["no JWT", [["authorization", "Bearer opaque"]]],
    ["two parts", [["authorization", "Bearer e30.eyJzdWIiOiJzIn0"]]],
    ["an encrypted token", [["authorization", "Bearer a.b.c.d.e"]]],
    ["another scheme", [["authorization", `Basic ${jwt({ sub: "s" })}`]]],
    ["no base64url", [["authorization", "Bearer e30.eyJ*.c2ln"]]],
    ["no JSON", bearer("{sub:s}")],
    ["an array", bearer(["s"])],
    ["invalid UTF-8", [["authorization", `Bearer e30.${Buffer.from([0x7b, 0xff, 0x7d]).toString("base64url")}.x`]]],
    ["two tokens", [...bearer({ sub: "s" }), ...bearer({ sub: "s" })]],
    ["a megabyte", bearer({ sub: "s", pad: "x".repeat(2 ** 20) })],
    ["more than 16 KiB", bearer({ sub: "s", pad: "x".repeat(16 * 1024) })],
    ["deep nesting", bearer(`{"sub":"s","a":${"[".repeat(12_000)}`)],
  ] satisfies [string, HeaderList][])("a token that is %s says nothing: the next means counts", (_what, headers) => {
    const { nameOf } = of({ identify: ["claim:sub", "user-agent"] });
    expect(nameOf([...headers, ["user-agent", "next/1"]])).toBe("next");
    expect(nameOf(headers)).toBe("unknown");
  });

  test("just under 16 KiB of payload is read", () => {
    const { nameOf } = of({ identify: ["claim:sub"] });
    expect(nameOf(bearer({ sub: "s", pad: "x".repeat(16_300) }))).toBe("s");
  });

  test.each([
    ["a control byte", "a\u0007b"],
    ["a line break", "a\nb"],
    ["a mark of direction", "a\u202eb"],
    ["a zero-width joiner", "a\u200db"],
    ["half a character", "a\ud800b"],
    ["129 characters", "x".repeat(129)],
  ])("a claim or header with %s is no name", (_what, text) => {
    expect(of({ identify: ["claim:sub"] }).nameOf(bearer({ sub: text }))).toBe("unknown");
    if (!/[\ud800-\udfff]/.test(text)) {
      expect(of({ identify: ["header:x-client"] }).nameOf([["x-client", bytes(text)]])).toBe("unknown");
    }
  });

  test("a header is read as UTF-8, and is nothing when it is none", () => {
    const { nameOf } = of({ identify: ["header:x-client"] });
    expect(nameOf([["x-client", bytes("José")]])).toBe("raw:José");
    expect(nameOf([["x-client", "Jos\xe9"]])).toBe("unknown");
  });

  test("two different values of one header are anybody's, two equal ones are one", () => {
    const { nameOf } = of({ identify: ["header:x-client"] });
    expect(
      nameOf([
        ["x-client", "a"],
        ["x-client", "b"],
      ]),
    ).toBe("unknown");
    expect(
      nameOf([
        ["x-client", "a"],
        ["x-client", "a"],
      ]),
    ).toBe("a");
  });
});

describe("names", () => {
  const names = ["ci-bot=ci@example.com", "tool=Terraform"];
  const identify = ["header:x-client", "user-agent"];

  test("a listed identity gets its name, a user agent in any case", () => {
    const { nameOf } = of({ names, identify });
    expect(nameOf([["x-client", "ci@example.com"]])).toBe("ci-bot");
    expect(nameOf([["user-agent", "terraform/1.9"]])).toBe("tool");
    expect(nameOf([["x-client", "CI@example.com"]])).toBe("CI@example.com");
  });

  test("nobody takes a name of the operator's or of the ledger's by sending it", () => {
    const { nameOf } = of({ names, identify });
    for (const text of ["ci-bot", "unknown", "other", "h-0123456789abcdef", "raw:ci-bot"]) {
      expect(nameOf([["x-client", text]])).toBe(`raw:${text}`);
    }
    // Looks like ci-bot, with a letter of another script.
    expect(nameOf([["x-client", bytes("\u0441i-bot")]])).toBe("raw:\u0441i-bot");
  });

  test("an entry may name several identities, an owner and a contact, which change with the names", () => {
    const entry = { name: "ci-bot", identity: ["ann", " ben "], owner: "Build team" };
    const identity = of({ identify, names: ["ci-bot=cid", entry, { ...entry, identity: "dan", contact: "#build" }] });
    const names = ["ann", "ben", "cid", "dan"].map((text) => identity.nameOf([["x-client", text]]));
    expect(new Set(names)).toEqual(new Set(["ci-bot"]));
    expect(identity.ownerOf("ci-bot")).toEqual({ owner: "Build team", contact: "#build" });
    identity.rename([{ ...entry, owner: "Web team" }]);
    expect([identity.ownerOf("ci-bot"), identity.ownerOf("ann")]).toEqual([{ owner: "Web team" }, undefined]);
    expect(() => of({ names: [{ name: "a", identity: [" "] }] })).toThrow("is not NAME=IDENTITY");
  });

  test("whatever is sent, a configured name is had by its identity alone", () => {
    const { nameOf } = of({ names, identify: ["header:x-client"] });
    const text = fc.oneof(fc.string(), fc.constantFrom("ci-bot", " ci-bot", "raw:ci-bot", "ci@example.com ", "tool"));
    fc.assert(
      fc.property(text, (value) => {
        const name = nameOf([["x-client", value]]);
        expect(["ci-bot", "tool"].includes(name)).toBe(["ci@example.com", "Terraform"].includes(value.trim()));
        expect(name.length).toBeGreaterThan(0);
        expect(name.length).toBeLessThanOrEqual(128);
      }),
    );
  });

  test("who was kept in clear goes by the hash of the same identity, once there is one", () => {
    const { nameOf: before } = of({ identify: ["header:x-client"] });
    const after = of({
      identify: ["header:x-client"],
      names: ["ci-bot=ci@example.com"],
      exclude: ["probe*"],
      hash: true,
    });
    for (const sent of [
      "ann@example.com",
      "unknown",
      "raw:x",
      "h-0123456789abcdef",
      "ci-bot",
      "ci@example.com",
      "probe-1",
    ]) {
      const headers: HeaderList = [["x-client", sent]];
      if (sent !== "ci-bot") expect([sent, after.nameNow(before(headers))]).toEqual([sent, after.nameOf(headers)]);
    }
    for (const kept of ["unknown", "ci-bot", "h-0123456789abcdef"]) expect(after.nameNow(kept)).toBe(kept);
    expect(of({}).nameNow("ann@example.com")).toBe("ann@example.com");
  });

  test("a name given later also fits what was stored before, in clear or as a hash", () => {
    const plain = of({});
    const hashing = of({ identify: ["header:x-client"], hash: true });
    const hashed = hashing.nameOf([["x-client", "ann@example.com"]]);
    for (const identity of [plain, hashing]) identity.rename(["ann=ann@example.com", "ci-bot=CI-Bot"]);
    expect([plain.nameNow("ann@example.com"), hashing.nameNow(hashed)]).toEqual(["ann", "ann"]);
    // The product of a user agent is stored in lower case; a header's value is compared as it is.
    expect(plain.nameNow("ci-bot")).toBe("ci-bot");
    expect([...plain.names]).toEqual(["ann", "ci-bot"]);
    expect(() => plain.rename(["no name"])).toThrow("NAME=IDENTITY");
    expect(plain.labelOf("ann")).toBe("ann");
  });

  test.each([false, true])(
    "a name that moves to another identity leaves what was stored with its client (hash: %s)",
    (hash) => {
      const options = { identify: ["header:x-client"], hash };
      const before = of({ ...options, names: ["a=one", "b=two", "gone=three", "pair=four", "pair=five", "kept=six"] });
      const identities = ["one", "two", "three", "four", "six"];
      const names = ["a=two", "b=one", "ci=four", "ci=five", "kept=six", "kept=seven"];
      const restarted = of({ ...options, names });
      const saved = JSON.parse(JSON.stringify(before.meanings()));
      const stored = identities.map((identity) => before.nameOf([["x-client", identity]]));
      expect(stored).toEqual(["a", "b", "gone", "pair", "kept"]);
      before.rename(names);
      for (const after of [restarted, before]) {
        const sent = identities.map((identity) => after.nameOf([["x-client", identity]]));
        expect(stored.map(after.nameSince(saved))).toEqual(sent);
      }
      expect(JSON.stringify(saved).includes("three")).toBe(!hash);
    },
  );

  test("of an identity that may be a credential, and of hashes with another key, nothing is made", () => {
    const secret = { identify: ["header:x-api-key"], names: ["ci=topsecret"] };
    const { meanings } = of(secret);
    expect(JSON.stringify(meanings())).not.toContain("topsecret");
    expect(of({ ...secret, names: ["robot=topsecret"] }).nameSince(meanings())("ci")).toBe("robot");
    expect(of({ ...secret, key: "another" }).nameSince(meanings())("ci")).toBe("ci");
  });

  test("a name that fits no more gives way to the product of the user agent, in lower case", () => {
    const before = of({ names: ["tf=Terraform"] });
    expect(of({}).nameSince(before.meanings())("tf")).toBe("terraform");
    expect(of({ names: ["hashi=TERRAFORM"] }).nameSince(before.meanings())("tf")).toBe("hashi");
  });

  test("hashed names tell nothing, differ by key, and configured names stay", () => {
    const { nameOf } = of({ names, identify, hash: true });
    const hashed = nameOf([["x-client", "ann@example.com"]]);
    expect(hashed).toMatch(/^h-[0-9a-f]{16}$/);
    expect(hashed).toBe(of({ identify, hash: true }).nameOf([["x-client", "ann@example.com"]]));
    expect(hashed).not.toBe(of({ identify, hash: true, key: "other" }).nameOf([["x-client", "ann@example.com"]]));
    expect(nameOf([["x-client", "ci@example.com"]])).toBe("ci-bot");
    expect(nameOf([])).toBe("unknown");
  });

  test.each(["authorization", "cookie", "x-api-key", "x-auth-token"])(
    "what %s holds is only ever shown as a hash",
    (name) => {
      const { nameOf } = of({ identify: [`header:${name}`] });
      expect(nameOf([[name, `Bearer ${"t".repeat(400)}`]])).toMatch(/^h-[0-9a-f]{16}$/);
      expect(nameOf([[name, "short"]])).toMatch(/^h-[0-9a-f]{16}$/);
    },
  );

  test("a token with and without its scheme is one client", () => {
    const { nameOf } = of({ identify: ["header:Authorization"] });
    expect(nameOf([["authorization", "Token"]])).toBe(nameOf([["authorization", "bearer  Token"]]));
    expect(nameOf([["authorization", "token"]])).not.toBe(nameOf([["authorization", "Token"]]));
    const bySubject = of({ identify: ["claim:sub"] });
    expect(bySubject.nameOf([["authorization", jwt({ sub: "s" })]])).toBe("s");
  });

  test("a means or a name that is none is refused when it is made", () => {
    expect(() => of({ identify: ["cookie:a"] })).toThrow("no means of identity");
    expect(() => of({ identify: ["header:"] })).toThrow("no means of identity");
    expect(() => of({ names: ["ci-bot"] })).toThrow("NAME=IDENTITY");
  });
});

describe("labels", () => {
  test("configured names and `unknown` are shown, anything else is a keyed hash of its own kind", () => {
    const { labelOf, nameOf } = of({ names: ["ci-bot=ci@example.com"], hash: true });
    expect(labelOf("ci-bot")).toBe("ci-bot");
    expect(labelOf("unknown")).toBe("unknown");
    expect(labelOf("curl")).toMatch(/^c-[0-9a-f]{12}$/);
    expect(labelOf("raw:ci-bot")).toMatch(/^c-[0-9a-f]{12}$/);
    expect(labelOf("curl")).not.toBe(of({ key: "other" }).labelOf("curl"));
    const hashed = nameOf([["user-agent", "curl/8"]]);
    expect(labelOf("curl").slice(2)).not.toBe(hashed.slice(2, 14));
  });

  test("a label is the same however many others were made meanwhile", () => {
    const { labelOf } = of({});
    const first = labelOf("curl");
    for (let n = 0; n < 3000; n++) labelOf(`client-${n}`);
    expect(labelOf("curl")).toBe(first);
  });
});

describe("exclusions", () => {
  const exclude = ["kube-probe", "GoogleHC*"];

  test("a name, or the beginning of one, in any case", () => {
    const { isExcluded, nameOf } = of({ exclude });
    const excluded = (agent: string) => isExcluded(nameOf([["user-agent", agent]]));
    expect(excluded("kube-probe/1.29")).toBe(true);
    expect(excluded("GoogleHC/1.0")).toBe(true);
    expect(excluded("googlehc-next")).toBe(true);
    expect(excluded("kube-probe-2")).toBe(false);
    expect(excluded("curl")).toBe(false);
    expect(isExcluded("unknown")).toBe(false);
  });

  test("still holds when names are hashed", () => {
    const { isExcluded, nameOf } = of({ exclude, hash: true });
    expect(isExcluded(nameOf([["user-agent", "kube-probe/1.29"]]))).toBe(true);
    expect(isExcluded(nameOf([["user-agent", "GoogleHC/1.0"]]))).toBe(true);
    expect(isExcluded(nameOf([["user-agent", "curl/8"]]))).toBe(false);
  });
});

test("hostile headers never throw, and a name is always printable", () => {
  const { nameOf, labelOf } = of({ identify: ["header:x-client", "claim:sub", "claim:iss+sub", "user-agent"] });
  const any = fc.string({ unit: "binary", maxLength: 150 });
  const field = fc.oneof(
    fc.tuple(fc.constantFrom("x-client", "user-agent", "authorization"), any),
    fc.tuple(
      fc.constant("authorization"),
      fc.oneof(fc.jsonValue(), any).map((value) => `Bearer ${jwt({ sub: value, iss: value })}`),
    ),
  );
  fc.assert(
    fc.property(fc.array(field, { maxLength: 4 }), (headers) => {
      const name = nameOf(headers);
      expect(name).toMatch(/^[^\p{C}\p{Zl}\p{Zp}]{1,128}$/u);
      expect(labelOf(name)).toMatch(/^(?:unknown|c-[0-9a-f]{12})$/);
    }),
  );
});
