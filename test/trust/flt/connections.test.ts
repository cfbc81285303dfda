/** What becomes of requests when connections to the platform cannot be made, break when they are used again, or carry what nobody asked for? */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createBudget } from "../../../src/upstream/budget.ts";
import { createPool } from "../../../src/upstream/pool.ts";
import { createStream } from "../../../src/upstream/stream.ts";
import { rigForTest, takeDownAfterEach as takeAppDown } from "../../app/rig.ts";
import { ask } from "../../listener/support/client.ts";
import { createDouble, ok } from "../../listener/support/double.ts";
import { later, POOL, rig, takeDownAfterEach } from "../../listener/support/rig.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";

takeDownAfterEach();
takeAppDown();

/** A port whose machine takes no connection and refuses none: its process stands still, and its line is full. */
async function blackHole(): Promise<number> {
  const program =
    "const s = require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(s.address().port))";
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "ignore"] });
  later(async () => void child.kill("SIGKILL"));
  const [text] = await once(child.stdout, "data");
  const port = Number(String(text));
  child.kill("SIGSTOP");
  for (let taken = true; taken; ) {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    later(async () => void socket.destroy());
    taken = await Promise.race([once(socket, "connect").then(() => true), sleep(200, false)]);
  }
  return port;
}

it("T-FLT-03: a platform to which no connection comes about is 504 when the time to connect is over, and nothing of a write has left", async () => {
  const url = `http://127.0.0.1:${await blackHole()}`;
  const pool = createPool({ url, ...POOL, timeouts: { ...POOL.timeouts, connectMs: 200 } });
  later(pool.close);
  const { port } = await rig({ upstreams: { v2: createStream(pool, createBudget()) } });
  const answers = await Promise.all([ask(port, "GET /x"), ask(port, "POST /x", "Content-Length: 2\r\n", "{}")]);
  for (const answer of answers) {
    expect(answer.status).toBe(504);
    expect(answer.json().details[0]).toMatchObject({ reason: "UPSTREAM_TIMEOUT", metadata: {} });
  }
});

describe("T-FLT-05: a connection that breaks when it is used again", () => {
  it("is not noticed by reads, and no write is sent twice", async () => {
    // Every second request on a connection is met by its end.
    const used = new Map<number, number>();
    const seen: string[] = [];
    const double = await createDouble(({ line, connection }, socket) => {
      const count = (used.get(connection) ?? 0) + 1;
      used.set(connection, count);
      seen.push(line);
      if (count === 2) socket.resetAndDestroy();
      else socket.write(ok(`{"uid":"${/\/([^/ ?]+)[ ?]/.exec(line)?.[1]}","name":"a"}`));
    });
    later(double.close);
    // One connection, so that what is sent again meets a fresh one, as it does where only some are broken.
    const flags = { upstreamV2Connections: "1" };
    const app = await rigForTest({ v2Url: double.url, native: false, flags });
    const rounds = scale(4, 200);
    const counts = { reads: 0, failedReads: 0, writes: 0, unknown: 0, twice: 0 };
    for (let i = 0; i < rounds; i++) {
      for (const [method, target, of] of [
        ["GET", "/iam/v2beta1/groups/", "groups"],
        ["GET", "/iam/v1/groups/", "groups"],
        ["POST", "/iam/v2beta1/groups/", "groups"],
        ["PATCH", "/iam/v2beta1/groups/", "groups"],
        ["DELETE", "/iam/v2beta1/groups/", "groups"],
        ["PUT", "/iam/v1/groups/", "groups"],
      ] as const) {
        const name = `${method}-${target.includes("v1") ? "v1" : "v2"}-${i}`;
        const body = method === "GET" || method === "DELETE" ? {} : { body: '{"name":"a"}' };
        const answer = await app.ask(method, `${target}${name}`, body);
        const calls = seen.filter((line) => line.includes(`${of}/${name} `) || line.includes(`${of}/${name}?`)).length;
        if (method === "GET") {
          counts.reads++;
          if (answer.status !== 200) counts.failedReads++;
        } else {
          counts.writes++;
          if (calls !== 1) counts.twice++;
          if (answer.status === 502) {
            expect(answer.json.details[0]).toMatchObject({ metadata: { state: "unknown" } });
            counts.unknown++;
          }
        }
        seen.length = 0;
      }
    }
    expect(counts).toMatchObject({ reads: 2 * rounds, failedReads: 0, writes: 4 * rounds, twice: 0 });
    // Half of the calls met the end of their connection; of reads nobody heard.
    expect(counts.unknown).toBeGreaterThan(rounds);
    figure(
      "T-FLT-05",
      "reads and writes over connections of which each breaks at its second request",
      6 * rounds,
      "requests",
    );
    figure("T-FLT-05", "writes sent twice in these", counts.twice, "writes");
    figure("T-FLT-05", "reads that failed in these", counts.failedReads, "reads");
  });
});

describe("T-FLT-14: an answer that nobody asked for", () => {
  it("reaches no other tenant, whenever it comes", async () => {
    const poison = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nPOISONED";
    const { port, double } = await rig({
      pool: { connections: 2, timeouts: { ...POOL.timeouts, headersMs: 30 } },
      script: ({ line }, socket) => {
        if (line.includes("/late")) {
          setTimeout(() => socket.write(ok("late")), 60);
          return;
        }
        const answer = ok(line);
        // In one piece: both are in one segment.
        if (line.includes("/same")) socket.write(answer + poison);
        else socket.write(answer);
        if (line.includes("/later")) setTimeout(() => socket.write(poison), 3);
      },
    });
    const rounds = scale(20, 1_000);
    const counts = { right: 0, refused: 0, foreign: 0 };
    for (let i = 0; i < rounds; i++) {
      const attack = ["/same", "/later", i % 10 === 0 ? "/late" : "/same"][i % 3] ?? "/same";
      await ask(port, `GET ${attack}`, "Authorization: Bearer attacker\r\n");
      if (attack === "/later") await sleep(i % 2 === 0 ? 0 : 5);
      const victims = await Promise.all(
        [1, 2].map(async (n) => ({
          n,
          answer: await ask(port, `GET /victim-${i}-${n}`, `Authorization: Bearer ${n}\r\n`),
        })),
      );
      for (const { n, answer } of victims) {
        if (answer.body === `GET /victim-${i}-${n} HTTP/1.1`) counts.right++;
        else if (answer.status === 502) counts.refused++;
        else counts.foreign++;
      }
    }
    expect(counts).toEqual({ right: 2 * rounds, refused: 0, foreign: 0 });
    expect(double.connections()).toBeGreaterThan(rounds / 3);
    figure("T-FLT-14", "rounds in which the platform answered more than it was asked", rounds, "rounds");
    figure("T-FLT-14", "answers that reached another tenant", counts.foreign, "answers");
  });
});
