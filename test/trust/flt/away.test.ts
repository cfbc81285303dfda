/** The circuit breaker of the whole carryover, while the platform is away. (What shuts it and opens it: test/upstream/breaker.test.ts.) */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { type Answer, later, type Rig, reasonOf, rigForTest, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { ok } from "../../server/support/double.ts";
import { figure } from "../../support/figures.ts";

takeDownAfterEach();

const PASS = ["GET", "/iam/v2beta1/groups/a/b"] as const;
const READ = ["GET", "/iam/v1/groups/a/b"] as const;
const WRITE = ["POST", "/iam/v1/groups/a", { body: '{"name":"a"}' }] as const;

/** A platform that can go away and come back at the same address. */
interface Platform {
  readonly url: string;
  /** As if its machine were off: connections are refused, open ones reset. */
  down(): Promise<void>;
  up(): Promise<void>;
}

/** Answers each request with `answer`; up, and gone after the test. */
async function comingAndGoing(answer: string): Promise<Platform> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      for (let end = text.indexOf("\r\n\r\n"); end >= 0; end = text.indexOf("\r\n\r\n")) {
        text = text.slice(end + 4);
        socket.write(answer);
      }
    });
  });
  let port = 0;
  const up = async (): Promise<void> => {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", resolve);
    });
    port = (server.address() as AddressInfo).port;
  };
  const down = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  };
  await up();
  later(down);
  return { url: `http://127.0.0.1:${port}`, up, down };
}

/** "1" while the breaker is open. */
async function breaker({ adminUrl }: Rig): Promise<string | undefined> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return /^carryover_upstream_breaker_open\{upstream="v2"\} (\S+)$/m.exec(text)?.[1];
}

/** Asks again and again until an answer is as wanted. */
async function until(ask: () => Promise<Answer>, wanted: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    await sleep(20);
  }
}

it("DIFF-72: a platform that is away is asked now and then only, by nobody's repeats, until it answers one call", async () => {
  const platform = await comingAndGoing(ok('{"uid":"a/b","name":"a"}'));
  const rig = await rigForTest({ v2Url: platform.url, native: false });
  expect((await rig.ask(...READ)).status).toBe(200);
  await platform.down();
  expect(reasonOf(await rig.ask(...PASS))).toBe("UPSTREAM_UNREACHABLE");
  await until(
    () => rig.ask(...READ),
    (answer) => reasonOf(answer) === "UPSTREAM_UNAVAILABLE",
  );
  expect(await breaker(rig)).toBe("1");
  expect(await (await fetch(`${rig.adminUrl}/progress`)).json()).toMatchObject({ openBreakers: ["v2"] });
  // Every call is refused, of any kind: carryover itself checks whether the platform is back.
  const during = rig.exchanges.length;
  for (const call of [PASS, READ, WRITE, PASS, READ, WRITE] as const) {
    const [method, target, more] = call;
    const answer = await rig.ask(method, target, more);
    expect(reasonOf(answer)).toBe("UPSTREAM_UNAVAILABLE");
    expect([answer.status, answer.json.code, answer.json.details[0].metadata]).toEqual([
      503,
      14,
      { option: "upstream.*.breaker" },
    ]);
    expect(Number(answer.field("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(Number(answer.field("retry-after"))).toBeLessThanOrEqual(5);
    expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONN/);
  }
  const refused = rig.exchanges.slice(during).filter(({ reason }) => reason === "UPSTREAM_UNAVAILABLE");
  expect(refused.length).toBe(6);
  expect(refused.map(({ calls }) => calls.length)).toEqual(refused.map(() => 1));

  await platform.up();
  const back = performance.now();
  await until(
    () => rig.ask(...READ),
    ({ status }) => status === 200,
  );
  figure(
    "T-FLT-25",
    "time until a platform that is back is used again, after some seconds away",
    performance.now() - back,
    "ms",
  );
  for (const [method, target, more] of [PASS, READ, WRITE] as const) {
    expect((await rig.ask(method, target, more)).status).toBe(200);
  }
  expect(await breaker(rig)).toBe("0");
  expect(await (await fetch(`${rig.adminUrl}/progress`)).json()).toMatchObject({ openBreakers: [], ready: true });
  const told = rig.lines.filter((line) => line.includes("circuit breaker"));
  expect(told.map((line) => /circuit breaker (\w+)/.exec(line)?.[1])).toEqual(["open", "closed"]);
  expect(told[0]).toContain('"upstream":"v2"');
});
