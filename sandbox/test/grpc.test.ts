import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask } from "./client.ts";
import { framed, type GrpcClient, grpcClient } from "./grpc-client.ts";
import { seededSandbox } from "./seeded.ts";

const sandbox = seededSandbox({ maxBodyBytes: 100_000 });
let client: GrpcClient;

beforeAll(async () => {
  const { url } = await sandbox.listen();
  client = grpcClient(sandbox, url);
});

afterAll(async () => {
  client.close();
  await sandbox.close();
});

test("a v1 list over gRPC has the records of the list over HTTP", async () => {
  const { code, json } = await client.call("iam.Groups/List", { name: "acme" });
  expect(code).toBe(0);
  const http = await ask(sandbox, "GET", "/iam/v1/groups?name=acme");
  expect(json.items.map((item: { id: string }) => item.id)).toEqual(
    http.json.items.map((item: { id: string }) => item.id),
  );
  expect(json.items).toHaveLength(1);
});

test("a refusal has its code, its message and its typed details", async () => {
  const { code, message, details } = await client.call("iam.Groups/Delete", { id: sandbox.wellKnown.rootGroup });
  const http = await ask(sandbox, "DELETE", `/iam/v1/groups/${sandbox.wellKnown.rootGroup}`);
  expect({ code, message }).toEqual({ code: http.json.code, message: http.json.message });
  expect(code).toBe(9);
  expect(details.map((one: { "@type": string }) => one["@type"])).toEqual([
    "type.googleapis.com/google.rpc.ErrorInfo",
    "type.googleapis.com/google.rpc.PreconditionFailure",
  ]);
});

test("a compressed request is read, within the limit of a message", async () => {
  const empty = framed(gzipSync(Buffer.of()), 1);
  const headers = { "grpc-encoding": "gzip" };
  expect((await client.call("iam.Groups/List", {}, { raw: empty, headers })).code).toBe(0);
  const bomb = framed(gzipSync(Buffer.alloc(200_000)), 1);
  expect((await client.call("iam.Groups/List", {}, { raw: bomb, headers })).code).toBe(8);
});
