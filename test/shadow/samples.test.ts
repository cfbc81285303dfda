import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Comparison, Difference } from "../../src/model/comparison.ts";
import type { OperationMatch } from "../../src/model/request.ts";
import type { Operation } from "../../src/model/resource.ts";
import { createSamples, curlLines, shownValue } from "../../src/shadow/results.ts";
import { comparison } from "../rollout/control-rig.ts";

const TOKEN = "Bearer eyJhbGciOiJub25lIn0";
const HEAD = { method: "GET", target: "/iam/v1/groups?name=a%20b", headers: [["authorization", TOKEN]] } as const;
const answer = {
  rows: [
    { v1: "createdAt", v2: "createTime", kind: "timestamp", access: "output", unpublished: true },
    { v1: "name", v2: "name", kind: "string", zero: "" },
  ],
};
const LIST = { kind: "list", name: "list", answer, filters: [] } as unknown as Operation;
const ASKED = { head: HEAD, match: { operation: LIST } as OperationMatch };

function difference(more: Partial<Difference> = {}): Difference {
  return { class: "value", path: "items[].name", id: "g1", native: '"secret"', translated: "7", ...more };
}

function over(more: Partial<Comparison> = {}): Comparison {
  const facts = { requestId: "r", at: 0, rule: "half", served: "shadow", result: "value", total: 3 } as const;
  return comparison("ci", { ...facts, differences: [difference()], controlled: true, ...more });
}

const ALL = new URLSearchParams();

const VALUE = { class: "value", path: "items[].x" } as const;

describe("samples", () => {
  test("one says who asked what and where it differs, by types and lengths, with lines to see it again", () => {
    const samples = createSamples({ perOperation: 2, values: "redact" });
    samples.add(over(), ASKED);
    expect(samples.view(ALL)).toEqual({
      values: "redact",
      samples: [
        {
          at: "1970-01-01T00:00:00.000Z",
          requestId: "r",
          resource: "group",
          operation: "list",
          client: "ci",
          rule: "half",
          served: "shadow",
          kind: "read",
          result: "value",
          controlled: true,
          total: 3,
          differences: [
            { class: "value", path: "items[].name", id: "g1", native: "string(6)", translated: "number(1)" },
          ],
          repeat: {
            native: `curl -H "Authorization: Bearer $TOKEN" "$NATIVE"'/iam/v1/groups?name=a%20b'`,
            carryover: `curl -H "Authorization: Bearer $TOKEN" "$CARRYOVER"'/iam/v1/groups?name=a%20b'`,
          },
        },
      ],
    });
    expect(JSON.stringify(samples.view(ALL))).not.toMatch(/eyJ|secret/);
  });

  test("values are shown where the operator asks for them, and a side that has none has none", () => {
    const samples = createSamples({ perOperation: 2, values: "show" });
    samples.add(over({ differences: [difference({ translated: undefined, id: undefined })] }), ASKED);
    expect(samples.view(ALL).samples[0]?.differences).toEqual([
      { class: "value", path: "items[].name", native: '"secret"' },
    ]);
  });

  test("those of a client that is forgotten are dropped", () => {
    const samples = createSamples({ perOperation: 9, values: "redact" });
    for (const client of ["a", "b", "a"]) samples.add(over({ client }), ASKED);
    expect([samples.forget("a"), samples.forget("a")]).toEqual([2, 0]);
    expect(samples.view(ALL).samples.map(({ client }) => client)).toEqual(["b"]);
  });

  test("one of a time that the published v1 does not have names the setting without it", () => {
    const samples = createSamples({ perOperation: 2, values: "redact" });
    const differences = (["extra", "missing", "value"] as const).flatMap((name) => [
      difference({ class: name, path: "items[].createdAt" }),
      difference({ class: name, path: "items[].name" }),
    ]);
    samples.add(over({ differences }), ASKED);
    expect(samples.view(ALL).samples[0]?.differences.map(({ set }) => set)).toEqual([
      "v1.recordTimes: published",
      ...Array(5).fill(undefined),
    ]);
  });

  test("one of a field that the catalogue does not know names the setting that drops or shows it", () => {
    const samples = createSamples({ perOperation: 2, values: "redact" });
    const differences = (["extra", "missing", "value"] as const).map((name) =>
      difference({ class: name, path: "items[].novelty.deep" }),
    );
    samples.add(over({ differences }), ASKED);
    expect(samples.view(ALL).samples[0]?.differences.map(({ set }) => set)).toEqual([
      "unknownFields.response: drop",
      "unknownFields.response: pass",
      undefined,
    ]);
  });

  test.each(["equal", "noise", "order", "failed"] as const)("what is no difference is no sample: %s", (result) => {
    const samples = createSamples({ perOperation: 2, values: "redact" });
    samples.add(over({ result }), ASKED);
    expect(samples.view(ALL).samples).toEqual([]);
  });

  test("the last of each operation are kept, newest first, and may be asked for by name", () => {
    const samples = createSamples({ perOperation: 2, values: "redact" });
    for (const requestId of ["1", "2", "3"]) samples.add(over({ requestId }), ASKED);
    samples.add(over({ requestId: "4", operation: "get" }), ASKED);
    samples.add(over({ requestId: "5", resource: "role" }), ASKED);
    const ids = (query: string) => samples.view(new URLSearchParams(query)).samples.map((one) => one.requestId);
    expect(ids("")).toEqual(["5", "4", "3", "2"]);
    expect(ids("resource=group")).toEqual(["4", "3", "2"]);
    expect(ids("resource=group&operation=list")).toEqual(["3", "2"]);
    expect(ids("resource=tag")).toEqual([]);
  });

  test("all together they stay below a number of characters: the oldest go", () => {
    const samples = createSamples({ perOperation: 1000, values: "redact" }, 5_000);
    for (let i = 0; i < 100; i++) samples.add(over({ requestId: `${i}` }), ASKED);
    const { samples: kept } = samples.view(ALL);
    expect(kept.map((one) => JSON.stringify(one).length).reduce((a, b) => a + b)).toBeLessThanOrEqual(5_000);
    expect(kept.length).toBeGreaterThan(3);
    expect(kept[0]?.requestId).toBe("99");
  });

  test("none are kept where none are wanted", () => {
    const samples = createSamples({ perOperation: 0, values: "show" });
    samples.add(over(), ASKED);
    expect(samples.view(ALL).samples).toEqual([]);
  });
});

