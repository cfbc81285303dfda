/** Do comparisons agree with every call of the comparison suite, write nothing, and find what is wrong in a catalogue? */
import { describe, expect, test } from "vitest";
import { type Catalogue, loadCatalogue } from "../../src/catalogue.ts";
import type { Resource, Row } from "../../src/model/resource.ts";
import { createSandbox } from "../../src/sandbox/sandbox.ts";
import { callsOf, type Scenario } from "../comparison/call.ts";
import { createSide, sandboxOptions } from "../comparison/harness.ts";
import { groupScenarios, otherScenarios } from "../comparison/scenarios.ts";
import { createRig, json } from "./rig.ts";

/** Writes that reads prove, each done by native at least once. */
const PROVED = [
  ...["create", "update", "delete"].flatMap((name) =>
    ["account-association", "group", "identity", "identity-provider", "role", "role-binding"].map(
      (resource) => `${resource} ${name}`,
    ),
  ),
  "group-invite create",
  "group-invite delete",
  "repo update",
  "repo delete",
  "tag create",
  "tag delete",
];
/** Writes that only doing them would tell. */
const UNPROVED = [
  "account-association check",
  "group request-group-access",
  "identity update-metadata",
  "identity-provider generate-scim-token",
  "identity-provider regenerate-scim-token",
  "identity-provider revoke-scim-token",
  "identity-provider set-scim-enabled",
  "repo create",
  "role-binding create-batch",
  "tag update",
];

/** Updates of the suite that say what v2 alone sets, as native shows it: no read tells whether native has just set it. */
const SAYS_FIXED: readonly string[] = [
  "group: groups read and written back: number 0",
  "group: groups read and written back: number 14",
  "group: groups read and written back: number 3",
  "group: replacing a verified root group with limits: another description",
  "group: replacing a verified root group with limits: another kind, by staff",
  "group: replacing a verified root group with limits: by what a read gave",
  "group: replacing a verified root group with limits: its kind by number",
  "group: replacing a verified root group with limits: no limits do nothing",
  "group: replacing a verified root group with limits: not verified, by staff",
  "group: replacing a verified root group with limits: other limits do nothing",
  "group: replacing a verified root group with limits: verified again, by staff",
  "identity-provider: identity providers of the organisation, read and written back: entra",
  "repo: replacing the sync settings of repos: another description",
  "repo: replacing the sync settings of repos: of another source",
  "repo: replacing the sync settings of repos: to one place",
  "repo: replacing the sync settings of repos: to other places",
  "repo: replacing the sync settings of repos: what a read gave",
  "repo: repos of the organisation, read and written back: a synced repo",
  "repo: repos of the organisation, read and written back: its places",
];

/** Updates that native did, by what became of them. */
const updates = { compared: 0, fixed: new Set<string>() };

/** What became of writes that native did, by operation. */
const done = new Map<string, Set<string>>();

async function run(scenario: Scenario): Promise<void> {
  let elapsed = 0;
  const { size = 0, organisation = true } = scenario;
  const sandbox = createSandbox({ ...sandboxOptions(() => elapsed), size, organisation });
  const rig = await createRig(sandbox.send);
  let reads = 0;
  let status = 0;
  const side = createSide(
    sandbox,
    async (request) => {
      // Lists of thousands are compared elsewhere: a share of them is enough here.
      const sample = request.method === "GET" && reads++ % 8 > 0 ? 0 : 1;
      const answer = await rig.pass(request, { settings: { sample, control: 0 } });
      status = answer.status;
      await rig.idle();
      for (const { kind, resource, operation, result, failure } of rig.reports) {
        if (kind === "read" || answer.status !== 200) continue;
        const name = `${resource} ${operation}`;
        done.set(name, (done.get(name) ?? new Set()).add(failure ?? result));
      }
      return answer;
    },
    () => {
      elapsed += 1;
    },
  );
  for (const call of callsOf(scenario)) {
    rig.reports.length = 0;
    await side.ask(call);
    for (const { kind, resource, operation, result, failure } of rig.reports) {
      if (status !== 200 || kind === "read" || operation !== "update" || UNPROVED.includes(`${resource} update`))
        continue;
      if (result === "equal") updates.compared += 1;
      else if (failure === "not-comparable") updates.fixed.add(`${resource}: ${scenario.name}: ${call.name}`);
    }
    const differing = rig.reports.filter(({ result }) => !["equal", "order", "noise", "failed"].includes(result));
    expect(differing, call.name).toEqual([]);
  }
  expect(rig.v2.filter(({ method }) => method !== "GET")).toEqual([]);
  expect(rig.shadow.state().heldBytes).toBe(0);
}

