/** Headers that announce the end of v1 to clients, and whether the successor that they name works (RFC 9745, RFC 8594). */
import { beforeAll, describe, expect, it } from "vitest";
import { type Answer, takeDownAfterAll } from "../app/rig.ts";
import { as, type CutoverRig, cutover } from "./rig.ts";

takeDownAfterAll();

const DOCS = "https://example.com/migrate?from=v1&x=(a)";
const HEADERS = `deprecation: 2026-12-01, sunset: 2099-06-30, documentation: "${DOCS}"`;
/** The clients `native`, `shadow` and `translate` get the headers, each in its mode; no other client does. */
const rules = (headers = HEADERS) => `version: carryover/v1
rules:
  - { name: native, match: { client: native }, mode: native, headers: { ${headers} } }
  - { name: shadow, match: { client: shadow }, mode: shadow, headers: { ${headers} } }
  - { name: translate, match: { client: translate }, mode: translate, headers: { ${headers} } }
`;
const MODES = ["native", "shadow", "translate"];

const fields = (answer: Answer, name: string) =>
  answer.headers.filter(([key]) => key === name).map(([, value]) => value);
/** How many there are of the three. */
const announced = (answer: Answer) => ["deprecation", "sunset", "link"].flatMap((name) => fields(answer, name)).length;
const links = (answer: Answer) =>
  fields(answer, "link")
    .flatMap((value) => [...value.matchAll(/<([^>]*)>((?:\s*;\s*[a-z]+="[^"]*")*)/g)])
    .map(([, target, parameters]) => ({ target: target ?? "", rel: /rel="([^"]*)"/.exec(parameters ?? "")?.[1] }));

let rig: CutoverRig;
beforeAll(async () => {
  rig = await cutover({ rules: rules() });
});

describe("DIFF-74: in every mode", () => {
  it("Deprecation, Sunset and Link stand once each, in their exact form, and only where the rule says so", async () => {
    for (const mode of MODES) {
      const told = await rig.ask("GET", "/iam/v1/roles?name=viewer", as(mode));
      expect(fields(told, "deprecation")).toEqual([`@${Date.UTC(2026, 11, 1) / 1000}`]);
      expect(fields(told, "sunset")).toEqual(["Tue, 30 Jun 2099 00:00:00 GMT"]);
      expect(links(told)).toEqual([
        { target: "/iam/v2beta1/roles?name=viewer", rel: "successor-version" },
        { target: DOCS, rel: "deprecation" },
        { target: DOCS, rel: "sunset" },
      ]);
      expect(announced(await rig.ask("GET", "/iam/v2beta1/roles?name=viewer", as(mode)))).toBe(0);
    }
    expect(announced(await rig.ask("GET", "/iam/v1/roles?name=viewer", as("somebody")))).toBe(0);
  });
});
