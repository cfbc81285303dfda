/** Does a v1 client get the platform's errors as they are, in its own words where they are names? (Design: errors.) */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { PROBLEMS, Problem, type ProblemReason, problemBody } from "../../src/model/problem.ts";
import { httpOfRpc, RpcCode } from "../../src/model/status.ts";
import { type Answer, type Rig, reasonOf, rigForTest, scripted, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const ID = "0a0a/1b1b";
const TYPE = "type.googleapis.com/google.rpc.";

/** One request of every kind, and what v2 is asked for it first. */
const KINDS = [
  { kind: "get", method: "GET", target: `/iam/v1/groups/${ID}` },
  { kind: "list", method: "GET", target: "/iam/v1/groups" },
  { kind: "paged list", method: "GET", target: "/vulnerabilities/v1/advisories" },
  { kind: "joined list", method: "GET", target: "/iam/v1/rolebindings" },
  { kind: "list of one", method: "GET", target: `/iam/v1/groups?id=${ID}` },
  { kind: "create", method: "POST", target: `/iam/v1/groups/${ID}`, body: '{"name":"a"}' },
  { kind: "update", method: "PUT", target: `/iam/v1/groups/${ID}`, body: '{"name":"a"}' },
  { kind: "delete", method: "DELETE", target: `/iam/v1/groups/${ID}` },
] as const;

interface Wire {
  readonly status: number;
  readonly body: string | Buffer;
  /** Lines, each with its end. */
  readonly fields?: string;
}

/** An answer byte by byte. */
function wire({ status, body, fields = "Content-Type: application/json\r\n" }: Wire): Buffer {
  const head = `HTTP/1.1 ${status} X\r\n${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body)]);
}

const inFrontOf = scripted();
/** A carryover before a platform that always answers the same. */
const saying = (answer: Wire) => inFrontOf(wire(answer));

async function all(rig: Rig): Promise<readonly (readonly [kind: string, answer: Answer])[]> {
  return Promise.all(
    KINDS.map(async (one) => {
      const ask = "body" in one ? { body: one.body } : {};
      return [one.kind, await rig.ask(one.method, one.target, ask)] as const;
    }),
  );
}

function error(code: number, details: readonly object[] = [], message = `Invalid: ${code}`): string {
  return JSON.stringify({ code, message, details });
}
const INFO = { "@type": `${TYPE}ErrorInfo`, reason: "R", domain: "iam.platform.example", metadata: { uid: "roleUid" } };

describe("an error of v2", () => {
  it("T-PUT-10, T52: arrives as v2 said it, whatever was asked, also where status and code do not belong together", async () => {
    const codes = Object.values(RpcCode).filter((code) => code !== RpcCode.OK);
    const odd = [
      [500, RpcCode.INVALID_ARGUMENT],
      [404, RpcCode.PERMISSION_DENIED],
      [412, RpcCode.FAILED_PRECONDITION],
      [418, RpcCode.OK],
    ] as const;
    for (const [status, code] of [...codes.map((code) => [httpOfRpc(code), code] as const), ...odd]) {
      const body = error(code, [INFO]);
      const { rig } = saying({ status, body });
      for (const [kind, answer] of await all(rig)) {
        // What is not there, or not to be seen, was an empty list in v1 when asked for by id (trap T03).
        const hidden = [404, 403].includes(status) && httpOfRpc(code) === status;
        if (kind === "list of one" && hidden) {
          expect([code, kind, answer.status, answer.text]).toEqual([code, kind, 200, '{"items":[]}']);
        } else expect([code, kind, answer.status, answer.text]).toEqual([code, kind, status, body]);
        expect(answer.field("content-type")).toBe("application/json");
      }
      expect(rig.exchanges.filter(({ reason }) => reason !== undefined)).toEqual([]);
    }
  });

  it.each([
    ["of more members and without details", '{"error":"x","code":3,"message":"m","status":"uid"}'],
    ["spaced and escaped", ' { "code" : 3 , "message" : "\\u0041\\/" , "details" : [ ] } '],
  ])("%s arrives byte for byte", async (_, body) => {
    const { rig } = saying({ status: 400, body });
    for (const [kind, answer] of await all(rig)) expect([kind, answer.status, answer.text]).toEqual([kind, 400, body]);
  });

  it("that is none of the API's becomes one in v1's shape, of the same status", async () => {
    const { rig } = saying({ status: 400, body: "<html>at 10.0.0.1</html>" });
    for (const [kind, answer] of await all(rig)) {
      expect([kind, answer.status]).toEqual([kind, 400]);
      expect(answer.json).toEqual({ code: 3, message: expect.stringContaining("400"), details: [] });
      expect(answer.text).not.toContain("10.0.0.1");
    }
  });

  it("that is compressed arrives as it was before, in v1's words", async () => {
    const body = error(3, [{ "@type": `${TYPE}BadRequest`, fieldViolations: [{ field: "uid" }] }]);
    const fields = "Content-Type: application/json\r\nContent-Encoding: gzip\r\n";
    const { rig } = saying({ status: 400, body: gzipSync(body), fields });
    for (const [kind, answer] of await all(rig)) {
      expect([kind, answer.status, answer.text]).toEqual([kind, 400, body.replace('"uid"', '"id"')]);
      expect(answer.field("content-encoding")).toBeUndefined();
    }
  });
});

/** v2's error about `field`, as it comes and as a v1 client sees it. */
function about(field: string): string {
  return error(
    RpcCode.INVALID_ARGUMENT,
    [
      INFO,
      {
        "@type": `${TYPE}BadRequest`,
        fieldViolations: [
          { field, description: "roleUid: role_uid is wrong", reason: "", localizedMessage: null },
          { field: "no.such_field[1]", description: "" },
        ],
      },
    ],
    `Invalid argument: ${field}: role_uid: is wrong`,
  );
}

describe("a name in an error is v1's", () => {
  it.each([
    ["a role binding's", "POST", `/iam/v1/rolebindings/${ID}`, "role_uid", "role"],
    ["a role binding's", "PUT", `/iam/v1/rolebindings/${ID}`, "roleUid", "role"],
    ["a group's", "DELETE", `/iam/v1/groups/${ID}`, "uid", "id"],
    ["a group's", "GET", "/iam/v1/groups", "create_time", "createdAt"],
    [
      "a repo's",
      "GET",
      `/registry/v1/repos/${ID}`,
      "custom_overlay.accounts.users[2].username",
      "customOverlay.accounts.users[2].userName",
    ],
    ["an advisory's", "GET", "/vulnerabilities/v1/advisories", "events[0].create_time", "events[0].timestamp"],
  ])("%s %s %s: %s is %s", async (_, method, target, v2, v1) => {
    const { rig } = saying({ status: 400, body: about(v2) });
    const answer = await rig.ask(method, target, method === "POST" || method === "PUT" ? { body: "{}" } : {});
    expect([answer.status, answer.text]).toEqual([400, about(v1)]);
  });
});

describe("a detail", () => {
  const terms = (type: string) =>
    error(RpcCode.FAILED_PRECONDITION, [
      INFO,
      { missing: [{ id: "eula", label: "uid", url: "https://a.example/uid" }], "@type": `x.example/${type}` },
    ]);

  it("T51: about terms that are not accepted has the type that v1 clients know, and nothing else changes", async () => {
    const { rig } = saying({ status: 400, body: terms("acme.platform.iam.v2beta1.TermsNotAcceptedDetail") });
    const v1 = terms("acme.platform.iam.TermsNotAcceptedDetail");
    for (const [kind, answer] of await all(rig)) expect([kind, answer.text]).toEqual([kind, v1]);
  });

  it("of the platform itself arrives as v2 sends it: what is not empty, and what is not there", async () => {
    const rig = await rigForTest();
    const { rootGroup } = rig.sandbox.wellKnown;
    for (const [method, uid, type] of [
      ["DELETE", rootGroup, "PreconditionFailure"],
      ["GET", `${rootGroup}/0123456789abcdef`, "ResourceInfo"],
      ["DELETE", `${rootGroup}/0123456789abcdef`, "ResourceInfo"],
    ] as const) {
      const v1 = await rig.ask(method, `/iam/v1/groups/${uid}`);
      const v2 = await rig.ask(method, `/iam/v2beta1/groups/${uid}`);
      expect([v1.status, v1.text]).toEqual([v2.status, v2.text]);
      expect(v1.json.details.map((one: { "@type": string }) => one["@type"])).toContain(TYPE + type);
    }
  });
});

describe("a field that tells the client what to do", () => {
  it.each([
    [401, RpcCode.UNAUTHENTICATED, "www-authenticate", "Bearer the token has expired"],
    [429, RpcCode.RESOURCE_EXHAUSTED, "retry-after", "17"],
    [503, RpcCode.UNAVAILABLE, "retry-after", "Sun, 06 Nov 2101 08:49:37 GMT"],
  ])("of a %i comes along: %i, %s: %s", async (status, code, name, value) => {
    const fields = `Content-Type: application/json\r\n${name}: ${value}\r\nX-Quota: 0\r\nETag: "e"\r\n`;
    const { rig } = saying({ status, body: error(code), fields });
    for (const [kind, answer] of await all(rig)) {
      expect([kind, answer.status, answer.text]).toEqual([kind, status, error(code)]);
      expect([answer.field(name), answer.field("x-quota"), answer.field("etag")]).toEqual([value, "0", undefined]);
      expect(answer.field("cache-control")).toBe("private, no-store");
    }
  });

  it("a rate limit that the platform really has is passed on with its pause", async () => {
    const rig = await rigForTest({ sandbox: { rateLimit: 1, clock: () => new Date(0) } });
    const target = `/iam/v1/groups/${rig.sandbox.wellKnown.someGroup}`;
    expect((await rig.ask("GET", target)).status).toBe(200);
    const answer = await rig.ask("DELETE", target);
    expect([answer.status, answer.json.code, answer.field("retry-after")]).toEqual([429, 8, "1"]);
  });
});

/** What a decoder that knows its messages and refuses every other member makes of an error body. Throws. */
function decodeStrictly(text: string): void {
  const members = (value: unknown, allowed: readonly string[]): Record<string, unknown> => {
    expect(value).toBeTypeOf("object");
    const odd = Object.keys(value as object).filter((key) => !allowed.includes(key));
    expect(odd).toEqual([]);
    return value as Record<string, unknown>;
  };
  const { code, message, details } = members(JSON.parse(text), ["code", "message", "details"]);
  expect(Object.values(RpcCode)).toContain(code);
  expect(message).toBeTypeOf("string");
  for (const detail of details as { "@type": string }[]) {
    switch (detail["@type"]) {
      case `${TYPE}ErrorInfo`: {
        const { reason, domain, metadata } = members(detail, ["@type", "reason", "domain", "metadata"]);
        // The rules of the standard message for a reason.
        expect(reason).toMatch(/^[A-Z][A-Z0-9_]+[A-Z0-9]$/);
        expect(domain).toBe("carryover");
        for (const value of Object.values(metadata as object)) expect(value).toBeTypeOf("string");
        break;
      }
      case `${TYPE}BadRequest`: {
        const { fieldViolations } = members(detail, ["@type", "fieldViolations"]);
        for (const violation of fieldViolations as object[]) {
          for (const value of Object.values(members(violation, ["field", "description"]))) {
            expect(value).toBeTypeOf("string");
          }
        }
        break;
      }
      default:
        throw new Error(`a detail that no client has a decoder for: ${detail["@type"]}`);
    }
  }
}

describe("an error of carryover's own", () => {
  it.each(Object.keys(PROBLEMS) as ProblemReason[])(
    "%s can be read by a decoder that refuses what it does not know",
    (reason) => {
      const violation = { field: "name", description: "is wrong" };
      decodeStrictly(problemBody(new Problem(reason, "m", { metadata: { limit: "1" }, fieldViolations: [violation] })));
      decodeStrictly(problemBody(new Problem(reason, "m")));
    },
  );

  it("on the wire is told from the platform's by its domain only", async () => {
    const rig = await rigForTest({ native: false });
    const { someGroup } = rig.sandbox.wellKnown;
    for (const [method, target, body, reason] of [
      ["PUT", `/iam/v1/groups/${someGroup}`, '{"name":1}', "INVALID_BODY"],
      ["GET", "/iam/v1/groups?uidp.in_root=x", undefined, "INVALID_FILTER"],
      ["GET", "/iam/v1/groups//a", undefined, "INVALID_PATH"],
      ["GET", "/nowhere", undefined, "UNKNOWN_PATH"],
      ["POST", "/registry/v1/charts", "{}", "NOT_TRANSLATABLE"],
    ] as const) {
      const answer = await rig.ask(method, target, body === undefined ? {} : { body });
      decodeStrictly(answer.text);
      expect(reasonOf(answer)).toBe(reason);
    }
  });
});
