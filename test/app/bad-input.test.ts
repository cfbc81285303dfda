/** What does a client that asks wrongly hear, and does anything of it reach the platform? (Design section 3.) */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask as askRaw, parse, request, talk } from "../listener/support/client.ts";
import { type Ask, type Rig, reasonOf, rig } from "./rig.ts";

let here: Rig;
beforeAll(async () => {
  here = await rig({ native: false, flags: { limitsBodyBytes: "2048" } });
});
afterAll(() => here.close());

const port = () => Number(new URL(here.url).port);
const bearer = () => `Authorization: Bearer ${here.sandbox.token("admin")}\r\n`;
const group = () => here.sandbox.wellKnown.someGroup;

interface Wrong {
  readonly name: string;
  readonly method?: string;
  readonly target: string | (() => string);
  readonly ask?: Ask;
  readonly status: number;
  readonly code: number;
  readonly reason: string;
  /** Words of the message: what was wrong, what is expected. */
  readonly says: RegExp;
}

const GROUPS = "/iam/v1/groups";
const put = { method: "PUT", target: () => `${GROUPS}/${group()}` } as const;
const body = { status: 400, code: 3, reason: "INVALID_BODY" } as const;
const path = { status: 400, code: 3, reason: "INVALID_PATH" } as const;
const filter = { status: 400, code: 3, reason: "INVALID_FILTER" } as const;
const unknown = { status: 404, code: 5, reason: "UNKNOWN_PATH" } as const;
const lacking = { status: 501, code: 12, reason: "NOT_TRANSLATABLE" } as const;
const grpc = { status: 415, code: 12, reason: "GRPC_UNSUPPORTED", says: /JSON/ } as const;
const stranger = { target: GROUPS, status: 401, code: 16, reason: "UNAUTHENTICATED", says: /one token/ } as const;
const bearing = (authorization: string) => ({ ask: { as: null, headers: { authorization } } });

