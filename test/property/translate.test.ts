import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { Problem } from "../../src/model/problem.ts";
import type { Resource } from "../../src/model/resource.ts";
import { variants } from "../support/tier.ts";
import { anything, json, maskOf, type Run, run, textOf } from "../translate/support.ts";
import { bare, listOf, recordOf, writable, written, zerosOf } from "./records.ts";

const { resources } = await loadCatalogue("v2beta1");
const RUNS = { numRuns: variants(20, 60) };

async function outcome(work: Promise<Run>): Promise<Run | Problem> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

describe.each(resources.map((each) => ({ name: each.name, ...written(each) })))("$name", ({ resource, shape }) => {
  const zeros = new Set(zerosOf(shape.rows));
  const required = shape.rows.flatMap((row) =>
    row.access !== "output" && row.required === true && row.v2 !== null ? [row.v2] : [],
  );
  const record = recordOf(shape.rows).map((members): JsonObject => ({ uid: "a/b", ...members }));

  test("what a client writes back from what it was shown is what v2 has", async () => {
    await fc.assert(
      fc.asyncProperty(record, async (v2) => {
        // What v2 has made has what v2 wants.
        fc.pre(required.every((name) => (v2[name] ?? "") !== ""));
        const shown = await run(resource, "get", { uid: "a/b", answer: () => json(200, v2) });
        const { sent, exchange } = await run(resource, "create", {
          uid: "a",
          body: shown.body,
          answer: () => json(200, v2),
        });
        expect(bare(JSON.parse(textOf(sent[0])) as Json, zeros)).toEqual(bare(writable(shape.rows, v2), zeros));
        expect(exchange).toMatchObject({
          unknownFields: [],
          notes: exchange.notes.filter((note) => note === "server-set-dropped"),
        });
      }),
      RUNS,
    );
  });

  test("T-PUT-04: a full replace with what was shown changes nothing", async () => {
    await fc.assert(
      fc.asyncProperty(record, async (v2) => {
        const shown = await run(resource, "get", { uid: "a/b", answer: () => json(200, v2) });
        const answer = () => json(200, v2);
        const { sent, exchange } = await run(resource, "update", {
          uid: "a/b",
          body: shown.body,
          answer,
          options: { mismatch: "fail" },
        });
        const patch = sent.find(({ method }) => method === "PATCH");
        const body = JSON.parse(textOf(patch) || "{}") as JsonObject;
        const at = (of: Json, path: string) =>
          path.split(".").reduce<Json | undefined>((value, name) => (value as JsonObject | undefined)?.[name], of);
        for (const path of maskOf(patch)) {
          const named = path.replace("syncConfig", "sync_config");
          expect([path, bare(at(body, named), zeros)]).toEqual([path, bare(at(v2, named), zeros)]);
        }
        expect(exchange.mismatches).toEqual([]);
      }),
      RUNS,
    );
  });

  test("any JSON is taken for a body, or refused as one, and only names of v2 leave", async () => {
    const names = shape.rows.flatMap(({ v1, v2 }) => [v1, v2 ?? "x"]);
    const any = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
    );
    const known = new Set(shape.rows.map(({ v2 }) => v2));
    await fc.assert(
      fc.asyncProperty(any, async (body) => {
        const result = await outcome(run(resource, "create", { uid: "a", body: JSON.stringify(body) }));
        if (result instanceof Problem) {
          expect(result.reason).toBe("INVALID_BODY");
          return;
        }
        const sent = JSON.parse(textOf(result.sent[0])) as object;
        expect(Object.keys(sent).filter((key) => !known.has(key))).toEqual([]);
      }),
      RUNS,
    );
  });

  test("any text is taken for a query, or refused as one, and no target leaves its collection", async () => {
    const list = { ...listOf(resources.find(({ name }) => name === resource.name) ?? resource), joins: [] };
    const plain: Resource = { ...resource, operations: [list] };
    const names = list.filters.map(({ v1 }) => v1);
    const query = fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc
        .array(
          fc.tuple(
            fc.constantFrom(...names, "x"),
            fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom("..", "a/../b", "%2e%2e", "a%3Fb")),
          ),
          { maxLength: 4 },
        )
        .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join("&")),
    );
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        const result = await outcome(run(plain, "list", { query: text, answer: anything(plain) }));
        if (result instanceof Problem) {
          expect(result.reason).toBe("INVALID_FILTER");
          return;
        }
        const base = `/${resource.domain}/v2beta1/${resource.v2}`;
        for (const { target } of result.sent) {
          const { pathname } = new URL(target, "http://h");
          expect(pathname === base || pathname.startsWith(`${base}/`)).toBe(true);
          expect(target).toMatch(/^[\x21-\x7e]+$/);
          expect(target).not.toContain("#");
        }
      }),
      { numRuns: variants(50, 150) },
    );
  });
});
