/** Are clients told of the end of v1 also where v2 has nothing instead? (RFC 9745, RFC 8594.) */
import { describe, expect, it } from "vitest";
import type { Answer } from "../app/rig.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, cutover } from "./rig.ts";

takeDownAfterEach();

const DOCS = "https://example.com/migrate?from=v1&x=(a)";
const rules = (
  mode: string,
  headers = `deprecation: 2026-12-01, sunset: 2099-06-30, documentation: "${DOCS}"`,
) => `version: carryover/v1
rules:
  - name: told
    match: { client: [ui, web] }
    mode: ${mode}
    headers: { ${headers} }
  - name: rest
    match: {}
    mode: ${mode}
`;

const fields = (answer: Answer, name: string) =>
  answer.headers.filter(([key]) => key === name).map(([, value]) => value);

/** Links as `[target, parameters]`. */
const links = (answer: Answer) =>
  fields(answer, "link")
    .flatMap((value) => [...value.matchAll(/<([^>]*)>((?:\s*;\s*[a-z]+="[^"]*")*)/g)])
    .map(([, target, parameters]) => ({ target: target ?? "", rel: /rel="([^"]*)"/.exec(parameters ?? "")?.[1] }));
const successor = (answer: Answer) => links(answer).find(({ rel }) => rel === "successor-version")?.target;

describe("the successor", () => {
  it("of what v2 lacks is not made up", async () => {
    const rig = await cutover({ rules: rules("translate"), sandbox: { organisation: false } });
    const answer = await rig.ask("GET", "/iam/v1/externalGroupRoleMappings", as("ui"));
    expect(answer.field("carryover-mode")).toBe("native");
    expect(successor(answer)).toBeUndefined();
    expect(fields(answer, "deprecation")).toHaveLength(1);
  });
});