describe("values", () => {
  test.each([
    ['"text"', "string(4)"],
    ['"\u{1f600}"', "string(1)"],
    ["-12.5", "number(5)"],
    ["true", "boolean"],
    ["null", "null"],
    ["[1,2]", "array(2)"],
    ['{"a":1}', "object(1)"],
    ['"cut off…', "string(long)"],
    ['[{"id":"x…', "array(long)"],
    ['{"id":"x…', "object(long)"],
    ["<html>", "text(long)"],
  ])("%s is told as %s", (json, told) => {
    expect(shownValue(json, VALUE, "redact")).toBe(told);
  });

  test("status and code tell nothing of anybody", () => {
    expect(shownValue("404", { class: "status", path: "status" }, "redact")).toBe("404");
    expect(shownValue("5", { class: "error", path: "code" }, "redact")).toBe("5");
  });

  test.each(["value", "missing", "extra", "error"] as const)(
    "the code of a record is somebody's secret: %s",
    (name) => {
      expect(shownValue('"56f8"', { class: name, path: "code" }, "redact")).toBe("string(4)");
      if (name !== "error") expect(shownValue("56", { class: name, path: "code" }, "redact")).toBe("number(2)");
    },
  );

  test.each([`"${"a".repeat(20)}.${"b".repeat(20)}.${"c3".repeat(10)}"`, `"${TOKEN}"`])(
    "a token is not shown by anybody's wish",
    (json) => {
      expect(shownValue(json, VALUE, "show")).toMatch(/^string\(\d+\)$/);
    },
  );
});

describe("curl lines", () => {
  test("a write names its method and a file for its body, a delete none", () => {
    expect(curlLines({ ...HEAD, method: "PUT", target: "/x" }).native).toBe(
      `curl -X PUT -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d @body.json "$NATIVE"'/x'`,
    );
    expect(curlLines({ ...HEAD, method: "DELETE", target: "/x" }).carryover).toBe(
      `curl -X DELETE -H "Authorization: Bearer $TOKEN" "$CARRYOVER"'/x'`,
    );
  });

  test("a target stays one word of a shell, and is cut where it is long", () => {
    expect(curlLines({ ...HEAD, target: "/a'$(b)`c`" }).native).toMatch(/"\$NATIVE"'\/a'\\''\$\(b\)`c`'$/);
    expect(curlLines({ ...HEAD, target: `/${"x".repeat(100_000)}` }).native.length).toBeLessThan(2_200);
  });

  test("parameters that let somebody in are left out", () => {
    expect(curlLines({ ...HEAD, target: "/x?name=n&access_token=abc&pageToken=t&secret=s&z=1" }).native).toMatch(
      /'\/x\?name=n&access_token=…&pageToken=…&secret=…&z=1'$/,
    );
  });

  test("wherever in a query they are", () => {
    const word = fc.constantFrom("?", "&", "=", "a", "token", "CODE", "%", "…", "api_key", ";");
    const name = fc.constantFrom("token", "code", "api_key", "pageToken", "%74oken");
    fc.assert(
      fc.property(fc.array(word, { maxLength: 20 }), name, fc.constantFrom("?", "&", ";"), (words, secret, before) => {
        const target = `/x?${words.join("")}${before}${secret}=SENTINEL`;
        expect(curlLines({ ...HEAD, target }).native).not.toContain("SENTINEL");
      }),
    );
  });
});
