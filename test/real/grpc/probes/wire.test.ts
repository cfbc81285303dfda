/** Odd gRPC requests that carryover treats otherwise than native v1, a server in Go. */
import { expect, it } from "vitest";
import { VENDOR_TYPES } from "../../../../sandbox/src/data/vendor.ts";
import { callHead, FRAME, frame, literal } from "../../../grpc/support/frames.mjs";
import { raw } from "../../../grpc/support/raw.ts";
import { call, framed } from "../../../grpc/support/rpc.ts";
import { translating } from "../../../grpc/support/translating.ts";
import { takeDownAfterEach } from "../../../support/take-down.ts";
import { byId } from "./request.ts";

takeDownAfterEach();

const LIST = `/${VENDOR_TYPES}.iam.Groups/List`;
const SERVED = ["HEADERS", "DATA", "HEADERS+ES"];

/** Sends a head, and the frames that `after` makes of a message, on a connection of its own. Returns the frames that came. */
async function sent(head: Buffer, after = (message: Buffer): Buffer => frame(FRAME.data, 1, 1, message)) {
  const { rpc, sandbox } = await translating();
  const connection = await raw(rpc);
  const authorization = literal("authorization", `Bearer ${sandbox.token("admin")}`);
  const first = frame(FRAME.headers, 4, 1, Buffer.concat([head, authorization]));
  connection.socket.write(Buffer.concat([first, after(framed(byId(sandbox.wellKnown.rootGroup)))]));
  const isOver = (name: string): boolean => name.endsWith("+ES") || name.startsWith("RST");
  await expect.poll(() => connection.of(1).some(isOver), { timeout: 10_000 }).toBe(true);
  return connection.of(1);
}

it.each([
  ["te: gzip", Buffer.concat([callHead(LIST), literal("te", "gzip")])],
  ["a path without a slash", callHead(LIST.slice(1))],
  ["keep-alive", Buffer.concat([callHead(LIST), literal("keep-alive", "5")])],
  ["a content-length that does not fit", Buffer.concat([callHead(LIST), literal("content-length", "6")])],
])("DIFF-130: %s resets the stream with PROTOCOL_ERROR", async (_, head) => {
  expect(await sent(head)).toEqual(["RST(1)"]);
});

it("DIFF-131: fields that HTTP/2 forbids are left out, and trailers of a client are ignored", async () => {
  const odd = Buffer.concat([literal("x y", "a"), literal("x-y", "a\nb")]);
  expect(await sent(Buffer.concat([callHead(LIST), odd]))).toEqual(SERVED);
  const trailers = frame(FRAME.headers, 5, 1, literal("x-late", "1"));
  const late = (message: Buffer): Buffer => Buffer.concat([frame(FRAME.data, 0, 1, message), trailers]);
  expect(await sent(callHead(LIST), late)).toEqual(SERVED);
});

it("DIFF-132: metadata, media types and encodings that can be understood are served", async () => {
  const { rpc, sandbox } = await translating();
  const authorization = `Bearer ${sandbox.token("admin")}`;
  const status = async (fields: Record<string, string>, message = Buffer.alloc(0)) =>
    (await call(rpc, LIST, framed(message), { authorization, ...fields })).status;
  expect(await status({ "content-type": "Application/GRPC" })).toBe(0);
  expect(await status({ "grpc-encoding": "snappy" })).toBe(0);
  expect(await status({ "x-odd-bin": "-_8" })).toBe(0);
  expect(await status({ "x-odd-bin": "AAE,AgM" })).toBe(0);
  expect(await status({}, Buffer.from("d005ffffffffffffffffffff01", "hex"))).toBe(0);
  expect(await status({}, Buffer.from("d0858080800001", "hex"))).toBe(13);
});

it("DIFF-133: two content-types are refused, and a user in :authority is INVALID_ARGUMENT", async () => {
  const { rpc } = await translating();
  const twice = Buffer.concat([callHead(LIST), literal("content-type", "application/grpc")]);
  expect(await sent(twice)).toEqual(["HEADERS+ES"]);
  expect((await call(rpc, LIST, undefined, { ":authority": "user@platform.test" })).status).toBe(3);
});

it("DIFF-136: with Node.js 20, metadata with spaces at its ends is left out", async () => {
  const { rpc, exchanges } = await translating();
  const isLeftOut = process.version.startsWith("v20.");
  // A deadline that could not be read would be refused.
  const { status } = await call(rpc, LIST, undefined, { "grpc-timeout": " 30S" });
  expect(status).toBe(isLeftOut ? 16 : 13);
  expect(exchanges).toHaveLength(1);
});
