/** A client cannot make a rule roll back or advance without cause, or prevent it from doing so. */
import { connect } from "node:net";
import { expect, it } from "vitest";
import { type Catalogue, loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { later, takeDownAfterEach } from "../app/rig.ts";
import { as, cutover, until, v2Says } from "../cutover/rig.ts";

takeDownAfterEach();

const STEP_BACK =
  "stepBack: { failures: 0.02, differences: 0.02, minRequests: 5, minComparisons: 5, minClients: 3, window: 5m }";

/** One rule for everything; every response is compared once. */
function rule(more: string, match = "{}"): string {
  return `version: carryover/v1
rules:
  - name: all
    match: ${match}
    mode: translate
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
  const rig = await cutover({ rules: rule(STEP_BACK) });
  for (let i = 0; i < 12; i++) {
    for (const path of ["/registry/v1/repos/abc", "/registry/v1/tags/abc", "/iam/v1/groups/abc"]) {
      await rig.ask("PUT", path, { ...stranger(i, { "if-match": '"x"' }), body: { name: "x" } });
    }
    await rig.ask("GET", "/iam/v1/groups?uidp.in_root=x", stranger(i));
  }
  await rig.idle();
  const { rules } = await rig.view("/rules");
  expect(rules[0]).toMatchObject({ state: "forward", requests: 0, failures: 0, comparisons: 0 });
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
  const rig = await cutover({ catalogue: await wrongCatalogue(), rules: rule(STEP_BACK) });
  const differ = async (who: ReturnType<typeof client>) => {
    await rig.ask("GET", "/iam/v1/groups?name=acme", who);
    await rig.idle();
  };
  for (let i = 0; i < 10; i++) await differ(manyNamed(i));
  expect((await rig.view("/rules")).rules[0]).toMatchObject({ state: "forward", comparisons: 10, differences: 10 });
  await differ(client("c1"));
  await differ(client("c2"));
  const text = await rig.text("/rules");
  expect(JSON.parse(text).rules[0]).toMatchObject({ state: "back" });
  expect(text).toContain("met by 3 clients");
});

it("one caller under five names does not make a rule step back on failures: three callers do", async () => {
  const rig = await cutover({
    rules: rule(STEP_BACK).replace("sample: 1", "sample: 0").replace("differences: 0.02, ", ""),
    sandbox: {
      faults: (next) => async (request, options) =>
        request.target.startsWith("/iam/v2beta1/roles")
          ? { status: 200, headers: [["content-type", "application/json"]], body: Buffer.from("[]") }
          : next(request, options),
    },
  });
  for (let i = 0; i < 12; i++) await rig.ask("GET", "/iam/v1/roles", manyNamed(i));
  expect((await rig.view("/rules")).rules[0]).toMatchObject({ state: "forward", failures: 12 });
  await rig.ask("GET", "/iam/v1/roles", client("c1"));
  await rig.ask("GET", "/iam/v1/roles", client("c2"));
  expect((await rig.view("/rules")).rules[0]).toMatchObject({ state: "back" });
});

it("a rule that was changed is not judged by what was under way before", async () => {
  const before = { held: true };
  const brakes = "stepBack: { failures: 0.1, minRequests: 3, minClients: 1, window: 5m }";
  let release = (): void => {};
  const changed = new Promise<void>((resolve) => {
    release = resolve;
  });
  const rig = await cutover({
    rules: rule(brakes),
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
  await rig.change(rule(brakes, "{ operation: reads }"));
  before.held = false;
  release();
  expect((await Promise.all(pending)).map(({ status }) => status)).toEqual([502, 502, 502, 502, 502, 502]);
  const { rules } = await rig.view("/rules");
  expect(rules[0]).toMatchObject({ state: "forward", failures: 0 });
});

const SLOW_RULES = `version: carryover/v1
rules:
  - { name: writes, match: { operation: writes }, mode: shadow, shadow: { sample: 1 } }
  - name: reads
    match: { operation: reads }
    mode: translate
    shadow: { sample: 1 }
    stepBack: { differences: 0.001, minComparisons: 5, minClients: 1, window: 5m }
`;
/** As many as may run and wait, with the default of four. */
const PLACES = 12;

it("slow uploads of strangers keep no place: a wrong translation still steps back", async () => {
  const faults = v2Says((text) => text.replaceAll('"name":"', '"name":"wrong '), /v2beta1\/roles/);
  const rig = await cutover({ rules: SLOW_RULES, sandbox: { faults, organisation: false } });
  const { hostname, port } = new URL(rig.url);
  for (let i = 0; i < PLACES; i++) {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    later(async () => void socket.destroy());
    const head = `POST /iam/v1/groups/abc HTTP/1.1\r\nhost: x\r\nuser-agent: s${i % 2}/1\r\ncontent-length: 1000\r\n`;
    await new Promise<void>((resolve) =>
      socket.write(`${head}content-type: application/json\r\n\r\n{`, () => resolve()),
    );
  }
  await until(
    () => rig.metric("carryover_in_flight_requests"),
    (inFlight) => inFlight >= PLACES,
  );
  for (let i = 0; i < 8; i++) {
    await rig.ask("GET", "/iam/v1/roles", as(`c${i % 5}`));
    // What has come of the uploads is held meanwhile: nothing is idle.
    await rig.compared(i + 1);
  }
  expect((await rig.view("/rules")).rules[1]).toMatchObject({ name: "reads", state: "back" });
});
