import { describe, expect, test } from "vitest";
import type { ApiResponse } from "../../src/model/http.ts";
import { httpOfRpc, Problem, RpcCode } from "../../src/model/problem.ts";
import type { Resource, Row } from "../../src/model/resource.ts";
import { errorResponse, fieldNames } from "../../src/translate/error.ts";
import { ID, NAME, thing } from "./support.ts";

const CLAIM: Row = {
  v1: "claimMatch",
  v2: "matchClaim",
  kind: "message",
  rows: [{ v1: "userName", v2: "loginName", kind: "string", zero: "" }],
  zero: null,
};
const THINGS = thing({
  rows: [
    ID,
    NAME,
    CLAIM,
    { v1: "role", v2: "roleUid", kind: "string", zero: "" },
    { v1: "odd", v2: "oddName", v2Proto: "odd_one", kind: "string", zero: "" },
    {
      v1: "sync_config",
      v2: "sync_config",
      kind: "message",
      rows: [{ v1: "until", v2: "untilTime", kind: "timestamp", zero: null }],
      zero: null,
    },
    {
      v1: "users",
      v2: "people",
      kind: "message",
      rows: [{ v1: "userName", v2: "username", kind: "string", zero: "" }],
      list: true,
      zero: [],
    },
    {
      v1: "apps",
      v2: "applications",
      kind: "map",
      of: { rows: [{ v1: "size", v2: "bulk", kind: "int32", zero: 0 }] },
      zero: {},
    },
  ],
});
const NAMES = fieldNames(THINGS);
const BAD = '{"@type":"type.googleapis.com/google.rpc.BadRequest"';

function response(
  status: number,
  text: string,
  headers: ApiResponse["headers"] = [["content-type", "application/json"]],
): ApiResponse {
  return { status, headers, body: Buffer.from(text) };
}
const shown = (status: number, text: string, headers?: ApiResponse["headers"]) =>
  Buffer.from(errorResponse(response(status, text, headers), NAMES).body).toString();

describe("a field of a violation gets its v1 name", () => {
  test.each([
    ["roleUid", "role"],
    ["role_uid", "role"],
    ["uid", "id"],
    ["name", "name"],
    ["matchClaim", "claimMatch"],
    ["match_claim.login_name", "claimMatch.userName"],
    ["matchClaim.loginName", "claimMatch.userName"],
    ["matchClaim.nonsense", "claimMatch.nonsense"],
    ["match_claim.nonsense.login_name", "claimMatch.nonsense.login_name"],
    ["sync_config.until_time", "sync_config.until"],
    ["sync_config.untilTime", "sync_config.until"],
    ["odd_one", "odd"],
    ["oddName", "odd"],
    ["people[3].username", "users[3].userName"],
    ["people[3]", "users[3]"],
    ["people.username", "users.userName"],
    ["applications[key].bulk", "apps[key].size"],
    ["applications[a.b].bulk", "apps[a.b].size"],
    [`applications[${"k".repeat(900)}].bulk`, `apps[${"k".repeat(900)}].size`],
    [`applications[${"k".repeat(1000)}].bulk`, `applications[${"k".repeat(1000)}].bulk`],
    ["nonsense", "nonsense"],
    ["nonsense.roleUid", "nonsense.roleUid"],
    ["", ""],
    ["constructor", "constructor"],
    ["__proto__", "__proto__"],
  ])("%s is %s", (v2, v1) => {
    const text = (field: string) =>
      JSON.stringify({
        code: 3,
        message: "",
        details: [
          { "@type": "t/google.rpc.BadRequest", fieldViolations: [{ field, description: "roleUid is wrong" }] },
        ],
      });
    expect(shown(400, text(v2))).toBe(text(v1));
  });

  test("also when two details name fields", () => {
    const text = (field: string) =>
      `{"code":3,"message":"m","details":[${BAD},"fieldViolations":[{"field":"${field}"},{"field":"${field}"}]},${BAD},"fieldViolations":[{"field":"${field}"}]}]}`;
    expect(shown(400, text("role_uid"))).toBe(text("role"));
  });
});

