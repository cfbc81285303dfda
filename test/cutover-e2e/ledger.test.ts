/** Who still calls v1, and how does each get away? (Design section 8; every request over a connection.) */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ClientEntry } from "../../src/model/ledger.ts";
import { later, takeDownAfterEach } from "../app/rig.ts";
import { crowd } from "./crowd.ts";
import { as, type CutoverRig, cutover, type Front, LACKING, platform, serveLacking } from "./rig.ts";

takeDownAfterEach();

type Shown = ClientEntry & { readonly difficulty: string; readonly why: string };

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
/** A token with these claims; nobody's signature. */
const jwt = (claims: object) => `Bearer ${base64({ alg: "none" })}.${base64(claims)}.sig`;

/** A platform that answers everything: lists, records, v1 or v2. */
const anything = () =>
  platform((request, response) => {
    if (request.headers.authorization === "Bearer refused") return response.writeHead(401).end("{}");
    const v2 = request.url?.includes("/v2beta1/") === true;
    response.setHeader("content-type", "application/json");
    response.end(v2 ? '{"uid":"a","name":"x"}' : '{"id":"a","name":"x"}');
  });

/** A carryover before it whose clients are known as `flags` say. */
async function knowing(flags: Readonly<Record<string, string>>): Promise<CutoverRig> {
  const { url } = await anything();
  return cutover({ v1Url: url, v2Url: url, sandbox: { organisation: false }, flags });
}

const GROUP = "/iam/v1/groups/a";
const get = (rig: CutoverRig, headers: Readonly<Record<string, string>>, path = GROUP) =>
  rig.ask("GET", path, { as: null, headers });
const clients = async (front: Front): Promise<Shown[]> => (await front.view("/clients")).clients;
const names = async (front: Front) => (await clients(front)).map(({ name }) => name).toSorted();

describe("a client is known", () => {
  it("by its user agent's product, whatever its version and comment", async () => {
    const rig = await knowing({});
    for (const agent of ["terraform/1.5.2 (+https://example.com) go/1.22", "terraform/1.6", "curl/8.1", ""]) {
      await get(rig, { "user-agent": agent });
    }
    expect(await names(rig)).toEqual(["curl", "terraform", "unknown"]);
    expect((await clients(rig)).find(({ name }) => name === "terraform")?.requests).toEqual({ v1: 2, v2: 0 });
  });

  it("by a header, and by the next means where that says nothing", async () => {
    const rig = await knowing({ clientsIdentify: "header:X-Team,user-agent" });
    await get(rig, { "x-team": "payments", "user-agent": "curl/8" });
    await get(rig, { "user-agent": "curl/8" });
    await get(rig, { "x-team": "", "user-agent": "curl/8" });
    expect(await names(rig)).toEqual(["curl", "payments"]);
  });

  it("by claims of its token, several joined, which are never believed for access", async () => {
    const rig = await knowing({ clientsIdentify: "claim:iss+sub,claim:email,user-agent" });
    await get(rig, { authorization: jwt({ iss: "https://idp.example.com", sub: "ci" }), "user-agent": "x/1" });
    await get(rig, { authorization: jwt({ email: "a@example.com" }), "user-agent": "x/1" });
    await get(rig, { authorization: jwt({ sub: "no issuer" }), "user-agent": "x/1" });
    const found = await names(rig);
    expect(found).toHaveLength(3);
    expect(found).toEqual(expect.arrayContaining(["a@example.com", "x"]));
    expect(found.some((name) => name.includes("https://idp.example.com") && name.includes("ci"))).toBe(true);
    const refused = await cutover({ flags: { clientsIdentify: "claim:sub" }, sandbox: { organisation: false } });
    expect((await get(refused, { authorization: jwt({ sub: "admin" }) })).status).toBe(401);
  });

  it("by a name of the operator's, in rules, reports and metrics", async () => {
    const { url } = await anything();
    const rig = await cutover({
      rules: "version: carryover/v1\nrules:\n  - name: one\n    match: { client: ci-bot }\n    mode: native\n",
      v1Url: url,
      v2Url: url,
      sandbox: { organisation: false },
      flags: { clientsIdentify: "claim:sub", clientsNames: "ci-bot=ci@example.com" },
    });
    const answer = await get(rig, { authorization: jwt({ sub: "ci@example.com" }) });
    expect(answer.field("carryover-mode")).toBe("native");
    expect(await names(rig)).toEqual(["ci-bot"]);
    expect(await rig.metric("carryover_client_requests_total", { client: "ci-bot", api_version: "v1" })).toBe(1);
  });

  it("hashed where the operator asks: the identity itself is nowhere, names stay, and replicas agree", async () => {
    const flags = {
      clientsIdentify: "claim:sub",
      clientsHash: "true",
      clientsNames: "ci-bot=ci@example.com",
      cutoverSalt: "pepper",
    };
    const rig = await knowing(flags);
    for (const sub of ["private@example.com", "ci@example.com"]) await get(rig, { authorization: jwt({ sub }) });
    const [found, text] = [await names(rig), (await rig.text("/clients")) + (await rig.text("/metrics"))];
    expect(found).toHaveLength(2);
    expect(found).toContain("ci-bot");
    for (const path of ["/clients", "/clients.txt", "/progress", "/metrics", "/rules", "/samples"]) {
      expect(await rig.text(path)).not.toContain("private@");
    }
    expect(rig.lines.join("") + text).not.toContain("private@");
    const replica = await rig.replica();
    await get({ ...rig, ...replica }, { authorization: jwt({ sub: "private@example.com" }) });
    expect(found).toEqual(expect.arrayContaining(await names(replica)));
    const other = await rig.replica({ cutoverSalt: "salt" });
    await get({ ...rig, ...other }, { authorization: jwt({ sub: "private@example.com" }) });
    expect(found).not.toEqual(expect.arrayContaining(await names(other)));
  });

  it("not at all when it is excluded, or when the platform answered 401", async () => {
    const rig = await knowing({ clientsIdentify: "header:x-team,user-agent", clientsExclude: "kube-probe,scan*" });
    await get(rig, { "user-agent": "kube-probe/1.30" });
    await get(rig, { "x-team": "scanner-7" });
    await get(rig, { "x-team": "stranger", authorization: "Bearer refused" });
    await get(rig, { "x-team": "team" });
    expect(await names(rig)).toEqual(["team"]);
    expect((await rig.view("/clients")).requests).toEqual({ v1: 1, v2: 0 });
    // All of them are still requests.
    expect(await rig.metric("carryover_requests_total", { api_version: "v1" })).toBe(4);
  });
});

