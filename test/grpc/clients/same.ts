/** Makes every call with a gRPC client, and over HTTP on a platform that begins alike: the two must not differ. */
import { type FileRegistry, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { expect } from "vitest";
import type { Sandbox } from "../../../sandbox/src/sandbox.ts";
import { ask } from "../../../sandbox/test/client.ts";
import { seededSandbox } from "../../../sandbox/test/seeded.ts";
import { startCarryover } from "../../support/carryover.ts";
import { fileWith } from "../support/translating.ts";
import { everyCall, type Make } from "./calls.ts";
import { type Client, methodOf, readDescriptors } from "./clients.ts";

/** What two platforms need to begin alike and to stay so. */
export const ALIKE = { recordTimes: "published", clock: () => new Date("2026-01-02T03:04:05.678Z") } as const;

/** Compares carryover, which serves from v2, with native v1. Gives the rpcs that were called. */
export async function everyOperationThroughCarryover(
  start: (url: string, registry: FileRegistry) => Client,
): Promise<string[]> {
  const platform = seededSandbox(ALIKE);
  const native = seededSandbox(ALIKE);
  const { token, wellKnown } = platform;
  const registry = readDescriptors(platform.descriptors());
  const served = new Set<string>();
  const carryover = await startCarryover({
    v2Url: (await platform.listen()).url,
    flags: { listenGrpcPort: "0", grpcDescriptors: fileWith(platform.descriptors()), v1RecordTimes: "published" },
    onExchange: ({ mode, resource, operation }) => served.add(`${mode} ${resource} ${operation}`),
  });
  const client = start(carryover.grpcUrl ?? "", registry);
  try {
    const made = await expectSame(client, registry, native, token, (make) => everyCall(wellKnown, make, false));
    expect(platform.snapshot()).toEqual(native.snapshot());
    await expectSameRefusals(client, native, token);
    expect([served.size, [...served].filter((one) => !one.startsWith("translate "))]).toEqual([made.length, []]);
    return made;
  } finally {
    await client.close();
    await carryover.close();
    await platform.close();
  }
}

/** `token` makes a token for `client`; `calls` makes the calls. Gives the rpcs that were called. */
export async function expectSame(
  client: Client,
  registry: FileRegistry,
  overHttp: Sandbox,
  token: (name: string) => string,
  calls: (make: Make) => Promise<void>,
): Promise<string[]> {
  const made = new Set<string>();
  await calls(async ({ rpc, request, http: [method, target, body], ...rest }) => {
    const name = rest.token ?? "admin";
    made.add(rpc);
    const got = await client.call({ rpc, request, token: token(name) });
    const { status, json } = await ask(overHttp, method, target, { body, token: overHttp.token(name) });
    expect([rpc, got.code, got.message, status]).toEqual([rpc, 0, "", 200]);
    const { output } = methodOf(registry, rpc);
    // Strictly: a member of the JSON that the message lacks is an error.
    const expected = toJson(output, fromJson(output, json, { registry }), { registry });
    expect(promised(got.response), rpc).toEqual(promised(expected));
    return json;
  });
  return [...made].sort();
}

/** v1 promises no order of a list, and nothing about the text of a page token. */
function promised(response: JsonValue | undefined): JsonValue | undefined {
  if (typeof response !== "object" || response === null || Array.isArray(response)) return response;
  const { items, ...rest } = response;
  if (!Array.isArray(items)) return response;
  const id = (item: JsonValue): string => String((item as { id?: string }).id);
  const token = "nextPageToken" in rest ? { nextPageToken: "some" } : {};
  return { ...rest, ...token, items: items.toSorted((a, b) => (id(a) < id(b) ? -1 : 1)) };
}

/** A refusal, too, has the same code, message and typed details. */
export async function expectSameRefusals(client: Client, overHttp: Sandbox, token: (name: string) => string) {
  const { rootGroup } = overHttp.wellKnown;
  const refused = async (rpc: string, request: object, http: readonly [string, string, object?], name = "admin") => {
    const { details, ...got } = await client.call({ rpc, request, token: token(name) });
    const { json } = await ask(overHttp, http[0], http[1], { body: http[2], token: overHttp.token(name) });
    expect(got, rpc).toEqual({ code: json.code, message: json.message });
    expect(withoutZeros(details), rpc).toEqual(withoutZeros(json.details));
    return got.code;
  };
  const codes = [
    await refused("iam.Groups/Delete", { id: rootGroup }, ["DELETE", `/iam/v1/groups/${rootGroup}`]),
    await refused("iam.Groups/Create", { parent: rootGroup, group: { name: "Ü" } }, [
      "POST",
      `/iam/v1/groups/${rootGroup}`,
      { name: "Ü" },
    ]),
    await refused("iam.Groups/Delete", { id: "none" }, ["DELETE", "/iam/v1/groups/none"]),
    await refused(
      "registry.Registry/DeleteRepo",
      { id: rootGroup },
      ["DELETE", `/registry/v1/repos/${rootGroup}`],
      "viewer",
    ),
  ];
  expect(codes).toEqual([9, 3, 5, 7]);
}

/** JSON over HTTP says zeros that a binary message does not have. */
function withoutZeros(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutZeros);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, one]) => [key, withoutZeros(one)] as const);
  return Object.fromEntries(members.filter(([, one]) => one !== "" && one !== null && JSON.stringify(one) !== "{}"));
}
