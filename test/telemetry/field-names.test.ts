import { describe, expect, test } from "vitest";
import { distinctFields, shownName } from "../../src/telemetry/unknown-fields.ts";
import { finished } from "./exchange.ts";

describe("the unknown fields of a request", () => {
  test("are counted once each, whatever element of a list held them", () => {
    const names = ["users[0].a", "users[12].a", "users.a", "x", "x", "a[1][2].b", "a.b", "[3].c", ".c"];
    const unknownFields = names.map((name) => ({ direction: "request" as const, name }));
    expect(distinctFields(finished({ unknownFields })).map(({ name }) => name)).toEqual([
      "users.a",
      "x",
      "a.b",
      "c",
      ".c",
    ]);
  });

  test("are two when both sides send them", () => {
    const unknownFields = [
      { direction: "request", name: "x" },
      { direction: "response", name: "x" },
    ] as const;
    expect(distinctFields(finished({ unknownFields: [...unknownFields] }))).toEqual(unknownFields);
  });
});

describe("a name that is shown", () => {
  test.each([
    ["group.name_2[x]-y", "group.name_2[x]-y"],
    ["größe 名前 🚀", "größe 名前 🚀"],
    ["a\u0000\n\r\t\u001b[31mred\u007f\u009b", "a\\u{0}\\u{a}\\u{d}\\u{9}\\u{1b}[31mred\\u{7f}\\u{9b}"],
    ["\u202egnol\u2066\u200b\ufeff\u2028", "\\u{202e}gnol\\u{2066}\\u{200b}\\u{feff}\\u{2028}"],
    ["half \ud83d of it", "half \\u{d83d} of it"],
    ["\u{e0041}", "\\u{e0041}"],
    ["eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln", "[redacted]"],
    ["", ""],
  ])("%j has nothing in it that does anything", (given, shown) => expect(shownName(given)).toBe(shown));

  test.each([
    ["long", "x".repeat(20).concat(".").repeat(1000)],
    ["full of controls", "\u0001".repeat(100_000)],
    ["full of characters in two halves", `a${"🚀".repeat(500)}`],
  ])("that is %s is cut", (_, name) => {
    const shown = shownName(name);
    expect([...shown].at(-1)).toBe("…");
    expect(shown.length).toBeLessThanOrEqual(80);
    expect(Buffer.from(shown).toString()).toBe(shown);
  });

  test("shows no part of a secret that is cut with it", () => {
    const secret = "S3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3t";
    for (let at = 0; at < 90; at++) expect(shownName(`${".".repeat(at)} ${secret}`)).not.toContain("S3cr3t");
  });
});
