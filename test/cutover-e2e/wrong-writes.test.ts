/** Does a translating rule step back when the platform refuses what a wrong row sends? (Design section 7.) */
import { expect, it } from "vitest";
import { type Catalogue, loadCatalogue } from "../../src/catalogue.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { cutover } from "./rig.ts";

takeDownAfterEach();

it("writes that v2 refuses because of a wrong row are failures of translation: the rule steps back", async () => {
  const catalogue = structuredClone(await loadCatalogue("v2beta1")) as Catalogue;
  // biome-ignore lint/suspicious/noExplicitAny: a copy that is changed on purpose.
  const groups: any = catalogue.resources.find(({ name }) => name === "group");
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const update = groups.operations.find(({ name }: any) => name === "update");
  update.body = {
    ...update.body,
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    rows: update.body.rows.map((row: any) => (row.v1 === "description" ? { ...row, v2: "describe" } : row)),
  };
  const rig = await cutover({
    catalogue,
    rules: `version: carryover/v1
rules:
  - name: forward
    match: {}
    mode: translate
    shadow: { sample: 0 }
    stepBack: { failures: 0.2, minRequests: 5, minClients: 2 }
`,
  });
  const path = `/iam/v1/groups/${rig.sandbox.wellKnown.emptyGroup}`;
  const statuses: number[] = [];
  for (let at = 0; at < 12; at++) {
    const [as, headers] = [`admin#${at % 3}`, { "user-agent": `client-${at % 3}/1` }];
    statuses.push((await rig.ask("PUT", path, { as, headers, body: { name: "x", description: "y" } })).status);
  }
  expect(statuses.slice(-5)).toEqual([200, 200, 200, 200, 200]);
  expect((await rig.view("/rules")).rules[0]).toMatchObject({ state: "back" });
});
