/** What becomes of requests in flight when carryover is told to stop? */
import { request as httpRequest } from "node:http";
import { describe, expect, it } from "vitest";
import type { SendLayer } from "../../src/model/message.ts";
import { createSandbox } from "../../src/sandbox/sandbox.ts";
import { carryover } from "./process.ts";
import { later, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

/** A page of a list behind the first one. */
const isFurtherPage = (target: string): boolean => /[?&](?:page_token|skip)=/.test(target);

/** A platform that holds back its answers until it is told to go on. */
function gate(holds: (target: string) => boolean) {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const waiting: string[] = [];
  const looks = new Set<() => void>();
  const layer: SendLayer = (next) => async (request, options) => {
    if (holds(request.target)) {
      waiting.push(request.target);
      for (const look of [...looks]) look();
      await opened;
    }
    return next(request, options);
  };
  return {
    layer,
    open,
    /** Resolves when `count` calls are held back. */
    holding: (count: number) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (waiting.length >= count) resolve();
        };
        looks.add(look);
        look();
      }),
  };
}

interface Reply {
  readonly status: number;
  readonly connection: string | undefined;
  readonly text: string;
}

function call(url: string, method: string, token: string, body?: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, {
      method,
      agent: false,
      headers: { authorization: `Bearer ${token}`, connection: "keep-alive" },
    });
    request.on("error", reject);
    request.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, connection: response.headers.connection, text }),
      );
    });
    request.end(body);
  });
}

describe("a process that is told to stop", () => {
  it("by SIGTERM finishes what is in flight, is unready at once, and ends with 0", async () => {
    const held = gate((target) => isFurtherPage(target) || !target.includes("/groups?"));
    const sandbox = createSandbox({ faults: held.layer });
    later(sandbox.close);
    const { url: platform } = await sandbox.listen();
    const run = carryover([
      "serve",
      "--listen-host",
      "127.0.0.1",
      "--listen-port",
      "0",
      "--admin-port",
      "0",
      "--listen-drain-seconds",
      "0",
      "--upstream-v2-url",
      platform,
    ]);
    const text = await run.until(/resources\n/);
    const [, clients = "", admin = ""] = /v1 clients at (\S+), .* admin at (\S+),/.exec(text) ?? [];
    const token = sandbox.token("admin");
    const { someGroup, emptyGroup } = sandbox.wellKnown;
    const calls = [
      call(`${clients}/iam/v1/groups`, "GET", token),
      call(`${clients}/iam/v1/groups/${someGroup}`, "PUT", token, '{"name":"in flight"}'),
      call(`${clients}/iam/v1/groups/${emptyGroup}`, "DELETE", token),
      call(`${clients}/iam/v2beta1/groups/${someGroup}`, "GET", token),
    ];
    await held.holding(4);
    run.stop("SIGTERM");
    // Readiness follows the signal, whatever is still under way: the wait is for the signal to arrive.
    let ready = 200;
    while (ready === 200) ready = (await fetch(`${admin}/readyz`)).status;
    expect(ready).toBe(503);
    expect((await fetch(`${admin}/healthz`)).status).toBe(200);
    await expect(call(`${clients}/iam/v1/groups`, "GET", token)).rejects.toThrow(/ECONNREFUSED/);
    held.open();
    const [list, put, deleted, passed] = await Promise.all(calls);
    // The deleted group may be there or not; every other one is there, once.
    const ids: string[] = JSON.parse(list?.text ?? "").items.map((item: { id: string }) => item.id);
    const kept = sandbox.snapshot().groups.map((group) => group["uid"]);
    expect(ids.filter((id) => id !== emptyGroup).toSorted()).toEqual(kept.toSorted());
    expect([list?.status, put?.status, deleted?.status, passed?.status]).toEqual([200, 200, 200, 200]);
    expect([list, put, deleted, passed].map((reply) => reply?.connection)).toEqual(Array(4).fill("close"));
    expect(await run.ended).toEqual({ code: 0, signal: null });
    expect(sandbox.snapshot().groups.find((group) => group["uid"] === someGroup)).toMatchObject({
      name: "in flight",
    });
    expect(sandbox.snapshot().groups.some((group) => group["uid"] === emptyGroup)).toBe(false);
    const lines = run
      .out()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ operation, status }) => `${operation} ${status}`).toSorted()).toEqual([
      "delete 200",
      "list 200",
      "unknown 200",
      "update 200",
    ]);
  });
});

describe("a log that nobody reads", () => {
  it("T-FLT-23: holds up no request, and is written out before the process ends", async () => {
    const run = carryover([
      ...["serve", "--listen-host", "127.0.0.1", "--listen-port", "0", "--admin-port", "0"],
      ...["--listen-drain-seconds", "0", "--upstream-v2-url", "http://127.0.0.1:9"],
    ]);
    const url = / v1 clients at (\S+),/.exec(await run.until(/resources\n/))?.[1] ?? "";
    run.listen(false);
    const count = 300;
    for (let made = 0; made < count; made += 50) {
      const calls = Array.from({ length: 50 }, () => fetch(`${url}/nowhere`));
      expect((await Promise.all(calls)).every(({ status }) => status === 404)).toBe(true);
    }
    run.stop("SIGTERM");
    run.listen(true);
    expect(await run.ended).toEqual({ code: 0, signal: null });
    expect(run.out().trimEnd().split("\n")).toHaveLength(count);
  });
});

/** Ends the process at once when the second request has its answer: there is no time to close anything. */
const SUDDEN = `
import { subscribe } from "node:diagnostics_channel";
let answers = 0;
subscribe("http.server.response.finish", () => {
  if (++answers === 2) setTimeout(() => process.exit(3), 1);
});
`;

describe("a process that ends at once", () => {
  it("still writes the lines of requests that were over", async () => {
    const run = carryover(
      [
        ...["serve", "--listen-host", "127.0.0.1", "--listen-port", "0", "--admin-port", "0"],
        ...["--upstream-v2-url", "http://127.0.0.1:9"],
      ],
      { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(SUDDEN)}` },
    );
    const url = / v1 clients at (\S+),/.exec(await run.until(/resources\n/))?.[1] ?? "";
    for (const path of ["first", "last"]) expect((await fetch(`${url}/${path}`)).status).toBe(404);
    expect((await run.ended).code).toBe(3);
    const paths = run
      .out()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).path);
    expect(paths).toEqual(["/first", "/last"]);
  });
});
