/** Do clients of a running carryover see where v1 goes on in v2? */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Answer, later, type Rig, rigForTest, takeDownAfterEach } from "../app/rig.ts";

takeDownAfterEach();

const HEADERS = "{ deprecation: 2026-12-01, sunset: 2027-02-27, documentation: https://example.com/migrate }";
const RULES = `version: carryover/v1
rules:
  - name: native-roles
    match: { resource: roles }
    mode: native
    headers: ${HEADERS}
  - name: quiet
    match: { resource: identities }
    mode: translate
  - name: everything-else
    match: {}
    mode: translate
    headers: ${HEADERS}
`;

async function served(flags: Readonly<Record<string, string>> = {}): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), "carryover-signposts-"));
  later(async () => rmSync(folder, { recursive: true }));
  const file = join(folder, "rules.yaml");
  writeFileSync(file, RULES);
  return rigForTest({ flags: { cutoverRulesFile: file, ...flags } });
}

const fields = (answer: Answer) =>
  answer.headers
    .filter(([name]) => ["deprecation", "sunset", "link"].includes(name))
    .map(([name, value]) => `${name}: ${value}`);

const told = (successor: string) => [
  "deprecation: @1796083200",
  "sunset: Sat, 27 Feb 2027 00:00:00 GMT",
  `link: <${successor}>; rel="successor-version"`,
  'link: <https://example.com/migrate>; rel="deprecation"; type="text/html"',
  'link: <https://example.com/migrate>; rel="sunset"; type="text/html"',
];

test("translated, native and refused by the platform, with the base path once and the answer as it was", async () => {
  const rig = await served({ listenBasePath: "/api" });
  const translated = await rig.ask("GET", "/api/iam/v1/groups?name=acme");
  expect([translated.status, ...fields(translated)]).toEqual([200, ...told("/api/iam/v2beta1/groups?name=acme")]);
  const native = await rig.ask("GET", "/api/iam/v1/roles?name=viewer");
  expect([native.status, ...fields(native)]).toEqual([200, ...told("/api/iam/v2beta1/roles?name=viewer")]);
  const missing = await rig.ask("GET", "/api/iam/v1/groups/nobody");
  expect([missing.status, ...fields(missing)]).toEqual([404, ...told("/api/iam/v2beta1/groups/nobody")]);
});

test("the successor is an address that really answers the same request in v2", async () => {
  const rig = await served();
  for (const target of [
    "/iam/v1/groups?name=acme",
    "/iam/v1/roles?name=viewer",
    `/iam/v1/groups/${rig.sandbox.wellKnown.someGroup}`,
  ]) {
    const link =
      (await rig.ask("GET", target)).headers.find(([, value]) => value.includes("successor-version"))?.[1] ?? "";
    const answer = await rig.ask("GET", link.slice(1, link.indexOf(">")));
    expect([target, answer.status]).toEqual([target, 200]);
    expect(fields(answer)).toEqual([]);
  }
});

test("a rule without fields says nothing, and neither does v2", async () => {
  const rig = await served();
  expect(fields(await rig.ask("GET", "/iam/v1/identities"))).toEqual([]);
  expect(fields(await rig.ask("GET", "/iam/v2beta1/groups?page_size=1"))).toEqual([]);
});
