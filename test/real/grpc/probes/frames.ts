/** Probes of frames, and of compressed messages. */
import { deflateSync, gzipSync } from "node:zlib";
import { framed } from "../../../grpc/support/rpc.ts";
import { byId, type Field, hex, type Place, type Step, type Unusual } from "./request.ts";
import type { Probe } from "./table.ts";

const message = ({ root }: Place): Buffer => framed(byId(root));

const steps = (what: string, of: (whole: Buffer, place: Place) => readonly Step[], unusual: Unusual = {}): Probe => ({
  what,
  request: (place) => ({ ...unusual, steps: of(message(place), place) }),
});

const data = (bytes: Uint8Array, end = false): Step => ({ data: hex(bytes), end });

const announcing = (length: number, bytes: Uint8Array, flag = 0): Buffer => {
  const prefix = Buffer.alloc(5, flag);
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, bytes]);
};

const NONE = Buffer.alloc(0);
const ENDED: Unusual = { end: true };

export const frames: readonly Probe[] = [
  steps("the head ends the request", () => [], ENDED),
  steps("no message, and an empty DATA frame at the end", () => [data(NONE, true)]),
  steps("an empty message", () => [data(framed(NONE), true)]),
  steps("two messages", (whole) => [data(Buffer.concat([whole, whole]), true)]),
  steps("two messages in two frames", (whole) => [data(whole), data(whole, true)]),
  steps("two messages, the second later", (whole) => [data(whole), { ...data(whole, true), waitMs: 200 }]),
  steps("one byte per frame", (whole) =>
    [...whole].map((byte, at) => data(Buffer.from([byte]), at === whole.length - 1)),
  ),
  steps("a message in two frames, cut within its prefix", (whole) => [
    data(whole.subarray(0, 3)),
    data(whole.subarray(3), true),
  ]),
  steps("empty DATA frames between", (whole) => [
    data(NONE),
    data(whole.subarray(0, 7)),
    data(NONE),
    data(NONE),
    data(whole.subarray(7)),
    data(NONE, true),
  ]),
  steps("the end 50 ms after the message", (whole) => [data(whole), { ...data(NONE, true), waitMs: 50 }]),
  steps("a padded frame", (whole) => [{ ...data(whole, true), pad: 100 }]),
  steps("a byte after the message", (whole) => [data(Buffer.concat([whole, Buffer.from([0])]), true)]),
  steps("five zero bytes after the message", (whole) => [data(Buffer.concat([whole, Buffer.alloc(5)]), true)]),
  steps("a prefix of three bytes", (whole) => [data(whole.subarray(0, 3), true)]),
  steps("a prefix alone", (whole) => [data(whole.subarray(0, 5), true)]),
  steps("a message that is cut off", (whole) => [data(whole.subarray(0, 9), true)]),
  steps("a length of 4 MiB and one byte", () => [data(announcing(4 * 1024 ** 2 + 1, Buffer.alloc(9)))]),
  steps("a length of 2 GiB", () => [data(announcing(2 ** 31, Buffer.alloc(9)))]),
  steps("a length of 4 GiB, ended", () => [data(announcing(2 ** 32 - 1, Buffer.alloc(9)), true)]),
  steps("flag 2", (_, { root }) => [data(framed(byId(root), 2), true)]),
  steps("flag 128", (_, { root }) => [data(framed(byId(root), 128), true)]),
  steps("flag 255", (_, { root }) => [data(framed(byId(root), 255), true)]),
  steps("trailers at the end", (whole) => [data(whole), { trailers: [["x-late", "1"]], end: true }]),
  steps("trailers without a message", () => [{ trailers: [["x-late", "1"]], end: true }]),
  steps("trailers that do not end the request", (whole) => [data(whole), { trailers: [["x-late", "1"]] }]),
  steps("a pseudo field in trailers", (whole) => [data(whole), { trailers: [[":path", "/"]], end: true }]),
  {
    what: "a right content-length",
    request: (place) => ({ plus: [["content-length", String(message(place).length)]] }),
  },
  {
    what: "a content-length that is too long",
    request: (place) => ({ plus: [["content-length", String(message(place).length + 1)]] }),
  },
  {
    what: "a content-length that is too short",
    request: (place) => ({ plus: [["content-length", String(message(place).length - 1)]] }),
  },
  { what: "a content-length that is not a number", request: () => ({ plus: [["content-length", "x"]] }) },
];

const encoded = (
  what: string,
  encoding: string | undefined,
  of: (bytes: Buffer) => Uint8Array,
  plus: readonly Field[] = [],
): Probe => ({
  what,
  request: ({ root }) => ({
    plus: [...(encoding === undefined ? [] : [["grpc-encoding", encoding] as const]), ...plus],
    steps: [data(of(byId(root)), true)],
  }),
});

const gzipped = (bytes: Uint8Array): Uint8Array => framed(gzipSync(bytes), 1);

export const encodings: readonly Probe[] = [
  encoded("gzip", "gzip", gzipped),
  encoded("gzip, of a message that is not compressed", "gzip", (bytes) => framed(bytes)),
  encoded("gzip in capitals", "GZIP", gzipped),
  encoded("a list of encodings", "gzip, identity", gzipped),
  encoded("identity", "identity", (bytes) => framed(bytes)),
  encoded("identity, of a compressed message", "identity", gzipped),
  encoded("a compressed message without grpc-encoding", undefined, gzipped),
  encoded("deflate", "deflate", (bytes) => framed(deflateSync(bytes), 1)),
  encoded("snappy, of a message that is not compressed", "snappy", (bytes) => framed(bytes)),
  encoded("an empty grpc-encoding", "", (bytes) => framed(bytes)),
  encoded("gzip that is cut off", "gzip", (bytes) => framed(gzipSync(bytes).subarray(0, 12), 1)),
  encoded("gzip without its checksum", "gzip", (bytes) => framed(gzipSync(bytes).subarray(0, -8), 1)),
  encoded("gzip with a wrong checksum", "gzip", (bytes) => {
    const packed = gzipSync(bytes);
    packed.writeUInt32LE(1, packed.length - 8);
    return framed(packed, 1);
  }),
  encoded("what is not gzip", "gzip", (bytes) => framed(bytes, 1)),
  encoded("an empty message that says to be compressed", "gzip", () => framed(NONE, 1)),
  encoded("gzip in two members", "gzip", (bytes) =>
    framed(Buffer.concat([gzipSync(bytes.subarray(0, 5)), gzipSync(bytes.subarray(5))]), 1),
  ),
  encoded("gzip with bytes after it", "gzip", (bytes) => framed(Buffer.concat([gzipSync(bytes), Buffer.from("x")]), 1)),
  encoded("gzip of 8 MiB of zeros", "gzip", () => gzipped(Buffer.alloc(8 * 1024 ** 2))),
  encoded("grpc-accept-encoding: gzip", undefined, (bytes) => framed(bytes), [["grpc-accept-encoding", "gzip"]]),
  encoded("grpc-accept-encoding: snappy", undefined, (bytes) => framed(bytes), [["grpc-accept-encoding", "snappy"]]),
  encoded("accept-encoding and content-encoding of HTTP", undefined, (bytes) => framed(bytes), [
    ["accept-encoding", "gzip"],
    ["content-encoding", "gzip"],
  ]),
];
