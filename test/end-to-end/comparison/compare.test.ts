import { describe, expect, test } from "vitest";
import type { ApiResponse } from "../../../src/model/http.ts";
import { isJsonObject, type Json } from "../../../src/model/json.ts";
import { differences } from "./compare.ts";
import { jsonDifferences } from "./json-diff.ts";

function answer(body: Json | string, status = 200, headers: [string, string][] = []): ApiResponse {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers: [["content-type", "application/json"], ...headers], body: new TextEncoder().encode(text) };
}

const ERROR_INFO = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "INVALID_ARGUMENT", domain: "iam" };
const BAD_REQUEST = {
  "@type": "type.googleapis.com/google.rpc.BadRequest",
  fieldViolations: [{ field: "identity", description: "is required" }],
};
const OWN = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "INVALID_BODY", domain: "carryover" };

const LIST: Json = {
  items: [
    { id: "a", name: "one", tags: ["x", "y"], limits: { clusters: 0 }, verified: false, parent: null },
    { id: "b", name: "", tags: [], limits: {}, verified: true, nested: { deep: [{ n: 1 }] } },
  ],
};

/** Every value that differs from `value` in one place: a member taken out, nulled, zeroed, renamed, doubled, and so on. */
function mutations(value: Json): Json[] {
  if (Array.isArray(value)) {
    return value.flatMap((element, index) => [
      value.filter((_, at) => at !== index),
      [...value, element],
      ...mutations(element).map((changed) => value.with(index, changed)),
    ]);
  }
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([key, element]) => {
      const { [key]: _, ...rest } = value;
      return [
        rest,
        { ...rest, [`${key}X`]: element },
        ...mutations(element).map((changed) => ({ ...value, [key]: changed })),
      ];
    });
  }
  return [null, "", 0, false, {}, [], `${value}x`].filter((other) => other !== value);
}

describe("what is found", () => {
  test("every mutation of a list is a difference", () => {
    const changed = mutations(LIST);
    expect(changed.length).toBeGreaterThan(100);
    for (const body of changed) expect(differences(answer(LIST), answer(body)), JSON.stringify(body)).not.toEqual([]);
  });

  test("every mutation of an error is a difference", () => {
    const error: Json = {
      code: 3,
      message: "Invalid argument: identity: is required",
      details: [ERROR_INFO, BAD_REQUEST],
    };
    for (const body of mutations(error)) {
      expect(differences(answer(error, 400), answer(body, 400)), JSON.stringify(body)).not.toEqual([]);
    }
  });

  test("absent, null and zero are three things", () => {
    const three: Json[] = [{}, { a: null }, { a: "" }];
    for (const left of three) {
      for (const right of three) expect(jsonDifferences(left, right).length === 0).toBe(left === right);
    }
    expect(jsonDifferences([null], [])).toEqual(["/0: null, (absent)"]);
  });

  test("a difference is told by its JSON pointer", () => {
    expect(jsonDifferences({ "a/b": [{ "c~": 1 }] }, { "a/b": [{ "c~": 2 }] })).toEqual(["/a~1b/0/c~0: 1, 2"]);
  });

  test("status, media type and v1's own headers count", () => {
    const plain = answer({}, 401, [["www-authenticate", "no token"]]);
    expect(differences(plain, answer({}, 401))).toEqual(["header www-authenticate: no token, (absent)"]);
    expect(differences(answer({}, 401), plain)).toEqual(["header www-authenticate: (absent), no token"]);
    expect(differences(answer({}), answer({}, 201))).toEqual(["status: 200, 201"]);
    expect(differences(answer({}), { ...answer({}), headers: [] })).toEqual(["media type: application/json, (absent)"]);
  });

  test("a key that is there twice is found", () => {
    expect(differences(answer('{"a":1}'), answer('{"a":1,"a":1}'))).not.toEqual([]);
  });

  test("a body that is no JSON is found", () => {
    expect(differences(answer("{}"), answer("{"))).not.toEqual([]);
  });

  test("the order of a list counts where v1 documents one", () => {
    const turned: Json = { items: (LIST["items"] as Json[]).toReversed() };
    expect(differences(answer(LIST), answer(turned), { ordered: true })).not.toEqual([]);
  });

  test("a page token that only one side has is found", () => {
    const page = { items: [], nextPageToken: "x" };
    expect(differences(answer(page), answer({ items: [], nextPageToken: "" }))).not.toEqual([]);
  });
});

describe("what is not found", () => {
  test("the order of a list without one, of members, and of details", () => {
    const turned: Json = { items: (LIST["items"] as Json[]).toReversed() };
    expect(differences(answer(LIST), answer(turned))).toEqual([]);
    expect(differences(answer('{"a":1,"b":2}'), answer('{"b":2, "a":1}'))).toEqual([]);
    const error = { code: 3, message: "m" };
    const left = answer({ ...error, details: [ERROR_INFO, BAD_REQUEST] }, 400);
    expect(differences(left, answer({ ...error, details: [BAD_REQUEST, ERROR_INFO] }, 400))).toEqual([]);
  });

  test("which token a server mints, and parameters of the media type", () => {
    expect(differences(answer({ items: [], nextPageToken: "x" }), answer({ items: [], nextPageToken: "y" }))).toEqual(
      [],
    );
    const other: ApiResponse = { ...answer({}), headers: [["content-type", "application/json; charset=utf-8"]] };
    expect(differences(answer({}), other)).toEqual([]);
  });
});

describe("carryover's own refusals", () => {
  const decoder = answer({ code: 3, message: "proto: syntax error", details: [] }, 400);

  test("have their own words in place of a decoder's", () => {
    expect(differences(decoder, answer({ code: 3, message: "the body is no JSON", details: [OWN] }, 400))).toEqual([]);
  });

  test("do without the header by which a handler is known", () => {
    const header: [string, string][] = [["grpc-metadata-content-type", "application/grpc"]];
    const native = answer({ code: 3, message: "m", details: [] }, 400, header);
    expect(differences(native, answer({ code: 3, message: "", details: [OWN] }, 400))).toEqual([]);
    expect(differences(native, answer({ code: 3, message: "m", details: [] }, 400))).not.toEqual([]);
    expect(differences(answer({}, 200, header), answer({}))).not.toEqual([]);
  });

  test("need the code and the status of native", () => {
    expect(differences(decoder, answer({ code: 9, message: "", details: [OWN] }, 400))).not.toEqual([]);
    expect(differences(decoder, answer({ code: 3, message: "", details: [OWN] }, 422))).not.toEqual([]);
    expect(differences(answer({ id: "a" }), answer({ code: 3, message: "", details: [OWN] }, 400))).not.toEqual([]);
  });

  test("name the field that native names", () => {
    const native = answer({ code: 3, message: "Invalid argument", details: [ERROR_INFO, BAD_REQUEST] }, 400);
    expect(
      differences(native, answer({ code: 3, message: "identity: expected a string", details: [OWN] }, 400)),
    ).toEqual([]);
    expect(differences(native, answer({ code: 3, message: "no", details: [OWN] }, 400))).not.toEqual([]);
  });

  test("other than a 400 are compared word by word", () => {
    const native = answer({ code: 12, message: "Method Not Allowed", details: [] }, 501);
    expect(differences(native, answer({ code: 12, message: "Method Not Allowed", details: [OWN] }, 501))).not.toEqual(
      [],
    );
  });
});
