import { beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/sandbox.ts";
import { ask } from "../client.ts";
import { seededSandbox } from "../seeded.ts";

const V1 = "/vulnerabilities/v1/advisories";
const V2 = "/vulnerabilities/v2beta1/advisories";
const EVENTS = "/vulnerabilities/v1/advisory_events";
const NOW = "2026-01-02T03:04:05.678Z";
let sandbox: Sandbox;
beforeEach(() => {
  sandbox = seededSandbox({ clock: () => new Date(NOW) });
});

const create = (advisory: object, parentId = sandbox.wellKnown.someGroup) =>
  ask(sandbox, "POST", V1, { body: { parentId, advisory } });
const full = {
  artifactType: "apk",
  artifactName: "openssl",
  artifactArchitecture: "x86_64",
  componentName: "libssl",
  componentLocation: "/lib",
  componentType: "apk",
  aliases: ["CVE-1"],
  author: "jane",
};

describe("an advisory, which only v1 writes,", () => {
  test("is created below the group in its body, with its events", async () => {
    const scanv1 = { scanner: "s", subpackageName: "sub", componentName: "comp" };
    const events = [{ detection: { scanv1 }, author: "a", status: "APPROVED", findings: "AQ==" }];
    const { status, json } = await create({ ...full, events, id: "forged", advisoryId: "forged" });
    expect(status).toBe(200);
    expect(json).toMatchObject({ ...full, createdAt: NOW, updatedAt: NOW });
    expect(json.id.startsWith(`${sandbox.wellKnown.someGroup}/`)).toBe(true);
    expect(json.advisoryId).toMatch(/^ADV-[0-9A-F]{8}$/);
    const [event] = json.events;
    expect(event).toMatchObject({ timestamp: NOW, author: "a", status: "APPROVED", findings: "AQ==" });
    expect(event.detection.scanv1).toMatchObject(scanv1);
    const seen = (await ask(sandbox, "GET", `${V2}/${json.id}`)).json;
    expect(seen.events[0]).toMatchObject({ uid: event.id, reviewState: "REVIEW_STATE_APPROVED" });
    expect(seen.events[0].detection.scanv1).toMatchObject({ scanner: "s", subpackage: "sub", component: "comp" });
    const [item] = (await ask(sandbox, "GET", `${V1}?id=${json.id}`)).json.items;
    expect(item).toEqual(json);
  });

  test("is replaced as a whole, but for its events and what the server sets", async () => {
    const { json } = await create({ ...full, events: [{ fixed: { fixedVersion: "2" } }] });
    const body = { artifactName: "other", author: "sam", events: [], createdAt: "2000-01-01T00:00:00Z" };
    const put = (await ask(sandbox, "PUT", `${V1}/${json.id}`, { body })).json;
    expect(put).toMatchObject({ artifactName: "other", artifactType: "", aliases: [], events: json.events });
    expect(put).toMatchObject({ createdAt: json.createdAt, advisoryId: json.advisoryId });
    expect(Object.hasOwn(put, "componentName")).toBe(false);
  });

  test("is deleted once", async () => {
    const { json } = await create(full);
    expect((await ask(sandbox, "DELETE", `${V1}/${json.id}`)).text).toBe("{}");
    expect((await ask(sandbox, "DELETE", `${V1}/${json.id}`)).status).toBe(404);
    expect((await ask(sandbox, "GET", `${V1}?id=${json.id}`)).json.items).toEqual([]);
  });

  test.each([
    ["without a parent", "", 400],
    ["below a group that there is not", "0123456789abcdef", 404],
  ])("is not created %s, and nothing is used up", async (_what, parentId, status) => {
    const answer = await create({ ...full, events: [{}] }, parentId);
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.json.details[1].fieldViolations[0].field).toBe("parentId");
    const after = (await create({})).json.id;
    const untouched = seededSandbox({ clock: () => new Date(NOW) });
    const body = { parentId: untouched.wellKnown.someGroup, advisory: {} };
    expect((await ask(untouched, "POST", V1, { body })).json.id).toBe(after);
  });

  test("is not written by a viewer, nor in v2 by anybody", async () => {
    const { advisory, someGroup } = sandbox.wellKnown;
    const before = sandbox.snapshot();
    const [event] = (await ask(sandbox, "GET", `${V1}/${advisory}/events`)).json.items;
    const viewer = { token: sandbox.token("viewer"), body: { parentId: someGroup } };
    for (const [method, path] of [
      ["POST", V1],
      ["PUT", `${V1}/${advisory}`],
      ["DELETE", `${V1}/${advisory}`],
      ["POST", `${V1}/${advisory}/events`],
      ["PUT", `${EVENTS}/${event.id}`],
    ] as const) {
      expect((await ask(sandbox, method, path, viewer)).status).toBe(403);
    }
    for (const [method, path] of [
      ["POST", V2],
      ["PATCH", `${V2}/${advisory}`],
      ["DELETE", `${V2}/${advisory}`],
    ] as const) {
      expect((await ask(sandbox, method, path, { body: {} })).status).toBe(501);
    }
    expect(sandbox.snapshot()).toEqual(before);
  });
});

