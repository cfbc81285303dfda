/** Do the maps of the catalogue lose or invent nothing, whatever the record, the body or the query? */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";
import type { ApiRequest, ApiResponse } from "../../src/model/message.ts";
import { Problem } from "../../src/model/problem.ts";
import type { Filter, Resource } from "../../src/model/resource.ts";
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

describe("a filtered request is never answered with an unfiltered list", () => {
  const UIDS = ["a", "a/b", "a/b/c", "a/bc", "d", "d/b"];
  const WORDS = ["x", "y"];
  /** What v2's list can tell of a record beside its members: by parameter, the value that it matches. */
  type World = readonly {
    readonly uid: string;
    readonly facts: ReadonlyMap<string, string>;
    readonly hidden: boolean;
  }[];

  const parents = ["a", "a/b", "d", "e"];
  const valuesOf = (filter: Filter): fc.Arbitrary<string> => {
    switch (filter.use) {
      case "get":
        return fc.constantFrom(...UIDS, "none", "", "../a", "a/");
      case "parent":
        return fc.constantFrom("/", "", ...parents);
      case "enum":
        return fc.constantFrom(
          ...filter.values.values.flatMap(([v1, number]) => (v1 === null ? [] : [v1, String(number)])),
          "NOPE",
        );
      case "inverted":
        return fc.constantFrom("true", "false", "1", "0");
      case "send":
        if (filter.v2 === "uidp.in_root") return fc.constantFrom("true", "false");
        if (filter.kind === "bool") return fc.constantFrom("true", "false", "");
        if (filter.kind === "timestamp") return fc.constantFrom("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "");
        return filter.v2.startsWith("uidp.")
          ? fc.constantFrom(...parents, ...UIDS, "")
          : fc.constantFrom(...WORDS, "", "z z");
      default:
        return fc.constant("");
    }
  };

  /** The v2 values of an enum filter that a record can match. */
  const enumValues = (filter: Filter & { use: "enum" }) =>
    filter.values.values.flatMap(([, , v2]) => (v2 === null ? [] : [v2]));

  const factOf = (filter: Filter): fc.Arbitrary<string> => {
    if (filter.use === "enum") return fc.constantFrom(...enumValues(filter));
    if (filter.use === "send" && filter.kind === "timestamp")
      return fc.constantFrom("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z");
    return fc.constantFrom(...WORDS);
  };

  const worldOf = (filters: readonly Filter[]): fc.Arbitrary<World> => {
    const facts = filters.flatMap((filter) =>
      "v2" in filter && !filter.v2.startsWith("uidp.") ? [[filter.v2, factOf(filter)] as const] : [],
    );
    const one = fc
      .tuple(...facts.map(([, value]) => value))
      .map((values) => new Map(facts.map(([name], index) => [name, values[index] ?? ""])));
    return fc.tuple(...UIDS.map((uid) => fc.record({ uid: fc.constant(uid), facts: one, hidden: fc.boolean() })));
  };

  const inPlace = (uid: string, name: string, values: readonly string[]): boolean => {
    const up = uid.split("/").slice(0, -1).join("/");
    return values.some((value) => {
      if (name === "uidp.children_of") return up === value;
      if (name === "uidp.descendants_of") return `${uid}/`.startsWith(`${value}/`);
      if (name === "uidp.ancestors_of") return `${value}/`.startsWith(`${uid}/`);
      if (name === "uidp.ids") return uid === value;
      if (name === "uidp.in_root") return value === "false" || up === "";
      throw new Error(`v2 has no ${name}`);
    });
  };

  /** v2, which refuses what it would refuse, and fails the test for what it would ignore. */
  function platform(resource: Resource, world: World) {
    const { filters } = listOf(resource);
    const repeated = new Set(
      filters.flatMap((filter) => ("repeated" in filter && filter.repeated === true ? [filter.v2] : [])),
    );
    const inverted = new Map(filters.flatMap((filter) => (filter.use === "inverted" ? [[filter.v2, filter]] : [])));
    const known = new Set(filters.flatMap((filter) => ("v2" in filter ? [filter.v2] : [])));
    // The parent filter speaks of places that every list takes.
    for (const name of ["uidp.children_of", "uidp.in_root"]) known.add(name);
    const record = (of: World[number]): JsonObject => {
      const members = filters.flatMap((filter) =>
        filter.use === "send" && filter.local !== undefined && "member" in filter.local
          ? [[filter.local.member, of.facts.get(filter.v2) ?? ""]]
          : [],
      );
      return { ...Object.fromEntries(members), uid: of.uid } as JsonObject;
    };
    return ({ target }: ApiRequest): ApiResponse => {
      const base = `/${resource.domain}/v2beta1/${resource.v2}`;
      const [path = "", query = ""] = target.split("?");
      if (path !== base) {
        const found = world.find(({ uid }) => path === `${base}/${uid}`);
        const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo" };
        return found === undefined ? json(404, { code: 5, message: "", details: [info] }) : json(200, record(found));
      }
      const params = new URLSearchParams(query);
      const shown = world.filter((each) =>
        [...new Set(params.keys())].every((name) => {
          const values = params.getAll(name);
          if (name === "page_size" || name === "order_by") return true;
          if (!known.has(name)) throw new Error(`v2 would ignore ${name}`);
          if (values.length > 1 && !repeated.has(name)) throw new Error(`v2 refuses ${name} twice`);
          if (inverted.has(name)) return values[0] === "true" || !each.hidden;
          return name.startsWith("uidp.")
            ? inPlace(each.uid, name, values)
            : values.includes(each.facts.get(name) ?? "");
        }),
      );
      return json(200, { [resource.items]: shown.map(record) });
    };
  }

  /** What v1 showed: every filter narrows; undefined when it refused. */
  function expected(given: readonly (readonly [Filter, readonly string[]])[], world: World): readonly string[] {
    const keeps = ({ uid, facts, hidden }: World[number]): boolean =>
      given.every(([filter, all]) => {
        const values = all.filter((value) => value !== "");
        if (values.length === 0) return true;
        switch (filter.use) {
          case "get":
            return uid === values[0];
          case "parent":
            return values[0] === "/" ? !uid.includes("/") : inPlace(uid, "uidp.children_of", values);
          case "send":
            return filter.v2.startsWith("uidp.")
              ? inPlace(uid, filter.v2, values)
              : values.includes(facts.get(filter.v2) ?? "");
          case "enum": {
            if (filter.v2 === "order_by") return true;
            const wanted = filter.values.values.filter(
              ([v1, number]) => number !== 0 && (values.includes(v1 ?? "") || values.includes(String(number))),
            );
            return wanted.length === 0 || wanted.some(([, , v2]) => v2 === facts.get(filter.v2));
          }
          case "inverted":
            return !(["true", "1"].includes(values[0] ?? "") && hidden);
          default:
            return true;
        }
      });
    return world.filter(keeps).map(({ uid }) => uid);
  }

  test.each(resources.map((resource) => ({ name: resource.name, resource })))("$name", async ({ resource }) => {
    const { filters } = listOf(resource);
    const filterOf = (filter: Filter) => {
      const most = "repeated" in filter && filter.repeated === true ? 3 : 1;
      return fc.tuple(fc.constant(filter), fc.array(valuesOf(filter), { minLength: 1, maxLength: most }), fc.boolean());
    };
    const usable = filters.filter(({ use }) => use !== "page-size" && use !== "page-token");
    const given = fc.subarray(usable).chain((some) => fc.tuple(...some.map(filterOf)));
    await fc.assert(
      fc.asyncProperty(given, worldOf(filters), async (request, world) => {
        const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
        const query = request
          .flatMap(([filter, values, snake]) =>
            values.map((value) => `${snake ? filter.v1 : camel(filter.v1)}=${encodeURIComponent(value)}`),
          )
          .join("&");
        // Joins read other records, of which this world has none: they are no business of filters.
        const operation = { ...listOf(resource), joins: [] };
        const plain: Resource = { ...resource, operations: [operation] };
        const result = await outcome(run(plain, "list", { query, answer: platform(plain, world) }));
        if (result instanceof Problem) {
          expect(result.reason).toBe("INVALID_FILTER");
          return;
        }
        const shown = (result.body as { items: Record<string, unknown>[] }).items.map((item) => item[resource.key]);
        expect(shown).toEqual(
          expected(
            request.map(([filter, values]) => [filter, values] as const),
            world,
          ),
        );
      }),
      { numRuns: variants(50, 150) },
    );
  });
});

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

  test("a full replace with what was shown changes nothing", async () => {
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