describe("DIFF-62: of the message only the prefix is a name", () => {
  test.each([
    ["Invalid argument: role_uid: role_uid must be set", "Invalid argument: role: role_uid must be set"],
    ["Invalid argument: matchClaim.loginName: no", "Invalid argument: claimMatch.userName: no"],
    ["Invalid argument: people[0].username: no", "Invalid argument: users[0].userName: no"],
    ["Invalid argument: applications[a-b: c].bulk: no", "Invalid argument: apps[a-b: c].size: no"],
    ['Invalid argument: applications["x.y"].bulk: no', 'Invalid argument: apps["x.y"].size: no'],
    ["Invalid argument: name: roleUid: x", "Invalid argument: name: roleUid: x"],
    ["Invalid argument: role_uid", "Invalid argument: role_uid"],
    ["Precondition failed: roleUid: x", "Precondition failed: roleUid: x"],
    ["the roleUid: is wrong", "the roleUid: is wrong"],
    ["see Invalid argument: roleUid: x", "see Invalid argument: roleUid: x"],
    ["", ""],
  ])("%s", (v2, v1) => {
    const text = (message: string) => JSON.stringify({ code: 3, message, details: [] });
    expect(shown(400, text(v2))).toBe(text(v1));
  });
});

describe("TRAP-51: the type of a detail", () => {
  const text = (type: string) =>
    `{"code":9,"message":"m","details":[{"missing":[{"id":"uid","label":"roleUid"}],"@type":"${type}","n":1.0}]}`;

  test.each([
    [
      "x.example/acme.platform.iam.v2beta1.TermsNotAcceptedDetail",
      "x.example/acme.platform.iam.TermsNotAcceptedDetail",
    ],
    ["x.example/acme.platform.iam.v2.TermsNotAcceptedDetail", "x.example/acme.platform.iam.TermsNotAcceptedDetail"],
    ["x/a.v2.b.v2alpha7.TermsNotAcceptedDetail", "x/a.v2.b.TermsNotAcceptedDetail"],
  ])("that names the version is the one v1 clients look for: %s", (v2, v1) => {
    expect(shown(400, text(v2))).toBe(text(v1));
  });

  test.each([
    "x.example/acme.platform.iam.TermsNotAcceptedDetail",
    "x.example/acme.platform.iam.v1.TermsNotAcceptedDetail",
    "x.example/acme.platform.iam.v2beta1.OtherDetail",
    "x.example/acme.platform.iam.v2beta1.MyTermsNotAcceptedDetail",
    "x.example/acme.platform.iam.v2beta1.TermsNotAcceptedDetail.More",
  ])("is left alone otherwise: %s", (type) => expect(shown(400, text(type))).toBe(text(type)));
});

test.each([
  '{"@type":"x/acme.Unknown","fieldViolations":[{"field":"roleUid"}]}',
  '{"fieldViolations":[{"field":"roleUid"}]}',
  '{"@type":7,"fieldViolations":[{"field":"roleUid"}]}',
])("a detail that is not known to hold names is left alone: %s", (detail) => {
  const text = `{"code":3,"message":"m","details":[${detail}]}`;
  expect(shown(400, text)).toBe(text);
});

test("everything else stays byte for byte: unknown details, odd members, numbers, escapes, order", () => {
  const text =
    '{ "details" :[{"@type":"x/Secret","roleUid":"roleUid","field":"roleUid","n":1.50e2,"big":12345678901234567890,"e":"\\u0041"},' +
    '{"@type":"y/google.rpc.ErrorInfo","metadata":{"roleUid":"role_uid"}}, 7, null, "x"],"extra":[1,2],"message":"m\\/","code":3 }';
  expect(shown(400, text)).toBe(text);
});

// With every code, also where status and code do not belong together.
test.each(
  [
    ...Object.values(RpcCode).map((code) => [httpOfRpc(code), code] as const),
    ...[401, 404, 412, 429, 499, 500, 503, 504].map((status) => [status, RpcCode.FAILED_PRECONDITION] as const),
    [418, RpcCode.OK] as const,
  ].filter(([status]) => status !== 200),
)("T-PUT-10, TRAP-52: status %i with code %i is v2's", (status, code) => {
  const text = `{"code":${code},"message":"m","details":[]}`;
  const answer = errorResponse(response(status, text), NAMES);
  expect([answer.status, Buffer.from(answer.body).toString()]).toEqual([status, text]);
});

test("fields that tell the client what to do come along, those of v2's bytes do not", () => {
  const { headers } = errorResponse(
    response(429, "slow down", [
      ["retry-after", "3"],
      ["www-authenticate", "Bearer"],
      ["content-type", "text/plain"],
      ["content-length", "9"],
      ["etag", "x"],
    ]),
    NAMES,
  );
  expect(headers).toEqual([
    ["retry-after", "3"],
    ["www-authenticate", "Bearer"],
    ["content-type", "application/json"],
  ]);
});

