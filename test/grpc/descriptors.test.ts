/** The operator's descriptors: what is read of them, and what is said where they lack something. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { VENDOR_TYPES } from "../../sandbox/src/data/vendor.ts";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import { gapsOf, readDescriptors } from "../../src/grpc/descriptors.ts";
import { createKnownRpcs, createOwners, versionOfService } from "../../src/grpc/rpcs.ts";
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

it("T-RPC-40: a file that cannot be used stops the start, and the message says why", async () => {
  const without = fromBinary(FileDescriptorSetSchema, bytes);
  without.file = without.file.filter(({ package: name }) => name.startsWith("google.protobuf"));
  const only = create(FileDescriptorSetSchema, {
    file: fromBinary(FileDescriptorSetSchema, bytes).file.filter(({ name }) => name.startsWith("google/")),
  });
  for (const [contents, why] of [
    ['syntax = "proto3";', /not a FileDescriptorSet/],
    [toBinary(FileDescriptorSetSchema, without), /annotations\.proto is not in it.*--include_imports/],
    [toBinary(FileDescriptorSetSchema, only), /no service in it belongs to the API/],
  ] as const) {
    const flags = { listenGrpcPort: "0", grpcDescriptors: fileWith(contents) };
    await expect(startCarryover({ v2Url: "http://127.0.0.1:1", flags })).rejects.toThrow(why);
  }
});

/** The same types as another tool would write them. */
function written(change: (files: FileDescriptorProto[]) => FileDescriptorProto[]): Uint8Array {
  const { file } = fromBinary(FileDescriptorSetSchema, bytes);
  return toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, { file: change(file) }));
}

describe("a set of descriptors is accepted", () => {
  const expected = readDescriptors(bytes, parts);
  const barely = (files: FileDescriptorProto[]): FileDescriptorProto[] => {
    for (const file of files) file.name = file.name.split("/").at(-1) ?? "";
    return files;
  };
  it.each<[string, Parameters<typeof written>[0]]>([
    ["in any order", (files) => files.reverse()],
    ["with files under other names than those of their imports, as Go's registry has them", barely],
    ["with two files of one name", (files) => files.map((file) => Object.assign(file, { name: "api.proto" }))],
    ["that two runs of protoc wrote, one after the other", (files) => [...files, ...barely(structuredClone(files))]],
    [
      "without the types that every language has",
      (files) => files.filter((file) => file.package !== "google.protobuf"),
    ],
  ])("%s", (_, change) => {
    const { rpcs, leftOut } = readDescriptors(written(change), parts);
    expect([...rpcs.keys()].sort()).toEqual([...expected.rpcs.keys()].sort());
    expect([...rpcs.values()].filter(({ route }) => route !== undefined)).toHaveLength(
      [...expected.rpcs.values()].filter(({ route }) => route !== undefined).length,
    );
    expect(leftOut).toEqual([]);
  });

  it("with files of no use to the API that lack an import, which are left out", () => {
    const stray = create(FileDescriptorProtoSchema, {
      name: "stray.proto",
      package: "acme.billing",
      syntax: "proto3",
      dependency: ["money.proto"],
      messageType: [{ name: "Bill", field: [{ name: "sum", number: 1, type: 11, label: 1, typeName: ".acme.Money" }] }],
    });
    expect(
      readDescriptors(
        written((files) => [stray, ...files]),
        parts,
      ).leftOut,
    ).toEqual(["stray.proto (needs acme.Money)"]);
  });
});

it("T-RPC-40: types that the API needs and the file lacks are named, and so are the imports that would bring them", () => {
  const lacking = written((files) =>
    files.filter(({ messageType }) => messageType.every(({ name }) => name !== "UIDPFilter")),
  );
  expect(() => readDescriptors(lacking, parts)).toThrow(
    /types are missing: .*\(needs \S*UIDPFilter\).*Imports without a file: \S+\.proto.*--include_imports/,
  );
});

it("no more names of rpcs are learned than metrics have room for", () => {
  const isKnown = createKnownRpcs((path) => path === "/s/Described");
  const served = (method: string) => isKnown({ service: "s", method, code: 0 });
  const learned = Array.from({ length: 1_001 }, (_, i) => served(`M${i}`));
  expect([learned.indexOf(false), served("M0"), served("Described")]).toEqual([1_000, true, true]);
});

it("a service's version follows from its package", () => {
  const version = (service: string) => versionOfService(service, parts.domains);
  expect(version(`${VENDOR_TYPES}.iam.Groups`)).toBe("v1");
  expect(version(`${VENDOR_TYPES}.vulnerabilities.v1.Advisories`)).toBe("v1");
  expect(version(`${VENDOR_TYPES}.iam.v2beta1.GroupsService`)).toBe("v2");
  expect(version(`${VENDOR_TYPES}.iam.v2.GroupsService`)).toBe("v2");
  expect(version("grpc.health.v1.Health")).toBe("platform");
  for (const other of [
    `${VENDOR_TYPES}.tenant.Records`,
    "iam",
    "v2.iam",
    "other.v2.Service",
    "grpc.channelz.v1.Channelz",
  ])
    expect(version(other)).toBeUndefined();
});

it.each([
  ["iam.Groups/List", "v1"],
  ["iam.v2beta1.GroupsService/ListGroups", "v2"],
  ["oidc.SecurityTokenService/Exchange", "sts"],
  ["oidc.v1.SecurityTokenService/ExchangeRefreshToken", "sts"],
  ["oidc.SecurityTokenService/Watch", "native"],
  ["auth.SecurityTokenService/Exchange", "native"],
  ["tenant.Records/List", "native"],
  ["skills.v1alpha1.Catalog/List", "native"],
  ["tenant.v2.Records/List", undefined],
  ["tenant.v2beta1.parts.Records/List", undefined],
  ["apk.Apk/Resolve", "v2"],
  ["apk.more.Apk/Resolve", "v2"],
  ["apks.Apk/Resolve", "native"],
  ["billing.v2.Invoices/List", "named"],
  ["billing.v2.Payments/List", undefined],
])("%s belongs to %s", (rpc, owner) => {
  const ownerOf = createOwners({ ...parts, extraServices: ["acme.apk", "v1:acme.billing.v2.Invoices"] });
  const [service = "", method = ""] = `acme.${rpc}`.split("/");
  expect(ownerOf(service, method)).toBe(owner);
});

it("a service without a package, and one of gRPC's own, are not served unless they are named", () => {
  const own = "grpc.channelz.v1.Channelz";
  expect(createOwners({ ...parts, extraServices: [] })("Groups", "List")).toBeUndefined();
  expect(createOwners({ ...parts, extraServices: [] })(own, "GetServers")).toBeUndefined();
  expect(createOwners({ ...parts, extraServices: [`v1:${own}`] })(own, "GetServers")).toBe("named");
  expect(createOwners({ ...parts, extraServices: [] })("grpc.health.v1.Health", "Check")).toBe("platform");
});
