import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { createSandbox } from "../../../sandbox/src/sandbox.ts";
import { later, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { dial, parse } from "../../server/support/client.ts";
import { createDouble, ok } from "../../server/support/double.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { type Ask, asking, once, serve, tally } from "./serving.ts";

takeDownAfterEach();

const STREAM_PIECE = "s".repeat(16 * 1024);
const STREAM_PIECES = 30;

/** A platform that moves many bytes, slowly: a POST is answered with the length of its body, a GET with `STREAM_PIECES` pieces over a while. `received`: bytes of request bodies that arrived whole. */
async function mover(gapMs: number) {
  let received = 0;
  const server = createServer((request, response) => {
    let length = 0;
    request.on("data", (piece: Buffer) => {
      length += piece.length;
    });
    request.once("end", () => {
      received += length;
      if (request.method === "POST") {
        response.end(String(length));
        return;
      }
      let sent = 0;
      const timer = setInterval(() => {
        response.write(STREAM_PIECE);
        if (++sent === STREAM_PIECES) {
          clearInterval(timer);
          response.end();
        }
      }, gapMs);
      response.once("close", () => clearInterval(timer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  later(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received: () => received };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("a process that is told to stop under load", () => {
  it("T-LOD-07: loses no byte of requests, lists and streams in flight, resets nobody, says that each answer is the last, and ends with 0", async () => {
    const sandbox = createSandbox({ size: 1_500, latencyMs: 5 });
    later(sandbox.close);
    const { url: platform } = await sandbox.listen();
    const exchange = await mover(20);
    const drainMs = scale(1_000, 3_000);
    const { run, url, adminUrl } = await serve({
      upstreamV2Url: platform,
      upstreamStsUrl: exchange.url,
      listsBufferBytes: "64KiB",
      listenShutdownDelaySeconds: `${drainMs}ms`,
    });
    const authorization = `Bearer ${sandbox.token("admin")}`;
    const groups = sandbox.snapshot().groups.length;
    const body = Array.from({ length: 20 }, () => "b".repeat(10 * 1024));
    const kinds: readonly Ask[] = [
      {
        method: "GET",
        path: `/iam/v1/groups`,
        headers: { authorization },
        fault: (status, text) => {
          if (status !== 200) return `${status}`;
          const { length } = JSON.parse(text).items;
          return length === groups ? undefined : `${length} of ${groups} records`;
        },
      },
      {
        method: "GET",
        path: `/iam/v1/groups/${sandbox.wellKnown.someGroup}`,
        headers: { authorization },
        fault: (status, text) =>
          status === 200 && JSON.parse(text).id === sandbox.wellKnown.someGroup ? undefined : `${status}`,
      },
      {
        method: "POST",
        path: "/sts/exchange",
        headers: { authorization },
        body,
        gapMs: 20,
        fault: (status, text) =>
          status === 200 && text === String(body.join("").length) ? undefined : `${status} ${text}`,
      },
      {
        method: "GET",
        path: "/sts/exchange",
        headers: { authorization },
        fault: (status, text) =>
          status === 200 && text.length === STREAM_PIECE.length * STREAM_PIECES
            ? undefined
            : `${status} ${text.length}`,
      },
    ];
    const seen = kinds.map(() => tally());
    const clients = kinds.flatMap((kind, at) =>
      Array.from({ length: 4 }, () =>
        asking(
          url,
          () => kind,
          () => false,
          seen[at] ?? tally(),
        ),
      ),
    );
    await pause(scale(700, 5_000));
    const before = seen.map(({ answers }) => answers);
    run.stop("SIGTERM");
    let ready = 200;
    while (ready === 200) ready = (await fetch(`${adminUrl}/readyz`)).status;
    expect(ready).toBe(503);
    // New connections are still taken, and each answer is the last of its own.
    const late = await once(url, kinds[1] as Ask);
    expect([late.status, late.last]).toEqual([200, true]);
    const [ended] = await Promise.all([run.ended, ...clients]);
    expect(ended).toEqual({ code: 0, signal: null });
    expect(seen.flatMap(({ failures }) => failures)).toEqual([]);
    // Every client was served after the signal, was asked to close, and was refused in the end.
    for (const [at, { answers, last, refused }] of seen.entries()) {
      expect(answers).toBeGreaterThan(before[at] ?? 0);
      expect(last).toBeGreaterThanOrEqual(4);
      expect(refused).toBe(4);
    }
    const queued = seen.reduce((sum, one) => sum + one.queued, 0);
    expect(exchange.received()).toBe((seen[2]?.answers ?? 0) * body.join("").length);
    const answers = seen.reduce((sum, one) => sum + one.answers, 0);
    figure("T-LOD-07", "answers of a process that was stopped under load", answers, "answers");
    figure(
      "T-LOD-07",
      "bytes of answers that arrived whole",
      seen.reduce((sum, { bytes }) => sum + bytes, 0),
      "bytes",
    );
    const sent = (seen[2]?.answers ?? 0) * body.join("").length;
    const streamed = (seen[3]?.answers ?? 0) * STREAM_PIECE.length * STREAM_PIECES;
    const lost = sent - exchange.received() + streamed - (seen[3]?.bytes ?? 0);
    expect(lost).toBe(0);
    figure("T-LOD-07", "bytes lost, in either direction", lost, "bytes");
    const resets = seen.flatMap(({ failures }) => failures).length;
    figure("T-LOD-07", "connections reset that had been taken in", resets, "connections");
    figure("T-LOD-07", "connections that the closing port met in the kernel's queue", queued, "connections");
  });
});

describe("a process that is killed", () => {
  it("T-LOD-10: leaves broken answers and never short ones that look whole", async () => {
    const sandbox = createSandbox({ size: 2_000 });
    later(sandbox.close);
    const { url: listed } = await sandbox.listen();
    const exchange = await mover(50);
    const bodies = { length: `[${"1,".repeat(500_000)}1]` };
    const lengthy = await createDouble((_, socket) => {
      // The head says how much is to come; half of it does.
      socket.write(ok(bodies.length).slice(0, 500_000));
    });
    later(lengthy.close);
    const { run, url } = await serve({
      upstreamV2Url: listed,
      upstreamV1Url: lengthy.url,
      upstreamStsUrl: exchange.url,
      listsBufferBytes: "64KiB",
      listsMaxConcurrent: "100",
      fallback: "native",
    });
    const port = Number(new URL(url).port);
    const head = (http: string) => `HTTP/${http}\r\nHost: a\r\nAuthorization: Bearer ${sandbox.token("admin")}\r\n\r\n`;
    const asked: readonly (readonly [name: string, request: string])[] = [
      ["chunks that pass through", `GET /sts/exchange ${head("1.1")}`],
      ["a length that passes through", `GET /iam/v1/externalGroupRoleMappings ${head("1.1")}`],
      ["a streamed list", `GET /iam/v1/groups ${head("1.1")}`],
      ["a length that passes through to HTTP/1.0", `GET /iam/v1/externalGroupRoleMappings ${head("1.0")}`],
    ];
    const rounds = scale(3, 25);
    const clients = await Promise.all(
      Array.from({ length: rounds }, () => asked)
        .flat()
        .map(async ([name, request]) => {
          const client = await dial(port);
          // What a client has not read is still under way when the process dies.
          const look = () => {
            if (client.text().length > 50_000) client.socket.pause().off("data", look);
          };
          client.socket.on("data", look);
          client.send(request);
          return { name, client };
        }),
    );
    await Promise.all(clients.map(({ client }) => client.until((text) => text.length > 10_000)));
    run.stop("SIGKILL");
    expect((await run.ended).signal).toBe("SIGKILL");
    for (const { client } of clients) client.socket.resume();
    const texts = await Promise.all(clients.map(async ({ name, client }) => [name, await client.closed()] as const));
    const whole = texts.filter(([, text]) => looksWhole(text));
    // A list may have been sent to its last byte before; then every record is in it.
    const groups = sandbox.snapshot().groups.length;
    const complete = ([name, text]: readonly [string, string]) =>
      name === "a streamed list" && JSON.parse(parse(text).body).items.length === groups;
    const short = whole.filter((one) => !complete(one)).map(([name]) => name);
    expect(short).toEqual([]);
    expect(texts.length - whole.length).toBeGreaterThan(texts.length / 2);
    expect(texts.every(([, text]) => text.startsWith("HTTP/1.1 200"))).toBe(true);
    figure("T-LOD-10", "answers that were under way when the process was killed", texts.length, "answers");
    figure("T-LOD-10", "of them short ones that look whole", short.length, "answers");
  });
});

/** As a client's HTTP library judges it, and then its JSON parser. */
function looksWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  const head = text.slice(0, end).toLowerCase();
  const length = /content-length: (\d+)/.exec(head)?.[1];
  if (length !== undefined) return text.length - end - 4 >= Number(length);
  if (head.includes("transfer-encoding: chunked")) return text.endsWith("\r\n0\r\n\r\n");
  try {
    JSON.parse(text.slice(end + 4));
    return true;
  } catch {
    return false;
  }
}
