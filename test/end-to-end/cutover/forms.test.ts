/** Forms that stand for the GET of their path, in each mode. */
import { describe, expect, it } from "vitest";
import { header } from "../../../src/model/http.ts";
import { reasonOf, send, takeDownAfterEach } from "../app/rig.ts";
import { as, type CutoverRig, cutover } from "./rig.ts";

takeDownAfterEach();

const BY_CLIENT = `version: carryover/v1
rules:
  - { name: a, match: { client: native }, mode: native }
  - { name: b, match: { client: shadow, operation: reads }, mode: shadow, shadow: { sample: 1, control: 0 } }
  - { name: c, match: { client: translate, operation: reads }, mode: translate, shadow: { sample: 0 } }
`;
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const AS_GET = { ...FORM, "x-http-method-override": "GET" };
const summaryOf = ({ sandbox }: CutoverRig) => `/registry/v1/repotagssummary/${sandbox.wellKnown.repo}`;

describe.each(["native", "shadow", "translate"])("mode %s", (mode) => {
  it("runs a form as the GET of a path that has no POST", async () => {
    const rig = await cutover({ rules: BY_CLIENT });
    const path = "/iam/v1/groups:checkEligibility";
    const got = await rig.ask("POST", path, { headers: { ...FORM, ...as(mode).headers }, body: "a=1" });
    const asked = await send(rig.sandboxUrl, rig.sandbox, "GET", path, {});
    expect([got.status, got.json, got.field("carryover-mode")]).toEqual([200, asked.json, mode]);
    await rig.idle();
    const labels = { mode, resource: "group", operation: "check-eligibility", code: "200" };
    expect(await rig.metric("carryover_requests_total", labels)).toBe(1);
    expect(await rig.metric("carryover_comparisons_total", { result: "equal" })).toBe(mode === "shadow" ? 1 : 0);
    expect(await rig.metric("carryover_notes_total", { note: "form-as-get" })).toBe(1);
  });

  it("runs a form with the method override GET as a GET where the path has a POST, too", async () => {
    const rig = await cutover({ rules: BY_CLIENT });
    const { someGroup } = rig.sandbox.wellKnown;
    const before = rig.sandbox.snapshot();
    const headers = { ...AS_GET, ...as(mode).headers };
    const got = await rig.ask("POST", "/iam/v1/groups?name=", { headers, body: `id=${encodeURIComponent(someGroup)}` });
    expect([got.status, got.json.items.map(({ id }: { id: string }) => id)]).toEqual([200, [someGroup]]);
    const plain = await rig.ask("POST", "/iam/v1/groups", {
      headers: { ...FORM, ...as(mode).headers },
      body: "name=x",
    });
    expect(plain.status).toBe(400);
    expect(rig.sandbox.snapshot()).toEqual(before);
    expect(rig.arrived.flatMap(({ headers: sent }) => header(sent, "x-http-method-override") ?? [])).toEqual([]);
  });

  it("DIFF-80: reads a form up to limits.uriBytes, its escapes included, and says 414 beyond", async () => {
    const rig = await cutover({ rules: BY_CLIENT, flags: { limitsUriBytes: "300" } });
    const headers = { ...FORM, ...as(mode).headers };
    const long = await rig.ask("POST", summaryOf(rig), { headers, body: `x=${"a".repeat(300)}` });
    const escaped = await rig.ask("POST", summaryOf(rig), { headers, body: `x=${"\n".repeat(100)}` });
    expect([long, escaped].map(({ status }) => status)).toEqual([414, 414]);
    expect(reasonOf(escaped)).toBe("URI_TOO_LONG");
    expect(rig.arrived).toEqual([]);
  });

  it("takes an empty JSON value or white space in a GET for no body", async () => {
    const rig = await cutover({ rules: BY_CLIENT });
    for (const body of ["{}", "null", " \r\n", "{ }\n"])
      expect([body, (await rig.ask("GET", "/iam/v1/groups", { body, ...as(mode) })).status]).toEqual([body, 200]);
    await rig.idle();
    expect(await rig.metric("carryover_comparisons_total", { result: "different" })).toBe(0);
  });
});

it("native v1 gets a form byte for byte, and a GET where only the override would have made it one", async () => {
  const rig = await cutover({ flags: { cutoverMode: "native" } });
  const body = "exclude_dates=true&note=a+b%20\u00e9\n";
  await rig.ask("POST", summaryOf(rig), { headers: FORM, body });
  await rig.ask("POST", `${summaryOf(rig)}?a`, { headers: AS_GET, body });
  // v1 alone has this one: it has no translation that could read the form.
  await rig.ask("POST", "/registry/v1/vuln_reports/counts", { headers: FORM, body });
  expect(
    rig.arrived.map(({ method, target, body: sent }) => [method, target, Buffer.from(sent ?? []).toString()]),
  ).toEqual([
    ["POST", summaryOf(rig), body],
    ["GET", `${summaryOf(rig)}?exclude_dates=true&note=a+b%20%C3%A9%0A&a`, ""],
    ["POST", "/registry/v1/vuln_reports/counts", body],
  ]);
  expect(header(rig.arrived[1]?.headers ?? [], "content-length")).toBeUndefined();
});

it("a form to v2 passes as it came, unless it asks to be a GET", async () => {
  const rig = await cutover({ flags: { cutoverMode: "native" } });
  const got = await rig.ask("POST", "/iam/v2beta1/groups", { headers: AS_GET, body: "page_size=1" });
  expect([got.status, got.json.groups.length]).toEqual([200, 1]);
  await rig.ask("POST", "/iam/v2beta1/groups:lookupGroup", { headers: FORM, body: "a=1" });
  expect(rig.arrived.map(({ method, target }) => [method, target])).toEqual([
    ["GET", "/iam/v2beta1/groups?page_size=1"],
    ["POST", "/iam/v2beta1/groups:lookupGroup"],
  ]);
});