describe("native and translated agree, and v2 is only ever read", () => {
  test.each([...groupScenarios, ...otherScenarios].map((scenario) => [scenario.name, scenario] as const))(
    "%s",
    async (_name, scenario) => run(scenario),
    60_000,
  );

  test("these writes are proved without writing", () => {
    const equal = [...done].filter(([, results]) => results.has("equal")).map(([name]) => name);
    expect(equal.toSorted()).toEqual(PROVED.toSorted());
  });

  test("these updates leave something open, the others are proved", () => {
    expect([...updates.fixed].toSorted()).toEqual(SAYS_FIXED);
    expect(updates.compared).toBeGreaterThan(10 * SAYS_FIXED.length);
  });

  test("these are never guessed at", () => {
    const never = [...done].filter(([, results]) => !results.has("equal"));
    expect(never.map(([name]) => name).toSorted()).toEqual(UNPROVED.toSorted());
    for (const [name, results] of never) expect([...results], name).toEqual(["not-comparable"]);
  });
});

/** The catalogue with one row of a resource's shape changed, in the bodies that clients send. */
async function withRow(
  name: string,
  v1: string,
  change: Readonly<Record<string, unknown>>,
  kinds?: readonly string[],
): Promise<Catalogue> {
  const catalogue = await loadCatalogue("v2beta1");
  const changed = (rows: readonly Row[]) => rows.map((row) => (row.v1 === v1 ? ({ ...row, ...change } as Row) : row));
  const resources = catalogue.resources.map((resource): Resource => {
    if (resource.name !== name) return resource;
    const operations = resource.operations.map((operation) =>
      "body" in operation && operation.body !== undefined && (kinds?.includes(operation.kind) ?? true)
        ? { ...operation, body: { ...operation.body, rows: changed(operation.body.rows) } }
        : operation,
    );
    return { ...resource, operations: operations as Resource["operations"] };
  });
  return { ...catalogue, resources };
}

async function writeWith(catalogue: Catalogue, method: "POST" | "PUT", body: unknown) {
  const sandbox = createSandbox({ seed: "rows" });
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
    ["read-only by mistake", { access: "output" }, BODY, "missing"],
    ["of a wrong mask class", { mask: "never" }, BODY, "missing"],
    ["of a wrong mask class, left out", { mask: "never" }, { name: "n" }, "missing"],
    ["left alone by mistake when it is left out", { mask: "when-present" }, { name: "n" }, "missing"],
    ["left alone by mistake, left out", { mask: "when-changed" }, { name: "n" }, "missing"],
  ] as const)("PUT: a member of the update alone that is %s", async (_name, change, body, result) => {
    const found = await writeWith(await withRow("group", "description", change, ["update"]), "PUT", body);
    expect(found).toMatchObject({ result, failure: undefined });
    expect(found?.differences).toEqual([expect.objectContaining({ class: "missing", path: "description" })]);
  });

  test.each([{ access: "output" }, { mask: "never" }])(
    "PUT: a member that is wrong in both is not called equal, and a create finds it: %o",
    async (change) => {
      const found = await writeWith(await withRow("group", "description", change), "PUT", BODY);
      expect(found).toMatchObject({ result: "failed", failure: "not-comparable" });
    },
  );

  test("PUT: a zero that is not what v1 made of a member that was left out", async () => {
    const catalogue = await withRow("group", "description", { zero: "none" });
    const found = await writeWith(catalogue, "PUT", { name: "n" });
    expect(found?.differences).toEqual([expect.objectContaining({ class: "value", path: "description" })]);
  });
});
