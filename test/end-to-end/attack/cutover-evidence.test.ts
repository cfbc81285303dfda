/** A client cannot make a rule roll back or advance without cause, or prevent it from doing so. */
import { connect } from "node:net";
import { expect, it } from "vitest";
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
