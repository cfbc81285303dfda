import fc from "fast-check";
import { expect, test } from "vitest";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { curlLines, explanationText } from "../../../src/commands/explain/command.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { createExplain } from "../../../src/runtime/explain/explain.ts";
import type { AskedRequest } from "../../../src/runtime/explain/request.ts";
import { EXAMPLES, examplesOf } from "../../support/examples.ts";
import { scale } from "../../support/scale.ts";

const catalogue = await loadCatalogue("v2beta1");
const flags = { upstreamV2Url: "http://v2.example.com" };
const { config } = loadConfig({ flags, env: {}, readFile: () => new Uint8Array() });
const explain = createExplain(config, catalogue, EXAMPLES);
const BASES = { v1: "$V1", v2: "$V2", sts: "$STS" };

const names = catalogue.resources.flatMap(({ operations }) =>
  operations.flatMap((operation) =>
    "body" in operation && operation.body !== undefined
      ? operation.body.rows.flatMap(({ v1, v2 }) => [v1, v2 ?? v1])
      : [],
  ),
);
const filters = catalogue.resources.flatMap(({ operations }) =>
  operations.flatMap((operation) => ("filters" in operation ? (operation.filters ?? []).map(({ v1 }) => v1) : [])),
);
const paths = catalogue.resources.flatMap(({ name, domain, v1 }) => [
  `/${domain}/v1/${v1}`,
  `/${domain}/v1/${v1}/a/b`,
  ...examplesOf({ name }).flatMap((example) => (example.of === "exchange" ? [`/${domain}/v1/${example.path}`] : [])),
]);

const value = fc.oneof(
  fc.constantFrom("", "x", 0, 1, true, false, null, "AMAZON", 7, "2026-03-01T09:30:00Z"),
  fc.jsonValue(),
);
const body = fc.oneof(
  fc
    .dictionary(fc.constantFrom(...names, "__proto__", "constructor"), value, { maxKeys: 6 })
    .map((held) => JSON.stringify(held)),
  fc.constantFrom("", "{", "[]", "null", "[1]", '{"a":1}}', "\u0000"),
);
const query = fc.array(
  fc.tuple(fc.constantFrom(...filters, "page_size", "x"), fc.constantFrom("", "a/b", "true", "1", "%", ";", "%00")),
  { maxLength: 4 },
);
const request = fc
  .record({
    method: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"),
    path: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...paths) },
      { weight: 1, arbitrary: fc.webUrl().map((url) => new URL(url).pathname) },
    ),
    query,
    body,
    condition: fc.boolean(),
  })
  .map(({ method, path, query, body, condition }): AskedRequest => {
    const mark = path.includes("?") ? "&" : "?";
    return {
      method,
      target: query.length === 0 ? path : path + mark + query.map((pair) => pair.join("=")).join("&"),
      headers: condition ? [["if-match", '"1"']] : [],
      body: Buffer.from(body),
      notes: [],
    };
  });

test("whatever is asked is explained, in every form, and the parts agree", async () => {
  await fc.assert(
    fc.asyncProperty(request, async (asked) => {
      const explanation = await explain(asked);
      const { mode, refusal, calls, fields, parameters } = explanation;
      // Refused: an error and its fields, and no call; anything else: at least one call, and nothing refused.
      expect(refusal !== null).toBe(mode === "refused");
      if (refusal === null) expect(calls.length).toBeGreaterThan(0);
      const refused = [...fields, ...parameters].filter(({ becomes }) => becomes === "refused");
      if (refusal === null) expect(refused).toEqual([]);
      else if (calls.length === 0) expect([...fields, ...parameters]).toEqual(refused);
      // What is said to be sent by a call is in that call.
      for (const { sent, calls: numbers } of fields) {
        expect(numbers.length > 0).toBe(sent !== null);
        for (const number of numbers) expect(calls[number - 1]?.body).not.toBeNull();
      }
      // Whatever a client gave at the top of its body has a line.
      if (refusal === null && fields.length > 0) {
        const given: unknown = JSON.parse(Buffer.from(asked.body).toString() || "{}");
        const lines = fields.map(({ v1 }) => v1);
        for (const name of Array.isArray(given) ? [] : Object.keys(given as object)) {
          expect(
            lines.some((line) => line === name || line.startsWith(`${name}.`)),
            name,
          ).toBe(true);
        }
      }
      expect(explanationText(explanation, BASES, (_, text) => text)).toContain(explanation.summary);
      expect(curlLines(explanation, BASES)).not.toBe("");
    }),
    { numRuns: scale(200, 600) },
  );
});
