/** What trailers say of an error fits into them. */
import { fromBinary } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { createErrorRegistry } from "../../src/grpc/error-details.ts";
import { createStatusCodec, sizeOfFields, statusOfTrailers, statusTrailers } from "../../src/grpc/status.ts";

const codec = createStatusCodec(undefined);
const ofError = (error: object) => codec.ofJson(400, Buffer.from(JSON.stringify({ code: 3, ...error })));

it("a message that is too long is cut, between characters", () => {
  const message = statusTrailers(ofError({ message: "\u20ac".repeat(10_000) }));
  expect(message["grpc-message"]).toBe("%E2%82%AC".repeat(910));
  expect(statusTrailers(ofError({ message: "m".repeat(10_000) }))["grpc-message"]).toHaveLength(2_048);
});

it.each([
  [" m ", "%20m%20"],
  ["  ", "%20%20"],
  ["a b%\n", "a b%25%0A"],
])("a message keeps its spaces where HTTP/2 would take them away: %j", (message, encoded) => {
  expect(statusTrailers(ofError({ message }))["grpc-message"]).toBe(encoded);
});

const BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest";
const INFO = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "R", domain: "d", metadata: {} };
const violations = (count: number) => ({
  "@type": BAD_REQUEST,
  fieldViolations: Array.from({ length: count }, (_, i) => ({
    field: `group.field_${i}`,
    description: "d".repeat(100),
    reason: "",
  })),
});

it.each([
  [16_384, 300],
  [8_192, 300],
  [2_048, 20],
])("DIFF-115: details beyond %i bytes of metadata are cut by whole entries, and the message says so", (room, count) => {
  const trailers = statusTrailers(ofError({ message: "bad", details: [INFO, violations(count)] }), room);
  expect(sizeOfFields(trailers)).toBeLessThanOrEqual(room);
  expect(sizeOfFields(trailers)).toBeGreaterThan(room * 0.8);
  const { details } = JSON.parse(codec.toJson(statusOfTrailers((name) => trailers[name]) ?? { code: 0, message: "" }));
  expect(details[0]).toEqual(INFO);
  const kept = details[1].fieldViolations;
  expect(kept).toEqual(violations(kept.length).fieldViolations.map((one) => expect.objectContaining(one)));
  expect(trailers["grpc-message"]).toBe(
    `bad (without ${count - kept.length} entries of its details, which are too long for metadata)`,
  );
  // Clients in Go show this message instead.
  const status = createErrorRegistry().getMessage("google.rpc.Status");
  const bytes = Buffer.from(trailers["grpc-status-details-bin"] ?? "", "base64");
  expect(status && fromBinary(status, bytes)).toMatchObject({ message: trailers["grpc-message"] });
});

it("a detail that cannot be cut is left out, and those after it stay", () => {
  const long = { "@type": "type.googleapis.com/google.rpc.DebugInfo", detail: "d".repeat(40_000) };
  const trailers = statusTrailers(ofError({ message: "bad", details: [long, INFO] }));
  const { details } = JSON.parse(codec.toJson(statusOfTrailers((name) => trailers[name]) ?? { code: 0, message: "" }));
  expect(details).toEqual([INFO]);
  expect(trailers["grpc-message"]).toContain("without 1 entry of its details");
});

it("T-RPC-30: a body that is far too long for trailers is not read: the HTTP status decides", () => {
  expect(ofError({ message: "m".repeat(70_000) })).toEqual({ code: 3, message: "HTTP 400" });
  expect(codec.ofJson(503, Buffer.alloc(70_000, "<"))).toEqual({ code: 14, message: "HTTP 503" });
});
