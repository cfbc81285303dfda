import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox } from "../../../sandbox/src/sandbox.ts";
import { createAdminServer } from "../../../src/admin/server.ts";
import type { ClientResponse } from "../../../src/model/http.ts";
import type { PassThroughObserver, Plan } from "../../../src/model/request.ts";
import { takeDownAfterEach as takeDownProcesses } from "../../end-to-end/app/rig.ts";
import { ask, request, talk } from "../../server/support/client.ts";
import { later, pass, rig, takeDownAfterEach } from "../../server/support/rig.ts";
import { figure } from "../../support/figures.ts";
import { once, serve } from "../lod/serving.ts";

takeDownAfterEach();
takeDownProcesses();

const boom = (): never => {
  throw new Error("boom");
};
const rejects = () => Promise.reject(new Error("boom"));
const answering = (respond: () => Promise<ClientResponse>): Plan => ({ kind: "answer", respond });
const body = (next: () => Promise<IteratorResult<Uint8Array>>): ClientResponse => ({
  status: 200,
  headers: [],
  body: { [Symbol.asyncIterator]: () => ({ next }) },
});
const watch = (wrong: keyof PassThroughObserver): Plan => ({
  ...(pass("/x") as Extract<Plan, { kind: "pass" }>),
  watch: { sent: () => {}, head: () => {}, data: () => {}, over: () => {}, [wrong]: boom },
});

type Options = Parameters<typeof rig>[0];

/** Every place where the listener calls what others wrote: what it is, how it fails, and the status of that request. */
const SEAMS: readonly (readonly [where: string, options: Options, status: number])[] = [
  ["the decision", { decide: boom }, 500],
  ["the plan, at once", { decide: () => ({ kind: "answer", respond: boom }) }, 500],
  ["the plan, later", { decide: () => answering(rejects) }, 500],
  ["the body, before its first piece", { decide: () => answering(async () => body(rejects)) }, 500],
  [
    "an unheard-of status",
    { decide: () => answering(async () => ({ status: 1e6, headers: [], body: Buffer.from("") })) },
    500,
  ],
  [
    "a header with a line end",
    { decide: () => answering(async () => ({ status: 200, headers: [["x", "a\r\nb"]], body: Buffer.from("") })) },
    500,
  ],
  ["the id of a request", { newRequestId: boom }, 500],
  ["the observer of a request that is over", { observe: boom }, 200],
  ["an upstream, at once", { upstreams: { v2: boom } }, 500],
  ["an upstream that is not there", { upstreams: {} }, 500],
  ["a watch, when something is sent", { decide: () => watch("sent") }, 200],
  ["a watch, at the head", { decide: () => watch("head") }, 200],
  ["a watch, at data", { decide: () => watch("data") }, 200],
  ["a watch, at the end", { decide: () => watch("over") }, 200],
];

