/** Envoy's reverse transcoder before carryover's HTTP port, beside carryover's own answers over HTTP. */
import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, it } from "vitest";
import { VENDOR_TYPES } from "../../../sandbox/src/data/vendor.ts";
import { type GrpcClient, grpcClient } from "../../../sandbox/test/grpc-client.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { later, takeDownAfterAll } from "../../end-to-end/app/rig.ts";
import { everyCall } from "../../grpc/clients/calls.ts";
import { fileWith } from "../../grpc/support/translating.ts";
import { type Carryover, startCarryover } from "../../support/carryover.ts";
import { PROGRAMS, type Program } from "./programs.ts";
import { startProxy } from "./proxy.ts";

const clock = () => new Date("2026-01-02T03:04:05.678Z");
const [overGrpc, overHttp] = [0, 1].map(() => seededSandbox({ recordTimes: "published", clock }));
if (overGrpc === undefined || overHttp === undefined) throw new Error("there are two");
let client: GrpcClient;
let second: Carryover;

takeDownAfterAll();

/** Envoy with the other recipe. */
function transcoder(): Program {
  const envoy = PROGRAMS.find(({ name }) => name === "envoy");
  if (envoy === undefined) throw new Error("there is no Envoy");
  const recipe = "envoy-transcoder.yaml";
  const named = (words: readonly string[]) => words.map((word) => word.replace(envoy.recipe, recipe));
  return { ...envoy, recipe, check: (folder) => named(envoy.check(folder)), run: (folder) => named(envoy.run(folder)) };
}

beforeAll(async () => {
  const [first, other] = await Promise.all(
    [overGrpc, overHttp].map(async (sandbox) =>
      startCarryover({ v2Url: (await sandbox.listen()).url, flags: { v1RecordTimes: "published" } }),
    ),
  );
  if (first === undefined || other === undefined) throw new Error("there are two");
  second = other;
  const { url } = await startProxy(transcoder(), {
    carryoverUrl: first.url,
    adminUrl: first.adminUrl,
    platformUrl: first.url,
    descriptors: fileWith(overGrpc.descriptors()),
  });
  client = grpcClient(overGrpc, url);
  later(async () => {
    await Promise.all([first.close(), second.close(), overGrpc.close(), overHttp.close()]);
  });
});

afterAll(() => client?.close());

it("serves every v1 operation that carryover translates as over HTTP", async () => {
  const { registry } = client;
  const made = new Set<string>();
  await everyCall(
    overGrpc.wellKnown,
    async ({ rpc, request, http: [method, target, body], ...call }) => {
      made.add(rpc);
      // In v2 only staff may write the readme of a repo, which is part of v1's record.
      const token = call.token ?? (rpc === "registry.Registry/CreateRepo" ? "staff" : "admin");
      const got = await client.call(rpc, request, { token: overGrpc.token(token) });
      const answer = await fetch(`${second.url}${target}`, {
        method,
        headers: { authorization: `Bearer ${overHttp.token(token)}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const json = (await answer.json()) as JsonValue;
      expect([rpc, answer.status, got.code, got.message]).toEqual([rpc, 200, 0, ""]);
      const [service = "", name] = rpc.split("/");
      const output = registry
        .getService(`${VENDOR_TYPES}.${service}`)
        ?.methods.find((one) => one.name === name)?.output;
      if (output === undefined) throw new Error(`no rpc ${rpc}`);
      expect(got.json, rpc).toEqual(toJson(output, fromJson(output, json, { registry }), { registry }));
      return json;
    },
    false,
  );
  expect(made.size).toBeGreaterThan(40);
  expect(overGrpc.snapshot()).toEqual(overHttp.snapshot());
});

it("makes the code of an error from its HTTP status, and its message from the JSON body, without details", async () => {
  const { code, message, details } = await client.call("iam.Groups/Delete", { id: overGrpc.wellKnown.rootGroup });
  // FAILED_PRECONDITION (9) is 400 over HTTP, which Envoy takes for INTERNAL.
  expect([code, details]).toEqual([13, undefined]);
  expect(JSON.parse(message)).toMatchObject({ code: 9 });
  const missing = await client.call("iam.Groups/Delete", { id: `${overGrpc.wellKnown.rootGroup}/0123456789abcdef` });
  // NOT_FOUND (5) is 404, which Envoy takes for UNIMPLEMENTED.
  expect([missing.code, JSON.parse(missing.message).code]).toEqual([12, 5]);
});

it("serves no v2, and no health check", async () => {
  for (const path of [`${VENDOR_TYPES}.iam.v2beta1.GroupsService/ListGroups`, "grpc.health.v1.Health/Check"]) {
    expect([path, (await client.call(path, {})).code]).not.toEqual([path, 0]);
  }
});
