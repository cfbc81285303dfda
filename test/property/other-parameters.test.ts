/** Is each parameter of what is no list sent, or refused, and never forgotten? (Field map section 3, other query operations.) */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue.ts";
import type { Send } from "../../src/model/message.ts";
import { variants } from "../support/tier.ts";
import { SECRET } from "./bad-bodies.ts";
import { createFront } from "./front.ts";

const RUNS = Number(process.env["FC_RUNS"] ?? variants(40, 100));
const catalogue = await loadCatalogue("v2beta1");
const REPO = `${"a".repeat(40)}/${"b".repeat(16)}`;
const BODY = Buffer.from("Bearer nobody");
/** Lets nobody in: what was asked first is all that is to be seen. */
const locked: Send = async () => ({ status: 401, headers: [], body: BODY });
const ask = createFront(catalogue, locked);

/** By hand from the map. `v2`: the parameter of the first v2 call and its value; undefined: it decides what is called. */
interface Parameter {
  readonly v1: string;
  readonly camel: string;
  readonly kind: "text" | "bool";
  readonly v2: ((value: string) => readonly [name: string, value: string]) | undefined;
}
const text = (v1: string, v2 = v1): Parameter => ({ v1, camel: v1, kind: "text", v2: (value) => [v2, value] });
const truth = (value: string): boolean => /^(1|t|true)$/i.test(value);
const exclude = (kind: string): Parameter => ({
  v1: `exclude_${kind.toLowerCase()}`,
  camel: `exclude${kind}`,
  kind: "bool",
  v2: (value) => [`include_${kind.toLowerCase()}`, String(!truth(value))],
});

const OPERATIONS: readonly {
  readonly name: string;
  readonly method: string;
  readonly target: string;
  readonly parameters: readonly Parameter[];
}[] = [
  {
    name: "identity lookup",
    method: "GET",
    target: "/iam/v1/identities/lookup",
    parameters: [text("issuer"), text("subject")],
  },
  {
    name: "tag summarise",
    method: "GET",
    target: `/registry/v1/repotagssummary/${REPO}`,
    parameters: [exclude("Referrers"), exclude("Dates"), exclude("Epochs")],
  },
  {
    name: "repo get-size",
    method: "GET",
    target: `/registry/v1/repos/${REPO}/digests/sha256:0/size`,
    parameters: [text("arch", "architecture")],
  },
  {
    name: "repo create",
    method: "POST",
    target: `/registry/v1/repos/${REPO}`,
    parameters: [{ v1: "prevent_existing", camel: "preventExisting", kind: "bool", v2: undefined }],
  },
];

test("every operation with parameters is here, with all of them", () => {
  const found = catalogue.resources.flatMap((resource) =>
    resource.operations.flatMap((operation) => {
      if (operation.kind === "list" || !("filters" in operation) || operation.filters === undefined) return [];
      return [[`${resource.name} ${operation.name}`, operation.filters.map(({ v1 }) => v1)]];
    }),
  );
  const here = OPERATIONS.map(({ name, parameters }) => [name, parameters.map(({ v1 }) => v1)]);
  expect(here.toSorted()).toEqual(found.toSorted());
});

const BOOLEANS = ["1", "t", "T", "true", "TRUE", "True", "0", "f", "F", "false", "FALSE", "False"];
const VALUES = {
  text: ["https://a.example/b?c=d&e", "", "a b+c", "ü", "a,b", "%", SECRET],
  bool: [...BOOLEANS, "", "yes", SECRET, "2"],
} as const;

describe.each(OPERATIONS)("$name", ({ method, target, parameters }) => {
  const send = (query: string) =>
    ask({
      method,
      target: `${target}?${query}`,
      headers: [],
      ...(method === "POST" ? { body: Buffer.from('{"name":"a"}') } : {}),
    });
  const given = fc.subarray([...parameters]).chain((some) =>
    fc.tuple(
      ...some.map((parameter) =>
        fc.record({
          parameter: fc.constant(parameter),
          value: fc.constantFrom(...VALUES[parameter.kind]),
          isCamel: fc.boolean(),
        }),
      ),
    ),
  );

  test("sends what it was given in v2's words, or says what is wrong with it", async () => {
    await fc.assert(
      fc.asyncProperty(
        given,
        fc.constantFrom("", "&Issuer=x&__proto__=y&architecture=z&include_dates=false"),
        async (all, noise) => {
          const query = all.map(
            ({ parameter: { v1, camel }, value, isCamel }) => `${isCamel ? camel : v1}=${encodeURIComponent(value)}`,
          );
          const { problem, sent, status } = await send(`${query.join("&")}${noise}`);
          const wrong = all.filter(({ parameter: { kind }, value }) => kind === "bool" && !BOOLEANS.includes(value));
          if (wrong.length > 0) {
            expect([status, problem?.code, sent]).toEqual([400, 3, []]);
            expect(wrong.map(({ parameter }) => parameter.v1)).toContain(problem?.fieldViolations[0]?.field);
            expect(problem?.message).not.toContain(SECRET);
            return;
          }
          expect(status).toBe(401);
          const params = new URLSearchParams(sent[0]?.target.split("?")[1] ?? "");
          for (const name of ["page_size", "uidp.children_of", "name"]) params.delete(name);
          const meant = all.filter(({ value }) => value !== "");
          const expected = new Map(
            meant.flatMap(({ parameter, value }) => (parameter.v2 === undefined ? [] : [parameter.v2(value)])),
          );
          // v2 leaves out what v1 showed unless told not to.
          for (const { kind, v2 } of parameters) {
            const [name = "", zero = ""] = kind === "bool" ? (v2?.("false") ?? []) : [];
            if (name !== "" && !expected.has(name)) expected.set(name, zero);
          }
          expect([...params].toSorted()).toEqual([...expected].toSorted());
        },
      ),
      { numRuns: RUNS },
    );
  });

  test.each(parameters)(
    "refuses $v1 twice, in brackets, with a member, with a semicolon",
    async ({ v1, camel, kind }) => {
      const value = kind === "bool" ? "true" : "x";
      for (const query of [
        `${v1}=${value}&${v1}=${value}`,
        `${v1}=${value}&${camel}=${value}`,
        `${v1}[]=${value}`,
        `${v1}.x=${value}`,
        `${v1}=${value};`,
      ]) {
        const { problem, sent } = await send(query);
        expect([query, problem?.reason, sent]).toEqual([query, "INVALID_FILTER", []]);
      }
    },
  );
});
