import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dial } from "../../server/support/client.ts";
import { ok } from "../../server/support/double.ts";
import { later, takeDownAfterEach } from "../../support/take-down.ts";
import { createStage, leave, type Stage } from "./support.ts";

takeDownAfterEach();

async function stageOf(flags: Readonly<Record<string, string>> = {}): Promise<Stage> {
  const stage = await createStage(flags);
  later(stage.close);
  return stage;
}

const GROUPS = "/iam/v1/groups";
const PAGE = 200;

/** The rank that `line` asks for. */
function rankOf(line: string): number {
  return Number(/skip=(\d+)/.exec(line)?.[1] ?? 0) + Number(/page_token=t(\d+)/.exec(line)?.[1] ?? 0);
}

/** A page of a list of `total`, from the rank that `line` asks for. */
function page(line: string, total: number): string {
  const from = rankOf(line);
  const groups = Array.from({ length: Math.min(PAGE, total - from) }, (_, i) => ({
    uid: `${from + i}`.padStart(40, "0"),
    name: "a",
  }));
  const nextPageToken = from + groups.length < total ? `t${from + groups.length}` : "";
  return ok(JSON.stringify({ groups, nextPageToken, totalCount: `${total}`, skipped: from }));
}

async function held(stage: Stage, target: string) {
  const client = await dial(Number(new URL(stage.url).port));
  client.send(`GET ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer abc\r\n\r\n`);
  await stage.double.until(() => stage.double.requests.length > 0);
  return client;
}

/** For a connection: test/upstream/client.test.ts, test/server/faults.test.ts. */
describe("cancel: a client that leaves while its request waits", () => {
  it("for a place among the lists: it gives its place in the line up, and the place goes to the next", async () => {
    const stage = await stageOf({ listsMaxConcurrent: "1" });
    // The first page comes, and then the list has its place; the rest of it never does.
    stage.answer(({ line }) => (line.includes("skip=") ? undefined : { bytes: page(line, 2_000) }));
    const first = await held(stage, GROUPS);
    await stage.double.until(() => stage.double.requests.length > 1);
    const calls = stage.double.requests.length;
    await leave(stage, { method: "GET", target: GROUPS, after: 0, hold: () => stage.double.requests.length > calls });
    expect(await stage.metrics()).toMatch(/^carryover_lists_waiting 0$/m);
    first.leave();
    await stage.double.until(() => stage.open() === 0);
    expect(await stage.metrics()).toMatch(/^carryover_lists_in_progress 0$/m);
    stage.answer(({ line }) => ({ bytes: page(line, 600) }));
    const next = await dial(Number(new URL(stage.url).port));
    next.send(`GET ${GROUPS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer abc\r\n\r\n`);
    await next.until((text) => text.includes("200 OK"));
    next.leave();
  });
});

describe("cancel: a client that leaves a request in shadow", () => {
  it("before native has answered takes native's call with it, and nothing is compared", async () => {
    const folder = await mkdtemp(join(tmpdir(), "carryover-cancel-"));
    later(() => rm(folder, { recursive: true }));
    const rules = join(folder, "rules.yaml");
    const shadow = "  - name: look\n    mode: shadow\n    match: {}\n    shadow: { sample: 1 }\n";
    await writeFile(rules, `version: carryover/v1\nrules:\n${shadow}`);
    const stage = await stageOf({ cutoverRulesFile: rules });
    for (const [method, body] of [["GET"], ["PUT", '{"name":"a"}']] as const) {
      stage.answer(() => undefined);
      await leave(stage, { method, target: `${GROUPS}/abc`, body, after: 1 });
      stage.answer(() => ({
        bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"id":"abc",',
        unfinished: true,
      }));
      await leave(stage, { method, target: `${GROUPS}/abc`, body, after: 1, got: '{"id"' });
    }
    expect(stage.double.requests.map(({ line }) => line.split(" ")[1])).toEqual(Array(4).fill(`${GROUPS}/abc`));
    expect(stage.exchanges.map(({ mode }) => mode)).toEqual(Array(4).fill("shadow"));
  });
});
