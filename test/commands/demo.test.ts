import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import type { CommandIo } from "../../src/commands/command.ts";
import { showCutover } from "../../src/commands/demo/cutover.ts";
import { carryover, paste } from "../end-to-end/app/process.ts";
import { takeDownAfterEach } from "../end-to-end/app/rig.ts";
import { grpcJs, readDescriptors } from "../grpc/clients/clients.ts";

takeDownAfterEach();

const ROOT = resolve(import.meta.dirname, "../..");
const UNTOLD = /THIS DID NOT HAPPEN/;
const NO_PROCESS: Omit<CommandIo, "print" | "fetch"> = {
  env: {},
  readFile: () => new Uint8Array(),
  readStdin: () => new Uint8Array(),
  writeFile: () => {},
  isTerminal: false,
  warn: () => {},
  onStop: () => {},
  onReload: () => {},
  onExit: () => {},
};

/** The part of the tour about one call. */
function chapter(tour: string, title: RegExp): string {
  const found = tour.split(/^== /m).find((part) => title.test(part.split("\n")[0] ?? ""));
  if (found === undefined) throw new Error(`the tour has no chapter ${title}`);
  return found;
}

describe("the tour", () => {
  it("shows each v1 request, the v2 calls behind it and the response, then a cutover with its rollback, and ends well", async () => {
    const run = carryover(["demo", "--tour"]);
    expect(await run.ended).toEqual({ code: 0, signal: null });
    expect(run.err()).toBe("");
    const tour = run.out();
    const list = chapter(tour, /v1 list/);
    expect(list).toMatch(/\$ curl .*\/iam\/v1\/groups'/);
    expect(list).toMatch(/calls that reached the platform: 6\n +GET \/iam\/v2beta1\/groups\?page_size=200 -> 200/);
    expect(list).toMatch(/response: 200, .*witness=\w+; pages=6; records=10\d\d\n +\{"items":\[\{"id":"/);
    const get = chapter(tour, /v1 get/);
    expect(get).toMatch(/platform: 1\n +GET \/iam\/v2beta1\/groups\/[\w/]+ -> 200\n +response: 200\n +\{"id":/);
    const put = chapter(tour, /v1 PUT/);
    expect(put).toMatch(/curl -s -X PUT .* -d '\{"name":"renamed by the tour"\}'/);
    expect(put).toMatch(/platform: 1\n +PATCH \/iam\/v2beta1\/groups\/[\w/]+\?updateMask=name,description -> 200/);
    expect(put).toMatch(/response: 200\n.*"name":"renamed by the tour","description":""/);
    expect(chapter(tour, /native v1/)).toMatch(/GET \/iam\/v1\/groups.*"name":"renamed by the tour","description":""/s);
    expect(chapter(tour, /passes through/)).toMatch(
      /GET \/iam\/v2beta1\/groups\?page_size=1 -> 200.*\{"groups":\[\{"uid":/s,
    );
    expect(chapter(tour, /operator/)).toMatch(
      /carryover_requests_total\{api_version="v1",resource="group",operation="update",mode="translate",code="200"\} 1/,
    );
    expect(tour.match(/response: (?!200)\d+/)).toBeNull();

    const shadow = chapter(tour, /begins in shadow/);
    expect(shadow).toMatch(/\$ npx carryover serve .*--cutover-mode native --cutover-rules-file rules\.yaml/);
    expect(shadow).toMatch(/HTTP\/1\.1 200 OK\n +carryover-mode: shadow\n/);
    const difference = chapter(tour, /finds a difference/);
    expect(difference).toMatch(/"path":"items\[\]\.createdAt"\n.*\n +"set":"v1\.recordTimes: published"\n/);
    expect(difference).toMatch(/\$ npx carryover gate role-reads http.*\n +role-reads: no, .*exit code 1\n/s);
    const proved = chapter(tour, /responses are equal/);
    expect(proved).toMatch(/\$ npx carryover serve .*--v1-record-times published/);
    expect(proved).toMatch(/role-reads: yes, .* 0 of (?:18[3-9]|19\d|[2-6]\d\d) comparisons differed.*exit code 0\n/s);
    expect(chapter(tour, /rule translates/)).toMatch(/HTTP\/1\.1 200 OK\n +carryover-mode: translate\n/);
    const back = chapter(tour, /v2 breaks/);
    expect(back).toMatch(/HTTP\/1\.1 502 .*\n +carryover-mode: translate\n.*"reason":"DRAIN_INCOMPLETE"/);
    expect(back).toMatch(
      /"rule":"role-reads","from":"forward","to":"back","reason":"\d+ of 2\d translated requests failed/,
    );
    expect(back).toMatch(/stepped-back"\}\n +\$ curl .*\n +HTTP\/1\.1 200 OK\n +carryover-mode: shadow\n/);
    const visible = chapter(tour, /operator's screen/);
    expect(visible).toMatch(
      /\d+ % of v1 requests translated in the last 24 h.*next: find out why role-reads stepped back/s,
    );
    expect(visible).toMatch(/client ci-bot: \d+ requests failed because of translation \(role list\)/);
    expect(visible).toMatch(/carryover_rule_step_backs\{rule="role-reads"\} 1\n/);
    expect(chapter(tour, /must change/)).toMatch(/Way out of v1 for `ci-bot`.*`GET \/iam\/v2beta1\/roles`/s);
    expect(chapter(tour, /one page for a browser/)).toMatch(
      /\$ xdg-open http\S+\/\n +\d+ % of v1 requests translated .*\n +0 of 3 clients moved.*\n +[\d,]+ v1 requests .*\n +Role-reads? stepped back/i,
    );
    expect(tour).not.toMatch(UNTOLD);

    expect(tour).toMatch(/serve --upstream-v2-url/);
    const next = tour.slice(tour.indexOf("Read next")).match(/docs\/\S+\.md/g) ?? [];
    expect(next.filter((page) => !existsSync(join(ROOT, page)))).toEqual([]);
    expect(next.length).toBeGreaterThan(2);
  });

  it("fails, and says so at each scene that does not happen", async () => {
    const printed: string[] = [];
    const isTold = await showCutover({
      ...NO_PROCESS,
      print: (text) => printed.push(text),
      fetch: () => Promise.resolve(new Response("{}", { status: 404 })),
    });
    expect(isTold).toBe(false);
    expect(printed.filter((scene) => !UNTOLD.test(scene))).toEqual([]);
    expect(printed).toHaveLength(8);
  });
});

describe("the demo", () => {
  const onFreePorts = ["demo", "--listen-port", "0", "--admin-port", "0", "--sandbox-port", "0"];

  it("prints addresses that answer and calls that work when pasted, and stops on Ctrl-C", async () => {
    const run = carryover(onFreePorts);
    const text = await run.until(/Ctrl-C stops both/);
    const address = (name: string) =>
      new RegExp(`^ +${name} +(http://127\\.0\\.0\\.1:\\d+) `, "m").exec(text)?.[1] ?? "";
    expect((await fetch(`${address("admin")}/readyz`)).status).toBe(200);
    expect((await fetch(`${address("platform")}/iam/v2beta1/groups`)).status).toBe(401);
    const token = /^TOKEN=(\S+)$/m.exec(text)?.[1] ?? "";
    expect(token).not.toBe("");
    const lines = text.split("\n").filter((line) => line.startsWith("curl "));
    const outputs: string[] = [];
    for (const line of lines) outputs.push(await paste(line, token));
    const [list = "", get = "", put = "", native = "", v2 = "", metrics = ""] = outputs;
    expect(lines).toHaveLength(6);
    // Its beginning, with the header fields: how much of it there is stands in one of them.
    expect(Number(/^carryover-list: witness=cover; pages=\d+; records=(\d+)\r?$/m.exec(list)?.[1])).toBeGreaterThan(
      1000,
    );
    expect(list).toMatch(/\{"items":\[\{"id":"/);
    expect(JSON.parse(get)).toMatchObject({ id: expect.any(String), description: expect.stringMatching(/./) });
    expect(JSON.parse(put)).toMatchObject({ id: JSON.parse(get).id, name: "renamed by the tour", description: "" });
    expect(JSON.parse(native).items).toMatchObject([JSON.parse(put)]);
    expect(JSON.parse(v2)).toMatchObject({ groups: [{ uid: expect.any(String) }], nextPageToken: expect.any(String) });
    expect(metrics.split("\n").filter((line) => line.startsWith("carryover_requests_total{"))).not.toEqual([]);
    const status = text.split("\n").find((line) => line.startsWith("npx carryover status ")) ?? "";
    expect(await paste(`cd ${ROOT} && ${status}`, token)).toMatch(
      /^\d+ % of v1 requests translated in the last 24 h[^;]*;\s\d of \d clients? moved/,
    );
    // The past of the page is made up, and is in no other view.
    const page = /^The page of the demo: open (\S+) in a browser$/m.exec(text.split("\n")[0] ?? "")?.[1] ?? "";
    const html = await (await fetch(page, { headers: { accept: "text/html" } })).text();
    expect(html).toMatch(/demo, its past is made up.*rehearsal of the way back \(made up\)/s);
    for (const view of ["metrics", "progress", "clients", "events"]) {
      expect([view, await (await fetch(`${address("admin")}/${view}`)).text()]).toEqual([
        view,
        expect.not.stringMatching(/billing|made.up/),
      ]);
    }
    const method = /^grpcurl .*\.(iam\.\w+\/\w+)$/m.exec(text)?.[1] ?? "";
    const grpc = grpcJs(address("gRPC"), readDescriptors(seededSandbox().descriptors()));
    const listed = await grpc.call({ rpc: method, request: { name: "viewer" }, token });
    expect(listed.response).toMatchObject({ items: [{ name: "viewer" }] });
    await grpc.close();
    run.stop("SIGINT");
    expect(await run.ended).toEqual({ code: 0, signal: null });
    await expect(fetch(`${address("carryover")}/iam/v1/groups`)).rejects.toThrow();
  });
});
