import { describe, expect, test } from "vitest";
import { header } from "../../../src/model/http.ts";
import type { Operation, Resource, Row } from "../../../src/model/resource.ts";
import type { TranslateOptions } from "../../../src/translate/operation.ts";
import { callsOf, json, NAME, problemOf, type Run, refusalOf, runOperation, textOf, thing } from "../support.ts";

const answers: readonly Row[] = [
  { v1: "firmName", v2: "firm", from: ["firm"], kind: "string", zero: "" },
  { v1: "clouds", v2: null, kind: "string", list: true, zero: [] },
  { v1: "isOpen", v2: "isOpen", from: ["isOpen"], kind: "bool", zero: false },
  { v1: "trackerId", v2: "trackerId", from: ["trackerId"], kind: "string", zero: "", echo: "none" },
];
const profile = {
  rows: [
    { v1: "answers", v2: null, kind: "message", rows: answers, zero: null },
    NAME,
    { v1: "full", v2: "full", kind: "string", access: "output" },
    { v1: "old", v2: null, kind: "int32", zero: 0 },
  ],
  v2Only: ["uid", "firm", "isOpen", "trackerId"],
} as const;
const change: Operation & { kind: "composite" } = {
  kind: "composite",
  name: "update-profile",
  method: "PATCH",
  path: "things/profile",
  by: "update-wrapped",
  v2: "things:updateProfile",
  wrap: "thingProfile",
  body: profile,
  answer: profile,
};
const resource: Resource = { ...thing({ rows: [] }), operations: [change] };

type Answer = ReturnType<typeof json>;

function patch(body: unknown, answer?: Answer, options: Partial<TranslateOptions> = {}): Promise<Run> {
  return runOperation({
    resources: [resource],
    resource,
    operation: change,
    body: typeof body === "string" ? body : JSON.stringify(body),
    options,
    // The platform stores what it receives.
    answer: (request) => answer ?? json(200, { uid: "u", ...JSON.parse(textOf(request)).thingProfile }),
  });
}

const ALL = "firm,isOpen,trackerId,name";
const SNAKE = "firm,is_open,tracker_id,name";

describe("a wrapped PATCH", () => {
  test("whose mask is refused is sent once more in the other spelling, which is learned for bodies alone", async () => {
    const masks: string[] = [];
    const platform = (request: Parameters<typeof textOf>[0]) => {
      const { updateMask, thingProfile } = JSON.parse(textOf(request));
      masks.push(updateMask);
      return masks.length === 1
        ? json(400, { code: 3, message: "bad mask", details: [] })
        : json(200, { uid: "u", ...thingProfile });
    };
    const input = { resources: [resource], resource, operation: change, body: '{"answers":{"isOpen":true}}' };
    const run = await runOperation({ ...input, known: "camelCase", answer: platform });
    expect([run.response.status, masks, run.learned]).toEqual([200, [ALL, SNAKE], ["snake_case in bodies"]]);
    const learned = await runOperation({ ...input, knownInBodies: "snake_case", answer: platform });
    expect([learned.response.status, masks.at(-1)]).toEqual([200, SNAKE]);
  });

  test("is one call whose body has the message, flat, and a mask in camelCase", async () => {
    const { sent, body, response } = await patch({
      answers: { firmName: "Example", isOpen: true, trackerId: "t" },
      name: "ada",
      full: "Ada",
    });
    expect(callsOf({ sent })).toEqual(["PATCH /iam/v2beta1/things:updateProfile"]);
    expect(JSON.parse(textOf(sent[0]))).toEqual({
      thingProfile: { firm: "Example", isOpen: true, trackerId: "t", name: "ada" },
      updateMask: ALL,
    });
    expect(body).toEqual({
      answers: { firmName: "Example", clouds: [], isOpen: true, trackerId: "t" },
      name: "ada",
      full: "",
      old: 0,
    });
    expect(header(response.headers, "carryover-mismatch")).toBeUndefined();
  });

  test.each(["{}", "", '{"answers":null}', '{"answers":{}}'])(
    "makes zero of all that is left out: %s",
    async (body) => {
      const { sent, exchange } = await patch(body);
      expect(JSON.parse(textOf(sent[0]))).toEqual({
        thingProfile: { firm: "", isOpen: false, trackerId: "", name: "" },
        updateMask: ALL,
      });
      expect(exchange.defaultedFields).toEqual(["answers.firmName", "answers.isOpen", "answers.trackerId", "name"]);
    },
  );

  test("reads both spellings, inside too", async () => {
    const { sent } = await patch({ answers: { firm_name: "Example", is_open: true } });
    expect(JSON.parse(textOf(sent[0])).thingProfile).toMatchObject({ firm: "Example", isOpen: true });
  });

  test.each([
    [{ answers: { firmName: 7 } }, "answers.firmName"],
    [{ answers: { clouds: "aws" } }, "answers.clouds"],
    [{ old: "x" }, "old"],
    [{ answers: [] }, "answers"],
  ])("is refused in v1's words before anything is sent: %j", async (body, where) => {
    const problem = await problemOf(patch(body));
    expect(problem.reason).toBe("INVALID_BODY");
    expect(problem.fieldViolations.map(({ field }) => field)).toEqual([where]);
  });

  test("drops and counts what v1 does not have; passed on it goes along", async () => {
    const body = { answers: { fresh: 1 }, other: 2 };
    const { sent, exchange } = await patch(body);
    expect(textOf(sent[0])).not.toMatch(/fresh|other/);
    expect(exchange.unknownFields).toHaveLength(2);
    const passed = await patch(body, undefined, { unknownRequest: "pass" });
    expect(JSON.parse(textOf(passed.sent[0])).thingProfile).toMatchObject({ fresh: 1, other: 2 });
  });
});

