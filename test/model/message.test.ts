import { expect, test } from "vitest";
import { createExchange } from "../../src/model/exchange.ts";
import { type ApiRequest, compose, header, type SendLayer, withoutHeaders } from "../../src/model/http.ts";
import { isJsonObject, member } from "../../src/model/json.ts";

test("the first layer is the outermost: a request meets the layers in the order of the list", async () => {
  const seen: string[] = [];
  const layer =
    (name: string): SendLayer =>
    (next) =>
    async (request, options) => {
      seen.push(`> ${name}`);
      const response = await next(request, options);
      seen.push(`< ${name}`);
      return response;
    };
  const send = compose([layer("a"), layer("b")], async () => {
    seen.push("send");
    return { status: 200, headers: [], body: new Uint8Array() };
  });
  const request: ApiRequest = { method: "GET", target: "/", headers: [] };
  await send(request, { signal: new AbortController().signal });
  expect(seen).toEqual(["> a", "> b", "send", "< b", "< a"]);
});

test("without layers a Send is itself", () => {
  const send = async () => ({ status: 200, headers: [], body: new Uint8Array() });
  expect(compose([], send)).toBe(send);
});

test("the first of repeated fields is found, by its exact name", () => {
  const headers = [
    ["x-a", "1"],
    ["x", "0"],
    ["x", "2"],
  ] as const;
  expect(header(headers, "x")).toBe("0");
  expect(header(headers, "y")).toBeUndefined();
  expect(header([["x", ""]], "x")).toBe("");
});

test("fields are taken out by name; the rest keeps its order and repeats", () => {
  const headers = [
    ["a", "1"],
    ["b", "2"],
    ["a", "3"],
    ["c", "4"],
    ["c", "5"],
  ] as const;
  expect(withoutHeaders(headers, new Set(["a", "x"]))).toEqual([
    ["b", "2"],
    ["c", "4"],
    ["c", "5"],
  ]);
});

test.each([null, [], "a", 1, true, undefined])("%j is no object and has no members", (value) => {
  expect(isJsonObject(value)).toBe(false);
  expect(member(value, "length")).toBeUndefined();
});

test("only own members are members", () => {
  const parsed: unknown = JSON.parse('{"a":null,"__proto__":{"b":1}}');
  expect(member(parsed, "a")).toBeNull();
  expect(member(parsed, "b")).toBeUndefined();
  expect(member(parsed, "toString")).toBeUndefined();
  expect(member(parsed, "__proto__")).toEqual({ b: 1 });
});

test("a fresh exchange shares nothing with another", () => {
  const a = createExchange("1", 0, "GET", "/");
  a.notes.push("grpc");
  a.calls.push({ upstream: "v2", method: "GET", path: "/", status: 200, ms: 1 });
  const b = createExchange("2", 5, "PUT", "/b");
  expect(b).toMatchObject({
    requestId: "2",
    startedAt: 5,
    method: "PUT",
    path: "/b",
    notes: [],
    calls: [],
    mode: "refused",
    apiVersion: "none",
    aborted: false,
  });
});
