import { describe, expect, test } from "vitest";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import type { ApiRequest, ApiResponse, Send } from "../../src/model/http.ts";
import { Problem } from "../../src/model/problem.ts";
import type { TranslateInShadow } from "../../src/shadow/request.ts";
import { createRig, json, type RigOptions, settled } from "./rig.ts";

const ZEROS = { resourceLimits: {}, verified: false, kind: "ORG_KIND_UNSPECIFIED", status: "ORG_STATUS_UNSPECIFIED" };
const V1 = { id: "g1", name: "n", description: "d", updatedAt: "2024-01-01T00:00:00Z", ...ZEROS };
const V2 = { uid: "g1", name: "n", description: "d", updateTime: "2024-01-01T00:00:00Z" };
const HEADERS = [
  ["authorization", "Bearer t"],
  ["content-type", "application/json"],
  ["if-match", '"1"'],
] as const;

type Body = Readonly<Record<string, unknown>>;

function put(body: Body = { name: "n", description: "d" }): ApiRequest {
  return { method: "PUT", target: "/iam/v1/groups/g1", headers: HEADERS, body: json(0, body).body };
}
function post(body: Body = { name: "n", description: "d" }, target = "/iam/v1/groups/p1"): ApiRequest {
  return { method: "POST", target, headers: HEADERS, body: json(0, body).body };
}
const DELETE: ApiRequest = { method: "DELETE", target: "/iam/v1/groups/g1", headers: HEADERS };

/** `request` as native answers it, and the one report; v2 answers each GET with `held`, and any other call ends the test. */
async function written(request: ApiRequest, native: ApiResponse, held: ApiResponse, options: RigOptions = {}) {
  const send: Send = async ({ method, target }) => {
    if (target.startsWith("/iam/v1/")) return native;
    if (method !== "GET") throw new Error(`${method} ${target} reached v2`);
    return held;
  };
  const rig = await createRig(send, options);
  await rig.pass(request);
  await rig.idle();
  expect(rig.reports.length).toBe(1);
  // A second look, which tells nothing here: native answers no list.
  expect(rig.v1.filter(({ method, target }) => method !== "GET" || !/\?(?:id|group)=/.test(target))).toEqual([]);
  expect(rig.v2.filter(({ method }) => method !== "GET")).toEqual([]);
  return { ...rig, report: rig.reports[0] };
}

/** A body with the digits of numbers that a double does not hold, and a key with zeros before it. */
const LARGE =
  '{"name":"n","github":{"appInstallations":{"007":{"installations":[{"installationId":9007199254740993}]}}}}';
const INSTALLED = { appInstallations: { 7: { installations: [{ installationId: "9007199254740993" }] } } };

test.each(["PUT", "POST"])(
  "a %s is proved when v2 holds its large numbers and keys in their usual spelling",
  async (method) => {
    const request = { method, target: "/iam/v1/account_associations/g1", headers: HEADERS, body: Buffer.from(LARGE) };
    const native = json(200, { group: "g1", name: "n", github: INSTALLED });
    const { report } = await written(request, native, json(200, { uid: "g1", name: "n", github: INSTALLED }));
    expect(report?.differences.filter(({ class: name }) => name !== "presence")).toEqual([]);
    const other = { appInstallations: { 7: { installations: [{ installationId: "9007199254740992" }] } } };
    const wrong = await written(request, native, json(200, { uid: "g1", name: "n", github: other }));
    expect(wrong.report?.differences.map(({ path }) => path)).toContainEqual(expect.stringMatching(/^github/));
  },
);

const REFUSED = json(403, { code: 7, message: "no", details: [] });

