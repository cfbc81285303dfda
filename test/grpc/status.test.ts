/** What trailers say of an error fits into them. */
import { expect, it } from "vitest";
import { createStatusCodec, statusTrailers } from "../../src/grpc/status.ts";

const codec = createStatusCodec(undefined);
const ofError = (error: object) => codec.ofJson(400, Buffer.from(JSON.stringify({ code: 3, ...error })));
const bytesOf = (trailers: Record<string, string>) => JSON.stringify(trailers).length;

it("a message that is too long is cut, and details that are too long are left out", () => {
  const message = statusTrailers(ofError({ message: "\u20ac".repeat(10_000) }));
  expect(message["grpc-message"]).toBe("%E2%82%AC".repeat(2_048));
  const detail = (bytes: number) => ({
    message: "m",
    details: [{ "@type": "type.googleapis.com/google.rpc.DebugInfo", detail: "d".repeat(bytes) }],
  });
  expect(bytesOf(statusTrailers(ofError(detail(30_000))))).toBeGreaterThan(40_000);
  expect(Object.keys(statusTrailers(ofError(detail(40_000))))).toEqual(["grpc-status", "grpc-message"]);
});

it("a body that is far too long for trailers is not read: the HTTP status decides", () => {
  expect(ofError({ message: "m".repeat(70_000) })).toEqual({ code: 3, message: "HTTP 400" });
  expect(codec.ofJson(503, Buffer.alloc(70_000, "<"))).toEqual({ code: 14, message: "HTTP 503" });
});
