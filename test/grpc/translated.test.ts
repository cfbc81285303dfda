/** Every v1 operation that carryover translates, over gRPC and over HTTP: two platforms that begin alike, a carryover before each. */
import { type DescMethod, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { VENDOR_TYPES } from "../../sandbox/src/data/vendor.ts";
import { type GrpcClient, grpcClient } from "../../sandbox/test/grpc-client.ts";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import type { Exchange } from "../../src/model/exchange.ts";
import { type Carryover, startCarryover } from "../support/carryover.ts";
import { everyCall } from "./clients/calls.ts";
import { fileWith } from "./support/translating.ts";

const clock = () => new Date("2026-01-02T03:04:05.678Z");
const [overGrpc, overHttp] = [0, 1].map(() => seededSandbox({ recordTimes: "published", clock }));
if (overGrpc === undefined || overHttp === undefined) throw new Error("there are two");
const exchanges: Exchange[] = [];
let [first, second]: Carryover[] = [];
let client: GrpcClient;

beforeAll(async () => {
  const file = fileWith(overGrpc.descriptors());
  [first, second] = await Promise.all(
    [overGrpc, overHttp].map(async (sandbox) =>
      startCarryover({
        v2Url: (await sandbox.listen()).url,
        flags: { listenGrpcPort: "0", grpcDescriptors: file, v1RecordTimes: "published" },
        onExchange: (exchange) => exchanges.push(exchange),
      }),
    ),
  );
  client = grpcClient(overGrpc, first?.grpcUrl ?? "");
});

beforeEach(() => {
  exchanges.length = 0;
});

afterAll(async () => {
  client.close();
  await Promise.all([first?.close(), second?.close(), overGrpc.close(), overHttp.close()]);
});

function methodOf(rpc: string): DescMethod {
  const [service = "", name] = rpc.split("/");
  const found = client.registry.getService(`${VENDOR_TYPES}.${service}`)?.methods.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no rpc ${rpc}`);
  return found;
}

it("every operation has the same response over gRPC and over HTTP, and leaves the same records", async () => {
  const { registry } = client;
  const names = new Set<string>();
  await everyCall(
    overGrpc.wellKnown,
    async ({ rpc, request, http: [method, target, body], ...call }) => {
      const token = call.token ?? "admin";
      const got = await client.call(rpc, request, { token: overGrpc.token(token) });
      const answer = await fetch(`${second?.url}${target}`, {
        method,
        headers: { authorization: `Bearer ${overHttp.token(token)}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const json = (await answer.json()) as JsonValue;
      const { output } = methodOf(rpc);
      expect([rpc, answer.status, answer.status === 200 ? "" : json, got.code, got.message]).toEqual([
        rpc,
        200,
        "",
        0,
        "",
      ]);
      // Strictly: a member of the JSON that the message lacks is an error.
      const same = toJson(output, fromJson(output, json, { registry }), { registry });
      expect(got.json, rpc).toEqual(same);
      await expect.poll(() => exchanges.length).toBe(2);
      const [one, other] = exchanges.splice(0);
      names.add(`${one?.resource} ${one?.operation}`);
      const facts = ({ apiVersion, resource, operation, mode, status, calls }: Exchange) => ({
        ...{ apiVersion, resource, operation, mode, status },
        // Those that run at the same time end in any order.
        calls: calls.map((call) => `${call.method} ${call.path} ${call.status}`).sort(),
      });
      expect(one && facts(one)).toEqual(other && facts(other));
      return json;
    },
    false,
  );
  expect(names.size).toBe(51);
  expect(overGrpc.snapshot()).toEqual(overHttp.snapshot());
});
