/** What a client gets in each mode, byte for byte, and what the platform sees of it. */
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import type { HeaderList } from "../../../src/model/http.ts";
import { reasonOf, send, takeDownAfterEach } from "../app/rig.ts";
import { as, COMPARE_ALL, type CutoverRig, cutover } from "./rig.ts";

takeDownAfterEach();

/** Headers of carryover's own or of the connection, and the time of day. */
const OWN = new Set(["carryover-mode", "via", "x-request-id", "date", "connection", "keep-alive"]);
const theirs = (headers: HeaderList) => headers.filter(([name]) => !OWN.has(name));

const rule = (mode: string, shadow: string) => `version: carryover/v1
rules: [{ name: all, match: {}, mode: ${mode}, shadow: { ${shadow} } }]
`;
/** Each mode for the client of its name. */
const BY_CLIENT = `version: carryover/v1
rules:
  - { name: a, match: { client: native }, mode: native }
  - { name: b, match: { client: shadow }, mode: shadow, shadow: { sample: 1, control: 0 } }
  - { name: c, match: { client: translate }, mode: translate, shadow: { sample: 0 } }
`;
const MODES = ["native", "shadow", "translate"];
const AS_NATIVE = ["native", "shadow"];

/** Reads of every kind: lists, filters, what is missing, what is refused, what v2 lacks, methods that v1 lacks. */
function reads({ sandbox }: CutoverRig): readonly (readonly [string, string, string | null])[] {
  const { rootGroup, someGroup } = sandbox.wellKnown;
  return [
    ["GET", "/iam/v1/groups", "admin"],
    ["GET", `/iam/v1/groups?id=${encodeURIComponent(someGroup)}`, "admin"],
    ["GET", `/iam/v1/groups?uidp.descendants_of=${rootGroup}&name=nothing`, "admin"],
    ["GET", `/iam/v1/groups/${someGroup}`, "admin"],
    ["GET", "/iam/v1/roleBindings", "admin"],
    ["GET", "/vulnerabilities/v1/advisories?page_size=3", "admin"],
    ["GET", "/iam/v1/subscriptions", "admin"],
    ["GET", "/iam/v1/nothing-of-the-kind", "admin"],
    ["GET", "/iam/v1/groups?unknown=1&name=", "admin"],
    ["GET", "/iam/v1/groups", null],
    ["GET", "/iam/v1/groups", "nobody"],
    ["OPTIONS", "/iam/v1/groups", "admin"],
    ["HEAD", "/iam/v1/groups", "admin"],
    ["PATCH", `/iam/v1/groups/${someGroup}`, "admin"],
  ];
}

describe("native and shadow", () => {
  it("answer with native v1's own status, headers and bytes", async () => {
    // Page tokens hold the time.
    const now = new Date("2026-03-01T08:00:00.000Z");
    const rig = await cutover({ rules: BY_CLIENT, sandbox: { clock: () => now } });
    for (const [method, path, token] of reads(rig)) {
      const direct = await send(rig.sandboxUrl, rig.sandbox, method, path, { as: token });
      for (const mode of AS_NATIVE) {
        const through = await rig.ask(method, path, { as: token, ...as(mode) });
        expect([path, through.status, theirs(through.headers), through.text]).toEqual([
          path,
          direct.status,
          theirs(direct.headers),
          direct.text,
        ]);
        expect([path, AS_NATIVE.includes(through.field("carryover-mode") ?? "")]).toEqual([path, true]);
      }
    }
    await rig.idle();
  });

  it("write once, with the client's own bytes, and answer as native did", async () => {
    const rig = await cutover({ rules: BY_CLIENT, sandbox: { organisation: false } });
    for (const mode of AS_NATIVE) {
      rig.arrived.length = 0;
      const body = `{ "name" : "${mode}\\u0061", "description":"  spaces  ","unknown":1e2 }`;
      const made = await rig.ask("POST", "/iam/v1/groups/", { ...as(mode), body });
      expect([made.status, made.field("carryover-mode")]).toEqual([200, mode]);
      const path = `/iam/v1/groups/${made.json.id}`;
      const changed = await rig.ask("PUT", path, { ...as(mode), body: { name: `${mode} b` } });
      expect(changed.json).toMatchObject({ name: `${mode} b`, description: "" });
      const gone = await rig.ask("DELETE", path, as(mode));
      expect([gone.status, gone.text]).toEqual([200, "{}"]);
      await rig.idle();
      const writes = rig.arrived.filter(({ method }) => method !== "GET");
      expect(writes.map(({ method, target }) => `${method} ${target}`)).toEqual([
        "POST /iam/v1/groups/",
        `PUT ${path}`,
        `DELETE ${path}`,
      ]);
      expect(new TextDecoder().decode(writes[0]?.body)).toBe(body);
    }
  });
});

describe("DIFF-73: carryover-mode", () => {
  it("says on every answer of v1 what served it, carryover's own errors included, and is no header of v2's", async () => {
    const gone = "http://127.0.0.1:9";
    const rig = await cutover({ rules: BY_CLIENT, v1Url: gone, v2Url: gone, sandbox: { organisation: false } });
    for (const mode of MODES) {
      for (const ask of [as(mode), { ...as(mode), body: { name: "x" } }]) {
        const answer = await rig.ask("body" in ask ? "PUT" : "GET", "/iam/v1/groups/a", ask);
        expect([answer.status, reasonOf(answer), answer.field("carryover-mode")]).toEqual([
          502,
          "UPSTREAM_UNREACHABLE",
          mode,
        ]);
        expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONN/);
      }
    }
    expect((await rig.ask("GET", "/iam/v2beta1/groups", as("native"))).field("carryover-mode")).toBeUndefined();
  });
});

describe("shadow", () => {
  it("tell of what translation refuses to HTTP/1.0 alone, and hold it against no rule", async () => {
    const get = (url: string, path: string, token: string) =>
      new Promise<number>((resolve, reject) => {
        const { hostname, port } = new URL(url);
        let got = "";
        const socket = connect(Number(port), hostname, () => {
          socket.write(`GET ${path} HTTP/1.0\r\nauthorization: Bearer ${token}\r\n\r\n`);
        });
        socket.on("data", (data) => {
          got += data.toString("latin1");
        });
        socket.on("error", reject);
        socket.on("close", () => resolve(Number(got.split(" ")[1])));
      });
    const rig = await cutover({ rules: COMPARE_ALL, sandbox: { size: 600 }, flags: { listsBufferBytes: "64KiB" } });
    const token = rig.sandbox.token("admin");
    const [long, short] = ["/iam/v1/groups", `/iam/v1/groups?id=${rig.sandbox.wellKnown.emptyGroup}`];
    for (const path of [long, short]) expect(await get(rig.url, path, token)).toBe(200);
    await rig.compared(2);
    expect(await rig.metric("carryover_comparison_failures_total", { reason: "old-http" })).toBe(1);
    expect(await rig.metric("carryover_comparisons_total", { result: "equal" })).toBe(1);
    await rig.change(rule("translate", "sample: 0"));
    expect([await get(rig.url, long, token), await get(rig.url, short, token)]).toEqual([422, 200]);
    expect((await rig.view("/rules")).rules[0]).toMatchObject({ requests: 1, failures: 0 });
  });
});
