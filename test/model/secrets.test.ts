import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maskedJson } from "../../src/json/mask.ts";
import { isSecretName, scrub, scrubPath, shownField, shownTarget, withoutTokens } from "../../src/model/secrets.ts";
import { FIELDS, MARK, NAMES, opaque, PIECES, TEXTS } from "../support/secret-forms.ts";

const SIGNED = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl";
const OPAQUE = "Q2lRS0lESXpaR0ZtT0dGaVkyUmxabWRvYVdwcmJHMXViM0J4Y25OMGRYWjNlSGw2";

describe("secrets", () => {
  test.each([
    `Authorization: Bearer ${SIGNED}`,
    "authorization=Basic dXNlcjpodW50ZXIy and more hunter2",
    `{"authorization":["Bearer","${SIGNED}"]}`,
    "Cookie: sid=hunter2; other=hunter2",
    "set-cookie: sid=hunter2",
    "bearer hunter2",
    "/iam/v2beta1/Bearer%20hunter2",
    `token ${SIGNED} refused`,
    "GET /iam/v2beta1/groups?page_token=hunter2&page_size=200 failed",
    "https://host/path?hunter2",
    "page_token=hunter2",
    "nextPageToken: hunter2",
    '{"nextPageToken":"hunter2","items":[]}',
    "{'access_token': 'hunter2'}",
    "client_secret = hunter2",
    "identity=hunter2&aud=hunter2",
    "connect to https://user:hunter2@host",
    `cursor ${OPAQUE}`,
    `"password":"hunter2`,
    "x-api_key: hunter2",
  ])("%s leaves nothing secret", (text) => {
    const rest = scrub(text);
    expect(rest).not.toMatch(/hunter2/);
    expect(rest).not.toContain(SIGNED.slice(0, 20));
    expect(rest).not.toContain(SIGNED.slice(-12));
    expect(rest).not.toContain(OPAQUE.slice(0, 20));
    expect(rest).toContain("[redacted]");
    expect(scrub(rest)).toBe(rest);
  });

  test.each([
    "connect ECONNREFUSED 127.0.0.1:9",
    "Unexpected token } in JSON at position 3",
    "is it so? no",
    "the uid 3a5f0d6c1b2e4f708192a3b4c5d6e7f801234567/8899aabbccddeeff is missing",
  ])("%s is left as it is", (text) => {
    expect(scrub(text)).toBe(text);
  });

  test("no token survives, whatever stands around it", () => {
    const word = fc.string({ maxLength: 20 });
    fc.assert(
      fc.property(word, word, (before, after) => {
        expect(scrub(`${before} Bearer ${SIGNED} ${after}`)).not.toContain("c2lnbmF0dXJl");
      }),
    );
  });

  test("a text of any length is looked at in bounded time and size", () => {
    for (const text of ["token".repeat(1e6), "//".repeat(1e6), "eyJ.".repeat(1e6), '"'.repeat(1e6)]) {
      expect(scrub(text).length).toBeLessThan(20_000);
    }
  });
});

test("a path loses its query, and a token in it", () => {
  expect(scrubPath("/iam/v1/groups?page_token=hunter2")).toBe("/iam/v1/groups");
  expect(scrubPath(`/iam/v1/groups/${SIGNED}`)).toBe("/iam/v1/groups/[redacted]");
});

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
  expect(shownField("authorization", "Bearer abc.def.ghi")).toBe("Bearer …");
  expect(shownField("authorization", "abcdefghi")).toBe("…");
  expect(shownField("x-api-key", "abc")).toBe("…");
  expect(shownField("if-match", '"1"')).toBe('"1"');
});

test("secret parameters are masked in targets, and page tokens are not", () => {
  expect(shownTarget("/sts/exchange?aud=x&token=abc&page_token=p")).toBe("/sts/exchange?aud=x&token=…&page_token=p");
  expect(shownTarget("/x?a=1&page_token=p&b=2", "hide")).toBe("/x?a=1&page_token=…&b=2");
});

test.each([
  ["a eyJhbGciOiJ.eyJzdWIi.sig_- b", "a … b"],
  ["x=eyJhbGciOiJ.s,eyJhbGciOiJ.t", "x=…,…"],
  ["a.b-eyJhbGciOiJ.s.t.u/v", "a.b-…/v"],
  ["eyJ.eyJhbGciOiJ.s", "eyJ.…"],
  ["aeyJhbGciOiJ.s", "aeyJhbGciOiJ.s"],
  ["eyJhbGci.", "eyJhbGci."],
  ["eyJhbGciOiJhbGciOiJ", "…"],
])("of %j what looks like a signed token is hidden", (text, shown) => {
  expect(withoutTokens(text)).toBe(shown);
});

test.each(["a", "eyJ.", ".eyJ ", "a-", "//", "a=", "bearer ", "aaaaaaaaaaaaaaaa."])(
  "text of nothing but %j is read in one pass, however long",
  (part) => {
    const text = `${part.repeat(300_000)}.`;
    expect(withoutTokens(text).length).toBeLessThanOrEqual(text.length);
  },
);

describe("every form of a secret", () => {
  const holds = (text: string) => PIECES.some((piece) => text.includes(piece));

  test.each(NAMES)("parameter and member %s", (name) => {
    const value = opaque(name);
    expect(holds(shownTarget(`/x?a=1&${name}=${value}&b=2`))).toBe(false);
    expect(holds(shownTarget(`/x?${encodeURIComponent(name).replace("t", "%74")}=${value}`))).toBe(false);
    expect(holds(withoutTokens(`a=1&${name}=${value}&b=2`))).toBe(false);
    expect(holds(scrub(`a=1&${name}=${value}&b=2`))).toBe(false);
    expect(holds(maskedJson(JSON.stringify({ a: [{ [name]: { deep: value } }], b: 2 })) ?? "")).toBe(false);
    expect(shownTarget(`/x?a=1&${name}=${value}&b=2`)).toBe(`/x?a=1&${name}=…&b=2`);
  });

  test.each(FIELDS)("header field %s: %s", (name, value) => {
    expect(holds(shownField(name, value))).toBe(false);
    expect(holds(scrub(`${name}: ${value}`))).toBe(false);
  });

  test.each(TEXTS)("text %s", (text) => {
    for (const shown of [scrub(text), withoutTokens(text), shownField("x-note", text)])
      expect(holds(shown)).toBe(false);
    const json = maskedJson(JSON.stringify({ note: text, more: ["a", text] })) ?? "";
    expect(holds(json)).toBe(false);
    expect(JSON.parse(json)).toMatchObject({ note: withoutTokens(text) });
    expect(holds(shownTarget(`/iam/v1/groups/${text.replaceAll(" ", "%20")}`))).toBe(false);
    expect(holds(scrub(JSON.stringify({ message: JSON.stringify({ client_secret: MARK, note: text }) })))).toBe(false);
  });
});
