/** Native and translated agree about a scenario of the comparison suite, and v2 is only ever read. */
import { expect } from "vitest";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import { callsOf, type Scenario } from "../end-to-end/comparison/call.ts";
import { createSide, sandboxOptions } from "../end-to-end/comparison/harness.ts";
import { groupScenarios, otherScenarios } from "../end-to-end/comparison/scenarios.ts";
import { createRig } from "./rig.ts";

export const scenarios: readonly Scenario[] = [...groupScenarios, ...otherScenarios];

/** Updates that native did, by what became of them. */
export const updates = { compared: 0, fixed: new Set<string>() };

/** What became of writes that native did, by operation. */
export const done = new Map<string, Set<string>>();

export async function run(scenario: Scenario): Promise<void> {
  let elapsed = 0;
  const { size = 0, organisation = true } = scenario;
  const sandbox = seededSandbox({ ...sandboxOptions(() => elapsed), size, organisation });
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
      // Of a tag nothing is proved.
      if (status !== 200 || kind === "read" || operation !== "update" || resource === "tag") continue;
      if (result === "equal") updates.compared += 1;
      else if (failure === "not-comparable") updates.fixed.add(`${resource}: ${scenario.name}: ${call.name}`);
    }
    const differing = rig.reports.filter(({ result }) => !["equal", "order", "noise", "failed"].includes(result));
    expect(differing, call.name).toEqual([]);
  }
  expect(rig.v2.filter(({ method }) => method !== "GET")).toEqual([]);
  expect(rig.shadow.state().heldBytes).toBe(0);
}
