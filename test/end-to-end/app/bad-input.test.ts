import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ask, type Rig, reasonOf, rig } from "./rig.ts";

let here: Rig;
beforeAll(async () => {
  here = await rig({ native: false, flags: { limitsBodyBytes: "2048" } });
});
afterAll(() => here.close());

const group = () => here.sandbox.wellKnown.someGroup;

const GROUPS = "/iam/v1/groups";

/** Method and target, in which `$` names a record of the sandbox; words of the message: what was wrong, what is expected; the rest of it. */
type Wrong = readonly [name: string, request: string, says: RegExp, ask?: Ask];
const claims = { name: "n", claimMatch: { issuer: "https://a", subject: "s" }, claim_match: {} };

const WRONG: Readonly<Record<string, readonly [status: number, code: number, ...Wrong[]]>> = {
  INVALID_BODY: [
    400,
    3,
    ["JSON that breaks off", `PUT ${GROUPS}/$someGroup`, /JSON/, { body: '{"name":' }],
    ["no JSON at all", `PUT ${GROUPS}/$someGroup`, /JSON/, { body: "name=a" }],
    ["something behind the JSON", `PUT ${GROUPS}/$someGroup`, /JSON/, { body: '{"name":"a"} {}' }],
    [
      "bytes that are no UTF-8",
      `PUT ${GROUPS}/$someGroup`,
      /UTF-8/i,
      { body: Buffer.from('{"name":"\xff"}', "latin1") },
    ],
    ["null for a record", `PUT ${GROUPS}/$someGroup`, /object/, { body: "null" }],
    ["an array for a record", `PUT ${GROUPS}/$someGroup`, /object/, { body: "[]" }],
    ["a text for a record", `PUT ${GROUPS}/$someGroup`, /object/, { body: '"a"' }],
    ["a member twice", `PUT ${GROUPS}/$someGroup`, /name/, { body: '{"name":"a","name":"b"}' }],
    ["a number for a text", `PUT ${GROUPS}/$someGroup`, /name/, { body: '{"name":1}' }],
    ["an object for a text", `PUT ${GROUPS}/$someGroup`, /description/, { body: '{"description":{}}' }],
    ["both spellings of one field", "POST /iam/v1/identities/$someGroup", /claim_?match/i, { body: claims }],
    [
      "an unknown capability",
      "POST /iam/v1/roles/$rootGroup",
      /capabilit/,
      { body: { name: "r", capabilities: ["fly"] } },
    ],
    ["a GET with a body", `GET ${GROUPS}`, /query/, { body: '{"name":"a"}' }],
  ],
  INVALID_PATH: [
    400,
    3,
    ["a dot segment", `GET ${GROUPS}/../roles`, /dot segment/],
    ["an encoded dot segment", `GET ${GROUPS}/%2e%2e/roles`, /dot segment/],
    ["an empty segment", `GET ${GROUPS}//a`, /empty|slash|segment/],
    ["a slash at the end", `GET ${GROUPS}/$someGroup/`, /slash/],
    ["an encoded percent sign", `GET ${GROUPS}/a%2562`, /%|percent/],
    ["a malformed escape", `GET ${GROUPS}/a%zz`, /%|percent|escape/],
    ["a semicolon", `GET ${GROUPS}/a;b`, /;|semicolon/],
    ["an encoded control byte", `GET ${GROUPS}/a%00b`, /control/],
    ["a uid with a space", `GET ${GROUPS}/a%20b`, /uid|letters/],
    ["a uid of another alphabet", `GET ${GROUPS}/%C3%A4`, /ASCII/],
    ["a uid with a star", `DELETE ${GROUPS}/*`, /uid|letters/],
    ["a delete without a uid", `DELETE ${GROUPS}/`, /uid/],
    ["a PUT without a uid", `PUT ${GROUPS}`, /uid/, { body: "{}" }],
    ["a prefix in escapes", "GET /%69am/v1/groups", /percent escape/],
  ],
  INVALID_FILTER: [
    400,
    3,
    ["one filter twice", `GET ${GROUPS}?name=a&name=b`, /name/],
    ["one in both spellings", `GET ${GROUPS}?uidp.descendants_of=a&uidp.descendantsOf=b`, /descendants/],
    ["a boolean that is none", `GET ${GROUPS}?uidp.in_root=perhaps`, /in_root/],
    ["an empty boolean", `GET ${GROUPS}?uidp.in_root=`, /in_root/],
    ["a filter in brackets", `GET ${GROUPS}?id[]=a`, /id is given more than once/],
    ["a member of a filter", `GET ${GROUPS}?name.first=a`, /name has no members/],
    ["a group of filters", `GET ${GROUPS}?uidp=a`, /uidp is a group/],
    ["an empty time", "GET /registry/v1/tags?updatedSince=", /updated_since .*RFC 3339/],
    ["no time", "GET /registry/v1/tags?updated_since=2026-02-30T00:00:00Z", /updated_since/],
    [
      "an enum name that v1 does not know",
      "GET /vulnerabilities/v1/advisories?event_statuses=SETTLED",
      /event_statuses has no such value/,
    ],
    [
      "an enum name that v2 does not know",
      "GET /vulnerabilities/v1/advisories?eventTypes=EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED",
      /event_types .*cannot be asked of v2/,
    ],
    ["a malformed escape", `GET ${GROUPS}?name=%zz`, /%|percent|escape/],
  ],
  UNKNOWN_PATH: [
    404,
    5,
    ...["/", "/iam", "/iam/v1x/groups", "/IAM/v1/groups", "/healthz", "/metrics", "/v1/groups"].map(
      (target) => [`a path of nobody, ${target}`, `GET ${target}`, /prefix/] as const,
    ),
    ["a version of nobody", "GET /iam/v3/groups", /prefix/],
    ["token exchange that is not configured", "GET /sts/exchange?aud=a", /upstream\.sts\.url/],
  ],
  NOT_TRANSLATABLE: [
    501,
    12,
    ["what v2 lacks, without a native v1", "GET /registry/v1/charts:find?name=a", /^chart find .*native v1/],
  ],
  BODY_TOO_LARGE: [
    413,
    3,
    ["a body", `PUT ${GROUPS}/$someGroup`, /2048 bytes/, { body: `{"name":"${"n".repeat(3000)}"}` }],
  ],
  URI_TOO_LONG: [414, 3, ["a target", `GET ${GROUPS}?name=${"n".repeat(9000)}`, /8192 bytes/]],
  GRPC_UNSUPPORTED: [
    415,
    12,
    ["gRPC", "POST /iam.Groups/List", /JSON/, { headers: { "content-type": "application/grpc" } }],
    ["of a kind", `PUT ${GROUPS}/a`, /JSON/, { headers: { "content-type": "application/grpc-web+proto" }, body: "x" }],
  ],
  UPGRADE_REFUSED: [
    400,
    3,
    ["an upgrade", `GET ${GROUPS}`, /upgrade/i, { headers: { connection: "upgrade", upgrade: "websocket" } }],
  ],
};
const rows = Object.entries(WRONG).flatMap(([reason, [status, code, ...all]]) =>
  all.map(([name, request, says, ask]) => ({ name, request, says, ask, reason, status, code })),
);