const WRONG: readonly Wrong[] = [
  { name: "JSON that breaks off", ...put, ask: { body: '{"name":' }, ...body, says: /JSON/ },
  { name: "no JSON at all", ...put, ask: { body: "name=a" }, ...body, says: /JSON/ },
  { name: "something behind the JSON", ...put, ask: { body: '{"name":"a"} {}' }, ...body, says: /JSON/ },
  {
    name: "bytes that are no UTF-8",
    ...put,
    ask: { body: Buffer.from('{"name":"\xff"}', "latin1") },
    ...body,
    says: /UTF-8/i,
  },
  { name: "null for a record", ...put, ask: { body: "null" }, ...body, says: /object/ },
  { name: "an array for a record", ...put, ask: { body: "[]" }, ...body, says: /object/ },
  { name: "a text for a record", ...put, ask: { body: '"a"' }, ...body, says: /object/ },
  { name: "a member twice", ...put, ask: { body: '{"name":"a","name":"b"}' }, ...body, says: /name/ },
  { name: "a number for a text", ...put, ask: { body: '{"name":1}' }, ...body, says: /name/ },
  { name: "an object for a text", ...put, ask: { body: '{"description":{}}' }, ...body, says: /description/ },
  {
    name: "both spellings of one field",
    method: "POST",
    target: () => `/iam/v1/identities/${group()}`,
    ask: { body: { name: "n", claimMatch: { issuer: "https://a", subject: "s" }, claim_match: {} } },
    ...body,
    says: /claim_?match/i,
  },
  {
    name: "an unknown capability",
    method: "POST",
    target: () => `/iam/v1/roles/${here.sandbox.wellKnown.rootGroup}`,
    ask: { body: { name: "r", capabilities: ["fly"] } },
    ...body,
    says: /capabilit/,
  },
  { name: "a GET with a body", target: GROUPS, ask: { body: "{}" }, ...body, says: /query/ },
  { name: "a dot segment", target: `${GROUPS}/../roles`, ...path, says: /dot segment/ },
  { name: "an encoded dot segment", target: `${GROUPS}/%2e%2e/roles`, ...path, says: /dot segment/ },
  { name: "an empty segment", target: `${GROUPS}//a`, ...path, says: /empty|slash|segment/ },
  { name: "a slash at the end", target: () => `${GROUPS}/${group()}/`, ...path, says: /slash/ },
  { name: "an encoded percent sign", target: `${GROUPS}/a%2562`, ...path, says: /%|percent/ },
  { name: "a malformed escape", target: `${GROUPS}/a%zz`, ...path, says: /%|percent|escape/ },
  { name: "a semicolon", target: `${GROUPS}/a;b`, ...path, says: /;|semicolon/ },
  { name: "an encoded control byte", target: `${GROUPS}/a%00b`, ...path, says: /control/ },
  { name: "a uid with a space", target: `${GROUPS}/a%20b`, ...path, says: /uid|letters/ },
  { name: "a uid of another alphabet", target: `${GROUPS}/%C3%A4`, ...path, says: /ASCII/ },
  { name: "a uid with a star", method: "DELETE", target: `${GROUPS}/*`, ...path, says: /uid|letters/ },
  { name: "a delete without a uid", method: "DELETE", target: `${GROUPS}/`, ...path, says: /uid/ },
  { name: "a PUT without a uid", method: "PUT", target: GROUPS, ask: { body: "{}" }, ...path, says: /uid/ },
  { name: "a prefix in escapes", target: "/%69am/v1/groups", ...path, says: /percent escape/ },
  { name: "one filter twice", target: `${GROUPS}?name=a&name=b`, ...filter, says: /name/ },
  {
    name: "one filter in both spellings",
    target: `${GROUPS}?uidp.descendants_of=a&uidp.descendantsOf=b`,
    ...filter,
    says: /descendants/,
  },
  { name: "a boolean that is none", target: "/iam/v1/groups?uidp.in_root=perhaps", ...filter, says: /in_root/ },
  { name: "an empty boolean", target: "/iam/v1/groups?uidp.in_root=", ...filter, says: /in_root/ },
  { name: "a filter in brackets", target: `${GROUPS}?id[]=a`, ...filter, says: /id is given more than once/ },
  { name: "a member of a filter", target: `${GROUPS}?name.first=a`, ...filter, says: /name has no members/ },
  { name: "a group of filters", target: `${GROUPS}?uidp=a`, ...filter, says: /uidp is a group/ },
  { name: "an empty time", target: "/registry/v1/tags?updatedSince=", ...filter, says: /updated_since .*RFC 3339/ },
  { name: "no time", target: "/registry/v1/tags?updated_since=2026-02-30T00:00:00Z", ...filter, says: /updated_since/ },
  {
    name: "an enum name that v1 does not know",
    target: "/vulnerabilities/v1/advisories?event_statuses=SETTLED",
    ...filter,
    says: /event_statuses has no such value/,
  },
  {
    name: "an enum name that v2 does not know",
    target: "/vulnerabilities/v1/advisories?eventTypes=EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED",
    ...filter,
    says: /event_types .*cannot be asked of v2/,
  },
  { name: "a malformed escape in a filter", target: `${GROUPS}?name=%zz`, ...filter, says: /%|percent|escape/ },
  ...["/", "/iam", "/iam/v1x/groups", "/IAM/v1/groups", "/healthz", "/metrics", "/v1/groups"].map((target) => ({
    name: `a path of nobody, ${target}`,
    target,
    ...unknown,
    says: /prefix/,
  })),
  { name: "a version of nobody", target: "/iam/v3/groups", ...unknown, says: /prefix/ },
  {
    name: "token exchange that is not configured",
    target: "/sts/exchange?aud=a",
    ...unknown,
    says: /upstream\.sts\.url/,
  },
  {
    name: "an operation that v2 lacks, without a native v1",
    target: "/registry/v1/charts:find?name=a",
    ...lacking,
    says: /^chart find .*native v1/,
  },
  {
    name: "a v1 path of nobody",
    method: "POST",
    target: "/iam/v1/novelties",
    ...lacking,
    says: /^POST \/iam\/v1\/novelties /,
  },
  {
    name: "a body over the limit",
    ...put,
    ask: { body: `{"name":"${"n".repeat(3000)}"}` },
    status: 413,
    code: 3,
    reason: "BODY_TOO_LARGE",
    says: /2048 bytes/,
  },
  {
    name: "a target over the limit",
    target: `${GROUPS}?name=${"n".repeat(9000)}`,
    status: 414,
    code: 3,
    reason: "URI_TOO_LONG",
    says: /8192 bytes/,
  },
  {
    name: "gRPC",
    method: "POST",
    target: "/iam.Groups/List",
    ask: { headers: { "content-type": "application/grpc" } },
    ...grpc,
  },
  {
    name: "gRPC of a kind",
    ...put,
    ask: { headers: { "content-type": "application/grpc-web+proto" }, body: "x" },
    ...grpc,
  },
  {
    name: "an upgrade",
    target: GROUPS,
    ask: { headers: { connection: "upgrade", upgrade: "websocket" } },
    status: 400,
    code: 3,
    reason: "UPGRADE_REFUSED",
    says: /upgrade/i,
  },
  { name: "a token in two pieces", ...stranger, ...bearing("Bearer a b") },
  { name: "two tokens in one field", ...stranger, ...bearing("Bearer a, Bearer b") },
  { name: "a scheme without a token", ...stranger, ...bearing("Bearer") },
];