describe("what v2 has no place for", () => {
  test("is not sent, and named in the answer when it says anything", async () => {
    const { sent, response, exchange } = await patch({ answers: { clouds: ["aws"] }, old: 7 });
    expect(textOf(sent[0])).not.toMatch(/clouds|aws|old/);
    expect(header(response.headers, "carryover-mismatch")).toBe("answers.clouds, old");
    expect(exchange.mismatches).toEqual(["answers.clouds", "old"]);
  });

  test("is nothing when it is empty", async () => {
    const { response, exchange } = await patch({ answers: { clouds: [] }, old: 0 });
    expect(header(response.headers, "carryover-mismatch")).toBeUndefined();
    expect(exchange.mismatches).toEqual([]);
  });

  test("DIFF-43: is refused before anything is sent where mismatches are to fail", async () => {
    const problem = await problemOf(patch({ answers: { clouds: ["aws"] } }, undefined, { mismatch: "fail" }));
    expect(problem.reason).toBe("INVALID_BODY");
    expect(problem.fieldViolations.map(({ field }) => field)).toEqual(["answers.clouds"]);
    expect((await patch({}, undefined, { mismatch: "fail" })).response.status).toBe(200);
  });
});

describe("the platform's answer", () => {
  test("is compared with what was asked for, field by field", async () => {
    const stored = json(200, { firm: "Other", isOpen: true, trackerId: "" });
    const { response } = await patch({ answers: { firmName: "Example", isOpen: true, trackerId: "t" } }, stored);
    expect(header(response.headers, "carryover-mismatch")).toBe("answers.firmName");
    const problem = await problemOf(patch({}, stored));
    expect(problem.reason).toBe("UPDATE_INCOMPLETE");
    expect(problem.fieldViolations.map(({ field }) => field)).toEqual(["answers.firmName", "answers.isOpen"]);
  });

  test.each([[{ firm: "", isOpen: false, trackerId: "" }], [{}]])(
    "that holds nothing but zeros shows them, written or left out: %j",
    async (record) => {
      const { body } = await patch({}, json(200, record));
      const answers = { clouds: [], firmName: "", isOpen: false, trackerId: "" };
      expect(body).toEqual({ answers, name: "", full: "", old: 0 });
    },
  );

  test("that is no record tells the client that it may have been done", async () => {
    for (const answer of [json(200, []), { status: 200, headers: [], body: new Uint8Array() }]) {
      const problem = await problemOf(patch({}, answer));
      expect(problem.reason).toBe("UPSTREAM_INVALID");
      expect(problem.metadata).toEqual({ state: "unknown" });
    }
  });

  test.each([
    ["thingProfile.firm", "answers.firmName"],
    ["thing_profile.is_open", "answers.isOpen"],
    ["trackerId", "answers.trackerId"],
    ["thingProfile.name", "name"],
    ["updateMask", "updateMask"],
  ])("that refuses %s names v1's %s", async (field, v1) => {
    const { sent, response, body } = await patch({}, json(400, refusalOf(field)));
    // Only a refusal of the mask itself may mean its spelling.
    expect(sent).toHaveLength(field === "updateMask" ? 2 : 1);
    expect(response.status).toBe(400);
    expect(body).toEqual(refusalOf(v1));
  });
});

test.each(["v2", "wrap", "body"] as const)(
  "a wrapped update without `%s` is a mistake in the catalogue",
  async (name) => {
    const { [name]: _, ...operation } = change;
    const broken: Resource = { ...resource, operations: [operation] };
    const input = { resources: [broken], resource: broken, operation, answer: () => json(200, {}) };
    await expect(runOperation(input)).rejects.toThrow(/update-wrapped needs/);
  },
);
