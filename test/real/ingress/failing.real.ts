import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { ask } from "./ask.ts";
import { PROGRAMS } from "./programs.ts";
import { startProxy } from "./proxy.ts";
import { serve, startHangUp, startStandIn } from "./standin.ts";

takeDownAfterEach();

const WRITES = ["POST", "PUT", "PATCH", "DELETE"];

describe.each(PROGRAMS)("$title", (program) => {
  it("sends no write twice when the other side hangs up, on a fresh connection or a used one", async () => {
    const upstream = await startHangUp();
    const { url } = await startProxy(program, { carryoverUrl: upstream.url, platformUrl: upstream.url });
    for (const version of ["v1", "v2beta1"]) {
      for (const method of WRITES) {
        for (const headers of [[], ["Idempotency-Key", "a"]]) {
          upstream.arrived.length = 0;
          const target = `/iam/${version}/groups/a`;
          const sent = { method, target, headers, ...(method === "DELETE" ? {} : { body: "{}" }) };
          expect((await ask(url, sent)).status).toBeGreaterThanOrEqual(500);
          expect([method, headers, upstream.arrived.length]).toEqual([method, headers, 1]);
          expect((await ask(url, { target: `${target}/warm` })).status).toBe(200);
          expect((await ask(url, sent)).status).toBeGreaterThanOrEqual(500);
          expect([method, headers, upstream.arrived.length]).toEqual([method, headers, 2]);
        }
      }
    }
  });

  it(`${program.repeatsReads ? "sends a read again when a used connection is closed" : "sends no read twice"}`, async () => {
    const upstream = await startHangUp();
    const { url } = await startProxy(program, { carryoverUrl: upstream.url, platformUrl: upstream.url });
    const target = "/iam/v1/groups/a";
    await ask(url, { target: `${target}/warm` });
    expect((await ask(url, { target })).status).toBeGreaterThanOrEqual(500);
    // It tries every used connection that it holds, and then a fresh one.
    if (program.repeatsReads) expect(upstream.arrived.length).toBeGreaterThan(1);
    else expect(upstream.arrived.length).toBe(1);
  });

  it("answers for a carryover that is not there, and serves v2 meanwhile", async () => {
    const platform = await startStandIn("platform");
    const { url } = await startProxy(program, { carryoverUrl: "http://127.0.0.1:1", platformUrl: platform.url });
    expect([502, 503]).toContain((await ask(url, { target: "/iam/v1/groups" })).status);
    expect((await ask(url, { target: "/iam/v2beta1/groups" })).status).toBe(200);
  });
});

describe.each(PROGRAMS.filter(({ checksHealth }) => checksHealth))("$title", (program) => {
  it("sends nothing to a carryover whose admin port is not ready, and comes back when it is", async () => {
    let ready = true;
    const asked: (string | undefined)[] = [];
    const adminUrl = await serve((request, response) => {
      asked.push(request.url);
      response.statusCode = ready ? 200 : 503;
      response.end();
    });
    const carryover = await startStandIn("carryover");
    const platform = await startStandIn("platform");
    const behind = { carryoverUrl: carryover.url, adminUrl, platformUrl: platform.url };
    const { url } = await startProxy(program, behind);
    const until = async (status: number) => {
      while ((await ask(url, { target: "/iam/v1/groups" })).status !== status) await wait(50);
    };
    await until(200);
    ready = false;
    await until(503);
    const before = carryover.arrived.length;
    for (let i = 0; i < 10; i++) expect((await ask(url, { target: "/iam/v1/groups" })).status).toBe(503);
    expect([carryover.arrived.length, platform.arrived.length]).toEqual([before, 0]);
    ready = true;
    await until(200);
    expect(new Set(asked)).toEqual(new Set(["/readyz"]));
  });
});
