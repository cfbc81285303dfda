/** Can somebody make a rule go back, or move on, who should not? */
import { expect, it } from "vitest";
import { type Catalogue, loadCatalogue } from "../../src/catalogue.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, cutover } from "../cutover-e2e/rig.ts";

takeDownAfterEach();

const STEP_BACK = "stepBack: { failures: 0.02, differences: 0.02, minRequests: 20, minClients: 3, window: 5m }";
const PROMOTE = "promoteWhen: { differencesBelow: 0.1, minClients: 3, automatic: true }";

/** One rule for everything, of which everything is compared once. */
function rule(mode: "shadow" | "translate", more: string, match = "{}"): string {
  return `version: carryover/v1
rules:
  - name: all
    match: ${match}
    mode: ${mode}
    shadow: { sample: 1, control: 0 }
    ${more}
`;
}

/** The client of that name, with a token of its own. */
function client(name: string) {
  return { ...as(name), as: `admin#${name}` };
}

/** One caller, under one of five names. */
function manyNamed(i: number) {
  return { ...as(`c${i % 5}`), as: "admin#somebody" };
}

/** Somebody without a credential, under one of five names. */
function stranger(i: number, headers: Readonly<Record<string, string>> = {}) {
  return { as: null, headers: { "user-agent": `stranger${i % 5}/1`, ...headers } };
}

it("nobody without a credential makes a rule step back", async () => {
  const rig = await cutover({ rules: rule("translate", STEP_BACK) });
  for (let i = 0; i < 40; i++) {
    for (const path of ["/registry/v1/repos/abc", "/registry/v1/tags/abc", "/iam/v1/groups/abc"]) {
      await rig.ask("PUT", path, { ...stranger(i, { "if-match": '"x"' }), body: { name: "x" } });
    }
    await rig.ask("GET", "/iam/v1/groups?uidp.in_root=x", stranger(i));
  }
  await rig.idle();
  const { rules } = await rig.view("/rules");
  expect(rules[0]).toMatchObject({ state: "forward", requests: 0, failures: 0, comparisons: 0 });
});

it("nobody without a credential makes a rule move on", async () => {
  const rig = await cutover({ rules: rule("shadow", PROMOTE) });
  for (let i = 0; i < 40; i++) {
    await rig.ask("GET", "/iam/v1/groups?uidp.in_root=x", stranger(i));
    await rig.ask("POST", "/iam/v1/groups/abc", { ...stranger(i), body: "{" });
    await rig.ask("PUT", "/iam/v1/groups/abc", { ...stranger(i), body: "[]" });
    if (i % 3 === 2) await rig.idle();
  }
  await rig.idle();
  const { rules } = await rig.view("/rules");
  expect(rules[0]).toMatchObject({ promoted: false, comparisons: 0 });
});

it("an operation that v2 never answers is not moved on by the others", async () => {
  const rig = await cutover({
    rules: rule("shadow", PROMOTE),
    sandbox: {
      faults: (next) => async (request, options) =>
        request.target.startsWith("/iam/v2beta1/groups")
          ? { status: 503, headers: [], body: Buffer.from("") }
          : next(request, options),
    },
  });
  for (let i = 0; i < 40; i++) {
    await rig.ask("GET", "/iam/v1/roles", client(`c${i % 5}`));
    if (i % 10 === 0) await rig.ask("GET", "/iam/v1/groups", client(`c${i % 5}`));
    await rig.idle();
  }
  const { rules } = await rig.view("/rules");
  expect(rules[0].comparisons).toBeGreaterThan(30);
  expect(rules[0].promoted).toBe(false);
});

it("a wrong row that refuses what native serves is found while it translates", async () => {
  const rig = await cutover({ catalogue: await wrongCatalogue(), rules: rule("translate", STEP_BACK) });
  for (let i = 0; i < 40; i++) {
    await rig.ask("GET", "/iam/v1/groups?name=acme", client(`c${i % 5}`));
    await rig.idle();
  }
  const { rules } = await rig.view("/rules");
  expect(rules[0].state).toBe("back");
});

