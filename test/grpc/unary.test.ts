/** Unary v1 calls that carryover translates: modes, errors, messages, limits. */
import { createServer } from "node:http";
import type { OutgoingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { VENDOR_TYPES } from "../../sandbox/src/data/vendor.ts";
import { framed as frame, grpcClient } from "../../sandbox/test/grpc-client.ts";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import type { SendLayer } from "../../src/model/http.ts";
import { createDouble, ok } from "../server/support/double.ts";
import { startCarryover } from "../support/carryover.ts";
import { later, takeDownAfterEach } from "../support/take-down.ts";
import { answered, call, open, session } from "./support/rpc.ts";
import { fileWith, translating } from "./support/translating.ts";

takeDownAfterEach();

const LIST = "iam.Groups/List";
/** As fields say their length. */
const lengthOf = (bytes: number): Buffer => Buffer.from([(bytes & 127) | 128, ((bytes >> 7) & 127) | 128, bytes >> 14]);
const RULES = "version: carryover/v1\nrules:\n  - { name: all, match: {}, mode: shadow, shadow: { sample: 1 } }\n";

it("T-RPC-06: an error of the platform keeps its code, its message and its typed details", async () => {
  const { client, sandbox, sandboxUrl, exchanges } = await translating();
  const native = grpcClient(sandbox, sandboxUrl);
  later(async () => native.close());
  const request = { id: "0".repeat(40), name: "x" };
  const { code, message, details } = await native.call("iam.Groups/Update", request);
  expect(details).toHaveLength(2);
  expect(await client.call("iam.Groups/Update", request)).toMatchObject({ code, message, details });
  expect(exchanges).toMatchObject([{ mode: "translate", status: 404, rpc: { code: 5 } }]);
});

it("T-RPC-06: an error of carryover's own has its reason in the details", async () => {
  const { client } = await translating();
  const answer = await client.call("iam.Roles/Create", {
    parentId: "a",
    role: { name: "r", capabilities: ["no.such"] },
  });
  expect(answer).toMatchObject({ code: 3, details: [{ reason: "INVALID_BODY", domain: "carryover" }, {}] });
});

it("tells which mode served it, and with what a list was made", async () => {
  const { client } = await translating();
  const { headers } = await client.call(LIST, {});
  expect(headers).toMatchObject({
    "content-type": "application/grpc",
    "carryover-mode": "translate",
    "carryover-list": expect.stringContaining("pages="),
    "grpc-status": "0",
  });
  expect(Object.keys(headers).filter((name) => /^content-l|^cache|^vary|^grpc-metadata/.test(name))).toEqual([]);
});

describe("v2 fails reads that native v1 serves", () => {
  const failing = async (more: string) => {
    const sick: SendLayer = (next) => (request, options) =>
      request.target.includes("/v2beta1/")
        ? Promise.resolve({ status: 503, headers: [["content-type", "application/json"]], body: Buffer.from("{}") })
        : next(request, options);
    const rules = `version: carryover/v1\nrules:\n  - { name: all, match: {}, mode: translate${more} }\n`;
    const flags = { cutoverMode: "native", cutoverRulesFile: fileWith(rules), upstreamV2Breaker: "false" };
    return translating(flags, { native: true, platform: { faults: sick } });
  };

  it("the guard asks native v1 about them", async () => {
    const { client, exchanges } = await failing("");
    expect(await client.call(LIST, {})).toMatchObject({ code: 14 });
    await expect.poll(() => exchanges[0]?.native).toBe("served");
  });

  it("onFailure: native serves them", async () => {
    const { client, exchanges } = await failing(", onFailure: native");
    const { code, headers } = await client.call(LIST, {});
    expect([code, headers["carryover-mode"]]).toEqual([0, "native; after=v2"]);
    expect(exchanges).toMatchObject([{ rescued: 503, native: "served", rpc: { code: 0 } }]);
  });
});

describe("DIFF-79: metadata of a translated call", () => {
  const platform = async (head = "") => {
    const double = await createDouble(Buffer.from(ok('{"groups":[]}', head), "latin1"));
    const { grpcUrl = "", close } = await startCarryover({
      v2Url: double.url,
      flags: { listenGrpcPort: "0", grpcDescriptors: fileWith(seededSandbox().descriptors()) },
    });
    later(async () => {
      await close();
      await double.close();
    });
    const list = (headers: OutgoingHttpHeaders) =>
      call(grpcUrl, `/${VENDOR_TYPES}.${LIST}`, frame(new Uint8Array()), headers);
    return { double, list };
  };

  it("reaches v2's gateway under the name that the gateway reads as metadata", async () => {
    const { double, list } = await platform();
    const answer = await list({
      authorization: "Bearer t",
      "x-bypass-cache": ["1", "2"],
      "my_key.x": "a",
      "cache-control": "no-cache",
      "trace-bin": "AAEC,AwQ=",
      traceparent: "00-1",
      cookie: "a=b",
      "x-forwarded-for": "6.6.6.6",
      "x-real-ip": "6.6.6.6",
      "x-request-id": "own",
      "grpcgateway-authorization": "Bearer other",
      x_forwarded_for: "6.6.6.6",
      "grpc-metadata-x-other": "kept",
    });
    expect(answer).toMatchObject({ status: 0 });
    const { fields } = double.requests[0]!;
    expect(fields.filter(([name]) => name.startsWith("grpc-metadata-"))).toEqual([
      ["grpc-metadata-x-other", "kept"],
      ["grpc-metadata-x-bypass-cache", "1"],
      ["grpc-metadata-x-bypass-cache", "2"],
      ["grpc-metadata-my_key.x", "a"],
      ["grpc-metadata-cache-control", "no-cache"],
      ["grpc-metadata-trace-bin", "AAEC"],
      ["grpc-metadata-trace-bin", "AwQ="],
    ]);
    expect(fields).toContainEqual(["x-request-id", "own"]);
    expect(fields).toContainEqual(["traceparent", "00-1"]);
  });

  it("T-RPC-13: with a second credential is refused", async () => {
    const { double, list } = await platform();
    expect(await list({ "grpc-metadata-authorization": "Bearer other" })).toMatchObject({ status: 16 });
    expect(double.requests).toEqual([]);
  });

  it("of the response comes back under its own name", async () => {
    const metadata = [
      "X-Shard: a",
      "X-Shard: b",
      "Raw-Bin: a\u00ff",
      "Content-Type: application/grpc",
      "X-Plain: 2",
      "Grpc-Status: 5",
    ];
    const { list } = await platform(`X-Plain: 1\r\n${metadata.map((field) => `Grpc-Metadata-${field}\r\n`).join("")}`);
    const { head, status } = await list({});
    expect(status).toBe(0);
    expect(head).toMatchObject({
      "x-shard": "a, b",
      "raw-bin": "Yf8=",
      "x-plain": "1",
      "content-type": "application/grpc",
    });
    expect(Object.keys(head).filter((name) => name.startsWith("grpc-metadata"))).toEqual([]);
  });
});

it("a rule's native v1 gets the client's own bytes", async () => {
  const { client, exchanges } = await translating({ cutoverMode: "native" }, { native: true });
  const answer = await client.call(LIST, {}, { raw: frame(Buffer.from([0xfa, 0x3f, 1, 65])) });
  expect(answer.headers).toMatchObject({ "carryover-mode": "native", "grpc-status": "0" });
  expect(exchanges).toMatchObject([
    {
      resource: "group",
      operation: "list",
      mode: "native",
      calls: [{ upstream: "v1", path: expect.stringContaining("/List") }],
    },
  ]);
});

it("a message in an encoding that is not known is refused with those that are", async () => {
  const { client } = await translating();
  const raw = Buffer.concat([Buffer.from([1, 0, 0, 0, 1]), Buffer.from("x")]);
  const answer = await client.call(LIST, {}, { raw, headers: { "grpc-encoding": "br" } });
  expect(answer).toMatchObject({ code: 12, headers: { "grpc-accept-encoding": "identity,gzip" } });
});

it("a known field with another wire type is an unknown one", async () => {
  const { client, exchanges } = await translating();
  // `id`, as a number.
  const answer = await client.call(LIST, {}, { raw: frame(Buffer.from([0x08, 0x05])) });
  expect(answer.json).toEqual((await client.call(LIST, {})).json);
  expect(exchanges[0]?.unknownFields).toEqual([{ direction: "request", name: "#1" }]);
});

it.each(["native", "shadow", "translate"])("%s: takes a token without a scheme, and a trace as it is", async (mode) => {
  const rules = fileWith(
    `version: carryover/v1\nrules: [{ name: all, match: {}, mode: ${mode}, shadow: { sample: 1 } }]\n`,
  );
  const flags = { cutoverMode: "native", cutoverRulesFile: rules };
  const { client, sandbox, exchanges } = await translating(flags, { native: true });
  const answer = await client.call(
    LIST,
    {},
    { headers: { authorization: sandbox.token("admin"), traceparent: "01-x" } },
  );
  expect(answer).toMatchObject({ code: 0 });
  expect(exchanges).toMatchObject([{ mode, status: 200 }]);
});

it("shadow serves native's bytes and compares the translation with them", async () => {
  const { client, carryover, exchanges, comparisons, sandbox } = await translating(
    { cutoverMode: "native", cutoverRulesFile: fileWith(RULES) },
    { native: true },
  );
  const compared = async (count: number) => {
    await expect.poll(() => comparisons.length).toBe(count);
    const { operation, result } = comparisons.at(-1) ?? {};
    return [operation, result];
  };
  const listed = await client.call(LIST, {});
  expect(listed.json.items.length).toBeGreaterThan(1);
  expect(await compared(1)).toEqual(["list", "equal"]);
  const group = { id: sandbox.wellKnown.someGroup, name: "shadowed" };
  expect(await client.call("iam.Groups/Update", group)).toMatchObject({ code: 0, json: group });
  expect(await compared(2)).toEqual(["update", "equal"]);
  const missing = { parent: "0".repeat(40), group };
  expect(await client.call("iam.Groups/Create", missing)).toMatchObject({ code: 5 });
  const overHttp = await fetch(`${carryover.url}/iam/v1/groups/${missing.parent}`, {
    method: "POST",
    headers: { authorization: `Bearer ${sandbox.token("admin")}` },
    body: JSON.stringify(group),
  });
  expect(overHttp.status).toBe(404);
  await expect.poll(() => comparisons.length).toBe(4);
  expect(comparisons[2]).toMatchObject({ operation: "create", result: comparisons[3]?.result });
  expect(exchanges.map(({ mode }) => mode)).toEqual(Array(4).fill("shadow"));
});

it("a token is exchanged for one of the platform's audience, and the new one is accepted", async () => {
  const audience = "https://platform.acme.example";
  const publicUrl = "https://api.acme.example";
  const { client, sandbox } = await translating(
    { listenPublicUrl: publicUrl, upstreamV2Audience: audience },
    { platform: { audience } },
  );
  const { identity, assumable } = sandbox.wellKnown;
  const asked = { token: sandbox.oidcToken(assumable.issuer, assumable.subject) };
  const exchanged = await client.call("oidc.SecurityTokenService/Exchange", { aud: [publicUrl], identity }, asked);
  expect(exchanged).toMatchObject({ code: 0, json: { token: expect.any(String), refreshToken: expect.any(String) } });
  expect(await client.call(LIST, {}, { token: exchanged.json.token })).toMatchObject({ code: 0 });
  const refreshed = await client.call(
    "oidc.SecurityTokenService/ExchangeRefreshToken",
    { aud: [publicUrl] },
    { token: exchanged.json.refreshToken },
  );
  expect(refreshed).toMatchObject({ code: 0, json: { token: { token: expect.any(String) } } });
});

it("fields that the descriptors do not know are kept out of the request, and counted", async () => {
  const { client, exchanges } = await translating();
  const unknown = Buffer.from([0xfa, 0x3f, 1, 65]);
  expect(await client.call(LIST, {}, { raw: frame(unknown) })).toMatchObject({ code: 0 });
  expect(exchanges[0]?.unknownFields).toEqual([{ direction: "request", name: "#1023" }]);
  const strict = await translating({ unknownFieldsRequest: "refuse" });
  expect(await strict.client.call(LIST, {}, { raw: frame(unknown) })).toMatchObject({ code: 3 });
});

it("T-RPC-03: a response over the limit is RESOURCE_EXHAUSTED with its size and its records, before a byte is sent", async () => {
  const { client, exchanges } = await translating({ grpcMaxResponseBytes: "1KiB" });
  const answer = await client.call("registry.Registry/ListTags", {});
  expect(answer).toMatchObject({ code: 8, json: undefined, details: [{ reason: "MESSAGE_TOO_LARGE" }] });
  const { count, limit, unit, records } = answer.details[0].metadata;
  expect([Number(count) > 1024, limit, unit, Number(records) > 10]).toEqual([true, "1024", "bytes", true]);
  expect(exchanges).toMatchObject([{ reason: "MESSAGE_TOO_LARGE", status: 429, responseBytes: 0 }]);
});

describe("a list of many pages", () => {
  const SIZE = 1_000;
  /** A platform with `total` groups; each has about `SIZE` bytes. */
  const platform = async (
    total: number,
    flags: Readonly<Record<string, string>>,
    says: object = { totalCount: total },
  ) => {
    let pages = 0;
    const server = createServer((request, response) => {
      pages += 1;
      const query = new URL(request.url ?? "", "http://a").searchParams;
      const from = Number(query.get("skip") ?? 0) + Number(query.get("page_token") ?? 0);
      const to = Math.min(total, from + Number(query.get("page_size")));
      const groups = Array.from({ length: to - from }, (_, i) => ({
        uid: String(from + i).padStart(40, "0"),
        name: "g",
        description: "d".repeat(SIZE),
      }));
      const page = { groups, ...(to < total ? { nextPageToken: String(to) } : {}), ...says };
      response.setHeader("content-type", "application/json").end(JSON.stringify(page));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const started = await startCarryover({
      v2Url: `http://127.0.0.1:${port}`,
      flags: { listenGrpcPort: "0", grpcDescriptors: fileWith(seededSandbox().descriptors()), ...flags },
    });
    later(async () => {
      await started.close();
      server.closeAllConnections();
      server.close();
    });
    const list = () =>
      call(started.grpcUrl ?? "", `/${VENDOR_TYPES}.${LIST}`, frame(new Uint8Array()), { authorization: "Bearer t" });
    return { list, pages: () => pages, adminUrl: started.adminUrl };
  };

  it("T-RPC-02: is one message, even of several times the memory that a client may take", async () => {
    const { list, adminUrl } = await platform(24_000, { limitsMemoryBytes: "16MiB" });
    const { body, status } = await list();
    expect(status).toBe(0);
    expect(body.readUInt32BE(1)).toBe(body.length - 5);
    expect(body.length).toBeGreaterThan(24_000 * SIZE);
    const held = async () =>
      /^carryover_held_bytes (\d+)$/m.exec(await (await fetch(`${adminUrl}/metrics`)).text())?.[1];
    await expect.poll(held).toBe("0");
  });

  it("T-RPC-03: that cannot fit is refused after the first pages, with the size and the records that it would have", async () => {
    const { list, pages } = await platform(50_000, { grpcMaxResponseBytes: "16MiB" });
    const { status, message, body } = await list();
    expect([status, body.length]).toEqual([8, 0]);
    expect(message).toMatch(/with 50000 records has some 5\d{7} bytes or more, and the limit is 16777216/);
    expect(pages()).toBeLessThan(40);
  });

  it("T-RPC-03: whose platform states no total is refused once it is too long", async () => {
    const { list, pages } = await platform(50_000, { grpcMaxResponseBytes: "8MiB" }, {});
    expect(await list()).toMatchObject({ status: 8, message: expect.stringMatching(/has some \d+ bytes or more/) });
    expect(pages()).toBeLessThan(120);
  });
});

it("T-RPC-21: a request may be compressed with gzip, within a bounded ratio", async () => {
  const { client } = await translating();
  const ask = (bytes: Uint8Array) =>
    client.call(LIST, {}, { raw: frame(bytes, 1), headers: { "grpc-encoding": "gzip" } });
  expect(await ask(gzipSync(Buffer.alloc(0)))).toMatchObject({ code: 0 });
  expect(await ask(gzipSync(Buffer.alloc(3 * 2 ** 20)))).toMatchObject({
    code: 8,
    details: [{ reason: "MESSAGE_TOO_LARGE", metadata: { option: "limits.bodyBytes" } }],
  });
});

it("T-RPC-21: a message that lies about its length is refused", async () => {
  const { rpc } = await translating();
  const path = `/${VENDOR_TYPES}.iam.Groups/List`;
  const says = (bytes: number, sent: number) => {
    const all = Buffer.alloc(5 + sent);
    all.writeUInt32BE(bytes, 1);
    return all;
  };
  expect(await call(rpc, path, says(10, 3))).toMatchObject({ status: 13, message: expect.stringContaining("cut off") });
  expect(await call(rpc, path, says(0, 3))).toMatchObject({
    status: 13,
    message: expect.stringContaining("more than one"),
  });
  expect(await call(rpc, path, Buffer.alloc(0))).toMatchObject({
    status: 13,
    message: expect.stringContaining("no message"),
  });
});

it.each([
  ["whose bytes are not a message", frame(Buffer.from([0xff])), "identity"],
  ["whose text is not UTF-8", frame(Buffer.from([0x1a, 1, 0xff])), "identity"],
  ["with another flag than 0 and 1", frame(Buffer.alloc(0), 2), "identity"],
  ["that is compressed, though its encoding is identity", frame(gzipSync(Buffer.alloc(0)), 1), "identity"],
  ["that is no gzip", frame(Buffer.from("no gzip"), 1), "gzip"],
])("a message %s is INTERNAL, as from servers in Go, and counts as the client's mistake", async (_, raw, encoding) => {
  const { client, exchanges } = await translating();
  const answer = await client.call(LIST, {}, { raw, headers: { "grpc-encoding": encoding } });
  expect(answer).toMatchObject({ code: 13, details: [{ reason: "INVALID_BODY" }] });
  expect(exchanges).toMatchObject([{ status: 400, fault: "client", calls: [], rpc: { code: 13 } }]);
});

it("T-RPC-21, DIFF-82: a message with more fields than JSON may have values is refused before it is decoded", async () => {
  const { client, exchanges } = await translating();
  const ids = Buffer.concat([Buffer.from([0x12]), lengthOf(50_000), Buffer.alloc(50_000, Buffer.from([0x2a, 0]))]);
  expect(await client.call(LIST, {}, { raw: frame(ids) })).toMatchObject({
    code: 3,
    details: [{ reason: "BODY_TOO_LARGE", metadata: { limit: "20000", unit: "values" } }],
  });
  // Groups of an unknown number.
  const groups = Buffer.alloc(60_000, Buffer.from([0xc3, 7, 0xc4, 7]));
  expect(await client.call(LIST, {}, { raw: frame(groups) })).toMatchObject({ code: 0 });
  const more = Buffer.alloc(100_000, Buffer.from([0xc3, 7, 0xc4, 7]));
  expect(await client.call(LIST, {}, { raw: frame(more) })).toMatchObject({ code: 3 });
  expect(exchanges.map(({ unknownFields }) => unknownFields)).toEqual([
    [],
    [{ direction: "request", name: "#120" }],
    [],
  ]);
});

it("T-RPC-21, DIFF-82: limits.bodyBytes holds for a message, before it comes, and for the body that it becomes", async () => {
  const { client, rpc, exchanges } = await translating({ limitsBodyBytes: "2KiB" });
  const path = `/${VENDOR_TYPES}.iam.Groups/List`;
  const says = Buffer.from([0, 0, 0, 8, 1]);
  const begun = open(session(rpc), path);
  const refused = answered(begun);
  begun.on("response", () => begun.close());
  begun.write(says);
  expect(await refused).toMatchObject({ status: 8, message: expect.stringContaining("2048") });
  expect(exchanges[0]?.options).toEqual(["limits.bodyBytes"]);
  // A control character takes one byte here, and six in JSON.
  const group = { id: "a", name: "\u0001".repeat(500) };
  expect(await client.call("iam.Groups/Update", group)).toMatchObject({
    code: 3,
    details: [{ reason: "BODY_TOO_LARGE", metadata: { limit: "2048" } }],
  });
});

it("T-RPC-21, DIFF-82: limits.headerBytes holds for the target that a message becomes, with its metadata", async () => {
  const { client, exchanges } = await translating();
  const ids = Array.from({ length: 400 }, (_, i) => `${"a".repeat(40)}/${String(i).padStart(16, "0")}`);
  expect(await client.call(LIST, { uidp: { ids } })).toMatchObject({
    code: 3,
    message: expect.stringMatching(/16384 bytes/),
    details: [{ reason: "URI_TOO_LONG", metadata: { limit: "16384", option: "limits.headerBytes" } }],
  });
  expect(exchanges[0]).toMatchObject({ calls: [], options: ["limits.headerBytes"] });
  expect(await client.call(LIST, { uidp: { ids: ids.slice(0, 100) } })).toMatchObject({ code: 0 });
});

it("DIFF-82: metadata goes to the platform twice, and counts twice", async () => {
  const { client, exchanges } = await translating();
  const call = (bytes: number) => client.call(LIST, {}, { headers: { "x-long": "a".repeat(bytes) } });
  expect(await call(7_000)).toMatchObject({ code: 0 });
  expect(await call(8_192)).toMatchObject({ code: 3, details: [{ reason: "URI_TOO_LONG" }] });
  expect(exchanges[1]).toMatchObject({ calls: [] });
});

it("shadow passes a message on that is too large to be translated, or cannot be read, and compares nothing", async () => {
  const { client, comparisons, exchanges } = await translating(
    { cutoverMode: "native", cutoverRulesFile: fileWith(RULES), limitsBodyBytes: "2KiB" },
    { native: true },
  );
  const unknown = Buffer.concat([Buffer.from([0xfa, 0x3f]), lengthOf(3_000), Buffer.alloc(3_000)]);
  expect(await client.call(LIST, {}, { raw: frame(unknown) })).toMatchObject({ code: 0 });
  const groups = Buffer.alloc(100_000, Buffer.from([0xc3, 7, 0xc4, 7]));
  expect(await client.call(LIST, {}, { raw: frame(groups) })).toMatchObject({ code: 0 });
  expect(await client.call(LIST, {}, { raw: frame(Buffer.from([0xff])) })).toMatchObject({ code: expect.any(Number) });
  expect(exchanges.map(({ mode, calls }) => [mode, calls[0]?.upstream])).toEqual(Array(3).fill(["shadow", "v1"]));
  await expect.poll(() => comparisons.length).toBe(1);
});

it("T-RPC-31: the client's deadline ends a translated call, and what is under way for it", async () => {
  const { client, exchanges } = await translating({}, { platform: { latencyMs: 5_000 } });
  const answer = await client.call(LIST, {}, { headers: { "grpc-timeout": "200m" } });
  expect(answer).toMatchObject({ code: 4 });
  expect(exchanges).toMatchObject([{ reason: "UPSTREAM_TIMEOUT", calls: [{ upstream: "v2" }] }]);
});

it("T-RPC-33, T-RPC-11: calls whose message never comes end after a time, and one sender leaves room for others meanwhile", async () => {
  const grpcTimeouts = { sendGraceMs: 1_000 };
  const { client, rpc, sandbox, exchanges } = await translating({ limitsInFlight: "200" }, { grpcTimeouts });
  const path = `/${VENDOR_TYPES}.${LIST}`;
  const [hostile, good] = [sandbox.token("admin"), sandbox.token("viewer")];
  for (const token of [hostile, good]) expect(await client.call(LIST, {}, { token })).toMatchObject({ code: 0 });
  const never = [1, 2, 3].flatMap(() => {
    const on = session(rpc);
    return Array.from({ length: 90 }, () => answered(open(on, path, { authorization: `Bearer ${hostile}` })));
  });
  await expect.poll(() => exchanges.length).toBeGreaterThan(60);
  expect(await client.call(LIST, {}, { token: good })).toMatchObject({ code: 0 });
  const statuses = (await Promise.all(never)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 4).length).toBeGreaterThan(100);
});

it("T-RPC-37: messages that are announced hold no memory before they come", async () => {
  const { client, rpc, sandbox } = await translating({ limitsMemoryBytes: "16MiB", limitsBodyBytes: "4MiB" });
  const token = sandbox.token("admin");
  await client.call(LIST, {}, { token });
  const on = session(rpc);
  const begin = Buffer.from(frame(Buffer.alloc(4 * 2 ** 20 - 5)).subarray(0, 10));
  const announced = Array.from({ length: 120 }, () => {
    const stream = open(on, `/${VENDOR_TYPES}.iam.Groups/Update`, { authorization: `Bearer ${token}` });
    stream.write(begin);
    return stream;
  });
  let done = 0;
  for (const stream of announced) stream.on("close", () => done++);
  const request = { id: "0".repeat(40), description: "x".repeat(500_000) };
  const began = performance.now();
  expect(await client.call("iam.Groups/Update", request, { token })).toMatchObject({ code: 5 });
  expect(performance.now() - began).toBeLessThan(8_000);
  expect(done).toBe(0);
  for (const stream of announced) stream.close(8);
});

it("a rehearsal refuses calls that only native v1 could serve, for its client alone", async () => {
  const sandbox = seededSandbox();
  const { url } = await sandbox.listen();
  const cutoverRulesFile = fileWith(`version: carryover/v1
rules:
  - name: off
    match: { client: ci, time: { until: ${new Date(Date.now() + 3_600_000).toISOString()} } }
    mode: translate
    fallback: refuse
    stepBack: { failures: 0.5 }
`);
  // Without descriptors no call can be translated.
  const flags = { listenGrpcPort: "0", cutoverMode: "native", cutoverRulesFile };
  const carryover = await startCarryover({ v2Url: url, v1Url: url, flags });
  const client = grpcClient(sandbox, carryover.grpcUrl ?? "");
  later(async () => {
    client.close();
    await carryover.close();
    await sandbox.close();
  });
  const as = (name: string) => client.call(LIST, {}, { headers: { "user-agent": `${name}/1.0` } });
  expect(await as("web")).toMatchObject({ code: 0 });
  expect(await as("ci")).toMatchObject({
    code: 12,
    message: expect.stringContaining("rule off switches native v1 off"),
    details: [{ reason: "NOT_TRANSLATABLE" }],
  });
});

describe("a brownout", () => {
  /** Began with this minute. */
  const brownout = (match: string) => {
    const now = new Date();
    const cron = `${now.getUTCMinutes()} ${now.getUTCHours()} * * *`;
    return fileWith(`version: carryover/v1
rules:
  - name: now
    match: ${match}
    mode: brownout
    schedule: { cron: "${cron}", zone: UTC, duration: 50m }
    brownout: { successor: https://example.com/v2, contact: "#api", stopAbove: 1, singleReplica: true, status: 410 }
    headers: { sunset: 2099-06-30, deprecation: 2026-11-01 }
`);
  };

  it("refuses v1 with FAILED_PRECONDITION, the window and what to do, and leaves v2 alone", async () => {
    const flags = { cutoverMode: "native", cutoverRulesFile: brownout("{}") };
    const { client, exchanges } = await translating(flags, { native: true });
    const { code, message, details, headers } = await client.call(LIST, {});
    expect([code, details]).toMatchObject([9, [{ reason: "BROWNOUT", domain: "carryover" }]]);
    expect(message).toMatch(
      /^v1 is switched off .* \(brownout now from .* until .*\)\. Use v2 instead: .* Questions: #api$/,
    );
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "retry-after": expect.stringMatching(/^\d{3,4}$/),
      sunset: "Tue, 30 Jun 2099 00:00:00 GMT",
      deprecation: expect.stringMatching(/^@\d+$/),
      link: '<https://example.com/v2>; rel="successor-version"',
      "carryover-brownout": expect.stringMatching(/^rule=now; from=/),
    });
    expect(exchanges).toMatchObject([{ mode: "refused", reason: "BROWNOUT", rule: "now", rpc: { code: 9 } }]);
  });

  it("refuses calls that no descriptor describes, too", async () => {
    const sandbox = seededSandbox();
    const { url } = await sandbox.listen();
    const flags = { listenGrpcPort: "0", cutoverMode: "native", cutoverRulesFile: brownout("{}") };
    const carryover = await startCarryover({ v2Url: url, v1Url: url, flags });
    const client = grpcClient(sandbox, carryover.grpcUrl ?? "");
    later(async () => {
      client.close();
      await carryover.close();
      await sandbox.close();
    });
    expect(await client.call(LIST, {})).toMatchObject({ code: 9, details: [{ reason: "BROWNOUT" }] });
  });
});
