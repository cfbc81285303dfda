import { expect, test } from "vitest";
import { connectNode, grpcJs } from "./clients.ts";
import { everyOperationThroughCarryover } from "./same.ts";

test.each([
  ["grpc-js", grpcJs],
  ["connect-node", connectNode],
] as const)("T-RPC-02, T-RPC-06: %s gets through carryover, from v2, what native v1 responds", async (_, start) => {
  expect(await everyOperationThroughCarryover(start)).toHaveLength(51);
});
