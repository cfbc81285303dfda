import { describe, expect, test } from "vitest";
import { FORM_TYPE } from "../../../src/router/form.ts";
import {
  type AskedRequest,
  type GivenRequest,
  invalidRequest,
  readRequest,
} from "../../../src/runtime/explain/request.ts";

const FILES = new Map([
  ["body.json", '{\n "name": "docs"\n}'],
  ["-", '{"name":"stdin"}'],
]);

function read(text: string, more: Partial<GivenRequest> = {}): AskedRequest & { readonly text: string } {
  const request = readRequest({ text, headers: [], ...more }, (path) => {
    const found = FILES.get(path);
    if (found === undefined) throw invalidRequest(`${path} cannot be read`);
    return Buffer.from(found);
  });
  return { ...request, text: Buffer.from(request.body).toString("utf8") };
}

describe("a method and a path", () => {
  test("are the request, byte for byte", () => {
    const target = "/iam/v1/groups/a%2Fb//../c?name=x%20y&&id=";
    expect(read(`get ${target}`)).toMatchObject({ method: "GET", target, headers: [], text: "" });
  });

  test("data makes it a POST, unless it says what it is", () => {
    expect(read("/iam/v1/groups", { data: "{}" }).method).toBe("POST");
    expect(read("/iam/v1/groups").method).toBe("GET");
    expect(read("PUT /iam/v1/groups/a", { data: "{}" }).method).toBe("PUT");
    expect(read("/iam/v1/groups/a", { data: "{}", method: "PUT" }).method).toBe("PUT");
  });

  test("data is text, a file, or standard input", () => {
    expect(read("PUT /a", { data: '{"a":1}' }).text).toBe('{"a":1}');
    expect(read("PUT /a", { data: "@body.json" }).text).toBe(FILES.get("body.json"));
    expect(read("PUT /a", { data: "@-" }).text).toBe(FILES.get("-"));
    expect(() => read("PUT /a", { data: "@missing" })).toThrow(/missing cannot be read/);
  });

  test("data that is not JSON is a form, unless a field says what it is", () => {
    expect(read("/a", { data: "a=1&b=2" })).toMatchObject({ headers: [["content-type", FORM_TYPE]], text: "a=1&b=2" });
    expect(read("/a", { data: '{"a":1}' }).headers).toEqual([]);
    expect(read("/a", { data: "x", headers: ["Content-Type: text/plain"] }).headers).toEqual([
      ["content-type", "text/plain"],
    ]);
  });

  test.each([
    ["https://user:secret@api.example.com:8443/a/../b?x=1#top", "/a/../b?x=1"],
    ["api.example.com/iam/v1/groups", "/iam/v1/groups"],
    ["https://x?a=1", "/?a=1"],
  ])("a URL names the path: %s", (url, target) => {
    expect(read(url).target).toBe(target);
    expect(read(`PUT ${url}`)).toMatchObject({ method: "PUT", target });
  });

  test("header fields are given one by one", () => {
    expect(read("GET /a", { headers: ["If-Match: x", "A:b:c", "Gone:"] }).headers).toEqual([
      ["if-match", "x"],
      ["a", "b:c"],
    ]);
    expect(() => read("GET /a", { headers: ["nothing"] })).toThrow(/Name: value/);
  });

  test.each<[string, RegExp, Partial<GivenRequest>?]>([
    ["", /there is no request/],
    ["GET /a /b", /there is more/],
    ["https://api.example.com", /has no path/],
    ["curl https://api.example.com/a", /curl command lines are not read; expected 'PUT/],
    ["GET /a", /"A B" is not a method/, { method: "A B" }],
  ])("%j is refused", (text, message, more = {}) => {
    expect(() => read(text, more)).toThrow(message);
  });
});
