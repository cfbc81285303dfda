/** The operator's descriptors: what is read of them, and what is said where they lack something. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { VENDOR_TYPES } from "../../sandbox/src/data/vendor.ts";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import { readDescriptors } from "../../src/grpc/descriptors.ts";
import { gapsOf } from "../../src/grpc/gaps.ts";
import { versionOfService } from "../../src/grpc/rpcs.ts";
import { createRouter } from "../../src/router/router.ts";
import { startCarryover } from "../support/carryover.ts";
import { sharedCatalogue } from "../support/shared.ts";
import { fileWith } from "./support/translating.ts";

const bytes = seededSandbox().descriptors();
const catalogue = await sharedCatalogue("v2beta1");
const parts = {
  domains: new Set(["iam", "registry", "vulnerabilities", "events"]),
  route: createRouter({ ...catalogue, extraPrefixes: [] }),
};

it("every operation that v1 had is found by its HTTP rule", () => {
  expect(gapsOf(readDescriptors(bytes, parts), catalogue.resources)).toMatchObject({ translated: 51, operations: [] });
});

it("an rpc and a field that are missing are named", () => {
  const set = fromBinary(FileDescriptorSetSchema, bytes);
  for (const { service, messageType } of set.file) {
    for (const one of service) one.method = one.method.filter(({ name }) => name !== "GetSize");
    for (const one of messageType)
      if (one.name === "Group") one.field = one.field.filter(({ name }) => name !== "verified");
  }
  const gaps = gapsOf(readDescriptors(toBinary(FileDescriptorSetSchema, set), parts), catalogue.resources);
  expect(gaps).toMatchObject({
    translated: 50,
    operations: ["repo get-size"],
    fields: expect.arrayContaining(["group.verified"]),
  });
});

it("a file that cannot be used stops the start, and the message says why", async () => {
  const without = fromBinary(FileDescriptorSetSchema, bytes);
  without.file = without.file.filter(({ package: name }) => name.startsWith("google.protobuf"));
  const only = create(FileDescriptorSetSchema, {
    file: fromBinary(FileDescriptorSetSchema, bytes).file.filter(({ name }) => name.startsWith("google/")),
  });
  for (const [contents, why] of [
    ['syntax = "proto3";', /no FileDescriptorSet/],
    [toBinary(FileDescriptorSetSchema, without), /annotations\.proto is not in it.*--include_imports/],
    [toBinary(FileDescriptorSetSchema, only), /no service in it belongs to the API/],
  ] as const) {
    const flags = { listenGrpcPort: "0", grpcDescriptors: fileWith(contents) };
    await expect(startCarryover({ v2Url: "http://127.0.0.1:1", flags })).rejects.toThrow(why);
  }
});

it("a service's version follows from its package", () => {
  const version = (service: string) => versionOfService(service, parts.domains);
  expect(version(`${VENDOR_TYPES}.iam.Groups`)).toBe("v1");
  expect(version(`${VENDOR_TYPES}.vulnerabilities.v1.Advisories`)).toBe("v1");
  expect(version(`${VENDOR_TYPES}.iam.v2beta1.GroupsService`)).toBe("v2");
  expect(version(`${VENDOR_TYPES}.iam.v2.GroupsService`)).toBe("v2");
  expect(version("grpc.health.v1.Health")).toBe("platform");
  for (const other of ["iam", "v2.iam", "other.v2.Service", "grpc.channelz.v1.Channelz"])
    expect(version(other)).toBeUndefined();
});
