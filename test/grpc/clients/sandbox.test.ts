import { expect, test } from "vitest";
import { VENDOR_TYPES } from "../../../sandbox/src/data/vendor.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { connectNode, grpcJs, readDescriptors } from "./clients.ts";
import { expectSame, expectSameRefusals } from "./same.ts";

const CLIENTS = [
  ["grpc-js", grpcJs],
  ["connect-node", connectNode],
] as const;

test.each(CLIENTS)("every v1 operation of the sandbox has the same response for %s as over HTTP", async (_, start) => {
  // Two platforms that begin alike.
  const options = { recordTimes: "published", clock: () => new Date("2026-01-02T03:04:05.678Z") } as const;
  const overGrpc = seededSandbox(options);
  const overHttp = seededSandbox(options);
  const registry = readDescriptors(overGrpc.descriptors());
  const client = start((await overGrpc.listen()).url, registry);
  try {
    const made = await expectSame(client, registry, overHttp, overGrpc.token, true);
    const isV1 = (name: string) => name.startsWith(VENDOR_TYPES) && !name.includes(".v2beta1.");
    const services = [...registry].flatMap((one) => (one.kind === "service" && isV1(one.typeName) ? one : []));
    const all = services.flatMap(({ typeName, methods }) =>
      methods.map(({ name }) => `${typeName.slice(VENDOR_TYPES.length + 1)}/${name}`),
    );
    expect(made).toEqual(all.sort());
    await expectSameRefusals(client, overHttp, overGrpc.token);
    expect(overGrpc.snapshot()).toEqual(overHttp.snapshot());
  } finally {
    await client.close();
    await overGrpc.close();
  }
});
