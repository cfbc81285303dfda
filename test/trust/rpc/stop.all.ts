/** A process whose gRPC port is stopped or killed under load. */
import { connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { VENDOR_TYPES } from "../../../sandbox/src/data/vendor.ts";
import { createSandbox } from "../../../sandbox/src/sandbox.ts";
import { answered, framed, open, platform, type RpcAnswer } from "../../grpc/support/rpc.ts";
import { fileWith } from "../../grpc/support/translating.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { later, takeDownAfterEach } from "../../support/take-down.ts";
import { serve } from "../lod/serving.ts";

takeDownAfterEach();

const V2 = "/acme.platform.iam.v2beta1.GroupsService/";
const LIST = `/${VENDOR_TYPES}.iam.Groups/List`;
const PIECES = 20;
const PIECE = framed(Buffer.alloc(8_192, 1));

/** Echoes calls to Echo, responds to Watch in pieces over time, and never to Hang. */
function movingPlatform() {
  return platform((stream, { ":path": path = "" }) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    if (path.endsWith("/Hang")) return;
    if (path.endsWith("/Echo")) {
      stream.on("data", (piece: Buffer) => stream.write(piece)).on("end", () => stream.end());
      return;
    }
    let sent = 0;
    const timer = setInterval(() => {
      stream.write(PIECE);
      if (++sent < PIECES) return;
      clearInterval(timer);
      stream.end();
    }, 25);
    stream.on("close", () => clearInterval(timer));
  });
}

async function stage(flags: Readonly<Record<string, string>> = {}) {
  const sandbox = createSandbox({ size: 1_500, latencyMs: 5, recordTimes: "published" });
  later(sandbox.close);
  const { url } = await sandbox.listen();
  const rpc = await movingPlatform();
  const instance = await serve({
    ...{ upstreamV2Url: url, upstreamV2GrpcUrl: rpc.url, listenGrpcPort: "0", v1RecordTimes: "published" },
    grpcDescriptors: fileWith(sandbox.descriptors()),
    ...flags,
  });
  const text = await instance.run.until(/gRPC clients at \S+: /);
  const [, rpcUrl = ""] = /gRPC clients at (\S+): /.exec(text) ?? [];
  return { sandbox, instance, rpcUrl };
}

interface Seen {
  answers: number;
  goneAway: number;
  bytes: number;
  readonly failures: string[];
}

