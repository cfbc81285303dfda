/** Headers that announce the end of v1 to clients, and whether the successor that they name works (RFC 9745, RFC 8594). */
import { beforeAll, describe, expect, it } from "vitest";
import { type Answer, takeDownAfterAll } from "../app/rig.ts";
import { as, type CutoverRig, cutover } from "./rig.ts";

takeDownAfterAll();

const DOCS = "https://example.com/migrate?from=v1&x=(a)";
const PUBLIC = "https://v1.example.com";
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
const successor = (answer: Answer) => links(answer).find(({ rel }) => rel === "successor-version")?.target;

let rig: CutoverRig;
beforeAll(async () => {
  rig = await cutover({ rules: rules() });
});

describe("V74: in every mode", () => {
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

  it("writes and refusals of the platform say it as well", async () => {
    for (const mode of MODES) {
      const made = await rig.ask("POST", "/iam/v1/groups/", { ...as(mode), body: { name: mode } });
      expect([made.status, announced(made)]).toEqual([200, 5]);
      const path = `/iam/v1/groups/${made.json.id}`;
      const changed = await rig.ask("PUT", path, { ...as(mode), body: { name: `${mode} again` } });
      const found = await rig.ask("GET", successor(changed) ?? "", as(mode));
      expect([found.status, found.json.name]).toEqual([200, `${mode} again`]);
      expect(fields(await rig.ask("DELETE", path, as(mode)), "sunset")).toHaveLength(1);
      const gone = await rig.ask("DELETE", path, as(mode));
      expect([gone.status, announced(gone)]).toEqual([404, 5]);
    }
    await rig.idle();
  });
});

describe("the successor", () => {
  it.each([
    ["absolute where clients know carryover by a public address", { listenPublicUrl: PUBLIC }, PUBLIC],
    ["a path where they do not", {}, ""],
  ])("has the base path once, and is %s", async (_name, flags, base) => {
    const other = await cutover({
      rules: rules(),
      sandbox: { organisation: false },
      flags: { ...flags, listenBasePath: "/api" },
    });
    const { rootGroup } = other.sandbox.wellKnown;
    const target = `/api/iam/v1/groups?id=${rootGroup}`;
    for (const mode of MODES) {
      const answer = await other.ask("GET", target, as(mode));
      expect([answer.status, successor(answer)]).toEqual([200, `${base}/api/iam/v2beta1/groups/${rootGroup}`]);
    }
    await other.change(rules("deprecation: 2026-12-01, successor: false"));
    const without = await other.ask("GET", target, as("translate"));
    expect([links(without), fields(without, "deprecation").length]).toEqual([[], 1]);
    await other.idle();
  });
});

describe("beside others", () => {
  it("native v1's own Link goes through", async () => {
    const other = await cutover({
      rules: rules(),
      sandbox: {
        organisation: false,
        faults: (next) => async (request, options) => {
          const answer = await next(request, options);
          return { ...answer, headers: [...answer.headers, ["link", '<https://platform.example/help>; rel="help"']] };
        },
      },
    });
    const answer = await other.ask("GET", "/iam/v1/roles?name=viewer", as("native"));
    expect(links(answer).map(({ rel }) => rel)).toEqual(["help", "successor-version", "deprecation", "sunset"]);
  });
});
