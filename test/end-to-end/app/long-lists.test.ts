/** Lists that are too long for windows, from platforms that read `skipped` in every way. */
import { describe, expect, it } from "vitest";
import type { SandboxOptions, SkippedReading } from "../../../sandbox/src/options.ts";
import { grpcClient } from "../../../sandbox/test/grpc-client.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { fileWith } from "../../grpc/support/translating.ts";
import { startCarryover } from "../../support/carryover.ts";
import { later } from "../../support/take-down.ts";
import { variants } from "../../support/tier.ts";
import { rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

interface Way {
  readonly how: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly sandbox: SandboxOptions;
}

const SIZE = 10_200;
const SEGMENTS: Way = { how: "in segments, unknown tokens", flags: {}, sandbox: {} };
const WAYS: readonly Way[] = [
  SEGMENTS,
  { how: "in segments, keyset tokens", flags: { upstreamV2PageTokens: "keyset" }, sandbox: {} },
  { how: "in windows, offset tokens", flags: { upstreamV2PageTokens: "offset" }, sandbox: { tokens: "offset" } },
  { how: "by cursor, offset tokens", flags: {}, sandbox: { tokens: "offset", order: "name" } },
];
const READINGS: readonly SkippedReading[] = ["chain", "request", "position", "growing"];

describe.each(variants<readonly SkippedReading[]>(["chain", "growing"], READINGS))(
  "a platform that reads `skipped` as %s",
  (skipped) => {
    it.each(variants([SEGMENTS], WAYS))(
      "gives a whole list of over 10,000 records, $how",
      async ({ flags, sandbox }) => {
        for (const listsBufferBytes of ["64MiB", "256KiB"]) {
          const rig = await rigForTest({
            sandbox: { size: SIZE, skipped, ...sandbox },
            flags: { ...flags, listsBufferBytes },
          });
          const { status, json } = await rig.ask("GET", "/iam/v1/groups");
          expect([listsBufferBytes, status]).toEqual([listsBufferBytes, 200]);
          const ids = json.items.map(({ id }: { id: string }) => id);
          expect(ids.toSorted()).toEqual(rig.sandbox.snapshot().groups.map(({ uid }) => uid));
        }
      },
    );
  },
);

it("T-RPC-02: a list of over 10,000 records is whole over gRPC", async () => {
  const sandbox = seededSandbox({ recordTimes: "published", size: SIZE });
  const { url } = await sandbox.listen();
  const flags = { listenGrpcPort: "0", grpcDescriptors: fileWith(sandbox.descriptors()), v1RecordTimes: "published" };
  const carryover = await startCarryover({ v2Url: url, flags });
  const client = grpcClient(sandbox, carryover.grpcUrl ?? "");
  later(async () => {
    client.close();
    await carryover.close();
    await sandbox.close();
  });
  const { code, json } = await client.call("iam.Groups/List", {});
  expect(code).toBe(0);
  expect((json as { items: unknown[] }).items).toHaveLength(sandbox.snapshot().groups.length);
});
