import fc from "fast-check";
import { expect, test } from "vitest";
import { shownTarget } from "../../../src/model/secrets.ts";
import { shownJson, shownMember } from "../../../src/runtime/explain/secrets.ts";

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
