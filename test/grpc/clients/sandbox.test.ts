import { describe, expect, test } from "vitest";
import { VENDOR_TYPES } from "../../../sandbox/src/data/vendor.ts";
import type { WellKnown } from "../../../sandbox/src/seed/seed.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { everyCall, type Make } from "./calls.ts";
import { connectNode, grpcJs, readDescriptors } from "./clients.ts";
import { ALIKE, expectSame, expectSameRefusals } from "./same.ts";
import { everyV2Call } from "./v2-calls.ts";

const CLIENTS = [
  ["grpc-js", grpcJs],
  ["connect-node", connectNode],
] as const;
const registry = readDescriptors(seededSandbox().descriptors());

/** The rpcs of the platform, in v1 or in v2. Token exchange belongs to neither. */
function allRpcs(isV2: boolean): string[] {
  const services = [...registry].flatMap((one) => (one.kind === "service" ? one : []));
  const own = services.filter(({ typeName }) => typeName.startsWith(VENDOR_TYPES) && !typeName.includes(".oidc."));
  return own
    .filter(({ typeName }) => typeName.includes(".v2beta1.") === isV2)
    .flatMap(({ typeName, methods }) => methods.map(({ name }) => `${typeName.slice(VENDOR_TYPES.length + 1)}/${name}`))
    .sort();
}

describe.each(CLIENTS)("%s", (_, start) => {
  test.each([
    ["v1", (known: WellKnown, make: Make) => everyCall(known, make, true)],
    ["v2", everyV2Call],
  ])("gets the same response to every operation of %s as over HTTP", async (version, calls) => {
    // Two platforms that begin alike.
    const overGrpc = seededSandbox(ALIKE);
    const overHttp = seededSandbox(ALIKE);
    const client = start((await overGrpc.listen()).url, registry);
    const { token, wellKnown } = overGrpc;
    try {
      const made = await expectSame(client, registry, overHttp, token, (make) => calls(wellKnown, make));
      expect(made).toEqual(allRpcs(version === "v2"));
      expect(overGrpc.snapshot()).toEqual(overHttp.snapshot());
      await expectSameRefusals(client, overHttp, token);
    } finally {
      await client.close();
      await overGrpc.close();
    }
  });
});
