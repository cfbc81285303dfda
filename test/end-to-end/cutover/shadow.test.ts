/** What operators see of a difference that shadow finds, over HTTP (classes and paths are in test/rollout, proofs of writes in test/shadow). */
import { beforeAll, describe, expect, it } from "vitest";
import { takeDownAfterAll } from "../app/rig.ts";
import { as, COMPARE_ALL, type CutoverRig, cutover, v2Says } from "./rig.ts";

takeDownAfterAll();

const SECRET = "hidden-value-7f3a";
/** What v2 sends otherwise: the name of the first role, and a new field, which v1 clients do not get. */
const faults = v2Says((text) => {
  const page = JSON.parse(text);
  const [role] = page.roles ?? [];
  if (role !== undefined) Object.assign(role, { name: SECRET, brandNew: `${SECRET}-new` });
  return JSON.stringify(page);
});
const shadowing = (flags: Readonly<Record<string, string>> = {}) =>
  cutover({ rules: COMPARE_ALL, sandbox: { faults }, flags: { shadowSamples: "3", ...flags } });

let rig: CutoverRig;
beforeAll(async () => {
  rig = await shadowing();
});

describe("a difference", () => {
  it("of a read is a sample, a count and a bound; no value of either side, no token is shown anywhere", async () => {
    const answer = await rig.ask("GET", "/iam/v1/roles", as("ui"));
    await rig.compared(1);
    const { samples } = await rig.view("/samples");
    expect(samples).toMatchObject([
      { resource: "role", operation: "list", kind: "read", served: "shadow", rule: "look", result: "value" },
    ]);
    const places = samples[0].differences.map((one: { class: string; path: string }) => `${one.class} ${one.path}`);
    expect(places).toEqual(["value items[].name"]);
    const native = answer.json.items.find(({ id }: { id: string }) => id === samples[0].differences[0].id);
    expect(await rig.metric("carryover_comparisons_total", { result: "value" })).toBe(1);
    expect((await rig.view("/progress")).bounds[0]).toMatchObject({ comparisons: 1, differences: 1, upper: 1 });
    const shown = [await rig.text("/samples"), rig.lines.join("")];
    for (const path of ["/metrics", "/rules", "/progress", "/clients"]) shown.push(await rig.text(path));
    for (const text of shown) {
      for (const secret of [SECRET, rig.sandbox.token("admin"), JSON.stringify(native.name)]) {
        expect(text).not.toContain(secret);
      }
    }
  });
});
