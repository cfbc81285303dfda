import { beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../src/sandbox.ts";
import { ask } from "./client.ts";
import { seededSandbox } from "./seeded.ts";

const V1 = "/iam/v1/groups";
const V2 = "/iam/v2beta1/groups";
let sandbox: Sandbox;
beforeEach(() => {
  sandbox = seededSandbox({ clock: () => new Date("2026-01-02T03:04:05.678Z") });
});

test("v1: a customer's PUT that is silent about `verified` leaves it; one that sets it is refused; staff may clear it", async () => {
  const { rootGroup, otherRootGroup } = sandbox.wellKnown;
  const silent = await ask(sandbox, "PUT", `${V1}/${rootGroup}`, { body: { name: "acme" } });
  expect(silent.json.verified).toBe(true);
  const grab = { body: { name: "globex", verified: true, kind: "ORG_KIND_DEV" } };
  expect((await ask(sandbox, "PUT", `${V1}/${otherRootGroup}`, grab)).status).toBe(403);
  const staff = { token: sandbox.token("staff"), body: { name: "acme" } };
  expect((await ask(sandbox, "PUT", `${V1}/${rootGroup}`, staff)).json.verified).toBe(false);
});

describe("v2 groups", () => {
  test("a created group has a uid below its parent, the clock's times, and is not verified", async () => {
    const { someGroup } = sandbox.wellKnown;
    const { json } = await ask(sandbox, "POST", `${V2}/${someGroup}`, { body: { name: "new", description: "d" } });
    expect(json).toMatchObject({ name: "new", description: "d", verified: false, resourceLimits: {} });
    expect(json.createTime).toBe("2026-01-02T03:04:05.678Z");
    expect(json.updateTime).toBe(json.createTime);
    expect(json.uid).toMatch(new RegExp(`^${someGroup}/[0-9a-f]{16}$`));
    expect((await ask(sandbox, "GET", `${V2}/${json.uid}`)).json).toEqual(json);
  });

  test.each([["Upper"], [""], ["no/slash"], [undefined]])(
    "the name %j is refused as the specification shows",
    async (name) => {
      const { status, json } = await ask(sandbox, "POST", `${V2}/${sandbox.wellKnown.someGroup}`, { body: { name } });
      expect([status, json.code]).toEqual([400, 3]);
      expect(json.message).toMatch(/^Invalid argument: name:/);
      expect(json.details[0]).toMatchObject({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "INVALID_ARGUMENT",
      });
      expect(json.details[1].fieldViolations[0].field).toBe("name");
    },
  );

  test("a group that holds something cannot be deleted: code 9, HTTP 400, RESOURCE_NOT_EMPTY", async () => {
    const { status, json } = await ask(sandbox, "DELETE", `${V2}/${sandbox.wellKnown.someGroup}`);
    expect([status, json.code]).toEqual([400, 9]);
    expect(json.message).toMatch(/^Precondition failed:/);
    expect(json.details[1].violations[0].type).toBe("RESOURCE_NOT_EMPTY");
  });

  test("a missing group is 404 with a ResourceInfo", async () => {
    const uid = `${sandbox.wellKnown.rootGroup}/0123456789abcdef`;
    const { status, json } = await ask(sandbox, "GET", `${V2}/${uid}`);
    expect([status, json.code]).toEqual([404, 5]);
    expect(json.details[1]).toEqual({
      "@type": "type.googleapis.com/google.rpc.ResourceInfo",
      resourceType: "Group",
      resourceName: uid,
      owner: "",
      description: "Group does not exist",
    });
  });

  test("a subgroup inherits the kind of its root and refuses another one", async () => {
    const { someGroup, rootGroup } = sandbox.wellKnown;
    const body = { name: "k", kind: "ORG_KIND_DEV" };
    expect((await ask(sandbox, "POST", `${V2}/${someGroup}`, { body })).status).toBe(400);
    const root = await ask(sandbox, "GET", `${V2}/${rootGroup}`);
    const made = await ask(sandbox, "POST", `${V2}/${someGroup}`, { body: { name: "k" } });
    expect(made.json.kind).toBe(root.json.kind);
  });
});

describe("PATCH", () => {
  const target = () => `${V2}/${sandbox.wellKnown.someGroup}`;

  test("without a mask only the keys present change, zeros included", async () => {
    await ask(sandbox, "PATCH", target(), { body: { name: "before", description: "d" } });
    const { json } = await ask(sandbox, "PATCH", target(), { body: { description: "" } });
    expect(json).toMatchObject({ name: "before", description: "" });
  });

  test("with a mask only the listed fields change, and listed ones that are absent become zero", async () => {
    await ask(sandbox, "PATCH", target(), { body: { name: "before", description: "d" } });
    const kept = await ask(sandbox, "PATCH", `${target()}?updateMask=name`, { body: { name: "n", description: "x" } });
    expect(kept.json).toMatchObject({ name: "n", description: "d" });
    const cleared = await ask(sandbox, "PATCH", `${target()}?update_mask=description`, { body: {} });
    expect(cleared.json).toMatchObject({ name: "n", description: "" });
  });

  test.each([
    ["an unknown key, even beside a mask", "?updateMask=name", { name: "n", idd: 1 }],
    ["an empty body without a mask", "", {}],
    ["an empty mask", "?updateMask=", { name: "n" }],
    ["a mask with a blank", "?updateMask=name,%20description", { name: "n" }],
    ["a repeated mask", "?updateMask=name&updateMask=description", { name: "n" }],
    ["a mask that names what the server sets", "?updateMask=resourceLimits", { name: "n" }],
    ["a mask that names nothing", "?updateMask=nonsense", { name: "n" }],
  ])("%s is refused with 400", async (_what, query, body) => {
    const before = sandbox.snapshot();
    const { status, json } = await ask(sandbox, "PATCH", target() + query, { body });
    expect([status, json.code]).toEqual([400, 3]);
    expect(sandbox.snapshot()).toEqual(before);
  });

  test("output-only keys in a body without a mask are no change", async () => {
    const before = (await ask(sandbox, "GET", target())).json;
    const { json } = await ask(sandbox, "PATCH", target(), { body: { ...before, status: 3, description: "other" } });
    expect(json).toMatchObject({ uid: before.uid, status: before.status, createTime: before.createTime });
    expect(json.description).toBe("other");
  });
});
