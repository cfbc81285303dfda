import { describe, expect, it } from "vitest";
import { later, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { dial, parse, talk } from "../../server/support/client.ts";
import { createDouble, ok } from "../../server/support/double.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { serve } from "../lod/serving.ts";

takeDownAfterEach();

it("T-FLT-21: without file descriptors new connections are refused, those that are there are served, and it passes", async () => {
  const platform = await createDouble(ok('"served"'));
  later(platform.close);
  const { run, url } = await serve({ upstreamV2Url: platform.url }, {}, 256);
  const port = Number(new URL(url).port);
  const GET = "GET /iam/v2beta1/groups HTTP/1.1\r\nHost: a\r\n\r\n";
  const kept = await dial(port);
  // With it goes the connection to the platform, which is kept as well.
  kept.send(GET);
  await kept.until((text) => text.includes('"served"'));
  const many = await Promise.all(Array.from({ length: 400 }, () => dial(port)));
  for (const client of many) client.send(GET);
  const texts = await Promise.all(
    many.map((client) => Promise.race([client.until((text) => text.includes("\r\n\r\n")), client.closed()])),
  );
  const served = texts.filter((text) => text.startsWith("HTTP/1.1 ")).length;
  expect(served).toBeGreaterThan(5);
  expect(served).toBeLessThan(400);
  expect(texts.filter((text) => text !== "" && !/^HTTP\/1\.1 (?:200|50[234]) /.test(text))).toEqual([]);
  kept.send(GET);
  await kept.until((text) => text.split("HTTP/1.1 ").length === 3);
  for (const client of many) client.leave();
  await Promise.all(many.map((client) => client.closed()));
  let after = "";
  for (let tries = 0; tries < 50 && !after.startsWith("HTTP/1.1 200"); tries++) {
    after = await talk(port, GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(after).toContain('"served"');
  run.stop("SIGINT");
  run.stop("SIGINT");
  figure("T-FLT-21", "connections beyond what the process had file descriptors for", 400 - served, "connections");
});

/** The wall clock jumps an hour forth and back, ten times a second. */
const JUMPING = `
const real = Date.now;
const Real = Date;
let off = 0;
setInterval(() => { off = off === 3600000 ? -3600000 : 3600000; }, 100).unref();
Date.now = () => real() + off;
`;

describe("T-FLT-22: a wall clock that jumps by an hour", () => {
  it("ends no request early and keeps none", async () => {
    const platform = await createDouble(({ line }, socket) => {
      if (!line.includes("/hangs")) socket.write(ok('"served"'));
    });
    later(platform.close);
    const { run, url } = await serve(
      {
        upstreamV2Url: platform.url,
        limitsRequestSeconds: "2s",
        listsMaxSeconds: "1s",
        listenShutdownDelaySeconds: "0",
      },
      { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(JUMPING)}` },
    );
    const port = Number(new URL(url).port);
    const hanging = await dial(port);
    const began = performance.now();
    hanging.send("GET /iam/v2beta1/hangs HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const kept = await dial(port);
    const count = scale(20, 200);
    for (let asked = 1; asked <= count; asked++) {
      kept.send("GET /iam/v2beta1/groups HTTP/1.1\r\nHost: a\r\n\r\n");
      await kept.until((text) => text.split('"served"').length === asked + 1);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const answer = parse(await hanging.closed());
    expect(answer.status).toBe(504);
    // Not at the first jump; when exactly is not for a busy machine to say.
    expect(performance.now() - began).toBeGreaterThan(1_900);
    run.stop("SIGTERM");
    expect(await run.ended).toEqual({ code: 0, signal: null });
    const lines = run
      .out()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const requests = lines.filter(({ msg }) => msg === "request");
    expect(requests).not.toEqual([]);
    expect(requests.filter(({ durationMs }) => !(durationMs >= 0 && durationMs < 60_000))).toEqual([]);
    figure(
      "T-FLT-22",
      "jumps of the wall clock that changed nothing",
      Math.floor((performance.now() - began) / 100),
      "jumps",
    );
  });
});
