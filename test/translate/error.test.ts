/** Does a v2 error reach a v1 client whole, in v1's words where they are names? */
import { describe, expect, test } from "vitest";
import type { ApiResponse } from "../../src/model/message.ts";
import { Problem } from "../../src/model/problem.ts";
import type { Resource, Row } from "../../src/model/resource.ts";
import { errorAnswer, fieldNames } from "../../src/translate/error.ts";
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

function response(
  status: number,
  text: string,
  headers: ApiResponse["headers"] = [["content-type", "application/json"]],
): ApiResponse {
  return { status, headers, body: Buffer.from(text) };
}
const shown = (status: number, text: string, headers?: ApiResponse["headers"]) =>
  Buffer.from(errorAnswer(response(status, text, headers), NAMES).body).toString();

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
      `{"code":3,"message":"m","details":[{"fieldViolations":[{"field":"${field}"},{"field":"${field}"}]},{"fieldViolations":[{"field":"${field}"}]}]}`;
    expect(shown(400, text("role_uid"))).toBe(text("role"));
  });
});

describe("of the message only the prefix is a name", () => {
  test.each([
    ["Invalid argument: role_uid: role_uid must be set", "Invalid argument: role: role_uid must be set"],
    ["Invalid argument: matchClaim.loginName: no", "Invalid argument: claimMatch.userName: no"],
    ["Invalid argument: people[0].username: no", "Invalid argument: users[0].userName: no"],
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

test("everything else stays byte for byte: unknown details, odd members, numbers, escapes, order", () => {
  const text =
    '{ "details" :[{"@type":"x/Secret","roleUid":"roleUid","field":"roleUid","n":1.50e2,"big":12345678901234567890,"e":"\\u0041"},' +
    '{"@type":"y/google.rpc.ErrorInfo","metadata":{"roleUid":"role_uid"}}, 7, null, "x"],"extra":[1,2],"message":"m\\/","code":3 }';
  expect(shown(400, text)).toBe(text);
});

test.each([400, 401, 403, 404, 409, 412, 429, 499, 500, 501, 503, 504])("status %i is v2's", (status) => {
  const text = '{"code":9,"message":"m","details":[]}';
  const answer = errorAnswer(response(status, text), NAMES);
  expect([answer.status, Buffer.from(answer.body).toString()]).toEqual([status, text]);
});

test("fields that tell the client what to do come along, those of v2's bytes do not", () => {
  const { headers } = errorAnswer(
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

describe("an error without a body of the API keeps its status and gets one", () => {
  test.each([
    ["a page of a front", 502, "<html><body>bad gateway at 10.0.0.1</body></html>", 14],
    ["nothing", 503, "", 14],
    ["an empty object", 500, "{}", 2],
    ["a text", 400, '"bad"', 3],
    ["an array", 400, "[]", 3],
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
    ["what took too long", 504, "", 4],
  ])("%s", (_, status, text, code) => {
    const answer = errorAnswer(response(status, text, []), NAMES);
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
  expect(() => errorAnswer(response(status, '{"code":3}'), NAMES)).toThrow(Problem);
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
