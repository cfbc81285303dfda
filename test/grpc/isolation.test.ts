import { expect, test } from "vitest";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import { startCarryover } from "../support/carryover.ts";
import { scale } from "../support/scale.ts";
import { connectNode, readDescriptors } from "./clients/clients.ts";
import { fileWith } from "./support/translating.ts";

const CALLS = scale(400, 100_000);
const AT_A_TIME = 16;

test("two credentials on one connection never see a record or an error of each other's", async () => {
  const platform = seededSandbox();
  const { rootGroup, otherRootGroup } = platform.wellKnown;
  const descriptors = platform.descriptors();
  const carryover = await startCarryover({
    v2Url: (await platform.listen()).url,
    flags: { listenGrpcPort: "0", grpcDescriptors: fileWith(descriptors) },
  });
  const client = connectNode(carryover.grpcUrl ?? "", readDescriptors(descriptors));
  const tenants = [
    { own: rootGroup, foreign: otherRootGroup },
    { own: otherRootGroup, foreign: rootGroup },
  ].map((tenant) => ({ ...tenant, token: platform.token(`admin@${tenant.own}`) }));
  const found = { own: 0, foreign: 0, codes: new Map<number, number>() };
  const one = async (index: number): Promise<void> => {
    const { own, foreign, token } = tenants[index % 2] as (typeof tenants)[number];
    // Each operation by each tenant: translated lists and writes, v2, and an error that repeats what was asked.
    const calls = [
      ["iam.Groups/List", { uidp: { childrenOf: own } }],
      ["iam.Groups/Update", { id: own, name: "tenant", description: own }],
      ["iam.v2beta1.GroupsService/GetGroup", { uid: own }],
      ["iam.Groups/Delete", { id: `${own}/${String(index).padStart(16, "0")}` }],
      ["iam.Identities/List", { uidp: { childrenOf: own } }],
    ] as const;
    const [rpc, request] = calls[Math.floor(index / 2) % calls.length] as (typeof calls)[number];
    const outcome = await client.call({ rpc, request, token });
    const text = JSON.stringify(outcome);
    if (text.includes(own)) found.own++;
    if (text.includes(foreign)) found.foreign++;
    found.codes.set(outcome.code, (found.codes.get(outcome.code) ?? 0) + 1);
  };
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < CALLS) await one(next++);
  };
  try {
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  } finally {
    await client.close();
    await carryover.close();
    await platform.close();
  }
  expect(found.foreign).toBe(0);
  expect([...found.codes.keys()].sort()).toEqual([0, 5]);
  // Every response has a marker of its own tenant but for lists without a record.
  expect(found.own).toBeGreaterThanOrEqual(CALLS * 0.8);
});