describe("T-RPC-41: a process that gets SIGTERM under load of the gRPC port", () => {
  it("loses no call and no byte, tells clients with GOAWAY, and ends with 0", async () => {
    const { sandbox, instance, rpcUrl } = await stage({ listenShutdownDelaySeconds: `${scale(1_000, 3_000)}ms` });
    const seen: Seen = { answers: 0, goneAway: 0, bytes: 0, failures: [] };
    const groups = sandbox.snapshot().groups.length;
    const token = `Bearer ${sandbox.token("admin")}`;
    const pieces = Array.from({ length: 10 }, (_, at) => framed(Buffer.alloc(4_096, at)));
    const kinds: readonly (readonly [string, readonly Buffer[], (answer: RpcAnswer) => boolean])[] = [
      [LIST, [framed(Buffer.of())], ({ body }) => body.length > 40 * groups],
      [`${V2}Watch`, [framed(Buffer.of())], ({ body }) => body.length === PIECES * PIECE.length],
      [`${V2}Echo`, pieces, ({ body }) => body.equals(Buffer.concat(pieces))],
    ];
    const client = async ([path, sent, isWhole]: (typeof kinds)[number]): Promise<void> => {
      for (;;) {
        const on = connect(rpcUrl);
        let isGone = false;
        const connected = new Promise<boolean>((resolve) => {
          on.once("remoteSettings", () => resolve(true)).once("close", () => resolve(false));
        });
        on.on("error", () => {}).on("goaway", () => {
          isGone = true;
        });
        if (!(await connected)) return;
        while (!isGone && !on.closed) {
          const stream = open(on, path, { authorization: token });
          const over = answered(stream);
          for (const piece of sent) {
            if (!stream.destroyed) stream.write(piece);
            await sleep(10);
          }
          if (!stream.destroyed) stream.end();
          const answer = await over;
          // A call that a GOAWAY met before it was sent has not begun.
          if (isGone && answer.head[":status"] === undefined) break;
          if (answer.status === 0 && isWhole(answer)) {
            seen.answers++;
            seen.bytes += answer.body.length;
          } else seen.failures.push(`${path}: ${answer.status} ${answer.message}, ${answer.body.length} bytes`);
        }
        if (isGone) seen.goneAway++;
        on.close();
      }
    };
    const clients = kinds.flatMap((kind) => Array.from({ length: 4 }, () => client(kind)));
    await sleep(scale(500, 5_000));
    while (seen.answers < 2 * clients.length && seen.failures.length === 0) await sleep(20);
    const before = seen.answers;
    instance.run.stop("SIGTERM");
    const [ended] = await Promise.all([instance.run.ended, ...clients]);
    expect(ended).toEqual({ code: 0, signal: null });
    expect(seen.failures).toEqual([]);
    expect(seen.answers).toBeGreaterThan(before);
    expect(seen.goneAway).toBeGreaterThanOrEqual(kinds.length * 4);
    figure("T-RPC-41", "calls of a process that was stopped under load", seen.answers, "calls");
    figure("T-RPC-41", "bytes of responses that arrived whole", seen.bytes, "bytes");
    figure("T-RPC-41", "calls lost", seen.failures.length, "calls");
    figure("T-RPC-41", "connections that were told with GOAWAY", seen.goneAway, "connections");
  });

  it("while the platform hangs ends in its time, and each call has a status", async () => {
    const { instance, rpcUrl } = await stage({
      ...{ listenShutdownDelaySeconds: "0", limitsRequestSeconds: "3s", listsMaxSeconds: "2s" },
    });
    const on = connect(rpcUrl);
    on.on("error", () => {});
    const hanging = Array.from({ length: 20 }, (_, at) => {
      const stream = open(on, `${V2}Hang`);
      if (at % 2 === 0) stream.end(framed(Buffer.of()));
      else stream.write(framed(Buffer.of()));
      return answered(stream);
    });
    await sleep(1_000);
    const began = performance.now();
    instance.run.stop("SIGTERM");
    const [{ code }, ...all] = await Promise.all([instance.run.ended, ...hanging]);
    const seconds = (performance.now() - began) / 1_000;
    expect(code).toBe(0);
    expect(all.filter(({ status }) => status === undefined || status === 0)).toEqual([]);
    expect(seconds).toBeLessThan(10);
    figure("T-RPC-41", "time until the process ended, calls that hang being given 3 s", seconds, "s");
    figure("T-RPC-41", "calls that hung when the process was stopped, each with a status", all.length, "calls");
  });
});

describe("T-RPC-42: a process that is killed", () => {
  it("leaves calls without a status, and none that looks whole but is short", async () => {
    const { sandbox, instance, rpcUrl } = await stage();
    const all = Array.from({ length: scale(30, 120) }, (_, at) => {
      const on = connect(rpcUrl);
      on.on("error", () => {});
      const path = at % 3 === 0 ? LIST : `${V2}Watch`;
      const stream = open(on, path, { authorization: `Bearer ${sandbox.token("admin")}` });
      stream.end(framed(Buffer.of()));
      return answered(stream);
    });
    await sleep(400);
    instance.run.stop("SIGKILL");
    await instance.run.ended;
    const answers = await Promise.all(all);
    const groups = sandbox.snapshot().groups.length;
    const whole = answers.filter(({ status }) => status === 0);
    const short = whole.filter(({ body }, at) =>
      body.length !== PIECES * PIECE.length ? body.length < 40 * groups : at < 0,
    );
    expect(short).toEqual([]);
    expect(answers.length - whole.length).toBeGreaterThan(answers.length / 2);
    figure("T-RPC-42", "calls that were under way when the process was killed", answers.length, "calls");
    figure("T-RPC-42", "of them short ones that look whole", short.length, "calls");
  });
});
