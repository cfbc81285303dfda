/** Does the check in memory notice a front that gets one thing wrong, and say nothing of one that does not? */
import { describe, expect, test } from "vitest";
import type { ApiRequest, ApiResponse } from "../../src/model/message.ts";
import { post, put, type Scenario } from "./call.ts";
import { type MemoryFront, record, replay, unchanged } from "./replay.ts";
import { groupScenarios } from "./scenarios.ts";

const asText = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
const asBytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** `unchanged`, but for what is done to each request and answer. */
function meddling(
  asked: (request: ApiRequest) => ApiRequest,
  answered: (answer: ApiResponse) => ApiResponse,
): MemoryFront {
  return (v2) => async (request) => answered(await unchanged(v2)(asked(request)));
}
const asIs = <T>(value: T): T => value;

const small: Scenario = {
  name: "small",
  organisation: false,
  calls: [
    post("one", (seen) => `/iam/v1/groups/${seen.known.root}`, { name: "one", description: "d" }, 200),
    put("two", (seen) => `/iam/v1/groups/${seen.id("one")}`, { name: "two", description: "d" }, 200),
  ],
};

describe("a replay", () => {
  test("of what is unchanged notices nothing, scenario by scenario", async () => {
    const recordings = await record(groupScenarios);
    expect(await replay(recordings, unchanged)).toBeUndefined();
    expect(recordings.reduce((sum, { answers }) => sum + answers.length, 0)).toBeGreaterThan(150);
  });

  test("names the first answer that differs", async () => {
    const renamed = meddling(asIs, (answer) => ({
      ...answer,
      body: asBytes(asText(answer.body).replace('"description":', '"describes":')),
    }));
    const noticed = await replay(await record([small]), renamed);
    expect(noticed).toMatchObject({ scenario: "small", call: "POST one" });
    expect(noticed?.lines).toContain('/description: "d", (absent)');
  });

  test("names a write that was answered rightly and not done", async () => {
    const answers: ApiResponse[] = [];
    const honest = await record([small]);
    const forgetful: MemoryFront = (v2) => async (request) => {
      if (request.method !== "PUT") return unchanged(v2)(request);
      answers.push(honest[0]!.answers[1]!);
      return honest[0]!.answers[1]!;
    };
    const noticed = await replay(honest, forgetful);
    expect(answers).toHaveLength(1);
    expect(noticed).toMatchObject({ scenario: "small", call: "PUT two" });
    expect(noticed?.lines.join("\n")).toContain('name: "two", "one"');
  });

  test("names a header, a status, and a front that breaks", async () => {
    const recordings = await record([small]);
    const teapot = meddling(asIs, (answer) => ({ ...answer, status: 418 }));
    expect((await replay(recordings, teapot))?.lines[0]).toBe("status: 200, 418");
    const bare = meddling(asIs, (answer) => ({ ...answer, headers: [] }));
    expect((await replay(recordings, bare))?.lines.join("\n")).toContain("media type: application/json, (absent)");
    const broken: MemoryFront = () => () => Promise.reject(new Error("it broke"));
    expect((await replay(recordings, broken))?.lines).toEqual(["no answer: Error: it broke"]);
  });

  test("of a whole organisation looks at the store at the end", async () => {
    const whole: Scenario = { name: "whole", calls: small.calls };
    const twice: MemoryFront = (v2) => async (request) => {
      const answer = await unchanged(v2)(request);
      if (request.method === "PUT") await unchanged(v2)({ ...request, body: asBytes('{"name":"three"}') });
      return answer;
    };
    const noticed = await replay(await record([whole]), twice);
    expect(noticed?.call).toBe("PUT two");
    expect(noticed?.lines.join("\n")).toContain('name: "two", "three"');
  });
});
