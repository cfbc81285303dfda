/** Who still calls v1 and how each gets away, of a running carryover. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ClientEntry } from "../../../src/ledger/entry.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { type CutoverRig, cutover, type Front, folder, platform } from "./rig.ts";

takeDownAfterEach();

type Shown = ClientEntry & { readonly difficulty: string; readonly why: string };

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
/** A token with these claims and no valid signature. */
const jwt = (claims: object) => `Bearer ${base64({ alg: "none" })}.${base64(claims)}.sig`;

/** A carryover before a platform that answers everything, whose clients are known as `flags` say. */
async function knowing(flags: Readonly<Record<string, string>>, rules?: string): Promise<CutoverRig> {
  const { url } = await platform((request, response) => {
    if (request.headers.authorization === "Bearer refused") return response.writeHead(401).end("{}");
    response.setHeader("content-type", "application/json");
    response.end(request.url?.includes("/v2beta1/") ? '{"uid":"a","name":"x"}' : '{"id":"a","name":"x"}');
  });
  return cutover({
    v1Url: url,
    v2Url: url,
    sandbox: { organisation: false },
    flags,
    ...(rules === undefined ? {} : { rules }),
  });
}

const get = (front: Front, headers: Readonly<Record<string, string>>) =>
  front.ask("GET", "/iam/v1/groups/a", { as: null, headers });
const clients = async (front: Front): Promise<Shown[]> => (await front.view("/clients")).clients;
const names = async (front: Front) => (await clients(front)).map(({ name }) => name).toSorted();

describe("a client is known", () => {
  it("by the means that the operator names, the first that says something, under the operator's name", async () => {
    const rig = await knowing(
      {
        clientsIdentify: "header:X-Team,claim:iss+sub,user-agent",
        clientsNames: "ci-bot=https://idp.example.com ci",
        clientsExclude: "kube-probe,scan*",
      },
      "version: carryover/v1\nrules: [{ name: one, match: { client: ci-bot }, mode: native }]\n",
    );
    await get(rig, { "x-team": "payments", "user-agent": "curl/8" });
    const known = await get(rig, { authorization: jwt({ iss: "https://idp.example.com", sub: "ci" }) });
    expect(known.field("carryover-mode")).toBe("native");
    await get(rig, { authorization: jwt({ sub: "no issuer" }), "user-agent": "terraform/1.5.2 (+https://x) go/1.22" });
    await get(rig, { "user-agent": "terraform/1.6" });
    // Excluded, or not let in.
    await get(rig, { "user-agent": "kube-probe/1.30" });
    await get(rig, { "x-team": "scanner-7" });
    await get(rig, { "x-team": "stranger", authorization: "Bearer refused" });
    expect(await names(rig)).toEqual(["ci-bot", "payments", "terraform"]);
    expect((await clients(rig)).find(({ name }) => name === "terraform")?.requests).toEqual({ v1: 2, v2: 0 });
    expect((await rig.view("/clients")).requests).toEqual({ v1: 4, v2: 0 });
    expect(await rig.metric("carryover_client_requests_total", { client: "ci-bot", api_version: "v1" })).toBe(1);
    // All of them are still requests.
    expect(await rig.metric("carryover_requests_total", { api_version: "v1" })).toBe(7);
  });

  it("with its owner and its bucket, and a rule that names it otherwise is told so", async () => {
    const config = join(await folder(), "carryover.yaml");
    const named = '[{ name: ci-bot, identity: ci, owner: Build team, contact: "#build" }]';
    await writeFile(config, `clients: { identify: ["header:x-team"], names: ${named} }\n`);
    const rig = await knowing(
      { config },
      `version: carryover/v1
rules:
  - { name: few, match: { client: [raw:ann, ci-bot], percent: 0 }, mode: translate }
  - { name: rest, match: {}, mode: native }
`,
    );
    for (const team of ["ann", "ci", "ci-bot"]) await get(rig, { "x-team": team });
    const [view, few] = [await rig.view("/clients?client=ci-bot"), await rig.view("/clients?rule=few")];
    expect(view.clients).toMatchObject([{ name: "ci-bot", owner: "Build team", contact: "#build" }]);
    expect(view.clients[0].bucket).toBeLessThan(100);
    expect(few.rule).toEqual({ name: "few", doing: "translate", taken: 0 });
    const { missedNames } = await rig.view("/rules");
    expect(missedNames.map((one: { client: string; ledger: string }) => [one.client, one.ledger])).toEqual([
      ["raw:ann", "ann"],
      ["ci-bot", "raw:ci-bot"],
    ]);
    expect(rig.lines.join("")).toContain('write client: \\"ann\\"');
    expect(await rig.text("/way-out.md?client=ci-bot")).toContain("Owner: `Build team (#build)`");
  });

  it("hashed where the operator asks: the identity itself is nowhere, names stay, and replicas agree", async () => {
    const rig = await knowing({
      clientsIdentify: "claim:sub",
      clientsHash: "true",
      clientsNames: "ci-bot=ci@example.com",
      cutoverSalt: "pepper",
    });
    const private_ = { authorization: jwt({ sub: "private@example.com" }) };
    await get(rig, private_);
    await get(rig, { authorization: jwt({ sub: "ci@example.com" }) });
    const found = await names(rig);
    expect(found).toEqual(["ci-bot", expect.stringMatching(/^h-/)]);
    for (const path of ["/clients", "/clients.txt", "/progress", "/metrics", "/rules", "/samples"]) {
      expect(await rig.text(path)).not.toContain("private@");
    }
    expect(rig.lines.join("")).not.toContain("private@");
    const [replica, other] = [await rig.replica(), await rig.replica({ cutoverSalt: "salt" })];
    for (const front of [replica, other]) await get(front, private_);
    expect(found).toEqual(expect.arrayContaining(await names(replica)));
    expect(found).not.toEqual(expect.arrayContaining(await names(other)));
  });
});
