import { expect, test } from "vitest";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { ALIKE } from "../../grpc/clients/same.ts";
import { translating } from "../../grpc/support/translating.ts";
import { later, takeDownAfterEach } from "../../support/take-down.ts";
import { STEPS, sequence, withoutTimes } from "./sequence.ts";

takeDownAfterEach();

test("Go's generated clients create, list, change, import and destroy records, 40 at a time, as with native v1", async () => {
  const native = seededSandbox(ALIKE);
  const { url } = await native.listen();
  later(native.close);
  const expected = await sequence(url, native);
  const nothing = { create: 0, update: 0, remove: 0, failures: [], wrong: [] };
  expect(withoutTimes(expected.reports)).toMatchObject(STEPS.map(([step, did]) => ({ step, ...nothing, ...did })));

  const { sandbox, rpc } = await translating({}, { platform: ALIKE });
  const got = await sequence(rpc, sandbox);
  expect(withoutTimes(got.reports)).toEqual(withoutTimes(expected.reports));
  expect(got.records).toEqual(expected.records);
});
