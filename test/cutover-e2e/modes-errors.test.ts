/** Do carryover's own errors on v1 requests say which mode failed? (docs/operations.md: carryover-mode on v1 answers.) */
import { describe, expect, it } from "vitest";
import { reasonOf, takeDownAfterEach } from "../app/rig.ts";
import { cutover } from "./rig.ts";

takeDownAfterEach();

describe("carryover-mode", () => {
  it.each(["native", "shadow", "translate"])("is on a 502 of a %s request", async (mode) => {
    const rig = await cutover({
      rules: `version: carryover/v1\nrules:\n  - name: all\n    match: {}\n    mode: ${mode}\n`,
      v1Url: "http://127.0.0.1:9",
      v2Url: "http://127.0.0.1:9",
      sandbox: { organisation: false },
    });
    const answer = await rig.ask("GET", "/iam/v1/groups");
    expect([answer.status, reasonOf(answer), answer.field("carryover-mode")]).toEqual([
      502,
      "UPSTREAM_UNREACHABLE",
      mode,
    ]);
  });
});
