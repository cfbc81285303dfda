/** What does a client get in each mode, byte for byte? (Design section 7.) */
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { HeaderList } from "../../src/model/message.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, type CutoverRig, cutover, send, v2Says } from "./rig.ts";

takeDownAfterEach();

/** Headers of carryover's own or of the connection, and the time of day. */
const OWN = new Set(["carryover-mode", "via", "x-request-id", "traceparent", "date", "connection", "keep-alive"]);

const rules = (mode: string) => `version: carryover/v1
rules:
  - name: all
    match: {}
    mode: ${mode}
${mode === "shadow" ? "    shadow: { sample: 1, control: 0 }\n" : ""}`;

const theirs = (headers: HeaderList) => headers.filter(([name]) => !OWN.has(name));

/** Reads of every kind: lists, filters, verbs, what is missing, what is refused, what v2 lacks. */
function reads({ sandbox }: CutoverRig): readonly (readonly [string, string, string | null])[] {
  const { rootGroup, someGroup, repo } = sandbox.wellKnown;
  const paths = [
    "/iam/v1/groups",
    `/iam/v1/groups?id=${encodeURIComponent(someGroup)}`,
    `/iam/v1/groups?uidp.descendants_of=${rootGroup}&name=nothing`,
    `/iam/v1/groups/${someGroup}`,
    "/iam/v1/roles?parent=%2F",
    "/iam/v1/rolebindings",
    "/iam/v1/roleBindings",
    "/iam/v1/identities",
    "/iam/v1/identity_providers",
    "/iam/v1/account_associations",
    "/iam/v1/group_invites",
    "/registry/v1/repos",
    `/registry/v1/tags?uidp.children_of=${repo}`,
    "/vulnerabilities/v1/advisories?page_size=3",
    "/iam/v1/subscriptions",
    "/iam/v1/groups?id=nobody",
    "/iam/v1/nothing-of-the-kind",
    "/iam/v1/groups?unknown=1&name=",
  ];
  return [
    ...paths.map((path) => ["GET", path, "admin"] as const),
    ["GET", "/iam/v1/groups", null],
    ["GET", "/iam/v1/groups", "nobody"],
    ["OPTIONS", "/iam/v1/groups", "admin"],
    ["HEAD", "/iam/v1/groups", "admin"],
    ["PATCH", `/iam/v1/groups/${someGroup}`, "admin"],
  ];
}

describe.each(["native", "shadow"])("%s", (mode) => {
  it("answers with native v1's own status, headers and bytes", async () => {
    // Page tokens hold the time.
    const now = new Date("2026-03-01T08:00:00.000Z");
    const rig = await cutover({ rules: rules(mode), sandbox: { clock: () => now } });
    for (const [method, path, token] of reads(rig)) {
      const through = await rig.ask(method, path, { as: token, ...as("ui") });
      const direct = await send(rig.sandboxUrl, rig.sandbox, method, path, { as: token, ...as("ui") });
      expect([path, through.status, theirs(through.headers), through.text]).toEqual([
        path,
        direct.status,
        theirs(direct.headers),
        direct.text,
      ]);
      expect([path, ["native", "shadow"].includes(through.field("carryover-mode") ?? "")]).toEqual([path, true]);
    }
    await rig.idle();
  });

  it("writes once, with the client's own bytes, and answers as native did", async () => {
    const rig = await cutover({ rules: rules(mode), sandbox: { organisation: false } });
    const body = '{ "name" : "ob\\u0061", "description":"  spaces  ","unknown":1e2 }';
    const made = await rig.ask("POST", "/iam/v1/groups/", { ...as("ui"), body });
    expect([made.status, made.field("carryover-mode")]).toEqual([200, mode]);
    const changed = await rig.ask("PUT", `/iam/v1/groups/${made.json.id}`, { ...as("ui"), body: '{"name":"b"}' });
    expect(changed.json).toMatchObject({ name: "b", description: "" });
    const gone = await rig.ask("DELETE", `/iam/v1/groups/${made.json.id}`, as("ui"));
    expect([gone.status, gone.text]).toEqual([200, "{}"]);
    await rig.idle();
    const writes = rig.arrived.filter(({ method }) => method !== "GET");
    expect(writes.map(({ method, target }) => `${method} ${target}`)).toEqual([
      "POST /iam/v1/groups/",
      `PUT /iam/v1/groups/${made.json.id}`,
      `DELETE /iam/v1/groups/${made.json.id}`,
    ]);
    expect(new TextDecoder().decode(writes[0]?.body)).toBe(body);
  });
});

