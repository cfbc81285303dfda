import { describe, expect, test } from "vitest";
import { ask } from "../client.ts";
import { seededSandbox } from "../seeded.ts";

const sandbox = seededSandbox();
const { someGroup, rootGroup } = sandbox.wellKnown;
const V1 = "/iam/v1/groups";
const V2 = "/iam/v2beta1/groups";

describe("routing", () => {
  test.each([
    ["HEAD", V1],
    ["OPTIONS", V1],
    ["GET", `${V1}/`],
    ["GET", `${V1}/${someGroup}`],
    ["PUT", `${V2}/${someGroup}`],
    ["PATCH", `${V1}/${someGroup}`],
    ["PUT", `/iam/v1/group_invites/${someGroup}`],
    ["DELETE", "/sts/exchange"],
  ])("%s %s is a method that the path does not have: 501, with or without a token", async (method, path) => {
    for (const token of [sandbox.token("admin"), undefined]) {
      const answer = await ask(sandbox, method, path, { token });
      expect([answer.status, answer.text]).toEqual([501, '{"code":12,"message":"Method Not Allowed","details":[]}']);
    }
  });

  test.each([
    ["/"],
    ["/iam/v1"],
    ["/iam/v1/nonsense"],
    ["/iam/v3/groups"],
    ["/iam/v1/roleBindings"],
    ["/iam/v2beta1/rolebindings"],
    ["//iam/v1/groups"],
    ["/iam//v1/groups"],
    ["/iam/v1/./groups"],
    ["/iam/v1/x/../groups"],
  ])("GET %s is no path: 404 without details", async (path) => {
    const answer = await ask(sandbox, "GET", path, { token: undefined });
    expect([answer.status, answer.text]).toEqual([404, '{"code":5,"message":"Not Found","details":[]}']);
  });

  // Without a route of its own a verb is part of the uid: what is wrong is then the method, unless one takes any uid.
  test.each([
    ["GET", `${V1}/${someGroup}:nonsense`, 501, 0],
    ["GET", `${V1}/${someGroup}:requestGroupAccess`, 501, 0],
    ["GET", `${V1}:requestGroupAccess`, 501, 0],
    ["GET", `${V1}/${someGroup}:lookupGroup`, 501, 0],
    ["PUT", `${V2}/${someGroup}:nonsense`, 501, 0],
    ["POST", `/vulnerabilities/v1/advisories/${someGroup}`, 501, 0],
    ["POST", `${V1}:nonsense`, 404, 0],
    ["POST", `${V1}/:requestGroupAccess`, 404, 0],
    ["POST", `${V1}/${someGroup}:nonsense`, 404, 2],
    ["POST", `${V2}/${someGroup}:nonsense`, 404, 2],
    ["POST", `/iam/v2beta1/roleBindings/${someGroup}:batchCreate`, 404, 2],
    ["GET", `${V2}/${someGroup}:lookupGroup`, 404, 2],
    ["PUT", `${V1}/${someGroup}:nonsense`, 404, 2],
    ["DELETE", `${V2}/${someGroup}:requestGroupAccess`, 404, 2],
  ])("%s %s: %i with %i details", async (method, path, status, details) => {
    const answer = await ask(sandbox, method, path, { body: { name: "n" } });
    expect([answer.status, answer.json.details.length]).toEqual([status, details]);
  });

  test("%2F is a slash", async () => {
    const plain = await ask(sandbox, "GET", `${V2}/${someGroup}`);
    const coded = await ask(sandbox, "GET", `${V2}/${someGroup.replaceAll("/", "%2F")}`);
    expect(coded.text).toBe(plain.text);
  });

  test("a trailing slash and an unknown verb belong to the uid, and %25 is data", async () => {
    for (const [tail, uid] of [
      [`${someGroup}/`, `${someGroup}/`],
      [`${someGroup}:nonsense`, `${someGroup}:nonsense`],
      [`${rootGroup}%2541`, `${rootGroup}%41`],
    ] as const) {
      const { status, json } = await ask(sandbox, "GET", `${V2}/${tail}`);
      expect([status, json.details[1].resourceName]).toEqual([404, uid]);
    }
  });

  test("PATCH on the bare collection reaches the handler with an empty uid: 400", async () => {
    expect((await ask(sandbox, "PATCH", V2, { body: { name: "n" } })).json.code).toBe(3);
  });

  test("the version segment is a setting", async () => {
    const other = seededSandbox({ version: "v2" });
    expect((await ask(other, "GET", "/iam/v2/groups")).status).toBe(200);
    expect((await ask(other, "GET", V2)).status).toBe(404);
  });

  test("the list of identity providers can be shadowed by Get, as in the public gateway", async () => {
    const path = "/iam/v2beta1/identityProviders";
    expect((await ask(sandbox, "GET", path)).json.identityProviders).toHaveLength(12);
    const shadowed = seededSandbox({ shadowedProviderList: true });
    expect((await ask(shadowed, "GET", path)).status).toBe(400);
  });
});

