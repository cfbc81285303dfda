import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VENDOR_TYPES } from "../../../sandbox/src/data/vendor.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { everyCall } from "../../grpc/clients/calls.ts";
import { program, readDescriptors } from "../../grpc/clients/clients.ts";
import { ALIKE, everyOperationThroughCarryover, expectSame, expectSameRefusals } from "../../grpc/clients/same.ts";
import { platform, unary } from "../../grpc/support/rpc.ts";
import { fileWith } from "../../grpc/support/translating.ts";
import { createDouble } from "../../server/support/double.ts";
import { startCarryover } from "../../support/carryover.ts";
import { takeDownAfterAll } from "../../support/take-down.ts";

/** Where `scripts/install-grpc-tools.sh` puts them. */
const TOOLS = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci/grpc/bin");

const CALLS = join(TOOLS, "calls");

takeDownAfterAll();

const overGrpc = seededSandbox(ALIKE);
const overHttp = seededSandbox(ALIKE);
let url: string;

beforeAll(async () => {
  ({ url } = await overGrpc.listen());
});

afterAll(() => overGrpc.close());

test("Go's generated clients get of every v1 operation what HTTP gets", async () => {
  const client = program(CALLS, url);
  try {
    const made = await expectSame(client, readDescriptors(overGrpc.descriptors()), overHttp, overGrpc.token, (make) =>
      everyCall(overGrpc.wellKnown, make, true),
    );
    expect(made).toHaveLength(56);
    await expectSameRefusals(client, overHttp, overGrpc.token);
  } finally {
    await client.close();
  }
});

test("Go's generated clients get through carryover, from v2, what native v1 responds", async () => {
  expect(await everyOperationThroughCarryover((front) => program(CALLS, front))).toHaveLength(51);
});

test("a client of grpc-go that meets the port for HTTP gets UNIMPLEMENTED at once, and hears which port to call", async () => {
  const carryover = await startCarryover({ v2Url: url });
  const client = program(CALLS, carryover.url);
  // grpcurl waits until it is connected, as clients that dial with WithBlock do.
  const words = ["-plaintext", "-protoset", fileWith(overGrpc.descriptors()), new URL(carryover.url).host];
  words.push(`${VENDOR_TYPES}.iam.Groups/List`);
  const waits = promisify(execFile)(join(TOOLS, "grpcurl"), words).catch(({ stderr }: { stderr: string }) => stderr);
  try {
    const { code, message } = await client.call({ rpc: "iam.Groups/List", request: {}, token: "t" });
    expect([code, message]).toEqual([12, expect.stringContaining("gRPC is served on listen.grpc.port")]);
    expect(await waits).toContain("gRPC is served on listen.grpc.port");
  } finally {
    await client.close();
    await carryover.close();
  }
});

test("a call that Go's client sends is refused before it is whole with its status, and the connection goes on", async () => {
  const carryover = await startCarryover({
    v2Url: url,
    flags: { listenGrpcPort: "0", grpcDescriptors: fileWith(overGrpc.descriptors()), limitsBodyBytes: "2KiB" },
  });
  const client = program(CALLS, carryover.grpcUrl ?? "");
  const token = overGrpc.token("admin");
  const { rootGroup: id } = overGrpc.wellKnown;
  try {
    for (let i = 0; i < 3; i++) {
      const refused = await client.call({
        rpc: "iam.Groups/Update",
        request: { id, description: "x".repeat(2 ** 20) },
        token,
      });
      expect(refused).toMatchObject({
        code: 8,
        message: expect.stringContaining("the limit is 2048"),
        details: [{ reason: "MESSAGE_TOO_LARGE" }],
      });
      expect(await client.call({ rpc: "iam.Groups/List", request: { id }, token })).toMatchObject({ code: 0 });
    }
  } finally {
    await client.close();
    await carryover.close();
  }
});

test("Go's client gets the first details of an error that is longer than trailers may be, and hears that some are left out", async () => {
  const violations = Array.from({ length: 390 }, (_, i) => ({ field: `f${i}`, description: "d".repeat(60) }));
  const details = [{ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: violations }];
  const body = JSON.stringify({ code: 3, message: "bad", details });
  const head = `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const double = await createDouble(Buffer.from(head + body));
  const carryover = await startCarryover({
    v2Url: double.url,
    flags: { listenGrpcPort: "0", grpcDescriptors: fileWith(overGrpc.descriptors()) },
  });
  const client = program(CALLS, carryover.grpcUrl ?? "");
  try {
    const request = { parent: overGrpc.wellKnown.rootGroup, group: { name: "g" } };
    const got = await client.call({ rpc: "iam.Groups/Create", request, token: "t" });
    expect([got.code, got.message]).toEqual([3, expect.stringMatching(/^bad \(without \d+ entries of its details/)]);
    const [shown] = got.details as { fieldViolations: unknown[] }[];
    expect(shown?.fieldViolations[0]).toEqual(violations[0]);
  } finally {
    await client.close();
    await carryover.close();
    await double.close();
  }
});

test("grpcurl calls a service that only listen.grpc.extraServices names, through carryover", async () => {
  const services =
    'syntax = "proto3"; package acme.tenant.v2; message R { string id = 1; } service S { rpc Get(R) returns (R); }';
  const directory = dirname(fileWith(services));
  const behind = await platform(unary((request) => [request]));
  const flags = { listenGrpcPort: "0", grpcDescriptors: fileWith(overGrpc.descriptors()) };
  const call = async (more: Record<string, string>) => {
    const carryover = await startCarryover({ v2Url: behind.url, flags: { ...flags, ...more } });
    const words = ["-plaintext", "-import-path", directory, "-proto", "file", "-d", '{"id":"x"}'];
    words.push(new URL(carryover.grpcUrl ?? "").host, "acme.tenant.v2.S/Get");
    const run = promisify(execFile)(join(TOOLS, "grpcurl"), words);
    const said = await run.then(
      ({ stdout }) => stdout,
      ({ stderr }: { stderr: string }) => stderr,
    );
    await carryover.close();
    return said;
  };
  expect(JSON.parse(await call({ listenGrpcExtraServices: "acme.tenant.v2" }))).toEqual({ id: "x" });
  expect(await call({})).toContain("Unimplemented");
});

test("grpcurl finds the services and calls one without any descriptors of its own", async () => {
  const { host } = new URL(url);
  const grpcurl = async (options: string[], ...words: string[]) =>
    (await promisify(execFile)(join(TOOLS, "grpcurl"), ["-plaintext", ...options, host, ...words])).stdout;
  const services = (await grpcurl([], "list")).split("\n");
  expect(services).toContain(`${VENDOR_TYPES}.iam.Groups`);
  expect(services).toContain(`${VENDOR_TYPES}.iam.v2beta1.GroupsService`);
  const uid = overGrpc.wellKnown.rootGroup;
  const options = ["-H", `authorization: Bearer ${overGrpc.token("admin")}`, "-d", JSON.stringify({ uid })];
  const got = await grpcurl(options, `${VENDOR_TYPES}.iam.v2beta1.GroupsService/GetGroup`);
  expect(JSON.parse(got).uid).toBe(uid);
  expect(await grpcurl([], "grpc.health.v1.Health/Check")).toContain("SERVING");
});
