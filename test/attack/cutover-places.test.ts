/** Can somebody who is slow keep others from being compared? */
import { connect } from "node:net";
import { expect, it } from "vitest";
import { later, takeDownAfterEach } from "../app/rig.ts";
import { as, cutover, until, v2Says } from "../cutover-e2e/rig.ts";

takeDownAfterEach();

const RULES = `version: carryover/v1
rules:
  - { name: writes, match: { operation: writes }, mode: shadow, shadow: { sample: 1 } }
  - name: reads
    match: { operation: reads }
    mode: translate
    shadow: { sample: 1 }
    stepBack: { differences: 0.001, minRequests: 20, minClients: 1, window: 5m }
`;
/** As many as may run and wait, with the default of four. */
const PLACES = 12;

it("slow uploads of strangers keep no place: a wrong translation still steps back", async () => {
  const faults = v2Says((text) => text.replaceAll('"name":"', '"name":"wrong '), /v2beta1\/roles/);
  const rig = await cutover({ rules: RULES, sandbox: { faults, organisation: false } });
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
  for (let i = 0; i < 20; i++) {
    await rig.ask("GET", "/iam/v1/roles", as(`c${i % 5}`));
    await rig.idle();
  }
  expect((await rig.view("/rules")).rules[1]).toMatchObject({ name: "reads", state: "back" });
});
