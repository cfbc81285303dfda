import { describe, expect, test } from "vitest";
import { compare, compareTexts, ONE, placesOf } from "./compared.ts";

const INFO = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "NOT_FOUND", domain: "iam.example.com" };
const FIELDS = {
  "@type": "type.googleapis.com/google.rpc.BadRequest",
  fieldViolations: [{ field: "role", description: "is no role" }],
};
const ERROR = { code: 5, message: "no such group", details: [INFO, FIELDS] };

function places(native: unknown, translated: unknown): readonly string[] {
  return placesOf(compare(native, translated, ONE, 404));
}

describe("a v1 client cannot tell them apart", () => {
  test.each([
    ["another message", { ...ERROR, message: "not found" }],
    ["no message", { code: 5, details: ERROR.details }],
    ["details in another order", { ...ERROR, details: [FIELDS, INFO] }],
    [
      "another description of a field",
      { ...ERROR, details: [INFO, { ...FIELDS, fieldViolations: [{ field: "role", description: "unknown" }] }] },
    ],
    [
      "details for people, or about the request",
      {
        ...ERROR,
        details: [
          INFO,
          FIELDS,
          ...["RequestInfo", "DebugInfo", "Help", "LocalizedMessage"].map((type) => ({
            "@type": `x/google.rpc.${type}`,
            n: 1,
          })),
        ],
      },
    ],
  ])("%s", (_, translated) => {
    expect(compare(ERROR, translated, ONE, 404)).toMatchObject({ result: "equal", total: 0 });
    expect(compare(translated, ERROR, ONE, 404)).toMatchObject({ result: "equal", total: 0 });
  });

  test("no details are an empty list of them", () => {
    expect(places({ code: 5, details: [] }, { code: 5 })).toEqual([]);
    expect(places({ code: 5, details: null }, { code: 5, details: [] })).toEqual([]);
  });
});

describe("a v1 client can", () => {
  test("another code says all", () => {
    const compared = compare(ERROR, { ...ERROR, code: 7, details: [] }, ONE, 404);
    expect(compared).toMatchObject({
      result: "error",
      total: 1,
      differences: [{ class: "error", path: "code", id: undefined, native: "5", translated: "7" }],
    });
    expect(places(ERROR, { message: "x" })).toEqual(["error code"]);
    expect(places(ERROR, { ...ERROR, code: "5" })).toEqual(["error code"]);
  });

  test.each([
    ["a reason", { ...INFO, reason: "GONE" }],
    ["a domain", { ...INFO, domain: "carryover" }],
    ["a type", { ...INFO, "@type": "google.rpc.ErrorInfoX" }],
  ])("another %s", (_, info) => {
    expect(places(ERROR, { ...ERROR, details: [info, FIELDS] })).toEqual(["error details[]"]);
  });

  test("another field, a detail less", () => {
    const other = { ...FIELDS, fieldViolations: [{ field: "role_uid", description: "is no role" }] };
    expect(places(ERROR, { ...ERROR, details: [INFO, other] })).toEqual(["error details[]"]);
    expect(places(ERROR, { ...ERROR, details: [INFO] })).toEqual(["error details[]"]);
    expect(places(ERROR, { code: 5 })).toEqual(["error details[]"]);
    expect(compare(ERROR, { code: 5 }, ONE, 404).total).toBe(2);
  });

  test("a detail more is extra", () => {
    expect(places({ ...ERROR, details: [INFO] }, ERROR)).toEqual(["extra details[]"]);
    expect(places({ code: 5 }, ERROR)).toEqual(["extra details[]"]);
  });

  test("details that are no list, members beside the three", () => {
    expect(places(ERROR, { ...ERROR, details: {} })).toEqual(["error details"]);
    expect(places({ ...ERROR, error: "x" }, ERROR)).toEqual(["error error"]);
    expect(places(ERROR, { ...ERROR, error: "x" })).toEqual(["error error"]);
  });

  test("bodies that are no objects", () => {
    expect(places([1], [2])).toEqual(["error "]);
    expect(places("x", ERROR)).toEqual(["error "]);
    expect(placesOf(compareTexts("[1.0]", "[1]", ONE, 500))).toEqual([]);
  });
});
