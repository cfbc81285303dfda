/** Hostile messages to a process with a small heap, with an unknown token: it lives, and serves others. */
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { VENDOR_TYPES } from "../../sandbox/src/data/vendor.ts";
import { framed, grpcClient } from "../../sandbox/test/grpc-client.ts";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import { carryover } from "../end-to-end/app/process.ts";
import { later, takeDownAfterEach } from "../support/take-down.ts";
import { call } from "./support/rpc.ts";
import { fileWith } from "./support/translating.ts";

takeDownAfterEach();

const HEAP_MIB = 128;
const SIZE = 4 * 2 ** 20 - 64;
const length = (bytes: number): Buffer =>
  Buffer.from([(bytes & 127) | 128, ((bytes >> 7) & 127) | 128, ((bytes >> 14) & 127) | 128, bytes >> 21]);
/** A message with one field, whose bytes repeat `pattern`. */
const holding = (tag: number, pattern: readonly number[], size = SIZE): Buffer => {
  const bytes = size - (size % pattern.length);
  return Buffer.concat([Buffer.from([tag]), length(bytes), Buffer.alloc(bytes, Buffer.from(pattern))]);
};
const repeated = (pattern: readonly number[], size = SIZE): Buffer =>
  Buffer.alloc(size - (size % pattern.length), Buffer.from(pattern));
/** Below `limits.bodyBytes`, which ends the others before they are read. */
const READ = 2 ** 20 - 64;

const MESSAGES: readonly (readonly [string, string, Buffer, boolean?])[] = [
  ["empty ids", "iam.Groups/List", holding(0x12, [0x2a, 0])],
  ["empty ids that are read", "iam.Groups/List", holding(0x12, [0x2a, 0], READ)],
  ["empty role bindings", "iam.RoleBindings/CreateBatch", repeated([0x12, 0], READ)],
  ["unknown groups", "iam.Groups/List", repeated([0xc3, 7, 0xc4, 7], READ)],
  ["groups in each other", "iam.Groups/List", repeated([0xc3, 7], READ)],
  ["unknown varints", "iam.Groups/List", repeated([0xc0, 7, 1], READ)],
  ["entries of a map", "iam.Groups/Update", repeated([0x22, 0], READ)],
  ["invalid UTF-8", "iam.Groups/List", holding(0x1a, [0xff], READ)],
  ["compressed ids", "iam.Groups/List", holding(0x12, [0x2a, 0], READ), true],
];

it("T-RPC-21: a process with a small heap outlives hostile messages, and serves others meanwhile", async () => {
  const sandbox = seededSandbox({ recordTimes: "published" });
  const { url } = await sandbox.listen();
  const process = carryover(
    [
      ...["serve", "--upstream-v2-url", url, "--listen-port", "0", "--admin-port", "0", "--listen-grpc-port", "0"],
      ...["--grpc-descriptors", fileWith(sandbox.descriptors()), "--v1-record-times", "published"],
    ],
    { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` },
  );
  const [, rpc = ""] = /gRPC clients at (http:\S+?):? /.exec(await process.until(/gRPC clients at .*\n/)) ?? [];
  const client = grpcClient(sandbox, rpc);
  later(async () => {
    client.close();
    await sandbox.close();
  });
  const served = async () => expect(await client.call("iam.Groups/List", { name: "x" })).toMatchObject({ code: 0 });
  await served();
  for (const [what, name, message, isCompressed = false] of MESSAGES) {
    const body = isCompressed ? framed(gzipSync(message), 1) : framed(message);
    const encoding = isCompressed ? { "grpc-encoding": "gzip" } : {};
    const headers = { authorization: "Bearer nobody", ...encoding };
    const attack = () => call(rpc, `/${VENDOR_TYPES}.${name}`, body, headers);
    const attacks = Array.from({ length: 4 }, attack);
    await served();
    const statuses = (await Promise.all(attacks)).map(({ status }) => status);
    // A message that is refused before it has come may end with its stream.
    for (const status of statuses) expect([3, 8, 13, undefined], what).toContain(status);
  }
  await served();
});