/** Of groups it refuses a filter that native takes. */
async function wrongCatalogue(): Promise<Catalogue> {
  const right = await loadCatalogue("v2beta1");
  const wrong = <T extends { readonly v1: string }>(filter: T) =>
    filter.v1 === "name" ? { ...filter, kind: "bool" } : filter;
  const resources = right.resources.map((resource) => ({
    ...resource,
    operations: resource.operations.map((operation) =>
      resource.name === "group" && operation.kind === "list"
        ? { ...operation, filters: operation.filters.map(wrong) }
        : operation,
    ),
  }));
  return { ...right, resources } as Catalogue;
}

it("one caller under five names does not make a rule step back on differences: three callers do", async () => {
  const rig = await cutover({ catalogue: await wrongCatalogue(), rules: rule("translate", STEP_BACK) });
  const differ = async (who: ReturnType<typeof client>) => {
    await rig.ask("GET", "/iam/v1/groups?name=acme", who);
    await rig.idle();
  };
  for (let i = 0; i < 25; i++) await differ(manyNamed(i));
  expect((await rig.view("/rules")).rules[0]).toMatchObject({ state: "forward", comparisons: 25, differences: 25 });
  await differ(client("c1"));
  await differ(client("c2"));
  const text = await rig.text("/rules");
  expect(JSON.parse(text).rules[0]).toMatchObject({ state: "back" });
  expect(text).toContain("met by 3 clients");
});

it("one caller under five names does not make a rule step back on failures: three callers do", async () => {
  const rig = await cutover({
    rules: rule("translate", STEP_BACK).replace("sample: 1", "sample: 0").replace("differences: 0.02, ", ""),
    sandbox: {
      faults: (next) => async (request, options) =>
        request.target.startsWith("/iam/v2beta1/roles")
          ? { status: 200, headers: [["content-type", "application/json"]], body: Buffer.from("[]") }
          : next(request, options),
    },
  });
  for (let i = 0; i < 40; i++) await rig.ask("GET", "/iam/v1/roles", manyNamed(i));
  expect((await rig.view("/rules")).rules[0]).toMatchObject({ state: "forward", failures: 40 });
  await rig.ask("GET", "/iam/v1/roles", client("c1"));
  await rig.ask("GET", "/iam/v1/roles", client("c2"));
  expect((await rig.view("/rules")).rules[0]).toMatchObject({ state: "back" });
});

it("one caller under five names does not make a rule move on: three callers do", async () => {
  const rig = await cutover({ rules: rule("shadow", PROMOTE) });
  const equal = async (who: ReturnType<typeof client>) => {
    await rig.ask("GET", "/iam/v1/roles", who);
    await rig.idle();
  };
  for (let i = 0; i < 40; i++) await equal(manyNamed(i));
  expect((await rig.view("/rules")).rules[0]).toMatchObject({ promoted: false, comparisons: 40 });
  await equal(client("c1"));
  await equal(client("c2"));
  expect((await rig.view("/rules")).rules[0]).toMatchObject({ promoted: true });
});

it("a rule that was changed is not judged by what was under way before", async () => {
  const before = { held: true };
  const brakes = "stepBack: { failures: 0.1, minRequests: 3, minClients: 1, window: 5m }";
  let release = (): void => {};
  const changed = new Promise<void>((resolve) => {
    release = resolve;
  });
  const rig = await cutover({
    rules: rule("translate", brakes),
    sandbox: {
      faults: (next) => async (request, options) => {
        if (!before.held || !request.target.startsWith("/iam/v2beta1/roles/")) return next(request, options);
        await changed;
        return { status: 200, headers: [["content-type", "application/json"]], body: Buffer.from("[]") };
      },
    },
  });
  const pending = Array.from({ length: 6 }, () => rig.ask("GET", "/iam/v1/roles/abc", as("x")));
  while (rig.arrived.length < 6) await new Promise((resolve) => setTimeout(resolve, 5));
  await rig.change(rule("translate", brakes, "{ operation: reads }"));
  before.held = false;
  release();
  expect((await Promise.all(pending)).map(({ status }) => status)).toEqual([502, 502, 502, 502, 502, 502]);
  const { rules } = await rig.view("/rules");
  expect(rules[0]).toMatchObject({ state: "forward", failures: 0 });
});
