/** Names that v1 has no number for: gRPC clients read zero, and put zero back. */
import { create, fromBinary, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { EnumValueDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import { takeDownAfterEach } from "../support/take-down.ts";
import { fileWith, translating } from "./support/translating.ts";

takeDownAfterEach();

it("T-RPC-05: a repo keeps a tier that its client could not see, and loses one that the client clears", async () => {
  const newerNames = { CatalogTier: ["CATALOG_TIER_QUANTUM"] };
  const { client, sandbox, sandboxUrl, exchanges } = await translating({}, { platform: { newerNames } });
  const { repo } = sandbox.wellKnown;
  const token = sandbox.token("staff");
  const inV2 = async (init: RequestInit = {}): Promise<JsonObject> => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${sandboxUrl}/registry/v2beta1/repos/${repo}`, { headers, ...init });
    return (await answer.json()) as JsonObject;
  };
  const put = async () => {
    const { json } = await client.call("registry.Registry/ListRepos", { id: repo }, { token });
    const [shown] = (json as { items: JsonObject[] }).items;
    const answer = await client.call("registry.Registry/UpdateRepo", { ...shown, description: "new" }, { token });
    return { shown, code: answer.code };
  };
  await inV2({ method: "PATCH", body: JSON.stringify({ catalogTier: "CATALOG_TIER_QUANTUM" }) });
  const hidden = await put();
  expect([hidden.code, hidden.shown?.["catalogTier"]]).toEqual([0, undefined]);
  expect(await inV2()).toMatchObject({ catalogTier: "CATALOG_TIER_QUANTUM", description: "new" });
  expect(exchanges.at(-1)?.notes).toContain("field-left-alone");

  await inV2({ method: "PATCH", body: JSON.stringify({ catalogTier: "CATALOG_TIER_AI" }) });
  const { json } = await client.call("registry.Registry/ListRepos", { id: repo }, { token });
  const { catalogTier, ...rest } = (json as { items: JsonObject[] }).items[0] ?? {};
  expect(catalogTier).toBe("AI");
  await client.call("registry.Registry/UpdateRepo", rest, { token });
  expect(await inV2()).toMatchObject({ catalogTier: "CATALOG_TIER_UNSPECIFIED" });
});

/** The sandbox's descriptors with further tiers of v2. */
function withTiers(tiers: Readonly<Record<string, number>>): string {
  const set = fromBinary(FileDescriptorSetSchema, seededSandbox().descriptors());
  const { enumType = [] } = set.file.find((file) => file.package.endsWith(".registry.v2beta1")) ?? {};
  const tier = enumType.find(({ name }) => name === "CatalogTier");
  if (tier === undefined) throw new Error("v2 has no tiers");
  tier.value.push(
    ...Object.entries(tiers).map((one) => create(EnumValueDescriptorProtoSchema, { name: one[0], number: one[1] })),
  );
  return fileWith(toBinary(FileDescriptorSetSchema, set));
}

it.each([
  ["v2's number where v1's enum leaves it free", 99, 99, false],
  ["zero and a count where v1's enum has that number", 7, undefined, true],
])("a tier that v1 does not know is %s", async (_what, number, shown, isCounted) => {
  const newerNames = { CatalogTier: ["CATALOG_TIER_QUANTUM"] };
  const grpcDescriptors = withTiers({ CATALOG_TIER_QUANTUM: number });
  const { client, sandbox, sandboxUrl, exchanges } = await translating(
    { grpcDescriptors },
    { platform: { newerNames } },
  );
  const { repo } = sandbox.wellKnown;
  const token = sandbox.token("staff");
  await fetch(`${sandboxUrl}/registry/v2beta1/repos/${repo}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ catalogTier: "CATALOG_TIER_QUANTUM" }),
  });
  const { json } = await client.call("registry.Registry/ListRepos", { id: repo }, { token });
  expect((json as { items: JsonObject[] }).items[0]?.["catalogTier"]).toEqual(shown);
  const counted = exchanges[0]?.unknownFields.filter(({ name }) => name === "catalogTier") ?? [];
  expect(counted).toEqual(isCounted ? [{ direction: "response", name: "catalogTier" }] : []);
});