describe("bodies", () => {
  const post = (raw: string | Uint8Array, headers: [string, string][] = []) =>
    ask(sandbox, "POST", `${V2}/${someGroup}`, { raw, headers });

  test("are JSON whatever their media type and encoding say, and what follows the value is ignored", async () => {
    const headers: [string, string][] = [
      ["content-type", "text/plain"],
      ["content-encoding", "gzip"],
    ];
    expect((await post('{"name":"fine"} trailing {', headers)).json.name).toBe("fine");
  });

  test("larger than the limit are refused", async () => {
    const small = seededSandbox({ maxBodyBytes: 10 });
    expect((await ask(small, "POST", V2, { raw: `{"name":"${"x".repeat(20)}"}` })).status).toBe(429);
  });

  test("a form that names another method is run as that method", async () => {
    const headers: [string, string][] = [
      ["content-type", "application/x-www-form-urlencoded"],
      ["x-http-method-override", "DELETE"],
    ];
    const { uid } = (await post('{"name":"gone soon"}')).json;
    const charset: [string, string][] = [["content-type", `${headers[0]?.[1]}; charset=utf-8`], ...headers.slice(1)];
    expect((await ask(sandbox, "POST", `${V2}/${uid}`, { headers: charset })).status).toBe(400);
    expect((await ask(sandbox, "POST", `${V2}/${uid}`, { headers })).text).toBe("{}");
    expect((await ask(sandbox, "GET", `${V2}/${uid}`)).status).toBe(404);
  });
});

describe("forms", () => {
  const form: [string, string][] = [["content-type", "application/x-www-form-urlencoded"]];
  const overridden: [string, string][] = [...form, ["x-http-method-override", "get"]];
  const post = (target: string, raw: string, headers = form) => ask(sandbox, "POST", target, { raw, headers });

  test("a form posted to a path without a POST runs as its GET, and joins the query", async () => {
    const name = encodeURIComponent(String((await ask(sandbox, "GET", `${V2}/${someGroup}`)).json.name));
    const path = `/registry/v1/repotagssummary/${sandbox.wellKnown.repo}`;
    const plain = await ask(sandbox, "GET", `${path}?exclude_dates=true`);
    expect((await post(path, "exclude_dates=true")).json).toEqual(plain.json);
    // The form and the query make one list of parameters: a scalar may be there once.
    expect((await post(`${path}?exclude_dates=true`, "exclude_dates=true")).status).toBe(400);
    const got = await post(`/iam/v1/groups?id=${someGroup}`, `name=${name}`, overridden);
    expect(got.json.items.map(({ id }: { id: string }) => id)).toEqual([someGroup]);
  });

  test("a form on a collection with a create is a body that cannot be read, and another media type no form", async () => {
    expect((await post("/iam/v1/groups", "name=x")).status).toBe(400);
    const charset: [string, string][] = [["content-type", `${form[0]?.[1]}; charset=utf-8`]];
    expect((await post("/iam/v1/groups:lookupGroup", "", charset)).status).toBe(501);
  });
});

describe("queries", () => {
  test("unknown parameters are ignored, among them `id` on v2", async () => {
    const plain = await ask(sandbox, "GET", `${V2}?page_size=1`);
    const odd = await ask(sandbox, "GET", `${V2}?page_size=1&id=${someGroup}&nope=1&nope=2`);
    expect(odd.json.groups).toEqual(plain.json.groups);
  });
});

describe("headers", () => {
  test("answers are JSON and carry the gateway's mark", async () => {
    const answer = await ask(sandbox, "GET", V2);
    expect(answer.header("content-type")).toBe("application/json");
    expect(answer.header("grpc-metadata-content-type")).toBe("application/grpc");
  });

  test("Grpc-Timeout is obeyed: 504, and nothing is done", async () => {
    const slow = seededSandbox({ latencyMs: 10_000 });
    const before = slow.snapshot();
    const answer = await ask(slow, "POST", V2, { body: { name: "n" }, headers: [["grpc-timeout", "1m"]] });
    expect([answer.status, answer.json.code]).toEqual([504, 4]);
    expect(slow.snapshot()).toEqual(before);
  });
});
