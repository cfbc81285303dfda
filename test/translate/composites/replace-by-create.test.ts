import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/model/json.ts";
import { json, problemOf, textOf } from "../support.ts";
import { ask, callsOf, headerOf, REPO, refusal, world, writesOf } from "./registry.ts";

const TAG = `${REPO}/44`;
const STORED = { name: "1.2.3", digest: "sha256:aa", deprecated: true, bundles: ["base"] };

function tagged(tag: JsonObject = STORED) {
  const held = world();
  held.tags.set(TAG, tag);
  return held;
}
const put = (held: ReturnType<typeof world>, body: unknown, more = {}) =>
  ask(held, "PUT", `tags/${TAG}`, { body, ...more });

describe("TRAP-13: updating a tag", () => {
  test("DIFF-38: reads it, and writes it again below its repo", async () => {
    const held = tagged();
    const run = await put(held, { name: "1.2.3", digest: "sha256:bb", deprecated: false, bundles: ["x"] });
    expect(callsOf(run)).toEqual([`GET tags/${TAG}`, `POST tags/${REPO}`]);
    expect(JSON.parse(textOf(run.sent[1]))).toEqual({
      name: "1.2.3",
      digest: "sha256:bb",
      deprecated: false,
      bundles: ["x"],
    });
    expect(run.body).toMatchObject({ id: TAG, digest: "sha256:bb", deprecated: false });
    expect(held.tags.size).toBe(1);
  });

  test.each([{}, { digest: "" }, { digest: null, name: "1.2.3" }, { name: "" }, ""])(
    "TRAP-14, DIFF-20, DIFF-40: keeps digest and name that are left out, and makes the rest empty: %j",
    async (body) => {
      const run = await put(tagged(), body);
      expect(JSON.parse(textOf(run.sent[1]))).toEqual({
        name: "1.2.3",
        digest: "sha256:aa",
        deprecated: false,
        bundles: [],
      });
      expect(run.exchange.defaultedFields).toEqual(["deprecated", "bundles"]);
      // Keeping them is what v1 did: no deviation.
      expect([run.exchange.notes, headerOf(run, "carryover-mismatch")]).toEqual([[], undefined]);
    },
  );

  test("DIFF-39: to another name is refused, and nothing is written", async () => {
    const calls: string[] = [];
    const problem = await problemOf(
      put(tagged(), { name: "latest" }, { interfere: (call: string) => void calls.push(call) }),
    );
    expect([problem.reason, problem.fieldViolations[0]?.field]).toEqual(["INVALID_BODY", "name"]);
    expect(calls).toEqual([`GET tags/${TAG}`]);
  });

  test("that is not there is the platform's 404", async () => {
    const run = await put(world(), { deprecated: true });
    expect([run.response.status, writesOf(run)]).toEqual([404, []]);
  });

  test("that v2 refuses is refused", async () => {
    const interfere = (call: string) => (call.startsWith("POST") ? refusal(403, 7) : undefined);
    expect((await put(tagged(), {}, { interfere })).response.status).toBe(403);
  });

  test("DIFF-40: takes no other tag for its own", async () => {
    const interfere = (call: string) =>
      call.startsWith("POST") ? json(200, { uid: `${REPO}/45`, ...STORED }) : undefined;
    const problem = await problemOf(put(tagged(), {}, { interfere }));
    expect([problem.reason, problem.metadata]).toEqual(["UPSTREAM_INVALID", { state: "unknown" }]);
    const read = (call: string) => (call.startsWith("GET") ? json(200, { uid: `${REPO}/45`, ...STORED }) : undefined);
    expect((await problemOf(put(tagged(), {}, { interfere: read }))).reason).toBe("UPSTREAM_INVALID");
  });

  test("that does not take effect is an error", async () => {
    const interfere = (call: string) => (call.startsWith("POST") ? json(200, { uid: TAG, ...STORED }) : undefined);
    const problem = await problemOf(put(tagged(), {}, { interfere }));
    expect(problem.reason).toBe("UPDATE_INCOMPLETE");
    expect(problem.fieldViolations.map(({ field }) => field)).toEqual(["deprecated", "bundles"]);
    const other = await put(tagged(), { ...STORED, digest: "sha256:bb" }, { interfere });
    expect(headerOf(other, "carryover-mismatch")).toBe("digest");
  });

  test("is not begun under a condition that only one call could keep", async () => {
    const headers = [["if-match", '"e"']] as const;
    expect((await problemOf(put(tagged(), {}, { headers }))).reason).toBe("CONDITION_UNSUPPORTED");
  });

  test("counts what it does not know", async () => {
    const run = await put(tagged(), { ...STORED, colour: "red" });
    expect(run.exchange.unknownFields).toEqual([{ direction: "request", name: "colour" }]);
    expect(textOf(run.sent[1])).not.toContain("colour");
  });
});