describe("T-FLT-19: an error that is thrown in", () => {
  const uncaught: unknown[] = [];
  const hear = (error: unknown) => uncaught.push(error);
  beforeAll(() => void process.on("uncaughtExceptionMonitor", hear));
  afterAll(() => void process.off("uncaughtExceptionMonitor", hear));

  it.each(SEAMS)("%s ends that request alone", async (_, options, status) => {
    const told: string[] = [];
    let on = true;
    // Broken for the first request, well for the second.
    const broken = { ...options };
    const well = { decide: () => pass("/x"), newRequestId: () => "id", observe: () => {} };
    const switched = Object.fromEntries(
      Object.entries(well).map(([name, good]) => {
        const bad = broken[name as keyof typeof well] as ((...all: never[]) => unknown) | undefined;
        return [
          name,
          (...all: never[]) => (on && bad !== undefined ? bad(...all) : (good as (...all: never[]) => unknown)(...all)),
        ];
      }),
    );
    const { port, listener } = await rig({
      ...(options?.upstreams === undefined ? {} : { upstreams: options.upstreams }),
      ...switched,
      log: (message) => told.push(message),
    });
    const first = await ask(port, "POST /x", "Content-Length: 3\r\n", "abc");
    expect(first.status).toBe(status);
    expect(first.body).not.toContain("boom");
    if (status === 500) expect(first.json().details[0]?.reason).toBe("INTERNAL");
    on = false;
    if (options?.upstreams === undefined) expect((await ask(port, "GET /x")).status).toBe(200);
    else expect((await ask(port, "GET /x")).status).toBe(500);
    expect(listener.inFlight()).toBe(0);
    expect(uncaught).toEqual([]);
  });

  it("the body, in the middle, cuts that answer visibly", async () => {
    const pieces = [{ done: false as const, value: Buffer.from("begun".repeat(1_000)) }];
    const { port } = await rig({
      decide: () => answering(async () => body(async () => pieces.shift() ?? (await setTimeout(20).then(rejects)))),
    });
    const text = await talk(port, request("GET /x"));
    expect(text).toContain("begun");
    expect(text).not.toContain("\r\n0\r\n");
    expect((await ask(port, "GET /x")).status).toBe(500);
    expect(uncaught).toEqual([]);
  });

  it.each(["metrics", "ready", "view", "text"])("the admin port's %s ends that request alone", async (where) => {
    const bad = (name: string, good: () => unknown) => (where === name ? boom : good);
    const admin = createAdminServer({
      host: "127.0.0.1",
      port: 0,
      metrics: { contentType: "text/plain", text: where === "metrics" ? rejects : async () => "" },
      ready: bad("ready", () => true) as () => boolean,
      views: new Map([["view", bad("view", () => 1)]]),
      texts: new Map([["text", bad("text", () => "") as () => string]]),
    });
    const { url } = await admin.listen();
    later(admin.close);
    const path = { metrics: "/metrics", ready: "/readyz", view: "/view", text: "/text" }[where];
    const answer = await fetch(`${url}${path}`);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain("boom");
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(uncaught).toEqual([]);
  });

  it("counts its places", () => {
    figure("T-FLT-19", "places in which an error was thrown and ended one request alone", SEAMS.length + 5, "places");
  });
});

/** Throws where nothing can catch it, three times, when /boom is requested. */
const UNCAUGHT = `
import { subscribe } from "node:diagnostics_channel";
subscribe("http.server.request.start", ({ request }) => {
  if (!request.url.includes("/boom")) return;
  setTimeout(() => { throw new Error("boom with Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"); }, 1);
  setTimeout(() => { Promise.reject(new Error("rejected")); }, 50);
  setTimeout(() => { throw new Error("boom again"); }, 100);
});
`;

describe("an error that nobody catches", () => {
  it("T-FLT-19: is logged, makes the process unready, and ends it with 1 once what is in flight is finished", async () => {
    const sandbox = createSandbox({ latencyMs: 300, size: 600 });
    later(sandbox.close);
    const { url: platform } = await sandbox.listen();
    const { run, url, adminUrl } = await serve(
      { upstreamV2Url: platform, listenShutdownDelaySeconds: "1s" },
      { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(UNCAUGHT)}` },
    );
    const headers = { authorization: `Bearer ${sandbox.token("admin")}` };
    const list = once(url, { method: "GET", path: "/iam/v1/groups", headers, fault: () => undefined });
    await once(url, { method: "GET", path: "/boom", fault: () => undefined });
    let ready = 200;
    while (ready === 200) ready = (await fetch(`${adminUrl}/readyz`)).status;
    expect(ready).toBe(503);
    const whole = await list;
    expect([whole.status, JSON.parse(whole.body).items.length]).toEqual([200, sandbox.snapshot().groups.length]);
    expect(await run.ended).toEqual({ code: 1, signal: null });
    const errors = run
      .out()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter(({ level }) => level === "error");
    expect(errors.map(({ cause }) => cause.replace(/boom with.*/, "boom with"))).toEqual([
      expect.stringContaining("boom with"),
      expect.stringContaining("rejected"),
      expect.stringContaining("boom again"),
    ]);
    expect(run.out() + run.err()).not.toContain("eyJzdWIi");
  });
});
