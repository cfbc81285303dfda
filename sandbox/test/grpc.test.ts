import { gzipSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { VENDOR_TYPES } from "../src/data/vendor.ts";
import type { SandboxOptions } from "../src/options.ts";
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

/** Runs `run` with a client of a sandbox of its own. */
async function withSandbox(options: SandboxOptions, run: (client: GrpcClient) => Promise<void>): Promise<void> {
  const own = seededSandbox(options);
  const ownClient = grpcClient(own, (await own.listen()).url);
  try {
    await run(ownClient);
  } finally {
    ownClient.close();
    await own.close();
  }
}

// Messages in binary by hand: client and server are made of the same descriptors and would share a wrong field number.
function varint(value: number): Buffer {
  return value < 128 ? Buffer.of(value) : Buffer.concat([Buffer.of((value & 127) | 128), varint(value >> 7)]);
}

/** Field `number` with a text, or a message made of such fields. */
function field(number: number, ...parts: (string | Buffer)[]): Buffer {
  const value = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  return Buffer.concat([varint(number * 8 + 2), varint(value.length), value]);
}

/** The numbers of the fields in `bytes`, all of which are texts or messages. */
function numbersIn(bytes: Uint8Array | undefined): number[] {
  const found: number[] = [];
  let rest = Buffer.from(bytes ?? []);
  const next = (): number => {
    const byte = rest[0] ?? 0;
    rest = rest.subarray(1);
    return byte < 128 ? byte : (byte & 127) + 128 * next();
  };
  while (rest.length > 0) {
    found.push(Math.floor(next() / 8));
    const size = next();
    rest = rest.subarray(size);
  }
  return found;
}

test("fields have the numbers of the published messages, which differ between v1 and v2", async () => {
  const { rootGroup } = sandbox.wellKnown;
  const keys = { issuer: "https://issuer.example.com", subject: "s", issuerKeys: "{}" };
  const both = [field(1, keys.issuer), field(2, keys.subject)];
  const create = (...identity: Buffer[]) => framed(Buffer.concat([field(1, rootGroup), field(2, ...identity)]));
  const v1 = await client.call(
    "iam.Identities/Create",
    {},
    {
      raw: create(field(2, "one"), field(11, ...both, field(4, "{}"))),
    },
  );
  expect(v1.json).toMatchObject({ name: "one", static: keys });
  expect(numbersIn(v1.bytes)).toEqual([1, 2, 4, 5, 9, 11]);
  const v2 = await client.call(
    "iam.v2beta1.IdentitiesService/CreateIdentity",
    {},
    {
      raw: create(field(2, "two"), field(21, ...both, field(3, "{}"))),
    },
  );
  expect(v2.json).toMatchObject({ name: "two", staticKeys: keys });
  expect(numbersIn(v2.bytes)).toEqual([1, 2, 8, 9, 10, 21]);
});

test("a refusal has its code, its message and its typed details", async () => {
  const uid = sandbox.wellKnown.rootGroup;
  const { code, message, details } = await client.call("iam.Groups/Delete", { id: uid });
  const http = await ask(sandbox, "DELETE", `/iam/v1/groups/${uid}`);
  expect({ code, message }).toEqual({ code: http.json.code, message: http.json.message });
  expect(code).toBe(9);
  expect(details.map((one: { "@type": string }) => one["@type"])).toEqual([
    "type.googleapis.com/google.rpc.ErrorInfo",
    "type.googleapis.com/google.rpc.PreconditionFailure",
  ]);
  const unknown = await client.call("iam.Groups/Delete", { id: "ü 100 %" });
  expect([unknown.code, unknown.message]).toEqual([5, "Not found: Group ü 100 %"]);
  expect(unknown.headers["grpc-message"]).toBe("Not found: Group %C3%BC 100 %25");
  expect((await client.call("iam.Groups/List", {}, { token: undefined })).code).toBe(16);
});

test("a gated call tells by a detail of the platform's own which terms are missing", async () => {
  await withSandbox({ gated: () => true }, async (gated) => {
    const { code, details } = await gated.call("iam.Groups/List", {});
    expect(code).toBe(9);
    expect(details[1]["@type"]).toBe(`type.googleapis.com/${VENDOR_TYPES}.iam.TermsNotAcceptedDetail`);
    expect(details[1].missing[0].label).toBe("Terms of service");
  });
});

describe("the messages of a request", () => {
  const send = (raw: Uint8Array, encoding?: string) =>
    client.call("iam.Groups/List", {}, { raw, headers: encoding === undefined ? {} : { "grpc-encoding": encoding } });
  const empty = Buffer.of();

  test("may be compressed, within the limit of a message", async () => {
    expect((await send(framed(gzipSync(field(3, "acme")), 1), "gzip")).json.items).toHaveLength(1);
    expect((await send(framed(gzipSync(Buffer.alloc(200_000)), 1), "gzip")).code).toBe(8);
    expect((await send(framed(empty, 1))).code).toBe(13);
    expect((await send(framed(Buffer.from("no gzip"), 1), "gzip")).code).toBe(13);
    expect((await send(framed(empty, 1), "br")).code).toBe(12);
  });

  test("are one, whole, not too long, and of the right type", async () => {
    expect((await send(empty)).code).toBe(13);
    expect((await send(Buffer.concat([framed(empty), framed(empty)]))).code).toBe(13);
    expect((await send(Buffer.concat([framed(empty), framed(empty).subarray(0, 3)]))).code).toBe(13);
    expect((await send(Buffer.of(0, 255, 255, 255, 255))).code).toBe(8);
    expect((await send(framed(Buffer.of(255)))).code).toBe(13);
  });
});

test("a parameter keeps what means something in a query", async () => {
  expect((await client.call("iam.Groups/List", { name: "none&name=acme" })).json).toEqual({});
});

test("a method that there is not is unimplemented", async () => {
  expect((await client.call("iam.Groups/None", {})).code).toBe(12);
  expect((await client.call("None/None", {})).code).toBe(12);
});

test("a call ends with its deadline, and with its client", async () => {
  await withSandbox({ latencyMs: 60_000 }, async (slow) => {
    expect((await slow.call("iam.Groups/List", {}, { headers: { "grpc-timeout": "20m" } })).code).toBe(4);
  });
  let left: () => void = () => {};
  const abort = new Promise<void>((resolve) => {
    left = resolve;
  });
  const faults =
    () =>
    (_: unknown, { signal }: { signal: { addEventListener(type: "abort", run: () => void): void } }) =>
      new Promise<never>((_resolve, reject) =>
        signal.addEventListener("abort", () => {
          left();
          reject(new Error("gone"));
        }),
      );
  await withSandbox({ faults }, async (stuck) => {
    // A layer that never answers: only the deadline of the call itself is left, then the end of its client.
    expect((await stuck.call("iam.Groups/List", {}, { headers: { "grpc-timeout": "20m" } })).code).toBe(4);
    await abort;
  });
});

test("a response that is no message of its type is an internal error", async () => {
  const nonsense = async () => ({ status: 200, headers: [], body: new TextEncoder().encode('{"items":1}') });
  await withSandbox({ faults: () => nonsense }, async (broken) => {
    const { code, message } = await broken.call("iam.Groups/List", {});
    expect([code, message]).toEqual([13, expect.stringContaining("marshaling response")]);
  });
});

test("a fault without an answer is a stream without a status", async () => {
  await withSandbox({ faults: () => () => Promise.reject(new Error("no answer")) }, async (broken) => {
    expect((await broken.call("iam.Groups/List", {})).headers["grpc-status"]).toBeUndefined();
  });
});

test("health is known of the whole and of each service, without a token", async () => {
  const check = (service: string, method = "Check", leaves = false) =>
    client.call(`grpc.health.v1.Health/${method}`, { service }, { token: undefined, leaves });
  expect((await check("")).json.status).toBe("SERVING");
  expect((await check(`${VENDOR_TYPES}.iam.Groups`)).json.status).toBe("SERVING");
  expect((await check("none")).code).toBe(5);
  expect((await check("", "Watch", true)).json.status).toBe("SERVING");
});

describe("reflection", () => {
  const ask = async (request: object) =>
    (await client.call("grpc.reflection.v1.ServerReflection/ServerReflectionInfo", request, { token: undefined })).json;
  const filesFor = async (request: object): Promise<(string | undefined)[]> => {
    const { fileDescriptorResponse } = await ask(request);
    const files: string[] = fileDescriptorResponse.fileDescriptorProto;
    return files.map((file) => fromBinary(FileDescriptorProtoSchema, Buffer.from(file, "base64")).name);
  };
  const iam = `${VENDOR_TYPES.replaceAll(".", "/")}/iam.proto`;

  test("lists the services", async () => {
    const { service } = (await ask({ listServices: "*" })).listServicesResponse;
    const names = service.map((one: { name: string }) => one.name);
    expect(names).toContain(`${VENDOR_TYPES}.iam.Groups`);
    expect(names).toContain("grpc.health.v1.Health");
  });

  test("gives the file of a symbol, of a method and of an extension, with its imports", async () => {
    const imports = await filesFor({ fileContainingSymbol: `${VENDOR_TYPES}.iam.Groups` });
    expect(imports[0]).toBe(iam);
    expect(imports).toContain("google/api/annotations.proto");
    expect(await filesFor({ fileContainingSymbol: `${VENDOR_TYPES}.iam.Groups.List` })).toEqual(imports);
    expect(await filesFor({ fileByFilename: iam })).toEqual(imports);
    const http = { containingType: "google.protobuf.MethodOptions", extensionNumber: 72295728 };
    expect((await filesFor({ fileContainingExtension: http }))[0]).toBe("google/api/annotations.proto");
    const all = await ask({ allExtensionNumbersOfType: http.containingType });
    expect(all.allExtensionNumbersResponse.extensionNumber).toEqual([72295728]);
  });

  test("says what it does not know", async () => {
    expect((await ask({ fileContainingSymbol: "none" })).errorResponse.errorCode).toBe(5);
    expect((await ask({})).errorResponse.errorCode).toBe(3);
    // The stream ends, without a status, when a later message is not whole.
    const raw = Buffer.concat([framed(Buffer.of()), Buffer.of(0)]);
    const cut = await client.call("grpc.reflection.v1.ServerReflection/ServerReflectionInfo", {}, { raw });
    expect([cut.json?.errorResponse.errorCode, cut.headers["grpc-status"]]).toEqual([3, undefined]);
  });
});

test("another version of v2 has packages and paths of its own", async () => {
  await withSandbox({ version: "v2" }, async (other) => {
    const { rootGroup } = sandbox.wellKnown;
    const { json } = await other.call("iam.v2.GroupsService/GetGroup", { uid: rootGroup });
    expect(json.uid).toBe(rootGroup);
  });
});
