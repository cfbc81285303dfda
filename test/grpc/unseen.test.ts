/** Names that v1 has no number for: gRPC clients read zero, and put zero back. */
import type { JsonObject } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { takeDownAfterEach } from "../support/take-down.ts";
import { translating } from "./support/translating.ts";

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