describe("an advisory's event", () => {
  const add = (advisoryEvent: object, uid = sandbox.wellKnown.advisory) =>
    ask(sandbox, "POST", `${V1}/${uid}/events`, { body: { advisoryEvent } });
  const list = async () => (await ask(sandbox, "GET", `${V1}/${sandbox.wellKnown.advisory}/events`)).json;

  test("comes after the others, and can be replaced under its id", async () => {
    const before = (await list()).items;
    const { json } = await add({ pendingUpstreamFix: { note: "n" }, author: "a", issue: "I-1", status: 3 });
    expect(json).toMatchObject({ pendingUpstreamFix: { note: "n" }, issue: "I-1", status: "REQUEST_CHANGES" });
    expect(await list()).toEqual({ parentId: sandbox.wellKnown.advisory, items: [...before, json] });
    const body = { falsePositiveDetermination: { type: "INLINE_MITIGATIONS_EXIST", note: "m" }, author: "b" };
    const put = (await ask(sandbox, "PUT", `${EVENTS}/${json.id}`, { body })).json;
    expect(put).toMatchObject({ ...body, id: json.id, timestamp: json.timestamp, status: "UNKNOWN" });
    expect(Object.keys(put)).not.toEqual(expect.arrayContaining(["pendingUpstreamFix"]));
    expect(Object.hasOwn(put, "issue")).toBe(false);
    expect((await list()).items).toEqual([...before, put]);
  });

  test("can tell of a moved component, which v2 shows as an event without a type", async () => {
    const moved = { componentLocationChanged: { previousLocation: "/a", newLocation: "/b", note: "" } };
    const { json } = await add(moved);
    expect(json).toMatchObject(moved);
    const seen = (await ask(sandbox, "GET", `${V2}/${sandbox.wellKnown.advisory}`)).json.events.at(-1);
    expect(Object.keys(seen)).toEqual(["uid", "createTime", "findings", "author", "reviewer", "reviewState"]);
    const put = await ask(sandbox, "PUT", `${EVENTS}/${json.id}`, { body: { fixed: { fixedVersion: "1" } } });
    expect(Object.hasOwn(put.json, "componentLocationChanged")).toBe(false);
  });

  test("needs an advisory, an id that there is, and one type at most", async () => {
    expect((await add({}, `${sandbox.wellKnown.someGroup}/0123456789abcdef`)).status).toBe(404);
    expect((await ask(sandbox, "PUT", `${EVENTS}/nothing`, { body: {} })).status).toBe(404);
    expect((await add({ fixed: {}, patched: {} })).status).toBe(400);
  });
});
