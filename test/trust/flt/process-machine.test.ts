/** Does the process outlive what its machine and its platform do to it? */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { later, takeDownAfterEach } from "../../app/rig.ts";
import { dial, parse, talk } from "../../listener/support/client.ts";
import { createDouble, ok } from "../../listener/support/double.ts";
import { rig, takeDownAfterEach as takeDownListeners } from "../../listener/support/rig.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { serve } from "../lod/serving.ts";

takeDownAfterEach();
takeDownListeners();

describe("T-FLT-20: a platform that announces trailers", () => {
  const FRAMES = [
    ["a length", "Content-Length: 2\r\n\r\nok"],
    ["chunks", "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"],
    ["chunks and a trailer", "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n"],
  ] as const;
  const ASKED = [
    ["HTTP/1.1", "GET /x HTTP/1.1", "200 OK", "ok"],
    ["HTTP/1.0", "GET /x HTTP/1.0", "200 OK", "ok"],
    ["HEAD", "HEAD /x HTTP/1.1", "200 OK", ""],
    ["status 204", "GET /x HTTP/1.1", "204 No Content", ""],
    ["status 304", "GET /x HTTP/1.1", "304 Not Modified", ""],
  ] as const;

  it.each(
    FRAMES.flatMap(([frame, bytes]) =>
      ASKED.map(([name, line, status, body]) => [frame, name, line, status, bytes, body] as const),
    ),
  )("with %s is served, to %s", async (_frame, _name, line, status, bytes, body) => {
    const bodyless = body === "";
    const head = bytes.slice(0, bytes.indexOf("\r\n\r\n") + 4);
    const framed = status.startsWith("204") ? "\r\n" : bodyless ? head : bytes;
    const uncaught: unknown[] = [];
    const hear = (error: unknown) => uncaught.push(error);
    process.on("uncaughtExceptionMonitor", hear);
    const { port } = await rig({ script: `HTTP/1.1 ${status}\r\nTrailer: X-T\r\n${framed}` });
    const ask = () => talk(port, `${line}\r\nHost: a\r\nTE: trailers\r\nConnection: close\r\n\r\n`);
    const answer = parse(await ask());
    expect([answer.status, answer.body]).toEqual([Number(status.slice(0, 3)), body]);
    expect([answer.field("trailer"), answer.field("x-t")]).toEqual([undefined, undefined]);
    expect(parse(await ask()).status).toBe(answer.status);
    process.off("uncaughtExceptionMonitor", hear);
    expect(uncaught).toEqual([]);
    figure("T-FLT-20", "kinds of answers with trailers that were served", FRAMES.length * ASKED.length, "kinds");
  });
});

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
      { upstreamV2Url: platform.url, limitsRequestSeconds: "2s", listsMaxSeconds: "1s", listenDrainSeconds: "0" },
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
    expect(lines.filter(({ durationMs }) => !(durationMs >= 0 && durationMs < 60_000))).toEqual([]);
    figure(
      "T-FLT-22",
      "jumps of the wall clock that changed nothing",
      Math.floor((performance.now() - began) / 100),
      "jumps",
    );
  });

  it("is read only where a date is meant", () => {
    const SRC = resolve(import.meta.dirname, "../../../src");
    const using = readdirSync(SRC, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.startsWith("sandbox/"))
      .filter((name) => /\bDate\.now\b|new Date\(\)/.test(readFileSync(join(SRC, name), "utf8")))
      .toSorted();
    // What rules, reports and logs say is a time of day; a `Retry-After` may be a date; a file was taken at a time of day.
    expect(using).toEqual([
      "app.ts",
      "check/command.ts",
      "check/connection.ts",
      "explain/command.ts",
      "migration.ts",
      "migration/comparing.ts",
      "observe/log.ts",
      "tools.ts",
    ]);
  });
});