describe("updates", () => {
  test("writes with another body are other requests", async () => {
    const digestOf = async (request: ApiRequest) =>
      (await written(request, json(200, V1), json(200, V2))).report?.request;
    const [one, same, other] = [await digestOf(put()), await digestOf(put()), await digestOf(put({ name: "n" }))];
    expect([one, same === one, other === one]).toEqual([expect.any(String), true, false]);
  });

  test("a field that v2 did not take is a difference, unless it is ignored", async () => {
    const held = json(200, { ...V2, description: "other" });
    const { report } = await written(put(), json(200, V1), held);
    expect(report?.differences.map(({ path }) => path)).toEqual(["description"]);
    const ignoring = await written(put(), json(200, V1), held, { ignore: ["group.description"] });
    expect(ignoring.report).toMatchObject({ result: "equal", differences: [] });
  });

  test("what v2 holds is what the PATCH would have made, and makes native's answer", async () => {
    const { report, v2 } = await written(put(), json(200, V1), json(200, V2));
    expect(report).toMatchObject({ result: "equal", kind: "write", controlled: false, calls: { v1: 0, v2: 1 } });
    // The body's own fields, and a condition on the record before the write, are not for a read.
    expect(v2).toEqual([
      {
        method: "GET",
        target: "/iam/v2beta1/groups/g1",
        headers: [
          ["authorization", "Bearer t"],
          ["accept", "application/json"],
        ],
      },
    ]);
  });

  test.each([
    ["a field that is stored otherwise", { name: "m", description: "d" }, V1, "name"],
    ["a field that was left out and is not zero", { name: "n" }, V1, "description"],
    ["a record that makes another answer", undefined, { ...V1, status: "ORG_STATUS_READY" }, "status"],
  ])("%s is a difference by its v1 name", async (_name, body, native, path) => {
    const { report } = await written(put(body), json(200, native), json(200, V2));
    expect(report).toMatchObject({ result: "value", total: 1 });
    expect(report?.differences).toEqual([expect.objectContaining({ class: "value", path })]);
  });

  test.each([
    ["that is gone", json(404, {}), "gone"],
    ["that may not be read", json(403, {}), "not-comparable"],
    ["behind a refused token", json(401, {}), "not-comparable"],
    ["behind an outage", json(503, {}), "platform"],
    ["behind a limit", json(429, {}), "platform"],
  ])("a record %s tells nothing", async (_name, held, failure) => {
    const { report } = await written(put(), json(200, V1), held);
    expect(report).toMatchObject({ result: "failed", failure, differences: [] });
  });

  test("a record that was written since tells nothing when it differs", async () => {
    const later = { ...V2, name: "other", updateTime: "2024-01-01T00:00:00.001Z" };
    const { report } = await written(put(), json(200, V1), json(200, later));
    expect(report).toMatchObject({ result: "failed", failure: "overtaken" });
    const { report: same } = await written(put(), json(200, V1), json(200, { ...V2, name: "other" }));
    expect(same).toMatchObject({ result: "value", failure: undefined });
  });

  test.each(["<html>we will be back</html>", '{"id":"g1","name', ""])(
    "a success of native's that is no record is its own trouble: %s",
    async (text) => {
      const { report, v2 } = await written(put(), json(200, text), json(200, V2));
      expect(report).toMatchObject({ result: "failed", failure: "native", differences: [] });
      expect(v2).toEqual([]);
    },
  );
});

describe("creates", () => {
  const MADE = { ...V1, id: "p1/g1" };
  const HELD = { ...V2, uid: "p1/g1" };

  test("the record that native's answer names is read, and holds what the body says", async () => {
    const { report, v2 } = await written(post(), json(200, MADE), json(200, HELD));
    expect(report).toMatchObject({ result: "equal" });
    expect(v2.map(({ target }) => target)).toEqual(["/iam/v2beta1/groups/p1/g1"]);
  });

  test("so it is without a parent", async () => {
    const { v2 } = await written(post(undefined, "/iam/v1/groups"), json(200, V1), json(200, V2));
    expect(v2.map(({ target }) => target)).toEqual(["/iam/v2beta1/groups/g1"]);
  });

  test("a member that the record lacks is missing, one that says something else differs", async () => {
    const { description: _, ...without } = HELD;
    const missing = await written(post(), json(200, MADE), json(200, without));
    expect(missing.report?.differences).toContainEqual({
      class: "missing",
      path: "description",
      id: undefined,
      native: '"d"',
      translated: undefined,
    });
    const other = await written(post(), json(200, MADE), json(200, { ...HELD, description: "e" }));
    expect(other.report?.differences).toEqual([
      { class: "value", path: "description", id: undefined, native: '"d"', translated: '"e"' },
    ]);
  });

  test("a member that native stored and the built body lacks would be lost", async () => {
    const body = { name: "n", description: "d", motto: "x", id: "mine", verified: false };
    const { report } = await written(
      post(body),
      json(200, { ...MADE, motto: "x" }),
      json(200, { ...HELD, motto: "x" }),
    );
    expect(report?.differences).toEqual([
      { class: "missing", path: "motto", id: undefined, native: '"x"', translated: undefined },
    ]);
  });

  test.each([
    ["no id", {}],
    ["an id that is no text", { id: 7 }],
    ["an id that is no uid", { id: "../roles/x" }],
    ["an id that would be a query", { id: "g1?x=1" }],
  ])("an answer of native's with %s names nothing to read", async (_name, body) => {
    const { report, v2 } = await written(post(), json(200, body), json(200, HELD));
    expect(report).toMatchObject({ result: "failed", failure: "not-comparable" });
    expect(v2).toEqual([]);
  });
});

