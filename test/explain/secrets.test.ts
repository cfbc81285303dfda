import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isSecretName,
  shownHeader,
  shownJson,
  shownMember,
  shownTarget,
  withoutTokens,
} from "../../src/commands/explain/secrets.ts";

describe("names of secrets", () => {
  test.each([
    "clientSecret",
    "client_secret",
    "token",
    "access_token",
    "scimToken",
    "password",
    "code",
    "oidc.clientSecret",
    "apiKey",
    "x-api-key",
    "Cookie",
    "privateKey",
  ])("%s is one", (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  test.each([
    "name",
    "page_token",
    "pageToken",
    "nextPageToken",
    "tokenType",
    "postalCode",
    "encoded",
    "keyset",
    "issuer",
  ])("%s is none", (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});

test("of Authorization only the scheme is shown", () => {
  expect(shownHeader("authorization", "Bearer abc.def.ghi")).toBe("Bearer …");
  expect(shownHeader("authorization", "abcdefghi")).toBe("…");
  expect(shownHeader("x-api-key", "abc")).toBe("…");
  expect(shownHeader("if-match", '"1"')).toBe('"1"');
});

test("secret parameters are masked in targets, and page tokens are not", () => {
  expect(shownTarget("/sts/exchange?aud=x&token=abc&page_token=p")).toBe("/sts/exchange?aud=x&token=…&page_token=p");
});

test("what looks like a signed token is masked wherever it stands", () => {
  const token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.c2ln";
  expect(shownJson(`{"note":"use ${token} here"}`)).toBe('{"note":"use … here"}');
  expect(shownTarget(`/iam/v1/groups?name=${token}`)).toBe("/iam/v1/groups?name=…");
});

test("every other byte of a body stays as it was", () => {
  const text = '{ "a" : 1.0, "clientSecret" :"x\\"y", "n": [12345678901234567890], "token":"" }';
  expect(shownJson(text)).toBe('{ "a" : 1.0, "clientSecret" :"…", "n": [12345678901234567890], "token":"" }');
  expect(shownMember("oidc.clientSecret", '"x"')).toBe('"…"');
  expect(shownMember("name", '"x"')).toBe('"x"');
});

test("what is no JSON is not shown", () => {
  expect(shownJson("password=hunter2")).toBe("(16 bytes that are no JSON)");
});

test("no secret of a body is ever shown, however deep it lies", () => {
  const secret = fc.constantFrom("clientSecret", "client_secret", "token", "password", "code", "scim_token");
  const value = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: "small" },
      fc.constant("SENTINEL"),
      fc.array(tie("node"), { maxLength: 3 }),
      fc.dictionary(fc.string(), tie("node"), { maxKeys: 3 }),
    ),
  })).node;
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 3 }), secret, value, (path, name, held) => {
      const body = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), { [name]: held });
      const shown = shownJson(JSON.stringify(body));
      expect(shown).not.toContain('"SENTINEL"');
      expect(() => JSON.parse(shown)).not.toThrow();
    }),
  );
});

test.each([
  ["a eyJhbGciOiJ.eyJzdWIi.sig_- b", "a … b"],
  ["x=eyJhbGciOiJ.s,eyJhbGciOiJ.t", "x=…,…"],
  ["a.b-eyJhbGciOiJ.s.t.u/v", "a.b-…/v"],
  ["eyJ.eyJhbGciOiJ.s", "eyJ.…"],
  ["aeyJhbGciOiJ.s", "aeyJhbGciOiJ.s"],
  ["eyJhbGciOiJ.", "eyJhbGciOiJ."],
  ["eyJhbGciOiJhbGciOiJ", "eyJhbGciOiJhbGciOiJ"],
])("of %j what looks like a signed token is hidden", (text, shown) => {
  expect(withoutTokens(text)).toBe(shown);
});

test.each(["eyJ-", "a", "eyJ.", ".eyJ "])("text of nothing but %j is read in one pass, however long", (part) => {
  const text = `${part.repeat(300_000)}.`;
  expect(withoutTokens(text)).toBe(text);
});
