/** Comparisons agree with the calls of the comparison suite (every fourth scenario; all of them in catalogue.all.ts), and find a wrong row. */
import { describe, expect, test } from "vitest";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import { type Catalogue, loadCatalogue } from "../../src/catalogue/catalogue.ts";
import type { Resource, Row } from "../../src/model/resource.ts";
import { run, scenarios } from "./agreement.ts";
import { createRig, json } from "./rig.ts";

describe("native and translated agree, and v2 is only ever read", () => {
  const some = scenarios.filter((_, at) => at % 4 === 1);
  test.each(some.map((scenario) => [scenario.name, scenario] as const))("%s", (_, scenario) => run(scenario));
});

/** The catalogue with one row of a resource's shape changed, in the bodies that clients send. */
async function withRow(
  name: string,
  v1: string,
  change: Readonly<Record<string, unknown>>,
  kinds = ["create", "update"],
): Promise<Catalogue> {
  const catalogue = await loadCatalogue("v2beta1");
  const changed = (rows: readonly Row[]) => rows.map((row) => (row.v1 === v1 ? ({ ...row, ...change } as Row) : row));
  const resources = catalogue.resources.map((resource): Resource => {
    if (resource.name !== name) return resource;
    const operations = resource.operations.map((operation) =>
      "body" in operation && operation.body !== undefined && kinds.includes(operation.kind)
        ? { ...operation, body: { ...operation.body, rows: changed(operation.body.rows) } }
        : operation,
    );
    return { ...resource, operations: operations as Resource["operations"] };
  });
  return { ...catalogue, resources };
}

async function writeWith(catalogue: Catalogue, method: "POST" | "PUT", body: unknown) {
  const sandbox = seededSandbox({ seed: "rows" });
  const rig = await createRig(sandbox.send, { catalogue });
  const target = `/iam/v1/groups/${sandbox.wellKnown.emptyGroup}`;
  const headers = [["authorization", `Bearer ${sandbox.token("admin")}`]] as const;
  await rig.pass({ method, target, headers, body: json(0, body).body });
  await rig.idle();
  return rig.reports[0];
}

describe("a wrong row is found by one write", () => {
  const BODY = { name: "n", description: "d" };
  test.each([
    ["POST", "a member under another name", "description", { v2: "text" }],
    ["POST", "a member that is dropped", "description", { access: "output" }],
    ["POST", "a member that v2 is thought not to have", "description", { v2: null }],
    ["PUT", "a member under another name", "description", { v2: "text" }],
  ] as const)("%s: %s", async (method, _name, v1, change) => {
    expect((await writeWith(await loadCatalogue("v2beta1"), method, BODY))?.result).toBe("equal");
    const found = await writeWith(await withRow("group", v1, change), method, BODY);
    expect(found).toMatchObject({ failure: undefined, kind: "write" });
    expect(found?.differences).toContainEqual(expect.objectContaining({ path: v1 }));
    expect(["missing", "value"]).toContain(found?.result);
  });

  test.each([
    ["read-only by mistake", { access: "output" }, BODY],
    ["of a wrong mask class, left out", { mask: "never" }, { name: "n" }],
    ["left alone by mistake, left out", { mask: "when-changed" }, { name: "n" }],
  ])("PUT: a member of the update alone that is %s", async (_name, change, body) => {
    const found = await writeWith(await withRow("group", "description", change, ["update"]), "PUT", body);
    expect(found).toMatchObject({ result: "missing", failure: undefined });
    expect(found?.differences).toEqual([expect.objectContaining({ class: "missing", path: "description" })]);
  });

  test("PUT: a zero that is not what v1 made of a member that was left out", async () => {
    const catalogue = await withRow("group", "description", { zero: "none" });
    const found = await writeWith(catalogue, "PUT", { name: "n" });
    expect(found?.differences).toEqual([expect.objectContaining({ class: "value", path: "description" })]);
  });
});
