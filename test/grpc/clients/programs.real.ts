import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VENDOR_TYPES } from "../../../sandbox/src/data/vendor.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { startCarryover } from "../../support/carryover.ts";
import { fileWith } from "../support/translating.ts";
import { everyCall } from "./calls.ts";
import { program, readDescriptors } from "./clients.ts";
import { ALIKE, everyOperationThroughCarryover, expectSame, expectSameRefusals } from "./same.ts";

/** Where `scripts/install-grpc-tools.sh` puts them. */
const TOOLS = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci/grpc/bin");

const CALLS = join(TOOLS, "calls");

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
