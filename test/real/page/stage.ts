/** A carryover with a fortnight of a migration behind it: the clock is the stage's own, everything else is real. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type CutoverRig, cutover, folder, as as product } from "../../end-to-end/cutover/rig.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
export const TOKEN = "an-admin-token-of-the-test";

const OWNERS = `clients:
  names:
    - { name: ci-bot, identity: ci-bot, owner: Build team, contact: "#build" }
    - { name: portal, identity: portal, owner: Customer portal, contact: portal@example.com }
    - { name: terraform, identity: terraform, owner: Platform engineering, contact: "#platform" }
`;

const shadowRules = (sample: number) => `version: carryover/v1
rules:
  - name: role-reads
    match: { resource: roles, operation: reads }
    mode: shadow
    shadow: { sample: ${sample} }
  - name: group-reads
    match: { resource: groups, operation: reads }
    mode: shadow
    shadow: { sample: 1 }
`;

const translateRules = `version: carryover/v1
rules:
  - name: group-reads
    match: { resource: groups, operation: reads }
    mode: translate
    shadow: { sample: 1 }
    stepBack: { failures: 0.2, minRequests: 10 }
  - name: role-reads
    match: { resource: roles, operation: reads }
    mode: shadow
    shadow: { sample: 1 }
  - name: terraform-writes
    match: { client: terraform, operation: writes }
    mode: native
`;

export interface Stage {
  readonly rig: CutoverRig;
  readonly wall: () => number;
  /** Lets this much time pass. */
  pass(ms: number): void;
  /** Every client calls as it usually does. */
  traffic(rounds?: number): Promise<void>;
}

export async function stage(flags: Readonly<Record<string, string>> = {}): Promise<Stage> {
  const clock = { offset: -14 * DAY };
  const wall = () => Date.now() + clock.offset;
  const home = await folder();
  const config = join(home, "carryover.yaml");
  await writeFile(config, OWNERS);
  const rig = await cutover({
    rules: shadowRules(0.5),
    wall,
    sandbox: { recordTimes: "published" },
    flags: { cutoverMode: "native", config, ...flags },
  });
  const group = rig.sandbox.wellKnown.someGroup;
  const clients = ["ci-bot", "portal", "terraform", "nightly", "inventory-sync"];
  const roles = ["viewer", "editor", "owner", "iam.viewer"];
  let turn = 0;
  const traffic = async (rounds = 1): Promise<void> => {
    for (let round = 0; round < rounds; round++) {
      turn += 1;
      for (const [at, client] of clients.entries()) {
        if (turn % (at + 1) !== 0) continue;
        await rig.ask("GET", `/iam/v1/groups/${group}`, product(client));
        const role = client === "inventory-sync" ? "" : `?name=${roles[turn % roles.length]}`;
        await rig.ask("GET", `/iam/v1/roles${role}`, product(client));
        if (turn % 3 === 0) await rig.ask("GET", "/iam/v2beta1/groups?page_size=5", product(client));
        if (client === "terraform" && turn % 4 === 0) {
          await rig.ask("PUT", `/iam/v1/groups/${group}`, { ...product(client), body: { name: `of turn ${turn}` } });
        }
      }
      await rig.ask("GET", "/iam/v1/groups/none-of-that-name", product("portal"));
      await rig.ask("GET", "/iam/v2beta1/groups?page_size=5", product("moved-already"));
    }
  };
  const pass = (ms: number): void => {
    clock.offset = Math.min(0, clock.offset + ms);
  };
  return { rig, wall, pass, traffic };
}

/** The stage after its fortnight. */
export async function fortnight(flags: Readonly<Record<string, string>> = {}): Promise<Stage> {
  const made = await stage(flags);
  for (let step = 0; step < 14 * 12; step++) {
    await made.traffic(1 + (step % 12 < 6 ? 0 : 1));
    if (step === 80) await made.rig.change(shadowRules(1));
    if (step === 108) await made.rig.change(translateRules);
    made.pass(2 * HOUR);
  }
  await made.traffic(2);
  await made.rig.idle();
  return made;
}