describe("V58, V60, V63: a request that is wrong by itself gets carryover's own error, and nothing of it reaches the platform", () => {
  it.each(rows)("$name: $status $reason", async ({ request, ask, status, code, reason, says }) => {
    const before = here.arrived.length;
    const { someGroup, rootGroup } = here.sandbox.wellKnown;
    const filled = request.replace("$someGroup", someGroup).replace("$rootGroup", rootGroup);
    const [, method = "", target = ""] = /^(\S+) (.*)$/.exec(filled) ?? [];
    const answer = await here.ask(method, target, ask);
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
});

it.each(["GET", "POST", "OPTIONS"])(
  "%s of a path that v1 does not have is its gateway's 404, without details",
  async (method) => {
    const before = here.arrived.length;
    const answer = await here.ask(method, "/iam/v1/novelties/a:b");
    expect([answer.status, answer.text]).toEqual([404, '{"code":5,"message":"Not Found","details":[]}']);
    expect(here.exchanges.at(-1)).toMatchObject({ reason: "NOT_FOUND", resource: "unknown", operation: "unknown" });
    expect(here.arrived.slice(before)).toEqual([]);
  },
);

describe("a method that v1 does not have on a path", () => {
  it.each([
    ["HEAD", () => `${GROUPS}/${group()}`],
    ["HEAD", () => GROUPS],
    ["PATCH", () => `${GROUPS}/${group()}`],
    ["GET", () => `${GROUPS}/`],
    ["GET", () => `${GROUPS}/${group()}:nonsense`],
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
});
