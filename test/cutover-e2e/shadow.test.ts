/** What operators see of a difference that shadow finds, over HTTP (classes and paths are in test/cutover, proofs of writes in test/shadow). */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { takeDownAfterAll } from "../app/rig.ts";
import { as, COMPARE_ALL, type CutoverRig, cutover, v2Says } from "./rig.ts";

takeDownAfterAll();

const SECRET = "hidden-value-7f3a";
/** What v2 says otherwise: the name of the first role, and the name that a group was given. */
const faults = v2Says((text) => {
  const page = JSON.parse(text);
  const [role] = page.roles ?? [];
  if (role !== undefined) Object.assign(role, { name: SECRET, brandNew: `${SECRET}-new` });
  if (page.name === "renamed") page.name = "stored otherwise";
  return JSON.stringify(page);
});
const shadowing = (flags: Readonly<Record<string, string>> = {}) =>
  cutover({ rules: COMPARE_ALL, sandbox: { faults }, flags: { shadowSamples: "3", ...flags } });

let rig: CutoverRig;
/** Of `rig`. */
let compared = 0;
beforeAll(async () => {
  rig = await shadowing();
});

const run = promisify(execFile);

describe("a difference", () => {
  it("of a read is a sample, a count and a bound; no value of either side, no token is shown anywhere", async () => {
    const answer = await rig.ask("GET", "/iam/v1/roles", as("ui"));
    await rig.compared(++compared);
    const { samples } = await rig.view("/samples");
    expect(samples).toMatchObject([
      { resource: "role", operation: "list", kind: "read", served: "shadow", rule: "look", result: "extra" },
    ]);
    const places = samples[0].differences.map((one: { class: string; path: string }) => `${one.class} ${one.path}`);
    expect(places).toEqual(["extra items[].brandNew", "value items[].name"]);
    const native = answer.json.items.find(({ id }: { id: string }) => id === samples[0].differences[0].id);
    expect(await rig.metric("carryover_comparisons_total", { result: "extra" })).toBe(1);
    expect((await rig.view("/progress")).bounds[0]).toMatchObject({ comparisons: 1, differences: 1, upper: 1 });
    const shown = [await rig.text("/samples"), rig.lines.join("")];
    for (const path of ["/metrics", "/rules", "/progress", "/clients"]) shown.push(await rig.text(path));
    for (const text of shown) {
      for (const secret of [SECRET, rig.sandbox.token("admin"), JSON.stringify(native.name)]) {
        expect(text).not.toContain(secret);
      }
    }
  });

  it("has a curl line for each side, which finds the same again", async () => {
    // What a shell would take for its own.
    const target = "/iam/v1/roles?ignored='$(id)`id`\"";
    expect((await rig.ask("GET", target)).status).toBe(200);
    await rig.compared(++compared);
    const [sample] = (await rig.view("/samples?resource=role")).samples;
    const env = {
      PATH: process.env["PATH"] ?? "",
      TOKEN: rig.sandbox.token("admin"),
      NATIVE: rig.sandboxUrl,
      CARRYOVER: rig.url,
    };
    rig.arrived.length = 0;
    for (const side of ["native", "carryover"]) {
      const { stdout } = await run("bash", ["-c", `${sample.repeat[side]} -s`], { env });
      expect(JSON.parse(stdout).items.length).toBeGreaterThan(0);
    }
    expect(rig.arrived.slice(0, 2).map((call) => call.target)).toEqual([target, target]);
    await rig.compared(++compared);
    const again = (await rig.view("/samples?resource=role")).samples;
    expect([again[0].differences, again.length]).toEqual([sample.differences, 3]);
  });

  it("is kept as one of the last shadow.samples of its operation, newest first", async () => {
    const ids: (string | undefined)[] = [];
    for (let at = 0; at < 4; at++) {
      ids.push((await rig.ask("GET", "/iam/v1/roles", as("ui"))).field("x-request-id"));
      await rig.compared(++compared);
    }
    const { samples } = await rig.view("/samples?resource=role");
    expect(samples.map(({ requestId }: { requestId: string }) => requestId)).toEqual(ids.slice(1).toReversed());
  });

  it("shows both values where the operator asks for them", async () => {
    const shown = await shadowing({ shadowValues: "show" });
    const answer = await shown.ask("GET", "/iam/v1/roles", as("ui"));
    await shown.compared(1);
    const { values, samples } = await shown.view("/samples");
    const name = samples[0].differences.find(({ path }: { path: string }) => path === "items[].name");
    const native = answer.json.items.find(({ id }: { id: string }) => id === name.id);
    expect([values, name.native, name.translated]).toEqual([
      "show",
      JSON.stringify(native.name),
      JSON.stringify(SECRET),
    ]);
  });
});
