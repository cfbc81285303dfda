/** Does the gate refuse by itself what Node's parser refuses today? (Another version, or another setting of it, may let it through.) */
import { describe, expect, it } from "vitest";
import { judge } from "../../../src/listener/gate.ts";
import { readHead } from "../../../src/listener/head.ts";

function reasonOfTarget(target: string): string | undefined {
  return judge({ method: "GET", target, httpVersion: "1.1", head: readHead(["Host", "a"]) }, { uriBytes: 8_192 })
    ?.reason;
}

function reasonOf(...raw: readonly string[]): string | undefined {
  const head = readHead(["Host", "a", ...raw]);
  return judge({ method: "POST", target: "/", httpVersion: "1.1", head }, { uriBytes: 8_192 })?.reason;
}

describe("T-SEC-04: without the router the gate refuses", () => {
  it.each(["/a/%2e%2e/b", "/a/%2E/b", "/a/.%2e", "/a%2f%2e%2e%2fb", "/a/%2e%2e;x/b", "/%5c..%5cb"])(
    "the dots of %s",
    (target) => {
      expect(reasonOfTarget(target)).toBe("INVALID_PATH");
    },
  );

  it("and lets in dots that are part of a name", () => {
    expect(reasonOfTarget("/a/b.c/..d/%2ee")).toBeUndefined();
  });
});

describe("T-SEC-04: without the parser the gate refuses", () => {
  it.each([
    ["a length beside chunks", ["Content-Length", "5", "Transfer-Encoding", "chunked"]],
    ["two lengths", ["Content-Length", "5", "Content-Length", "6"]],
    ["two equal lengths", ["Content-Length", "5", "content-length", "5"]],
    ["a length that would be rounded", ["Content-Length", "9007199254740993"]],
    ["two transfer codings", ["Transfer-Encoding", "chunked", "Transfer-Encoding", "identity"]],
    ["chunks twice", ["Transfer-Encoding", "chunked", "Transfer-Encoding", "chunked"]],
  ])("%s", (_, raw) => {
    expect(reasonOf(...raw)).toBe("INVALID_REQUEST");
  });

  it("and lets in one of each", () => {
    expect(reasonOf("Content-Length", "5")).toBeUndefined();
    expect(reasonOf("Transfer-Encoding", "chunked")).toBeUndefined();
  });
});
