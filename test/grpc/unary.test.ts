/** Unary v1 calls that carryover translates: modes, errors, messages, limits. */
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { VENDOR_TYPES } from "../../sandbox/src/data/vendor.ts";
import { framed as frame, grpcClient } from "../../sandbox/test/grpc-client.ts";
import { later, takeDownAfterEach } from "../support/take-down.ts";
import { answered, call, open, session } from "./support/rpc.ts";
import { fileWith, translating } from "./support/translating.ts";

takeDownAfterEach();

const LIST = "iam.Groups/List";
/** As fields say their length. */
const lengthOf = (bytes: number): Buffer => Buffer.from([(bytes & 127) | 128, ((bytes >> 7) & 127) | 128, bytes >> 14]);
const RULES = "version: carryover/v1\nrules:\n  - { name: all, match: {}, mode: shadow, shadow: { sample: 1 } }\n";

it("an error of the platform keeps its code, its message and its typed details", async () => {
  const { client, sandbox, sandboxUrl, exchanges } = await translating();
  const native = grpcClient(sandbox, sandboxUrl);
  later(async () => native.close());
  const request = { id: "0".repeat(40), name: "x" };
  const { code, message, details } = await native.call("iam.Groups/Update", request);
  expect(details).toHaveLength(2);
  expect(await client.call("iam.Groups/Update", request)).toMatchObject({ code, message, details });
  expect(exchanges).toMatchObject([{ mode: "translate", status: 404, rpc: { code: 5 } }]);
});

it("an error of carryover's own has its reason in the details", async () => {
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

it("fields that the descriptors do not know are kept out of the request, and counted", async () => {
  const { client, exchanges } = await translating();
  const unknown = Buffer.from([0xfa, 0x3f, 1, 65]);
  expect(await client.call(LIST, {}, { raw: frame(unknown) })).toMatchObject({ code: 0 });
  expect(exchanges[0]?.unknownFields).toEqual([{ direction: "request", name: "#1023" }]);
  const strict = await translating({ unknownFieldsRequest: "refuse" });
  expect(await strict.client.call(LIST, {}, { raw: frame(unknown) })).toMatchObject({ code: 3 });
});

it("a response over the limit is RESOURCE_EXHAUSTED with its size and its records, before a byte is sent", async () => {
  const { client, exchanges } = await translating({ grpcMaxMessageBytes: "1KiB" });
  const answer = await client.call("registry.Registry/ListTags", {});
  expect(answer).toMatchObject({ code: 8, json: undefined, details: [{ reason: "MESSAGE_TOO_LARGE" }] });
  const { count, limit, unit, records } = answer.details[0].metadata;
  expect([Number(count) > 1024, limit, unit, Number(records) > 10]).toEqual([true, "1024", "bytes", true]);
  expect(exchanges).toMatchObject([{ reason: "MESSAGE_TOO_LARGE", status: 429, responseBytes: 0 }]);
});

it("a request may be compressed with gzip, within a bounded ratio", async () => {
  const { client } = await translating();
  const ask = (bytes: Uint8Array, encoding = "gzip", flag = 1) =>
    client.call(LIST, {}, { raw: frame(bytes, flag), headers: { "grpc-encoding": encoding } });
  expect(await ask(gzipSync(Buffer.alloc(0)))).toMatchObject({ code: 0 });
  expect(await ask(gzipSync(Buffer.alloc(3 * 2 ** 20)))).toMatchObject({
    code: 3,
    message: expect.stringContaining("too large"),
  });
  expect(await ask(Buffer.from("no gzip"))).toMatchObject({ code: 3 });
  expect(await ask(Buffer.alloc(0), "br")).toMatchObject({ code: 12 });
  expect(await ask(Buffer.alloc(0), "identity", 2)).toMatchObject({ code: 3 });
});

it("a message that lies about its length is refused, and one that says that it is too large before it comes", async () => {
  const { rpc } = await translating();
  const path = `/${VENDOR_TYPES}.iam.Groups/List`;
  const says = (bytes: number, sent: number) => {
    const all = Buffer.alloc(5 + sent);
    all.writeUInt32BE(bytes, 1);
    return all;
  };
  expect(await call(rpc, path, says(10, 3))).toMatchObject({ status: 3, message: expect.stringContaining("cut off") });
  expect(await call(rpc, path, says(0, 3))).toMatchObject({
    status: 3,
    message: expect.stringContaining("more than one"),
  });
  expect(await call(rpc, path, Buffer.alloc(0))).toMatchObject({
    status: 3,
    message: expect.stringContaining("no message"),
  });
  expect(await call(rpc, path, frame(Buffer.from([0xff])))).toMatchObject({ status: 3 });
  const huge = open(session(rpc), path);
  const refused = answered(huge);
  huge.write(says(2 ** 32 - 1, 0));
  expect(await refused).toMatchObject({ status: 8 });
});

it("V82: a message with more fields than JSON may have values is refused before it is decoded", async () => {
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

it("V82: limits.bodyBytes holds for a message, before it comes, and for the body that it becomes", async () => {
  const { client, rpc, exchanges } = await translating({ limitsBodyBytes: "2KiB" });
  const path = `/${VENDOR_TYPES}.iam.Groups/List`;
  const says = Buffer.from([0, 0, 0, 8, 1]);
  const begun = open(session(rpc), path);
  const refused = answered(begun);
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

it("V82: limits.headerBytes holds for the target that a message becomes, with its metadata", async () => {
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

it("the client's deadline ends a translated call, and what is under way for it", async () => {
  const { client, exchanges } = await translating();
  const answer = await client.call(LIST, {}, { headers: { "grpc-timeout": "1n" } });
  expect(answer).toMatchObject({ code: 4 });
  expect(exchanges).toMatchObject([{ reason: "UPSTREAM_TIMEOUT" }]);
});