describe("tokens and names of no sense", () => {
  it("take the next means or unknown, and leave every view readable", async () => {
    const rig = await knowing({ clientsIdentify: "claim:sub,header:x-team,user-agent", limitsHeaderBytes: "1MiB" });
    const odd: readonly Readonly<Record<string, string>>[] = [
      { authorization: "Bearer not-a-jwt" },
      { authorization: "Bearer a.b.c" },
      { authorization: "Bearer .." },
      { authorization: `Bearer x.${Buffer.from("[1]").toString("base64url")}.y` },
      { authorization: `Bearer x.${Buffer.from('{"sub":').toString("base64url")}.y` },
      { authorization: jwt({ sub: 7 }) },
      { authorization: jwt({ sub: null }) },
      { authorization: jwt({ sub: "" }) },
      { authorization: jwt({ sub: ["a"] }) },
      { authorization: jwt({ sub: "x".repeat(600_000) }) },
      { authorization: jwt({ other: "x".repeat(600_000), sub: "small" }) },
      { authorization: "Basic dXNlcjpwYXNz" },
    ];
    for (const headers of odd) {
      const answer = await get(rig, { ...headers, "user-agent": "next/1" });
      expect(answer.status).toBe(200);
    }
    const found = await names(rig);
    expect(found).toContain("next");
    expect(found.every((name) => name.length <= 256)).toBe(true);
  });

  it("with control bytes, quotes or other alphabets break no view, no log line and no metric", async () => {
    const rig = await knowing({ clientsIdentify: "claim:sub,header:x-team" });
    const subs = [
      'a"b',
      "a\nb",
      "a\u0000b",
      "\u001b[31mred",
      "名前",
      "a\\b",
      "a,b",
      "=cmd()",
      "__proto__",
      "constructor",
      "{x}",
    ];
    for (const sub of subs) await get(rig, { authorization: jwt({ sub }) });
    await get(rig, { "x-team": "caf\u00e9" });
    const text = await rig.text("/clients.txt");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    for (const line of (await rig.text("/metrics")).split("\n")) {
      expect(line).toMatch(/^$|^#|^[a-z0-9_]+(\{([a-z_]+="[^"\n\\]*",?)*\})? \S+$/);
    }
    for (const line of rig.lines) expect(() => JSON.parse(line)).not.toThrow();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
    expect((await names(rig)).join("")).not.toMatch(/[\u0000-\u001f]/);
  });
});

describe("what is known of a client", () => {
  it("is what it calls, when, and how hard it is to move", async () => {
    const rig = await cutover({ flags: { cutoverMode: "translate" }, sandbox: { faults: serveLacking } });
    const { emptyGroup, rootGroup } = rig.sandbox.wellKnown;
    await rig.ask("GET", "/iam/v1/roles?name=viewer", as("renamer"));
    await rig.ask("GET", "/iam/v1/groups", as("lister"));
    await rig.ask("PUT", `/iam/v1/groups/${emptyGroup}`, { ...as("replacer"), body: { name: "x" } });
    // Somebody who was let in: what a platform also says to strangers makes no entry.
    await rig.ask("GET", "/iam/v1/roles?name=none", as("stuck"));
    await rig.ask("GET", LACKING, as("stuck"));
    await rig.ask("PUT", `/iam/v1/groups/${emptyGroup}`, {
      ...as("sender"),
      body: { name: "x", description: "y", surprise: 1 },
    });
    await rig.ask("GET", `/iam/v2beta1/groups/${rootGroup}`, as("modern"));
    const shown = new Map((await clients(rig)).map((one) => [one.name, one]));
    expect([...shown].map(([name, { difficulty }]) => [name, difficulty]).toSorted()).toEqual([
      ["lister", "long-lists"],
      ["modern", "none"],
      ["renamer", "renames"],
      ["replacer", "full-replace"],
      ["sender", "unknown-fields"],
      ["stuck", "lacking"],
    ]);
    expect(shown.get("lister")?.needs.longLists).toEqual([{ resource: "group", records: expect.any(Number) }]);
    expect(shown.get("lister")?.needs.longLists[0]?.records).toBeGreaterThan(200);
    expect(shown.get("replacer")?.needs.zeroedFields).toContainEqual({ resource: "group", field: "description" });
    expect(shown.get("sender")?.needs.unknownFields).toContainEqual({ resource: "group", field: "surprise" });
    expect(shown.get("stuck")?.needs.lacking).toHaveLength(1);
    expect(shown.get("modern")?.requests).toEqual({ v1: 0, v2: 1 });
    const table = await rig.text("/clients.txt");
    for (const [name, { difficulty }] of shown) expect(table).toMatch(new RegExp(`^${name} .*${difficulty}`, "m"));
  });

  it("is that carryover does not know what it calls, in /clients as in its way out", async () => {
    const rig = await cutover({ flags: { cutoverMode: "translate" }, sandbox: { organisation: false } });
    await rig.ask("GET", "/iam/v2beta1/roles", as("stray"));
    expect((await rig.ask("GET", "/iam/v1/nonsense", as("stray"))).status).toBe(404);
    const [stray] = await clients(rig);
    expect(stray).toMatchObject({ difficulty: "lacking", why: "calls paths that carryover does not know" });
    expect(await rig.text("/clients.txt")).toMatch(/^stray .*lacking/m);
    expect(await rig.text("/way-out.md?client=stray")).toContain("## What carryover does not know");
    expect(rig.lines.some((line) => /"path":"\/iam\/v1\/nonsense".*"resource":"unknown"/.test(line))).toBe(true);
  });

  it("is seen behind native and shadow as well: the needs are the same", async () => {
    for (const mode of ["native", "shadow"]) {
      const rig = await cutover({
        rules: `version: carryover/v1\nrules:\n  - name: all\n    match: {}\n    mode: ${mode}\n${mode === "shadow" ? "    shadow: { sample: 1 }\n" : ""}`,
      });
      const { emptyGroup } = rig.sandbox.wellKnown;
      await rig.ask("GET", "/iam/v1/groups", as("lister"));
      await rig.ask("PUT", `/iam/v1/groups/${emptyGroup}`, { ...as("replacer"), body: { name: "x", odd: 1 } });
      await rig.idle();
      const shown = new Map((await clients(rig)).map((one) => [one.name, one.needs]));
      if (mode === "shadow") {
        expect(shown.get("lister")?.longLists).toHaveLength(1);
        expect(shown.get("replacer")?.zeroedFields).toContainEqual({ resource: "group", field: "description" });
        expect(shown.get("replacer")?.unknownFields).toContainEqual({ resource: "group", field: "odd" });
      } else {
        // Nobody looked into them, and that is said.
        expect(shown.get("lister")?.unseen).toContainEqual({ resource: "group", operation: "list" });
        expect(shown.get("replacer")?.unseen).toContainEqual({ resource: "group", operation: "update" });
      }
      await rig.close();
    }
  });

  it("is its way out: calls, renames, the loop over pages, the PATCH, what v2 lacks and what it must stop sending", async () => {
    const rig = await cutover({ sandbox: { faults: serveLacking } });
    const { emptyGroup } = rig.sandbox.wellKnown;
    await rig.ask("GET", "/iam/v1/groups", as("everything"));
    await rig.ask("PUT", `/iam/v1/groups/${emptyGroup}`, { ...as("everything"), body: { name: "x", surprise: 1 } });
    await rig.ask("GET", LACKING, as("everything"));
    await rig.ask("DELETE", `/iam/v1/groups/${emptyGroup}`, as("everything"));
    const text = await rig.text("/way-out.md?client=everything");
    expect(text).toMatch(/^# .*everything/m);
    for (const part of [
      /GET \/iam\/v2beta1\/groups/,
      /PATCH \/iam\/v2beta1\/groups/,
      /DELETE \/iam\/v2beta1\/groups/,
      /updateMask|update_mask/,
      /nextPageToken|page_token/,
      /`id`.*`uid`|`uid`.*`id`/,
      /createdAt.*createTime|createTime.*createdAt/,
      /description/,
      /surprise/,
      /external-group-role-mapping list/,
    ]) {
      expect(text).toMatch(part);
    }
    expect((await fetch(`${rig.adminUrl}/way-out.md?client=nobody-of-this-name`)).status).toBe(404);
  });
});

describe("a restart", () => {
  it("loses nothing where clients.file says where to keep it", async () => {
    const dir = mkdtempSync(join(tmpdir(), "ledger-e2e-"));
    later(async () => rmSync(dir, { recursive: true, force: true }));
    const flags = { clientsFile: join(dir, "ledger.json") };
    const rig = await cutover({ flags });
    const { emptyGroup } = rig.sandbox.wellKnown;
    await rig.ask("GET", "/iam/v1/groups", as("lister"));
    await rig.ask("PUT", `/iam/v1/groups/${emptyGroup}`, { ...as("replacer"), body: { name: "x", surprise: 1 } });
    for (let at = 0; at < 5; at++) await rig.ask("GET", "/iam/v1/roles?name=viewer", as("renamer"));
    const before = await clients(rig);
    await rig.close();
    const again = await rig.replica();
    expect(await clients(again)).toEqual(before);
    await again.ask("GET", "/iam/v1/roles?name=viewer", as("renamer"));
    await again.close();
    const third = await rig.replica();
    const [first] = await clients(third);
    expect([first?.name, first?.requests]).toEqual(["renamer", { v1: 6, v2: 0 }]);
    expect((await third.view("/clients")).requests).toEqual({ v1: 8, v2: 0 });
  });
});

describe("many clients", () => {
  const MANY = Number(process.env["E2E_CLIENTS"] ?? "10000");

  it(`${MANY} distinct ones, with as many paths and tokens, leave metrics and ledger as small as they are`, async () => {
    const rig = await knowing({
      clientsIdentify: "claim:sub",
      clientsMax: "500",
      clientsMetricSeries: "50",
      logLevel: "silent",
    });
    const series = async () =>
      (await rig.text("/metrics")).split("\n").filter((line) => /^carryover_(?!nodejs)/.test(line)).length;
    const many = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => ({
        method: "GET",
        path: `/iam/v1/groups/g${from + at}`,
        headers: { authorization: jwt({ sub: `client-${from + at}` }) },
      }));
    const loyal = () =>
      crowd(
        rig.url,
        Array.from({ length: 100 }, () => ({
          ...many(0, 1)[0],
          method: "GET",
          path: GROUP,
          headers: { authorization: jwt({ sub: "loyal" }) },
        })),
      );
    await loyal();
    await crowd(rig.url, many(0, 1000));
    const before = await series();
    for (let from = 1000; from < MANY; from += 10_000) await crowd(rig.url, many(from, Math.min(10_000, MANY - from)));
    await loyal();
    const after = await series();
    const { clients: kept, bound, requests } = await rig.view("/clients");
    console.log(
      `metric series: ${before} after 1000 clients, ${after} after ${MANY}; ${kept.length} clients kept, bound ${bound}`,
    );
    expect(after - before).toBeLessThanOrEqual(10);
    expect(kept.length).toBeLessThanOrEqual(500);
    expect(requests).toEqual({ v1: MANY + 200, v2: 0 });
    // Space-Saving: no count is off by more than all requests divided by the places.
    expect(bound).toBeLessThanOrEqual((MANY + 200) / 500);
    const one = kept.find(({ name }: ClientEntry) => name === "loyal");
    expect(one.requests.v1 - one.over).toBeLessThanOrEqual(200);
    expect(one.requests.v1).toBeGreaterThanOrEqual(200);
    expect((await rig.text("/metrics")).match(/^carryover_client_requests_total\{/gm)?.length).toBeLessThanOrEqual(
      2 * 51,
    );
    expect(await rig.text("/metrics")).not.toMatch(/client-\d|g\d\d\d/);
  }, 600_000);
});
