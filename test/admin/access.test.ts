import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { accessRefusal } from "../../src/admin/access.ts";

function from(remoteAddress: string | undefined, headers: Record<string, string> = { host: "localhost:8081" }) {
  return {
    headers,
    rawHeaders: Object.entries(headers).flat(),
    socket: { remoteAddress },
  } as unknown as IncomingMessage;
}

test.each(["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])("%s is this machine", (address) => {
  expect(accessRefusal(from(address), undefined)).toBeUndefined();
});

test.each(["10.0.0.1", "::ffff:10.0.0.1", "fe80::1", "1127.0.0.1", "", undefined])(
  "%s is not, and needs a token that is not set",
  (address) => {
    expect(accessRefusal(from(address), undefined)?.reason).toBe("UNAUTHENTICATED");
  },
);

test("with a token an address is no longer looked at, in either direction", () => {
  expect(accessRefusal(from("10.0.0.1", { authorization: "bearer t" }), "t")).toBeUndefined();
  expect(accessRefusal(from("127.0.0.1"), "t")?.reason).toBe("UNAUTHENTICATED");
});

test.each(["localhost", "localhost:8081", "LOCALHOST", "127.0.0.1:8081", "[::1]:8081"])("it may ask as %s", (host) => {
  expect(accessRefusal(from("127.0.0.1", { host }), undefined)).toBeUndefined();
});

test.each(["evil.example", "127.0.0.1.evil.example"])(
  "a page in its browser may not, under its own name %s",
  (host) => {
    expect(accessRefusal(from("127.0.0.1", { host }), undefined)?.reason).toBe("UNAUTHENTICATED");
  },
);

test("a request without Host is not from a local browser or tool", () => {
  expect(accessRefusal(from("127.0.0.1", {}), undefined)?.reason).toBe("UNAUTHENTICATED");
});

test.each([
  "via",
  "x-real-ip",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-user",
  "forwarded",
])("a request with %s came through a proxy, so it may be anybody's", (name) => {
  expect(accessRefusal(from("127.0.0.1", { host: "localhost:8081", [name]: "" }), undefined)?.reason).toBe(
    "UNAUTHENTICATED",
  );
  expect(accessRefusal(from("127.0.0.1", { authorization: "Bearer t", [name]: "x" }), "t")).toBeUndefined();
});
