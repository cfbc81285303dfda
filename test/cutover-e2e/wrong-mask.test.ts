/** Does shadow vouch for an update whose PATCH would not have done what native did? (Design section 7: proof of writes.) */
import { expect, it } from "vitest";
import { type Catalogue, loadCatalogue } from "../../src/catalogue.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { cutover, send } from "./rig.ts";

takeDownAfterEach();

it("never calls equal what left out a field that native emptied: the mask did not name it", async () => {
  const catalogue = structuredClone(await loadCatalogue("v2beta1")) as Catalogue;
  // biome-ignore lint/suspicious/noExplicitAny: a copy that is changed on purpose.
  const groups: any = catalogue.resources.find(({ name }) => name === "group");
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const update = groups.operations.find(({ name }: any) => name === "update");
  update.body = {
    ...update.body,
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    rows: update.body.rows.map((row: any) => (row.v1 === "description" ? { ...row, mask: "never" } : row)),
  };
  const rig = await cutover({
    catalogue,
    rules:
      "version: carryover/v1\nrules:\n  - name: look\n    match: {}\n    mode: shadow\n    shadow: { sample: 1, control: 0 }\n",
  });
  const path = `/iam/v1/groups/${rig.sandbox.wellKnown.emptyGroup}`;
  await send(rig.sandboxUrl, rig.sandbox, "PUT", path, { body: { name: "zero", description: "before" } });
  expect((await rig.ask("PUT", path, { body: { name: "one" } })).json.description).toBe("");
  await rig.compared(1);
  expect(await rig.metric("carryover_comparisons_total", { operation: "update", result: "equal" })).toBe(0);
});