describe("carryover-mode", () => {
  it("says on every answer of v1 what served it, and is no header of v2's answers", async () => {
    const rig = await cutover({
      rules: `version: carryover/v1
rules:
  - name: groups
    match: { resource: group }
    mode: translate
  - name: roles
    match: { resource: role }
    mode: shadow
  - name: rest
    match: {}
    mode: native
`,
      sandbox: { organisation: false },
    });
    const mode = async (path: string) => (await rig.ask("GET", path)).field("carryover-mode");
    expect(await mode("/iam/v1/groups")).toBe("translate");
    expect(await mode("/iam/v1/groups?id=nobody")).toBe("translate");
    expect(await mode("/iam/v1/roles")).toBe("shadow");
    expect(await mode("/iam/v1/identities")).toBe("native");
    expect(await mode("/iam/v1/subscriptions")).toBe("native");
    expect(await mode("/iam/v2beta1/groups")).toBeUndefined();
  });
});

describe("shadow", () => {
  it("translates each read in the background: v2 is asked, and the comparison counted", async () => {
    const rig = await cutover({ rules: rules("shadow"), sandbox: { organisation: false } });
    await rig.ask("GET", "/iam/v1/roles", as("ui"));
    await rig.compared(1);
    expect(rig.arrived.map(({ target }) => target.split("?")[0])).toEqual(["/iam/v1/roles", "/iam/v2beta1/roles"]);
    expect(
      await rig.metric("carryover_comparisons_total", { resource: "role", operation: "list", result: "equal" }),
    ).toBe(1);
  });

  it("compares the share that the rule says: nothing at 0, everything at 1", async () => {
    const rig = await cutover({
      rules: rules("shadow").replace("sample: 1", "sample: 0"),
      sandbox: { organisation: false },
    });
    for (let at = 0; at < 20; at++) await rig.ask("GET", "/iam/v1/roles", as("ui"));
    await rig.change(rules("shadow"));
    for (let at = 0; at < 7; at++) {
      await rig.ask("GET", "/iam/v1/roles", as("ui"));
      await rig.compared(at + 1);
    }
    await rig.idle();
    expect(await rig.metric("carryover_comparisons_total")).toBe(7);
    expect(rig.arrived.filter(({ target }) => target.startsWith("/iam/v2beta1/"))).toHaveLength(7);
  });

  it("asks native a second time for the share of reads that the rule says, and to confirm each difference", async () => {
    const wrong = v2Says((text) => text.replaceAll('"viewer"', '"viewed"'));
    const asked = async (control: number, path: string) => {
      const rig = await cutover({
        rules: rules("shadow").replace("control: 0", `control: ${control}`),
        sandbox: { organisation: false, faults: wrong },
      });
      for (let at = 0; at < 5; at++) {
        await rig.ask("GET", path, as("ui"));
        await rig.compared(at + 1);
      }
      return rig.arrived.filter(({ target }) => target.startsWith("/iam/v1/")).length;
    };
    const [viewer, owner] = ["/iam/v1/roles?name=viewer", "/iam/v1/roles?name=owner"];
    expect([await asked(0, owner), await asked(1, owner), await asked(0, viewer), await asked(1, viewer)]).toEqual([
      5, 10, 10, 10,
    ]);
  });

  it("compares what the client got, also when it was compressed", async () => {
    const rig = await cutover({ rules: rules("shadow") });
    const answer = await rig.ask("GET", "/iam/v1/roles", {
      headers: { "user-agent": "ui/1", "accept-encoding": "gzip" },
    });
    const text = answer.field("content-encoding") === "gzip" ? gunzipSync(answer.body).toString() : answer.text;
    expect(JSON.parse(text).items.length).toBeGreaterThan(0);
    await rig.compared(1);
    expect(await rig.metric("carryover_comparisons_total", { result: "equal" })).toBe(1);
  });
});

describe("translate", () => {
  it("asks native for nothing but its samples", async () => {
    const rig = await cutover({
      rules: `${rules("translate")}    shadow: { sample: 0 }\n`,
      sandbox: { organisation: false },
    });
    for (let at = 0; at < 5; at++) await rig.ask("GET", "/iam/v1/roles", as("ui"));
    expect(rig.arrived.every(({ target }) => target.startsWith("/iam/v2beta1/"))).toBe(true);
    await rig.change(`${rules("translate")}    shadow: { sample: 1, control: 0 }\n`);
    await rig.ask("GET", "/iam/v1/roles", as("ui"));
    await rig.compared(1);
    expect(rig.arrived.filter(({ target }) => target.startsWith("/iam/v1/"))).toHaveLength(1);
    expect(await rig.metric("carryover_comparisons_total", { result: "equal" })).toBe(1);
    // A write is never repeated.
    await rig.ask("POST", "/iam/v1/groups/", { ...as("ui"), body: { name: "x" } });
    await rig.idle();
    expect(rig.arrived.filter(({ method }) => method === "POST").map(({ target }) => target)).toHaveLength(1);
  });
});
