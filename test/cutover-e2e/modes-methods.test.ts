/** Do methods that v1 never had reach native v1 where native v1 serves? (Its front may know them: an ingress, a cache.) */
import { describe, expect, it } from "vitest";
import { takeDownAfterEach } from "../app/rig.ts";
import { cutover, platform } from "./rig.ts";

takeDownAfterEach();

describe.each(["native", "shadow"])("%s", (mode) => {
  it.each(["HEAD", "PATCH", "OPTIONS"])("%s goes to native v1, whose answer it is", async (method) => {
    const { url, asked } = await platform((_, response) => {
      response.writeHead(204, { "x-front": "yes" }).end();
    });
    const rig = await cutover({
      rules: `version: carryover/v1\nrules:\n  - name: all\n    match: {}\n    mode: ${mode}\n`,
      v1Url: url,
      sandbox: { organisation: false },
    });
    const answer = await rig.ask(method, "/iam/v1/groups/a");
    expect([answer.status, answer.field("x-front")]).toEqual([204, "yes"]);
    expect(asked).toEqual([`${method} /iam/v1/groups/a`]);
  });
});