describe("deletes", () => {
  const GONE = json(404, { code: 5, message: "no", details: [] });

  test("a record that v2 does not show any more is deleted", async () => {
    expect((await written(DELETE, json(200, {}), GONE)).report).toMatchObject({ result: "equal" });
  });

  test("one that v2 still shows is a difference", async () => {
    const { report } = await written(DELETE, json(200, {}), json(200, V2));
    expect(report).toMatchObject({ result: "extra" });
    expect(report?.differences).toEqual([
      { class: "extra", path: "id", id: "g1", native: undefined, translated: '"g1"' },
    ]);
  });

  test("one that may not be read tells nothing", async () => {
    expect((await written(DELETE, json(200, {}), REFUSED)).report).toMatchObject({ failure: "not-comparable" });
  });
});

describe("what native refused", () => {
  const BAD = json(400, { code: 3, message: "bad", details: [] });

  test.each([
    ["with the same status and code", BAD],
    ["otherwise", REFUSED],
  ])("proves nothing where the translation refuses by itself %s: a stranger's would be", async (_name, native) => {
    const { report, v2, shadow } = await written(put({ name: 7 }), native, json(200, V2));
    expect(report).toMatchObject({ result: "failed", failure: "refused", differences: [], calls: { v1: 0, v2: 0 } });
    expect(v2).toEqual([]);
    expect(shadow.tally.rows()[0]).toMatchObject({ comparisons: 0, results: new Map([["failed", 1]]) });
  });

  test.each([
    ["equal", 200, BAD],
    ["status", 200, REFUSED],
    ["equal", 403, BAD],
  ] as const)("is %s where v2 answered a read of the caller's with %i first", async (result, status, native) => {
    const translate: TranslateInShadow = async (_request, layer, signal) => {
      await layer(async () => json(status, {}))({ method: "GET", target: "/x", headers: [] }, { signal });
      throw new Problem("INVALID_BODY", "by itself");
    };
    const { report } = await written(put(), native, json(200, V2), { translate });
    expect(report).toMatchObject({ result, failure: undefined });
  });

  test.each([put(), post(), DELETE])("tells nothing where it would ask v2: $method", async (request) => {
    const { report, v2 } = await written(request, REFUSED, json(200, V2));
    expect(report).toMatchObject({ result: "failed", failure: "not-comparable" });
    expect(v2).toEqual([]);
  });

  test("what the translation would have refused and native did is a difference", async () => {
    const { report } = await written(put({ name: 7 }), json(200, V1), json(200, V2));
    expect(report).toMatchObject({ result: "status" });
  });
});

