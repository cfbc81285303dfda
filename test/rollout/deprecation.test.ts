import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deprecationHeaders, missingHeaders } from "../../src/model/deprecation.ts";
import type { RuleHeaders } from "../../src/model/rules.ts";

const NOTHING: RuleHeaders = { deprecation: undefined, sunset: undefined, documentation: undefined, successor: false };
const DEPRECATION = Date.UTC(2026, 11, 1);
const SUNSET = Date.UTC(2027, 1, 27);

describe("deprecation fields", () => {
  test("the date of deprecation is a structured date in whole seconds", () => {
    expect(deprecationHeaders({ ...NOTHING, deprecation: DEPRECATION + 999 }, undefined)).toEqual([
      ["deprecation", "@1796083200"],
    ]);
  });

  test("the sunset is an HTTP date in the one form that is to be sent", () => {
    expect(deprecationHeaders({ ...NOTHING, sunset: SUNSET }, undefined)).toEqual([
      ["sunset", "Sat, 27 Feb 2027 00:00:00 GMT"],
    ]);
    const [, padded = ""] =
      deprecationHeaders({ ...NOTHING, sunset: Date.UTC(2027, 4, 3, 4, 5, 6) }, undefined)[0] ?? [];
    expect(padded).toBe("Mon, 03 May 2027 04:05:06 GMT");
  });

  test("the documentation is linked as what tells of the deprecation, and of the sunset where there is one", () => {
    const documentation = "https://example.com/migrate";
    const deprecated = ["link", '<https://example.com/migrate>; rel="deprecation"; type="text/html"'];
    expect(deprecationHeaders({ ...NOTHING, documentation }, undefined)).toEqual([deprecated]);
    expect(deprecationHeaders({ ...NOTHING, sunset: SUNSET, documentation }, undefined)).toEqual([
      ["sunset", "Sat, 27 Feb 2027 00:00:00 GMT"],
      deprecated,
      ["link", '<https://example.com/migrate>; rel="sunset"; type="text/html"'],
    ]);
  });

  test("a successor is linked only where the rule asks for it and there is one", () => {
    const on = { ...NOTHING, successor: true };
    expect(deprecationHeaders(on, "/iam/v2beta1/groups")).toEqual([
      ["link", '</iam/v2beta1/groups>; rel="successor-version"'],
    ]);
    expect(deprecationHeaders(on, undefined)).toEqual([]);
    expect(deprecationHeaders(NOTHING, "/iam/v2beta1/groups")).toEqual([]);
  });

  test("nothing in a URL ends its brackets or its line", () => {
    const value = (text: string) => deprecationHeaders({ ...NOTHING, successor: true }, text)[0]?.[1] ?? "";
    expect(value('/a>; rel="x"\r\nset-cookie: a')).toBe(
      '</a%3E;%20rel=%22x%22%0D%0Aset-cookie:%20a>; rel="successor-version"',
    );
    expect(value("/ä/😀/\ud800")).toBe('</%C3%A4/%F0%9F%98%80/%EF%BF%BD>; rel="successor-version"');
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(value(text)).toMatch(/^<[\x21-\x3b\x3d\x3f-\x7e]*>; rel="successor-version"$/);
      }),
    );
  });

  test("what is escaped already stays as it is", () => {
    const path = "/iam/v2beta1/groups?name=a%3Eb%25&parents=a%2Fb";
    expect(deprecationHeaders({ ...NOTHING, successor: true }, path)[0]?.[1]).toContain(`<${path}>`);
  });
});

describe("fields that the platform sent itself", () => {
  const ours = deprecationHeaders(
    { deprecation: DEPRECATION, sunset: SUNSET, documentation: "https://example.com/d", successor: true },
    "/iam/v2beta1/groups",
  );

  test("a date that is there is not said a second time", () => {
    const names = missingHeaders(
      [
        ["deprecation", "@1"],
        ["sunset", "Sat, 01 Jan 2028 00:00:00 GMT"],
      ],
      ours,
    ).map(([name]) => name);
    expect(names).toEqual(["link", "link", "link"]);
  });

  test("links are added beside others, the same one is not", () => {
    expect(missingHeaders([["link", '<https://example.com>; rel="help"']], ours)).toEqual(ours);
    expect(missingHeaders(ours, ours)).toEqual([]);
    expect(missingHeaders([["link", '</iam/v2beta1/groups>; rel="successor-version"']], ours)).toHaveLength(
      ours.length - 1,
    );
  });
});