describe("a request that is wrong by itself gets carryover's own error, and nothing of it reaches the platform", () => {
  it.each(WRONG)("$name: $status $reason", async ({ method = "GET", target, ask, status, code, reason, says }) => {
    const before = here.arrived.length;
    const answer = await here.ask(method, typeof target === "string" ? target : target(), ask);
    expect(answer.json).toMatchObject({ code, message: expect.stringMatching(says) });
    expect(Object.keys(answer.json)).toEqual(["code", "message", "details"]);
    expect([answer.status, reasonOf(answer)]).toEqual([status, reason]);
    expect(answer.json.details[0]).toMatchObject({
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      metadata: expect.any(Object),
    });
    expect(answer.field("content-type")).toBe("application/json");
    expect(here.arrived.slice(before)).toEqual([]);
    expect(here.exchanges.at(-1)).toMatchObject({ status, reason });
  });

  it("many header bytes: 431 HEADERS_TOO_LARGE", async () => {
    const before = here.arrived.length;
    const answer = await askRaw(port(), `GET ${GROUPS}`, `${bearer()}X-Big: ${"x".repeat(20_000)}\r\n`);
    expect(answer.status).toBe(431);
    expect(answer.json()).toMatchObject({ code: 3, details: [{ reason: "HEADERS_TOO_LARGE", domain: "carryover" }] });
    expect(here.arrived.slice(before)).toEqual([]);
  });

  it.each([
    ["on a translated route", "GET /iam/v1/groups"],
    ["on a v2 route", "GET /iam/v2beta1/groups"],
    ["on an unknown path", "GET /nothing"],
  ])("a doubled Authorization %s: 401", async (_, line) => {
    const before = here.arrived.length;
    const answer = await askRaw(port(), line, bearer() + bearer());
    expect(answer.status).toBe(401);
    expect(answer.field("www-authenticate")).toBe("Bearer");
    expect(answer.json()).toMatchObject({ code: 16, details: [{ reason: "UNAUTHENTICATED", domain: "carryover" }] });
    expect(here.arrived.slice(before)).toEqual([]);
  });

  it("what is no HTTP: 400 INVALID_REQUEST", async () => {
    const answer = parse(await talk(port(), "GET / HTTP/9\r\n\r\n"));
    expect(answer.status).toBe(400);
    expect(answer.json().details[0]).toMatchObject({ reason: "INVALID_REQUEST", domain: "carryover" });
  });
});

describe("a method that v1 does not have on a path", () => {
  it.each([
    ["HEAD", () => `${GROUPS}/${group()}`],
    ["HEAD", () => GROUPS],
    ["PATCH", () => `${GROUPS}/${group()}`],
    ["GET", () => `${GROUPS}/`],
    ["PUT", () => `/iam/v1/group_invites/${here.sandbox.wellKnown.groupInvite}`],
    ["DELETE", () => "/registry/v1/charts:find"],
  ])("%s is answered as v1's gateway does: 501, code 12, no details", async (method, target) => {
    const before = here.arrived.length;
    const answer = await here.ask(method, target());
    expect([answer.status, here.exchanges.at(-1)?.status]).toEqual([501, 501]);
    if (method !== "HEAD") expect(answer.text).toBe('{"code":12,"message":"Method Not Allowed","details":[]}');
    expect(here.arrived.slice(before)).toEqual([]);
  });
});

