import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ask, type Rig, reasonOf, rig } from "./rig.ts";

let here: Rig;
beforeAll(async () => {
  here = await rig({ native: false, flags: { limitsBodyBytes: "2048" } });
});
afterAll(() => here.close());

const GROUPS = "/iam/v1/groups";

/** Method and target, in which `$` names a record of the sandbox; words of the message: what was wrong, what is expected; the rest of it. */
type Wrong = readonly [name: string, request: string, says: RegExp, ask?: Ask];
/** One of each reason. All that is wrong for it: test/router, test/translate/query, test/translate/body and test/edge/gate. */
const WRONG: Readonly<Record<string, readonly [status: number, code: number, ...Wrong[]]>> = {
  INVALID_BODY: [
    400,
    3,
    ["JSON that breaks off", `PUT ${GROUPS}/$someGroup`, /JSON/, { body: '{"name":' }],
    ["a number for a text", `PUT ${GROUPS}/$someGroup`, /name/, { body: '{"name":1}' }],
    ["a GET with a body", `GET ${GROUPS}`, /query/, { body: '{"name":"a"}' }],
  ],
  INVALID_PATH: [400, 3, ["an encoded dot segment", `GET ${GROUPS}/%2e%2e/roles`, /dot segment/]],
  INVALID_FILTER: [400, 3, ["one filter twice", `GET ${GROUPS}?name=a&name=b`, /name/]],
  UNKNOWN_PATH: [
    404,
    5,
    ["a path of nobody", "GET /v1/groups", /prefix/],
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

describe("DIFF-58, DIFF-60, DIFF-63: a request that is wrong by itself gets carryover's own error, and nothing of it reaches the platform", () => {
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