describe("DIFF-65: an error without a body of the API keeps its status and gets one", () => {
  test.each([
    ["a page of a front", 502, "<html><body>bad gateway at 10.0.0.1</body></html>", 14],
    ["nothing", 503, "", 14],
    ["an empty object", 500, "{}", 2],
    ["a text", 400, '"bad"', 3],
    ["an array", 400, "[]", 3],
    ["a front's own status for a code", 403, '{"code":403,"message":"no"}', 7],
    ["a code between two", 400, '{"code":3.5,"message":"no"}', 3],
    ["a code below all", 400, '{"code":-1,"message":"no"}', 3],
    ["a code that is no number", 400, '{"code":"3","message":"m"}', 3],
    ["half a body", 404, '{"code":5,"message":"m"', 5],
    ["two bodies", 404, '{"code":5} {"code":5}', 5],
    ["a repeated message", 409, '{"code":6,"message":"a","message":"b","details":[]}', 10],
    ["repeated details", 409, '{"code":6,"message":"a","details":[],"details":[]}', 10],
    ["nesting without end", 500, `{"code":13,"details":${"[".repeat(500)}${"]".repeat(500)}}`, 2],
    ["an unusual status", 418, "teapot", 9],
    ["an unusual failure", 599, "", 2],
    ["what must be authenticated", 401, "", 16],
    ["what is forbidden", 403, "", 7],
    ["what comes too often", 429, "", 8],
    ["what is not there", 501, "", 12],
    ["what the client gave up", 499, "", 1],
    ["a method of nobody", 405, "", 12],
    ["what came too slowly", 408, "", 4],
    ["what is too long", 413, "", 3],
    ["what is of the wrong type", 415, "", 12],
    ["what took too long", 504, "", 4],
  ])("%s", (_, status, text, code) => {
    const answer = errorResponse(response(status, text, []), NAMES);
    expect(answer.status).toBe(status);
    const body = JSON.parse(Buffer.from(answer.body).toString()) as {
      code: number;
      message: string;
      details: unknown[];
    };
    expect(body).toEqual({ code, message: expect.stringContaining(String(status)), details: [] });
    expect(body.message).not.toContain("10.0.0.1");
  });

  test("also when its type says that it is no JSON", () => {
    expect(JSON.parse(shown(404, '{"code":3,"message":"m"}', [["content-type", "text/html"]]))).toMatchObject({
      code: 5,
    });
  });

  test.each(["application/json; charset=utf-8", "application/problem+json", "APPLICATION/JSON"])(
    "but %s is JSON",
    (type) => {
      expect(shown(404, '{"code":3,"message":"m"}', [["content-type", type]])).toBe('{"code":3,"message":"m"}');
    },
  );
});

test("details that are no array are left alone", () => {
  expect(shown(400, '{"code":3,"message":7,"details":{"field":"roleUid"}}')).toBe(
    '{"code":3,"message":7,"details":{"field":"roleUid"}}',
  );
});

test.each([100, 200, 204, 302, 304])("what is no error is never shown as one: %i", (status) => {
  expect(() => errorResponse(response(status, '{"code":3}'), NAMES)).toThrow(Problem);
});

test("a name that v1 nests, or has one level higher, keeps its indexes where they belong", () => {
  const names = new Map([
    ["company", "profile.company.name"],
    ["requests.role_binding.role_uid", "items.role"],
  ]);
  const field = (path: string) =>
    Buffer.from(
      errorResponse(
        response(400, `{"code":3,"message":"","details":[${BAD},"fieldViolations":[{"field":"${path}"}]}]}`),
        names,
      ).body,
    ).toString();
  expect(field("company")).toContain('"field":"profile.company.name"');
  expect(field("requests[3].role_binding.role_uid")).toContain('"field":"items[3].role"');
});

test("names of bodies win over names of answers, in whatever order the operations stand", () => {
  const answer = { rows: [ID, { v1: "shown", v2: "both", kind: "string", access: "output" } as Row], v2Only: [] };
  const body = { rows: [{ v1: "sent", v2: "both", kind: "string", zero: "" } as Row], v2Only: [] };
  const create = { kind: "create", name: "create", body, answer } as const;
  const get = { kind: "get", name: "get", answer, extension: true } as const;
  for (const operations of [
    [create, get],
    [get, create],
  ] as const) {
    const resource: Resource = { ...THINGS, operations };
    expect(fieldNames(resource).get("both")).toBe("sent");
  }
});