describe("what is only unusual", () => {
  it("a missing Authorization is the platform's to refuse", async () => {
    const before = here.arrived.length;
    const answer = await here.ask("GET", GROUPS, { as: null });
    expect([answer.status, answer.json.code]).toEqual([401, 16]);
    expect(reasonOf(answer)).toBeUndefined();
    expect(here.arrived.length).toBe(before + 1);
  });

  it("a body is JSON whatever it is called", async () => {
    const answer = await here.ask("PUT", `${GROUPS}/${group()}`, {
      body: '{"name":"still json"}',
      headers: { "content-type": "application/x-www-form-urlencoded", "x-http-method-override": "DELETE" },
    });
    expect([answer.status, answer.json.name]).toEqual([200, "still json"]);
    expect(here.arrived.at(-1)).toMatchObject({ method: "PATCH" });
    expect(here.arrived.at(-1)?.headers.map(([name]) => name)).not.toContain("x-http-method-override");
  });

  it.each(["a%20b", "..%2Froles", "%C3%A4", "*"])("an id that no record can have (%s) finds nothing", async (id) => {
    expect((await here.ask("GET", `${GROUPS}?id=${id}`)).json).toEqual({ items: [] });
    expect(here.arrived.map(({ target }) => target).filter((target) => target.includes(id))).toEqual([]);
    expect((await here.ask("GET", `${GROUPS}?id=${id}`, { as: null })).status).toBe(401);
  });

  it("a DELETE may have a body: nobody reads it, and it goes nowhere", async () => {
    const answer = await here.ask("DELETE", `${GROUPS}/${here.sandbox.wellKnown.emptyGroup}`, { body: "{" });
    expect([answer.status, answer.text]).toEqual([200, "{}"]);
    expect(here.arrived.at(-1)).toMatchObject({ method: "DELETE", body: Buffer.alloc(0) });
  });

  it("an empty text is no filter", async () => {
    const [all, none] = [await here.ask("GET", GROUPS), await here.ask("GET", `${GROUPS}?name=&uidp.descendants_of=`)];
    expect(none.json.items.length).toBe(all.json.items.length);
  });
});

describe("a body as large as bodies may be", () => {
  let large: Rig;
  beforeAll(async () => {
    large = await rig({ native: false });
  });
  afterAll(() => large.close());

  it("a text of 100 kB is the platform's to judge", async () => {
    const name = "n".repeat(100_000);
    const target = `${GROUPS}/${large.sandbox.wellKnown.someGroup}`;
    const answer = await large.ask("PUT", target, { body: { name, description: name } });
    const sent = JSON.parse(new TextDecoder().decode(large.arrived.at(-1)?.body));
    expect([sent.name, sent.description]).toEqual([name, name]);
    expect(reasonOf(answer)).toBeUndefined();
    expect(answer.status).toBeLessThan(500);
  });

  it("one over 1 MiB does not reach it", async () => {
    const before = large.arrived.length;
    const body = { name: "n".repeat(1024 * 1024) };
    const answer = await large.ask("PUT", `${GROUPS}/${large.sandbox.wellKnown.someGroup}`, { body });
    expect([answer.status, reasonOf(answer)]).toEqual([413, "BODY_TOO_LARGE"]);
    expect(large.arrived.slice(before)).toEqual([]);
  });

  it("a value of the wrong type that is as long is not repeated in the error", async () => {
    const body = `{"name":[${JSON.stringify("n".repeat(500_000))}]}`;
    const answer = await large.ask("PUT", `${GROUPS}/${large.sandbox.wellKnown.someGroup}`, { body });
    expect([answer.status, reasonOf(answer)]).toEqual([400, "INVALID_BODY"]);
    expect(answer.text.length).toBeLessThan(1_000);
  });
});

describe("after all this", () => {
  it("it is still up and answers", async () => {
    const token = bearer();
    for (let i = 0; i < 20; i++) await talk(port(), request(`GET ${GROUPS}/%zz${i}`, token)).catch(() => "");
    expect((await here.ask("GET", `${GROUPS}/${group()}`)).status).toBe(200);
    expect((await fetch(`${here.adminUrl}/readyz`)).status).toBe(200);
    expect(here.exchanges.every(({ reason }) => reason !== "INTERNAL")).toBe(true);
  });
});
