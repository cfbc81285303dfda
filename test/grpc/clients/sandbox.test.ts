import { fromJson, toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VENDOR_TYPES } from "../../../sandbox/src/data/vendor.ts";
import { ask } from "../../../sandbox/test/client.ts";
import { type GrpcClient, grpcClient } from "../../../sandbox/test/grpc-client.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { everyCall } from "./calls.ts";

// Two platforms that begin alike: one is called over gRPC, the other over HTTP.
const clock = () => new Date("2026-01-02T03:04:05.678Z");
const [overGrpc, overHttp] = [0, 1].map(() => seededSandbox({ recordTimes: "published", clock }));
if (overGrpc === undefined || overHttp === undefined) throw new Error("there are two");
let client: GrpcClient;

beforeAll(async () => {
  const { url } = await overGrpc.listen();
  client = grpcClient(overGrpc, url);
});

afterAll(async () => {
  client.close();
  await overGrpc.close();
});

test("every v1 operation of the sandbox has the same response over gRPC and over HTTP", async () => {
  const { registry } = client;
  const made = new Set<string>();
  await everyCall(
    overGrpc.wellKnown,
    async ({ rpc, request, http: [method, target, body], token = "admin" }) => {
      made.add(rpc);
      const got = await client.call(rpc, request, { token: overGrpc.token(token) });
      const { status, json } = await ask(overHttp, method, target, { body, token: overHttp.token(token) });
      const [service = "", name] = rpc.split("/");
      const output = registry
        .getService(`${VENDOR_TYPES}.${service}`)
        ?.methods.find((one) => one.name === name)?.output;
      if (output === undefined) throw new Error(`no rpc ${rpc}`);
      expect([rpc, got.code, got.message, status]).toEqual([rpc, 0, "", 200]);
      // Strictly: a member of the JSON that the message lacks is an error.
      const same = toJson(output, fromJson(output, json, { registry }), { registry });
      expect(got.json, rpc).toEqual(same);
      return json;
    },
    true,
  );
  const v1 = [...registry].filter((one) => one.kind === "service" && !/^grpc\.|\.v2beta1\./.test(one.typeName));
  const rpcs = v1.flatMap((one) =>
    one.kind === "service"
      ? one.methods.map(({ name }) => `${one.typeName.slice(VENDOR_TYPES.length + 1)}/${name}`)
      : [],
  );
  expect([...made].sort()).toEqual(rpcs.sort());
  expect(overGrpc.snapshot()).toEqual(overHttp.snapshot());
});