describe("what would be one long step", () => {
  const MANY = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`x${i}`, 1]));
  const LONG = { padding: "x".repeat(2 ** 20) };
  const MADE = { ...V1, id: "p1/g1" };
  const HELD = { ...V2, uid: "p1/g1" };

  test.each([
    ["a body of many members", "not-comparable", { name: "n", ...MANY }, MADE, HELD, 0],
    ["an answer of native's with many members", "not-comparable", { name: "n" }, { ...MADE, ...MANY }, HELD, 0],
    ["a long answer of native's", "too-large", { name: "n" }, { ...MADE, ...LONG }, HELD, 0],
    ["a record of many members", "not-comparable", { name: "n" }, MADE, { ...HELD, ...MANY }, 1],
    ["a long record", "too-large", { name: "n" }, MADE, { ...HELD, ...LONG }, 1],
  ])("%s is not parsed, and a write with it not compared", async (_name, failure, body, made, held, calls) => {
    const rig = await written(post(body), json(200, made), json(200, held));
    expect(rig.report).toMatchObject({ result: "failed", failure, differences: [], calls: { v1: 0, v2: calls } });
    expect(rig.shadow.state().heldBytes).toBe(0);
  });

  test("neither is another record that the translation reads first", async () => {
    const translate: TranslateInShadow = async (_request, layer, signal) => {
      const send = layer(async () => json(200, LONG));
      await send({ method: "GET", target: "/x", headers: [] }, { signal });
      throw new Error("it was read");
    };
    const { report } = await written(put(), json(200, V1), json(200, V2), { translate });
    expect(report).toMatchObject({ result: "failed", failure: "too-large" });
  });

  test("a record as large as may be is compared, with turns for others in between", async () => {
    const body = { name: "n", description: "d".repeat(2 ** 20 - 300) };
    let turns = 0;
    const turn = async () => {
      turns++;
      await settled();
    };
    const native = json(200, { ...MADE, ...body });
    const { report } = await written(post(body), native, json(200, { ...HELD, ...body }), { turn });
    expect(report).toMatchObject({ result: "equal" });
    // Three texts in steps of 64 KiB before anything is parsed.
    expect(turns).toBeGreaterThan(3 * 15);
  });
});

describe("writes that reads cannot show", () => {
  test.each([
    ["a create that may be an update", "POST", "/registry/v1/repos/p1"],
    ["a replace that reads the name first", "PUT", "/registry/v1/tags/p1/t1"],
    ["a batch", "POST", "/iam/v1/rolebindings/batch/p1"],
    ["a wrapped update", "PATCH", "/iam/v1/identities/metadata"],
    ["a verb", "POST", "/iam/v1/identityProviders/p1:generateScimToken"],
  ])("nothing is asked, and nothing is guessed: %s", async (_name, method, target) => {
    const sandbox = seededSandbox({ organisation: false });
    const rig = await createRig(async () => json(200, { id: "p1/x" }));
    await rig.pass({ method, target, headers: HEADERS, body: Buffer.from("{}") });
    await rig.idle();
    expect(rig.reports).toMatchObject([{ result: "failed", failure: "not-comparable", kind: "write" }]);
    expect(rig.v2).toEqual([]);
    await sandbox.close();
  });

  test.each([
    ["POST", "/iam/v1/groups/p1", ZEROS, "kind", "ORG_KIND_NEWER"],
    ["PUT", "/registry/v1/repos/p1/g1", {}, "catalog_tier", "CATALOG_TIER_NEWER"],
  ])("a %s of an enum value that native drops", async (method, target, zeros, name, value) => {
    const resultOf = async (held: Body) => {
      const rig = await createRig(async (sent) =>
        json(200, sent.target.includes("/v1/") ? { ...V1, ...zeros, id: "p1/g1" } : { ...V2, uid: "p1/g1", ...held }),
      );
      const body = json(0, { name: "n", description: "d", [name]: value }).body;
      await rig.pass({ method, target, headers: [], body });
      await rig.idle();
      return rig.reports.map(({ failure, result }) => failure ?? result);
    };
    expect(await resultOf({})).toEqual(["not-comparable"]);
    // An update without that value is an error, which leaves nothing else to compare.
    if (method === "POST") expect(await resultOf({ description: "e" })).toEqual(["value"]);
  });

  test("a repo whose settings v2 alone sets: native has changed what the translation would have looked at", async () => {
    const rig = await createRig(async ({ target }) => json(200, { [target.includes("/v1/") ? "id" : "uid"]: "p1/r1" }));
    const body = (more: Body) => json(0, { name: "r", ...more }).body;
    const target = "/registry/v1/repos/p1/r1";
    await rig.pass({ method: "PUT", target, headers: [], body: body({ sync_config: { apkoOverlay: "x" } }) });
    await rig.idle();
    await rig.pass({ method: "PUT", target, headers: [], body: body({}) });
    await rig.idle();
    expect(rig.reports.map(({ failure }) => failure)).toEqual(["not-comparable", undefined]);
  });

  test("whatever the asker says, only a GET is taken for a read", async () => {
    const rig = await createRig(async ({ target }) => json(200, target.includes("/v1/") ? V1 : V2));
    await rig.pass(put(), { write: false });
    await rig.idle();
    expect(rig.reports).toMatchObject([{ kind: "write", result: "equal" }]);
    expect(rig.v1).toEqual([]);
  });
});
